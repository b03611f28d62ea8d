//! Calls as Granite 3 writes them: a list of JSON objects after a token, or after a tag in 3.1. From vLLM,
//! `tool_parsers/granite_tool_parser.py` and `reasoning/granite_reasoning_parser.py`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    aliases: &["granite-3.1", "granite-3.2", "granite-3.3"],
    models: &[Models::of("granite-3.3 granite-3.2 granite-3.1 granite-3.0", "vLLM, docs/features/tool_calling.md")],
    chat_templates: &[TemplateMarks::of(&[&["<|start_of_role|>", "<|tool_call|> followed by a JSON list"]])],
    ..Row::new("granite-3", || Arc::new(GRANITE_3))
}];

pub(crate) const GRANITE_3: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::BARE),
        answer: Some(("<response>", "</response>")),
        trim_before_call: true,
        stops: &["<|end_of_text|>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<|tool_call|>", "<tool_call>"],
        end_of_message: "<|end_of_text|>",
        ..MarkedJson::LIST
    },
    past_text: PastText::of("{content|\n}<|tool_call|> [{calls|, }]", "{content}"),
};
