//! Messages to recipients, as Muse writes them: ` to=NAME<|message|>`, and calls in tags to each tool.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("muse-glimmer muse-spark-open", "vLLM recipes, models/meta-models")],
    chat_templates: &[TemplateMarks::of(&[&["<atem:function_calls>", "<atem:invoke name=", "<atem:parameter name="]])],
    ..Row::new("muse", || Arc::new(MUSE))
}];

pub(crate) const MUSE: FlatFormat = FlatFormat {
    layout: Layout {
        parts: Some(&Channels {
            start: "<|start|>",
            channel: "",
            constrain: "<|constrain|>",
            separator: "<|message|>",
            ends: &["<|eot|>", "<|eom|>"],
            recipient: "to=",
            functions: "",
            built_in: &[],
            reasoning: "self",
            content: &["user"],
            address: " to={name}<|message|><atem:function_calls>\n",
            spaced: false,
            arguments: "{",
        }),
        section: Some(Section { begin: "<atem:function_calls>", end: "</atem:function_calls>", also: &["<|eot|>", "<|eom|>"] }),
        special_tokens: true,
        ..Layout::NATIVE
    },
    call: &Tagged(&Tags {
    section_ends: &["</atem:function_calls>"],
    ..Tags::of(
        "<atem:invoke name=\"{name}\">\n{args}</atem:invoke>",
        "<atem:parameter name=\"{key}\">{value}</atem:parameter>\n",
    )
}),
    past_text: PastText::of("{content|<|eom|><|start|>assistant}{calls|\n</atem:function_calls><|eom|><|start|>assistant}\n</atem:function_calls><|eot|>", "<tool_output name=\"{name}\">\n{content}\n</tool_output>").marked("<tool_output"),
};
