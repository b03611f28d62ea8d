//! Calls as Seed-OSS writes them: a function with its parameters, each as raw text in a tag. Each call is in a section of its own.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("seed-oss", "vLLM recipes, models/ByteDance-Seed/Seed-OSS-36B-Instruct.yaml")],
    chat_templates: &[TemplateMarks::of(&[&["<seed:tool_call>", "<function=", "<parameter=", "</seed:tool_call>"]])],
    ..Row::new("seed-oss", || Arc::new(SEED_OSS))
}];

pub(super) const TAGS: Tags = Tags {
    values: ValueStyle::Python,
    section_ends: &["</seed:tool_call>"],
    ..Tags::of("<function={name}>\n{args}</function>", "<parameter={key}>{value}</parameter>\n")
};

pub(crate) const SEED_OSS: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::of("<seed:think>{reasoning}</seed:think>\n").call_ends(CallEnds::Declared)),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<seed:eos>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    past_text: PastText::of(
        "{content|\n\n}<seed:tool_call>\n{calls|\n</seed:tool_call>\n<seed:tool_call>\n}\n</seed:tool_call>",
        "{content}",
    ),
}
.in_section();
