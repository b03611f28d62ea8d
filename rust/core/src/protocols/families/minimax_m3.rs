//! What MiniMax-M3 writes: an element for each argument, with a prefix before every tag.

use crate::protocols::bodies::nested::NestedFormat;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks, Section};

pub(crate) const MINIMAX_M3: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[("<mm:think>", "</mm:think>")],
            written: ("<mm:think>", "</mm:think>"),
            call_ends: CallEnds::Declared,
            ..ReasoningMarks::BARE
        }),
        section: Some(Section { begin: &["]<]minimax[>[<tool_call>"], end: &["]<]minimax[>[</tool_call>"] }),
        special_tokens: true,
        stops: &["[e~["],
        ..Layout::NATIVE
    },
    call: &NestedFormat {
        open: &["]<]minimax[>[<invoke name=\""],
        open_end: "\">",
        prefix: "]<]minimax[>[",
        close: "]<]minimax[>[</invoke>",
        item: "item",
        ends: &["]<]minimax[>[<invoke name=\"", "]<]minimax[>[</tool_call>"],
    },
    writing: Writing {
        begin: "]<]minimax[>[<tool_call>\n",
        end: "\n]<]minimax[>[</tool_call>",
        between: "\n",
        after_content: "",
        result: "<response>{content}</response>",
        result_mark: None,
    },
};
