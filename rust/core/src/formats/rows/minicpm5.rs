//! Calls as MiniCPM5 writes them: `<function name="NAME"><param name="KEY">VALUE</param></function>`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("minicpm5", "vLLM recipes, models/openbmb/MiniCPM5-1B.yaml")],
    chat_templates: &[TemplateMarks::of(&[&[r#"'<function name="'"#, r#"'<param name="'"#, "CDATA"]])],
    ..Row::new("minicpm5", || Arc::new(MINICPM5))
}];

const TAGS: Tags = Tags {
    values: ValueStyle::PythonOrCdata,
    ..Tags::of("<function name=\"{name}\">{args}</function>", "<param name=\"{key}\">{value}</param>")
};

pub(crate) const MINICPM5: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES.call_ends(CallEnds::Declared)),
        trim_before_call: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    past_text: PastText::of("{content|\n}{calls|\n}", "<tool_response>\n{content}\n</tool_response>")
        .marked("<tool_response>"),
};
