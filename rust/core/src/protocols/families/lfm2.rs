//! Calls as LFM2 and LFM2.5 write them: a list in Python, `[f(a='x', b={"c": true}), g()]`, or of JSON objects, between markers.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::pycalls::{PyCalls, PyValues};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const LFM2: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks::BARE),
        special_tokens: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
    call: &PyCalls {
        open: &["<|tool_call_start|>"],
        close: "<|tool_call_end|>",
        list: true,
        bare: false,
        json: Some(NativeEnvelope::USUAL),
        values: PyValues::Unescaped,
    },
    writing: Writing {
        begin: "<|tool_call_start|>[",
        end: "]<|tool_call_end|>",
        between: ", ",
        after_content: "",
        result: "{content}",
        result_mark: None,
    },
};
