//! Messages as Solar Open writes them: reasoning, content and calls, each in an element, and each call with its id.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("solar-open", "llama.cpp, models/templates/upstage-Solar-Open-100B.jinja")],
    chat_templates: &[TemplateMarks::of(&[&["<|tool_call:begin|>", "<|tool_call:name|>", "<|tool_call:args|>"]])],
    ..Row::new("solar-open", || Arc::new(SOLAR_OPEN))
}];

const ELEMENTS: Elements = Elements {
    reasoning: ("<|think|>", "<|end|>"),
    content: &[("<|content|>", "<|end|>")],
    calls: ("<|tool_calls|>", "<|calls|>"),
    join: "<|begin|>assistant",
    tags: &["<|begin|>", "<|think|>", "<|content|>", "<|tool_calls|>", "<|tool_call:", "<|end|>", "<|calls|>"],
    ..Elements::PLAIN
};

pub(crate) const SOLAR_OPEN: FlatFormat = FlatFormat {
    layout: Layout {
        parts: Some(&ELEMENTS),
        special_tokens: true,
        stops: &["<|flush|>", "<|calls|>"],
        ..Layout::NATIVE
    },
    call: &NamedJson {
        open: &["<|tool_call:begin|>"],
        name_terminators: &["<|tool_call:args|>"],
        around_arguments: ("<|tool_call:args|>", ""),
        id: IdForm::BeforeName { mark: "<|tool_call:name|>" },
        ends: &Ends { fence: "", close: "<|tool_call:end|>", implicit_closers: &["<|tool_call:begin|>", "<|calls|>"] },
        ..NamedJson::PLAIN
    },
    past_text: PastText::of(
        "<|tool_calls|>{calls}<|calls|>",
        "<|tool_response:begin|>{id}<|tool_response:name|>{name}<|tool_response:result|>{content}<|tool_response:end|>",
    )
    .marked("<|tool_response"),
}
.in_section();
