//! What MiniMax-M3 writes: an element for each argument, with a prefix before every tag.

use super::prelude::*;

use crate::formats::bodies::nested::NestedFormat;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("minimax-m3.1-flash minimax-m3", "vLLM recipes, models/MiniMaxAI")],
    chat_templates: &[TemplateMarks::of(&[&["]<]minimax[>[", "tool_call>", "invoke name="]])],
    ..Row::new("minimax-m3", || Arc::new(MINIMAX_M3))
}];

pub(crate) const MINIMAX_M3: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::of("<mm:think>{reasoning}</mm:think>").call_ends(CallEnds::Declared)),
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
    past_text: PastText::of(
        "]<]minimax[>[<tool_call>\n{calls|\n}\n]<]minimax[>[</tool_call>",
        "<response>{content}</response>",
    ),
}
.in_section();
