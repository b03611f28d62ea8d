//! A call as GigaChat 3.1 writes it: one JSON object after a token. The form of 3, a message of its own, is read, too.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;

pub(crate) const GIGACHAT3: FlatFamily = FlatFamily {
    layout: Layout { special_tokens: true, stops: &["<|message_sep|>", "</s>"], ..Layout::NATIVE },
    call: &MarkedEnvelope {
        open: &["<|function_call|>", "<|message_sep|>\n\nfunction call<|role_sep|>\n"],
        begin: &[],
        lists: false,
        last: "<|message_sep|>",
        written: r#"<|function_call|>{"name": {name}, "arguments": {arguments}}"#,
        rules: NativeEnvelope::USUAL,
    },
    writing: Writing { begin: "", end: "", between: "", after_content: "", result: "{content}", result_mark: None },
};
