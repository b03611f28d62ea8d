//! Calls as Hunyuan A13B writes them: a list of JSON objects between two tags. From vLLM, `tool_parsers/hunyuan_a13b_tool_parser.py`
//! and `reasoning/hunyuan_a13b_reasoning_parser.py`.

use std::sync::Arc;

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};
use crate::protocols::row::{Models, Row};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("hunyuan-a13b", "vLLM, docs/features/tool_calling.md")],
    ..Row::new("hunyuan-a13b", || Arc::new(HUNYUAN_A13B))
}];

pub(crate) const HUNYUAN_A13B: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks::of("<think>\n{reasoning}\n</think>\n")),
        answer: Some(("<answer>", "</answer>")),
        trim_before_call: true,
        stops: &["<|eos|>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<tool_calls>"],
        rules: NativeEnvelope { close: &["</tool_calls>"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    writing: Writing::of("<tool_calls>[{calls|, }]</tool_calls>", "<tool_response>{content}</tool_response>")
        .marked("<tool_response>"),
};
