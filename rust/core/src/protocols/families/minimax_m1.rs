//! Calls as MiniMax M1 writes them: JSON objects between two tags, one on each line.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const MINIMAX_M1: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        trim_before_call: true,
        stops: &["<end_of_sentence>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<tool_calls>"],
        rules: NativeEnvelope { close: &["</tool_calls>"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    writing: Writing {
        begin: "<tool_calls>\n",
        end: "\n</tool_calls>",
        between: "\n",
        after_content: "\n",
        result: "tool result: {content}\n\n",
        result_mark: None,
    },
};
