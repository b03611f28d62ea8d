//! Calls as NVIDIA's Nemotron Nano v2 writes them: a list of JSON objects between two tags. The prompt opens the reasoning.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const NEMOTRON_NANO_V2: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        starts_in_reasoning: true,
        trim_before_call: true,
        stops: &["<SPECIAL_12>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<TOOLCALL>"],
        rules: NativeEnvelope { close: &["</TOOLCALL>"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    writing: Writing {
        begin: "<TOOLCALL>[",
        end: "]</TOOLCALL>",
        between: ", ",
        after_content: "\n",
        result: "<TOOL_RESPONSE>[{content}]</TOOL_RESPONSE>",
        result_mark: Some("<TOOL_RESPONSE>"),
    },
};
