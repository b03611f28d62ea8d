//! Calls as Laguna XS writes them: those of GLM-4.5, with the reasoning on lines of its own. Laguna S writes those of GLM-4.7.

use super::glm::GLM_4_5;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks};

/// The prompt opens the reasoning only if the host asks for it.
pub(crate) const LAGUNA_XS: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            written: ("<think>\n", "\n</think>\n"),
            prompt: Some("<think>"),
            call_ends: CallEnds::Declared,
            ..ReasoningMarks::LINES
        }),
        stops: &["</assistant>"],
        ..GLM_4_5.layout
    },
    writing: Writing { result: "<tool_response>\n{content}\n</tool_response>", ..GLM_4_5.writing },
    ..GLM_4_5
};
