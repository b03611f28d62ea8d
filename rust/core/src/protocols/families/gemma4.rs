//! What Gemma 4 writes: `<|tool_call>call:name{key:<|"|>text<|"|>,list:[1,true]}<tool_call|>`.

use crate::protocols::bodies::notation::NotationFormat;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks};

pub(crate) const GEMMA4: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[("<|channel>thought\n", "<channel|>")],
            written: ("<|channel>thought\n", "\n<channel|>"),
            prompt: None,
            break_after_open: false,
            break_before_close: true,
            breaks_after: false,
            call_ends: CallEnds::Declared,
        }),
        calls_first: true,
        special_tokens: true,
        stops: &["<turn|>", "<|tool_response>", "<eos>"],
        ..Layout::NATIVE
    },
    call: &NotationFormat { open: &["<|tool_call>"], close: "<tool_call|>", quote: "<|\"|>" },
    writing: Writing {
        begin: "",
        end: "",
        between: "",
        after_content: "",
        result: "<|tool_response>response:{name}{value:<|\"|>{content}<|\"|>}<tool_response|>",
        result_mark: None,
    },
};
