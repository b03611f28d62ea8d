//! Calls as Kimi K3 writes them: elements with attributes, each opened and closed by its name.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("kimi-k3", "vLLM recipes, models/moonshotai/Kimi-K3.yaml")],
    chat_templates: &[TemplateMarks::of(&[&[
        "'<|open|>' + tag",
        "'<|close|>' + tag",
        "open_tag('call'",
        "open_tag('argument'",
    ]])],
    ..Row::new("kimi-k3", || Arc::new(KIMI_K3))
}];

const TAGS: Tags = Tags {
    spaced: false,
    section_ends: &["<|close|>tools<|sep|>"],
    ..Tags::with_attributes(
        "<|open|>call tool=\"{name}\" index=\"{index}\"<|sep|>{args}<|close|>call<|sep|>",
        "<|open|>argument key=\"{key}\" type=\"{kind}\"<|sep|>{value}<|close|>argument<|sep|>",
        TagAttributes {
            index: Some("index"),
            kinds: ["string", "number", "boolean", "null", "array", "object"],
            escaped: true,
            ..TagAttributes::PLAIN
        },
    )
};

const ELEMENTS: Elements = Elements {
    reasoning: ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    content: &[("<|open|>response<|sep|>", "<|close|>response<|sep|>")],
    calls: ("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
    close: "<|close|>message<|sep|>",
    tags: &["<|open|>", "<|close|>"],
    always_present: true,
    ..Elements::PLAIN
};

pub(crate) const KIMI_K3: FlatFormat = FlatFormat {
    layout: Layout {
        parts: Some(&ELEMENTS),
        starts_in_reasoning: true,
        special_tokens: true,
        stops: &["<|end_of_msg|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    past_text: PastText::of(
        "<|open|>tools<|sep|>{calls}<|close|>tools<|sep|>",
        "<|open|>message role=\"tool\" tool=\"{name}\" index=\"{index}\"<|sep|>{content}<|close|>message<|sep|>",
    ),
}
.in_section();
