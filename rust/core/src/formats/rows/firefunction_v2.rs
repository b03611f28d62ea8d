//! Calls as FireFunction v2 writes them: a word, and a list of JSON objects.

use super::prelude::*;

use crate::formats::rows::shared_marks::LLAMA_TURN;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("firefunction-v2 llama-3-firefunction-v2", "llama.cpp, docs/function-calling.md")],
    chat_templates: &[TemplateMarks::of(&[LLAMA_TURN, &["functools["]])],
    ..Row::new("firefunction-v2", || Arc::new(FIREFUNCTION_V2))
}];

pub(crate) const FIREFUNCTION_V2: FlatFormat = FlatFormat {
    layout: Layout { trim_before_call: true, stops: &["<|eot_id|>"], ..Layout::NATIVE },
    call: &MarkedJson { open: &["functools["], end_of_message: "<|eot_id|>", ..MarkedJson::LIST },
    past_text: PastText::of(" functools[{calls|, }]", "{content}"),
};
