//! Calls as FireFunction v2 writes them: a word, and a list of JSON objects.

use std::sync::Arc;

use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::families::templates::LLAMA_TURN;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;
use crate::protocols::row::{Models, Row, TemplateMarks};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("firefunction-v2 llama-3-firefunction-v2", "llama.cpp, docs/function-calling.md")],
    templates: &[TemplateMarks::of(&[LLAMA_TURN, &["functools["]])],
    ..Row::new("firefunction-v2", || Arc::new(FIREFUNCTION_V2))
}];

pub(crate) const FIREFUNCTION_V2: FlatFamily = FlatFamily {
    layout: Layout { trim_before_call: true, stops: &["<|eot_id|>"], ..Layout::NATIVE },
    call: &MarkedEnvelope { open: &["functools["], last: "<|eot_id|>", ..MarkedEnvelope::LIST },
    writing: Writing::of(" functools[{calls|, }]", "{content}"),
};
