//! Calls as MiniMax M1 writes them: JSON objects between two tags, one on each line.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("minimax-m1", "llama.cpp, models/templates/MiniMax-M1.jinja")],
    chat_templates: &[TemplateMarks::of(&[&[
        "<tool_calls>\n",
        "</tool_calls>",
        r#"{"name": "#,
        "<beginning_of_sentence>",
    ]])],
    ..Row::new("minimax-m1", || Arc::new(MINIMAX_M1))
}];

pub(crate) const MINIMAX_M1: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        trim_before_call: true,
        stops: &["<end_of_sentence>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<tool_calls>"],
        keys: JsonRules { close: &["</tool_calls>"], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("{content|\n}<tool_calls>\n{calls|\n}\n</tool_calls>", "tool result: {content}\n\n"),
};
