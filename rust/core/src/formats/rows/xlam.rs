//! Calls as xLAM writes them: a list of JSON objects as the whole message, there also in a fence, or after a marker. From vLLM,
//! `tool_parsers/xlam_tool_parser.py`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("llama-xlam-2-*-fc-r xlam-2-*-fc-r qwen-xlam-*-fc-r", "vLLM, docs/features/tool_calling.md")],
    ..Row::new("xlam", || Arc::new(XLAM))
}];

pub(crate) const XLAM: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        trim_before_call: true,
        stops: &["<|im_end|>", "<|eot_id|>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<tool_call>", "[TOOL_CALLS]"],
        openers_at_start: &["```json", "```", ""],
        keys: JsonRules { may_be_text: true, close: &["</tool_call>", "```"], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("{content|[TOOL_CALLS]}[{calls|, }]", "{content}"),
};
