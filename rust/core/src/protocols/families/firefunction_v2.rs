//! Calls as FireFunction v2 writes them: a word, and a list of JSON objects.

use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;

pub(crate) const FIREFUNCTION_V2: FlatFamily = FlatFamily {
    layout: Layout { trim_before_call: true, stops: &["<|eot_id|>"], ..Layout::NATIVE },
    call: &MarkedEnvelope { open: &["functools["], last: "<|eot_id|>", ..MarkedEnvelope::LIST },
    writing: Writing {
        begin: " functools[",
        end: "]",
        between: ", ",
        after_content: "",
        result: "{content}",
        result_mark: None,
    },
};
