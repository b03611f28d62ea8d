//! Calls as xLAM writes them: a list of JSON objects as the whole message, there also in a fence, or after a marker. From vLLM,
//! `tool_parsers/xlam_tool_parser.py`.

use std::sync::Arc;

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};
use crate::protocols::row::{Models, Row};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("llama-xlam-2-*-fc-r xlam-2-*-fc-r qwen-xlam-*-fc-r", "vLLM, docs/features/tool_calling.md")],
    ..Row::new("xlam", || Arc::new(XLAM))
}];

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
    writing: Writing::of("{content|[TOOL_CALLS]}[{calls|, }]", "{content}"),
};
