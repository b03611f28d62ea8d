//! Calls as Hunyuan A13B writes them: a list of JSON objects between two tags. From vLLM, `tool_parsers/hunyuan_a13b_tool_parser.py`
//! and `reasoning/hunyuan_a13b_reasoning_parser.py`.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const HUNYUAN_A13B: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks { written: ("<think>\n", "\n</think>\n"), ..ReasoningMarks::LINES }),
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
    writing: Writing {
        begin: "<tool_calls>[",
        end: "]</tool_calls>",
        between: ", ",
        after_content: "",
        result: "<tool_response>{content}</tool_response>",
        result_mark: Some("<tool_response>"),
    },
};
