//! A call as Llama 3 writes it: one JSON object as the whole message, or after a tag.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::whole::WholeEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;

pub(crate) const LLAMA_JSON: FlatFamily = FlatFamily {
    layout: Layout { stops: &["<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>"], ..Layout::NATIVE },
    call: &WholeEnvelope {
        open: &["<|python_tag|>"],
        last: "<|eom_id|>",
        arguments: "parameters",
        rules: NativeEnvelope { arguments: &["parameters", "arguments"], may_be_text: true },
    },
    writing: Writing { begin: "", end: "", between: "", after_content: "", result: "{json}", result_mark: None },
};
