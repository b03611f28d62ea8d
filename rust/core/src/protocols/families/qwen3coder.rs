//! Calls as Qwen3-Coder writes them: a function with its parameters, each as raw text in a tag.

use crate::protocols::frames::flat::Writing;
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
    writing: Writing {
        after_content: "\n\n",
        result: "<tool_response>\n{content}\n</tool_response>",
        result_mark: Some("<tool_response>"),
        ..Writing::LINES
    },
};

/// The same for models whose prompt opens the reasoning.
pub(crate) const QWEN35: ParamsFamily =
    ParamsFamily { layout: Layout { starts_in_reasoning: true, ..QWEN3CODER.layout }, ..QWEN3CODER };

/// Line breaks around the reasoning as NVIDIA's and StepFun's templates write them.
const REASONING: Option<ReasoningMarks> = Some(ReasoningMarks {
    written: ("<think>\n", "\n</think>\n"),
    call_ends: CallEnds::Always,
    ..ReasoningMarks::LINES
});

/// Of Nemotron 3, with each call on lines of its own.
pub(crate) const NEMOTRON_3: ParamsFamily = ParamsFamily {
    layout: Layout { reasoning: REASONING, ..QWEN35.layout },
    writing: Writing { end: "\n", after_content: "\n", ..QWEN3CODER.writing },
    ..QWEN35
};

/// Of Step 3.5 and 3.7, with nothing around calls.
pub(crate) const STEP_3_5: ParamsFamily = ParamsFamily {
    layout: Layout { reasoning: REASONING, ..QWEN35.layout },
    writing: Writing {
        between: "",
        after_content: "",
        result: "<tool_response>{content}</tool_response>",
        ..QWEN3CODER.writing
    },
    ..QWEN35
};
