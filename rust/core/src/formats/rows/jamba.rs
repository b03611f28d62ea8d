//! Calls as Jamba writes them: a list of JSON objects between two tags. From vLLM, `tool_parsers/jamba_tool_parser.py`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("jamba-1.5-mini jamba-1.5-large", "vLLM, docs/features/tool_calling.md")],
    ..Row::new("jamba", || Arc::new(JAMBA))
}];

pub(crate) const JAMBA: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        trim_before_call: true,
        stops: &["<|eom|>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<tool_calls>"],
        keys: JsonRules { close: &["</tool_calls>"], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("{content|\n}<tool_calls>[{calls|, }]</tool_calls>", "{content}"),
};
