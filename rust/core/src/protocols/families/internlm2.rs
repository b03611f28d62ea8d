//! Calls as InternLM2 and Intern-S1 write them: two tokens before each JSON object, and one after it. From vLLM,
//! `tool_parsers/internlm2_tool_parser.py`.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const INTERNLM2: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"],
        written: "<|action_start|><|plugin|>\n{\"name\": {name}, \"parameters\": {arguments}}<|action_end|>",
        rules: NativeEnvelope {
            arguments: &["parameters", "arguments"],
            close: &["<|action_end|>"],
            ..NativeEnvelope::USUAL
        },
        ..MarkedEnvelope::LIST
    },
    writing: Writing { begin: "", end: "", between: "", after_content: "", result: "{content}", result_mark: None },
};
