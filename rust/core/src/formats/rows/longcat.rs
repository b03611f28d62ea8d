//! Calls as LongCat writes them: one JSON object between two tags. From vLLM, `tool_parsers/longcat_tool_parser.py`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("longcat-flash-chat", "vLLM, docs/features/tool_calling.md")],
    chat_templates: &[TemplateMarks::of(&[&["<longcat_tool_call>", "</longcat_tool_call>"]])],
    ..Row::new("longcat", || Arc::new(LONGCAT))
}];

pub(crate) const LONGCAT: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::of("<longcat_think>\n{reasoning}\n</longcat_think>\n")),
        trim_before_call: true,
        stops: &["</longcat_s>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<longcat_tool_call>"],
        written: "<longcat_tool_call>\n{\"name\": {name}, \"arguments\": {arguments}}\n</longcat_tool_call>",
        keys: JsonRules { close: &["</longcat_tool_call>"], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("{content|\n}{calls|\n}", "{content}"),
};
