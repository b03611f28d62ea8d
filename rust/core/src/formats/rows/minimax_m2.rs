//! Calls as MiniMax M2 writes them: `<invoke name="NAME">` with `<parameter name="KEY">VALUE</parameter>` for each argument.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("minimax-m2.7 minimax-m2.5 minimax-m2.1 minimax-m2", "vLLM recipes, models/MiniMaxAI")],
    chat_templates: &[TemplateMarks::of(&[&["<minimax:tool_call>", "<invoke name=", "<parameter name="]])],
    ..Row::new("minimax-m2", || Arc::new(MINIMAX_M2))
}];

pub(super) const TAGS: Tags = Tags {
    section_ends: &["</minimax:tool_call>"],
    ..Tags::of("<invoke name=\"{name}\">\n{args}</invoke>", "<parameter name=\"{key}\">{value}</parameter>\n")
};

/// The prompt opens the reasoning.
pub(crate) const MINIMAX_M2: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES.call_ends(CallEnds::Declared)),
        starts_in_reasoning: true,
        trim_before_call: true,
        special_tokens: true,
        stops: &["[e~["],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    past_text: PastText::of(
        "\n<minimax:tool_call>\n{calls|\n}\n</minimax:tool_call>",
        "<response>{content}</response>",
    ),
}
.in_section();
