//! Calls as Hunyuan A13B writes them: a list of JSON objects between two tags. From vLLM, `tool_parsers/hunyuan_a13b_tool_parser.py`
//! and `reasoning/hunyuan_a13b_reasoning_parser.py`.

use std::sync::Arc;

use crate::formats::bodies::envelope::NativeEnvelope;
use crate::formats::bodies::envelope::marked::MarkedEnvelope;
use crate::formats::frames::flat::{FlatFormat, PastText};
use crate::formats::layout::{Layout, ReasoningMarks};
use crate::formats::spec::{Models, Row};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("hunyuan-a13b", "vLLM, docs/features/tool_calling.md")],
    ..Row::new("hunyuan-a13b", || Arc::new(HUNYUAN_A13B))
}];

pub(crate) const HUNYUAN_A13B: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::of("<think>\n{reasoning}\n</think>\n")),
        answer: Some(("<answer>", "</answer>")),
        trim_before_call: true,
        stops: &["<|eos|>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<tool_calls>"],
        keys: NativeEnvelope { close: &["</tool_calls>"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    past_text: PastText::of("<tool_calls>[{calls|, }]</tool_calls>", "<tool_response>{content}</tool_response>")
        .marked("<tool_response>"),
};
