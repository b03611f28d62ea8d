//! Calls as dots.llm writes them: the tags of MiniMax M2, each value and each call on lines of its own.
//! SGLang, `function_call/dots_detector.py`; the line breaks are those that the prompt asks for.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("dots3-note-prev", "vLLM recipes, models/dots-studio/dots3-note-prev.yaml")],
    chat_templates: &[TemplateMarks::of(&[&["<dots_function_call>", "<invoke name=", "<parameter name="]])],
    ..Row::new("dots", || Arc::new(DOTS))
}];

pub(crate) const DOTS: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES.call_ends(CallEnds::Declared)),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<|endofassistant|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&Tags {
        section_ends: &["</dots_function_call>"],
        ..Tags::of("<invoke name=\"{name}\">\n{args}</invoke>", "<parameter name=\"{key}\">\n{value}\n</parameter>\n")
    }),
    past_text: PastText::of(
        "\n<dots_function_call>\n{calls|\n</dots_function_call>\n<dots_function_call>\n}\n</dots_function_call>",
        "\n<dots_function_response>\n{content}\n</dots_function_response>",
    )
    .marked("<dots_function_response>"),
}
.in_section();
