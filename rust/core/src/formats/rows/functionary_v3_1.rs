//! Calls as Functionary 3.1 and Llama 4's custom form write them: the name in a tag, and one JSON object.

use super::prelude::*;

use crate::formats::rows::shared_marks::LLAMA_TURN;

pub(crate) const ROWS: &[Row] = &[Row {
    aliases: &["llama4-custom"],
    models: &[Models::of("functionary-small-v3.1 functionary-medium-v3.1", "llama.cpp, docs/function-calling.md")],
    chat_templates: &[TemplateMarks::of(&[LLAMA_TURN, &["'<function='", "'</function>'"]])],
    ..Row::new("functionary-v3.1", || Arc::new(FUNCTIONARY_V3_1))
}];

pub(crate) const FUNCTIONARY_V3_1: FlatFormat = FlatFormat {
    layout: Layout { stops: &["<|eom_id|>", "<|eot_id|>", "<|eom|>", "<|eot|>"], ..Layout::NATIVE },
    call: &NamedJson {
        open: &["<function="],
        name_terminators: &[">"],
        around_arguments: (">", ""),
        ends: &Ends { fence: "", close: "</function>", implicit_closers: &["<function="] },
        ..NamedJson::PLAIN
    },
    past_text: PastText::of("{calls}", "{content}"),
};
