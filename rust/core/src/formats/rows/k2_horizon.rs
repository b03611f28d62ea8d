//! Calls as K2 Horizon writes them: keys and values in tags, and a type before a value if the prompt asks for types.
//! vLLM, `tool_parsers/k2_horizon_tool_parser.py` and `reasoning/k2_horizon_reasoning_parser.py`.

use super::prelude::*;

use crate::formats::bodies::tagged::{Head, KeyTags, Tagged, Tags};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[
        Models::of("k2-horizon", "SGLang, k2_v3_detector.py"),
        Models::of("k2-horizon-mova jais-3-mova jais-3", "vLLM recipes, models/IFM"),
    ],
    chat_templates: &[TemplateMarks::of(&[&["<ifm|tool_calls>", "<ifm|tool_call>"]])],
    ..Row::new("k2-horizon", || Arc::new(K2_HORIZON))
}];

/// The prompt opens the reasoning, with the word of the effort.
pub(crate) const K2_HORIZON: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            also: &[("<ifm|think_fast>", "</ifm|think_fast>"), ("<ifm|think_faster>", "</ifm|think_faster>")],
            call_ends: CallEnds::Declared,
            ..ReasoningMarks::of("<ifm|think>\n{reasoning}\n</ifm|think>\n")
        }),
        starts_in_reasoning: true,
        trim_before_call: true,
        special_tokens: true,
        stops: &["<|ifm|im_end|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&Tags {
        head: Head::Text(KeyTags {
            name_close: "",
            key_close: "</ifm|arg_key>",
            kind: Some(("<ifm|arg_type>", "</ifm|arg_type>")),
            value: "<ifm|arg_value>",
        }),
        section_ends: &["</ifm|tool_calls>"],
        ..Tags::of(
            "<ifm|tool_call>{name}\n{args}</ifm|tool_call>",
            "<ifm|arg_key>{key}</ifm|arg_key>\n<ifm|arg_value>{value}</ifm|arg_value>\n",
        )
    }),
    past_text: PastText::of("{content|\n}<ifm|tool_calls>\n{calls|\n}\n</ifm|tool_calls>", "{content}"),
}
.in_section();
