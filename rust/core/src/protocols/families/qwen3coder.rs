//! Calls as Qwen3-Coder writes them: a function with its parameters, each as raw text in a tag.

use crate::protocols::frames::params::ParamsFamily;
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks};
use crate::syntax::tags::QWEN3CODER as TAGS;

pub(crate) const QWEN3CODER: ParamsFamily = ParamsFamily {
    row: &TAGS,
    fixed: "the tags of qwen3coder are fixed, so it has no delimiters",
    layout: Layout {
        reasoning: Some(ReasoningMarks { call_ends: CallEnds::Always, ..ReasoningMarks::LINES }),
        trim_before_call: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
};

/// The same for models whose prompt opens the reasoning.
pub(crate) const QWEN35: ParamsFamily =
    ParamsFamily { layout: Layout { starts_in_reasoning: true, ..QWEN3CODER.layout }, ..QWEN3CODER };
