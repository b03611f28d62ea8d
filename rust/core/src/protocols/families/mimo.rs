//! Calls as MiMo V2 writes them: the functions of Seed-OSS, in the block of Qwen3-Coder.
//! SGLang, `function_call/mimo_detector.py`.

use super::seed_oss::TAGS;
use crate::protocols::bodies::tagged::{Tagged, Tags, ValueStyle};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks, Section};

pub(crate) const MIMO_V2: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks { call_ends: CallEnds::Declared, ..ReasoningMarks::BARE }),
        section: Some(Section { begin: &["<tool_call>"], end: &["</tool_call>"] }),
        trim_before_call: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&Tags { values: ValueStyle::Json, ends: &["<function=", "</tool_call>"], ..TAGS }),
    writing: Writing {
        begin: "<tool_call>\n",
        end: "\n</tool_call>",
        between: "\n</tool_call>\n<tool_call>\n",
        after_content: "\n",
        result: "<tool_response>\n{content}\n</tool_response>",
        result_mark: Some("<tool_response>"),
    },
};
