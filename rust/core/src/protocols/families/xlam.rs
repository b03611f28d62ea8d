//! Calls as xLAM writes them: a list of JSON objects as the whole message, there also in a fence, or after a marker. From vLLM,
//! `tool_parsers/xlam_tool_parser.py`.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const XLAM: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        trim_before_call: true,
        stops: &["<|im_end|>", "<|eot_id|>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<tool_call>", "[TOOL_CALLS]"],
        begin: &["```json", "```", ""],
        rules: NativeEnvelope { may_be_text: true, close: &["</tool_call>", "```"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    writing: Writing {
        begin: "[",
        end: "]",
        between: ", ",
        after_content: "[TOOL_CALLS]",
        result: "{content}",
        result_mark: None,
    },
};
