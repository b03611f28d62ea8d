//! A call as Llama 3 writes it: one JSON object as the whole message, or after a tag.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;

pub(crate) const LLAMA_JSON: FlatFamily = FlatFamily {
    layout: Layout {
        special_tokens: true,
        stops: &["<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<|python_tag|>"],
        begin: &[""],
        lists: false,
        last: "<|eom_id|>",
        written: r#"{"name": {name}, "parameters": {arguments}}"#,
        rules: NativeEnvelope { arguments: &["parameters", "arguments"], may_be_text: true, ..NativeEnvelope::USUAL },
    },
    writing: Writing {
        begin: "",
        end: "",
        between: "",
        after_content: "<|python_tag|>",
        result: "{json}",
        result_mark: None,
    },
};
