//! Calls as Step 3 writes them: `<steptml:invoke name="NAME">` with `<steptml:parameter name="KEY">VALUE</steptml:parameter>` for
//! each argument. SGLang, `function_call/step3_detector.py`; vLLM, `reasoning/step3_reasoning_parser.py`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("step-3", "SGLang, step3_detector.py")],
    chat_templates: &[TemplateMarks::of(&[&["<steptml:invoke name=", "<steptml:parameter name="]])],
    ..Row::new("step-3", || Arc::new(STEP_3))
}];

/// Text around calls in the section is skipped.
/// The prompt opens the reasoning.
pub(crate) const STEP_3: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        starts_in_reasoning: true,
        section: Some(Section { begin: "<｜tool_calls_begin｜>", end: "<｜tool_calls_end｜>", also: &[] }),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<|EOT|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&Tags {
        section_ends: &["<｜tool_call_end｜>", "<｜tool_calls_end｜>"],
        ..Tags::of(
            "<steptml:invoke name=\"{name}\">\n{args}</steptml:invoke>",
            "<steptml:parameter name=\"{key}\">{value}</steptml:parameter>\n",
        )
    }),
    past_text: PastText::of(
        "{content|\n}<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>{calls|<｜tool_call_end｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>}<｜tool_call_end｜>\n<｜tool_calls_end｜>",
        "{content}",
    ),
};
