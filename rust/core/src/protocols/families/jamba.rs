//! Calls as Jamba writes them: a list of JSON objects between two tags. From vLLM, `tool_parsers/jamba_tool_parser.py`.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const JAMBA: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        trim_before_call: true,
        stops: &["<|eom|>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<tool_calls>"],
        rules: NativeEnvelope { close: &["</tool_calls>"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    writing: Writing {
        begin: "<tool_calls>[",
        end: "]</tool_calls>",
        between: ", ",
        after_content: "\n",
        result: "{content}",
        result_mark: None,
    },
};
