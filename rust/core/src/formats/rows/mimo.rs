//! Calls as MiMo V2 writes them: the functions of Seed-OSS, in the block of Qwen3-Coder.
//! SGLang, `function_call/mimo_detector.py`.

use super::prelude::*;

use crate::formats::rows::seed_oss::TAGS;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of(
        "mimo-v2.6-flash-rl mimo-v2.6-pro-rl mimo-v2.6-flash-mopd mimo-v2.6-pro-mopd mimo-v2.5-pro mimo-v2.5 mimo-v2-flash",
        "vLLM recipes, models/XiaomiMiMo",
    )],
    ..Row::new("mimo-v2", || Arc::new(MIMO_V2))
}];

pub(crate) const MIMO_V2: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::BARE.call_ends(CallEnds::Declared)),
        trim_before_call: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&Tags { values: ValueStyle::Json, section_ends: &["</tool_call>"], ..TAGS }),
    past_text: PastText::of(
        "{content|\n}<tool_call>\n{calls|\n</tool_call>\n<tool_call>\n}\n</tool_call>",
        "<tool_response>\n{content}\n</tool_response>",
    )
    .marked("<tool_response>"),
}
.in_section();
