//! Messages as Inkling writes them: reasoning, content, and each call in an element of its own. From vLLM, `parser/inkling.py`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("inkling inkling-small", "vLLM recipes, models/thinkingmachines")],
    chat_templates: &[TemplateMarks::of(&[&["<|content_invoke_tool_json|>", "<|end_message|>"]])],
    response_templates: &[TemplateMarks::of(&[&[
        "<|content_invoke_tool_json|>",
        "close <|end_message|>",
        "{content.args}",
    ]])],
    ..Row::new("inkling", || Arc::new(INKLING))
}];

const ELEMENTS: Elements = Elements {
    reasoning: ("<|content_thinking|>", "<|end_message|>"),
    content: &[("<|content_text|>", "<|end_message|>")],
    calls: ("<|content_invoke_tool_json|>", "<|end_message|>"),
    join: "<|message_model|>",
    tags: &["<|message_model|>", "<|content_", "<|end_message|>"],
    name_first: true,
    ..Elements::PLAIN
};

pub(crate) const INKLING: FlatFormat = FlatFormat {
    layout: Layout {
        parts: Some(&ELEMENTS),
        special_tokens: true,
        stops: &["<|content_model_end_sampling|>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &[ELEMENTS.calls.0],
        lists: false,
        written: r#"<|content_invoke_tool_json|>{"name":{name},"args":{arguments}}<|end_message|>"#,
        keys: JsonRules { arguments: &["args"], close: &[ELEMENTS.calls.1], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of(
        "{calls|<|message_model|>}",
        "<|message_tool|>{name}<|content_text|>{content}<|end_message|>",
    )
    .marked("<|message_tool|>"),
};
