//! Calls as Hunyuan Hy3 and Hy4 write them: keys and values in tags with a suffix, which is that of the checkpoint.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[
    Row {
        models: &[Models::of("hy3", "vLLM recipes, models/tencent/Hy3.yaml")],
        chat_templates: &[TemplateMarks::of(&[WITH_SUFFIX, &[":opensource"]])],
        also: &[|| Arc::new(HY3_PREVIEW)],
        ..Row::new("hy3", || Arc::new(HY3))
    },
    Row {
        models: &[Models::of("hy3-preview", "vLLM recipes, models/tencent/Hy3-preview.yaml")],
        chat_templates: &[TemplateMarks::of(&[WITH_SUFFIX]).lacks(&[":opensource"])],
        ..Row::new("hy3-preview", || Arc::new(HY3_PREVIEW))
    },
    Row {
        models: &[Models::of("hy4", "vLLM, parser hy_v4")],
        also: &[|| Arc::new(HY4_BARE)],
        ..Row::new("hy4", || Arc::new(HY4))
    },
];

/// A variable has the suffix.
const WITH_SUFFIX: &[&str] = &["'<tool_calls{}>'", "'<tool_call{}>'", "'<tool_sep{}>'", "'<arg_key{}>'"];

const TAGS: Tags = Tags {
    section_ends: &["</tool_calls:opensource>"],
    ..Tags::of(
        "<tool_call:opensource>{name}<tool_sep:opensource>\n{args}</tool_call:opensource>",
        "<arg_key:opensource>{key}</arg_key:opensource>\n<arg_value:opensource>{value}</arg_value:opensource>\n",
    )
};

/// The prompt opens the reasoning, or closes it if the host does not ask for it.
pub(crate) const HY3: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(
            ReasoningMarks::of("<think:opensource>{reasoning}</think:opensource>").call_ends(CallEnds::Declared),
        ),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<｜hy_eos:opensource｜>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    past_text: PastText::of(
        "<tool_calls:opensource>\n{calls|\n}\n</tool_calls:opensource>",
        "<tool_response:opensource>\n{content}\n</tool_response:opensource>",
    )
    .marked("<tool_response:opensource>"),
}
.in_section();

/// Hy3-preview, whose tags have no suffix. SGLang, `function_call/hunyuan_detector.py`; vLLM, `tool_parsers/hy_v3_tool_parser.py`.
pub(crate) const HY3_PREVIEW: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::BARE.call_ends(CallEnds::Declared)),
        stops: &["<｜hy_eos｜>"],
        ..HY3.layout
    },
    call: &Tagged(&Tags {
        section_ends: &["</tool_calls>"],
        ..Tags::of(
            "<tool_call>{name}<tool_sep>\n{args}</tool_call>",
            "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n",
        )
    }),
    past_text: PastText::of("<tool_calls>\n{calls|\n}\n</tool_calls>", "<tool_response>\n{content}\n</tool_response>")
        .marked("<tool_response>"),
}
.in_section();

/// Hy4, which has no tag after the name. vLLM, `tool_parsers/hy_v4_tool_parser.py`; the suffix is that of Hy4-preview.
pub(crate) const HY4: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(
            ReasoningMarks::of("<think:6124c78e>{reasoning}</think:6124c78e>").call_ends(CallEnds::Declared),
        ),
        stops: &["<｜hy_eos:6124c78e｜>"],
        ..HY3.layout
    },
    call: &Tagged(&Tags {
        section_ends: &["</tool_calls:6124c78e>"],
        ..Tags::of(
            "<tool_call:6124c78e>{name}\n{args}</tool_call:6124c78e>",
            "<arg_key:6124c78e>{key}</arg_key:6124c78e>\n<arg_value:6124c78e>{value}</arg_value:6124c78e>\n",
        )
    }),
    past_text: PastText::of(
        "<tool_calls:6124c78e>\n{calls|\n}\n</tool_calls:6124c78e>",
        "<tool_response:6124c78e>\n{content}\n</tool_response:6124c78e>",
    )
    .marked("<tool_response:6124c78e>"),
}
.in_section();

/// Hy4 without a suffix. vLLM takes the suffix from the tokenizer, which may have none.
const HY4_BARE: FlatFormat = FlatFormat {
    call: &Tagged(&Tags {
        section_ends: &["</tool_calls>"],
        ..Tags::of(
            "<tool_call>{name}\n{args}</tool_call>",
            "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n",
        )
    }),
    ..HY3_PREVIEW
}
.in_section();
