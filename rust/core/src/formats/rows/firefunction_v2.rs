//! Calls as FireFunction v2 writes them: a word, and a list of JSON objects.

use std::sync::Arc;

use crate::formats::bodies::envelope::marked::MarkedEnvelope;
use crate::formats::frames::flat::{FlatFormat, PastText};
use crate::formats::layout::Layout;
use crate::formats::rows::shared_marks::LLAMA_TURN;
use crate::formats::spec::{Models, Row, TemplateMarks};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("firefunction-v2 llama-3-firefunction-v2", "llama.cpp, docs/function-calling.md")],
    chat_templates: &[TemplateMarks::of(&[LLAMA_TURN, &["functools["]])],
    ..Row::new("firefunction-v2", || Arc::new(FIREFUNCTION_V2))
}];

pub(crate) const FIREFUNCTION_V2: FlatFormat = FlatFormat {
    layout: Layout { trim_before_call: true, stops: &["<|eot_id|>"], ..Layout::NATIVE },
    call: &MarkedEnvelope { open: &["functools["], end_of_message: "<|eot_id|>", ..MarkedEnvelope::LIST },
    past_text: PastText::of(" functools[{calls|, }]", "{content}"),
};
