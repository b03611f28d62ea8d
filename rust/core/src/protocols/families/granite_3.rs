//! Calls as Granite 3 writes them: a list of JSON objects after a token, or after a tag in 3.1. From vLLM,
//! `tool_parsers/granite_tool_parser.py` and `reasoning/granite_reasoning_parser.py`.

use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const GRANITE_3: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks::BARE),
        answer: Some(("<response>", "</response>")),
        trim_before_call: true,
        stops: &["<|end_of_text|>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope { open: &["<|tool_call|>", "<tool_call>"], last: "<|end_of_text|>", ..MarkedEnvelope::LIST },
    writing: Writing {
        begin: "<|tool_call|> [",
        end: "]",
        between: ", ",
        after_content: "\n",
        result: "{content}",
        result_mark: None,
    },
};
