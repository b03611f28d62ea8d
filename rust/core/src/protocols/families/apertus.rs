//! Calls as Apertus writes them: a list of JSON objects, in which the name is the only key, between two tokens. Calls also end reasoning.

use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::bodies::envelope::{NameKey, NativeEnvelope};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks};

pub(crate) const APERTUS: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[("<|inner_prefix|>", "<|inner_suffix|>")],
            written: ("<|inner_prefix|>", "<|inner_suffix|>"),
            call_ends: CallEnds::Always,
            ..ReasoningMarks::BARE
        }),
        special_tokens: true,
        stops: &["<|assistant_end|>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<|tools_prefix|>"],
        written: "{{name}: {arguments}}",
        rules: NativeEnvelope { name: NameKey::Itself, close: &["<|tools_suffix|>"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    writing: Writing {
        begin: "<|tools_prefix|>[",
        end: "]<|tools_suffix|>",
        between: ", ",
        after_content: "",
        result: "[{content}]",
        result_mark: None,
    },
};
