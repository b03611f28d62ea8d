//! A call as GigaChat 3.1 writes it: one JSON object after a token. The form of 3, a message of its own, is read, too.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    aliases: &["gigachat3.1"],
    models: &[Models::of("gigachat3.1 gigachat3", "vLLM, docs/features/tool_calling.md")],
    chat_templates: &[
        TemplateMarks::of(&[&["<|message_sep|>", "<|role_sep|>", "'function call'"]]),
        TemplateMarks::of(&[&["<|message_sep|>", "<|role_sep|>", "<|function_call|>"]]),
    ],
    ..Row::new("gigachat3", || Arc::new(GIGACHAT3))
}];

pub(crate) const GIGACHAT3: FlatFormat = FlatFormat {
    layout: Layout { special_tokens: true, stops: &["<|message_sep|>", "</s>"], ..Layout::NATIVE },
    call: &MarkedJson {
        open: &["<|function_call|>", "<|message_sep|>\n\nfunction call<|role_sep|>\n"],
        lists: false,
        end_of_message: "<|message_sep|>",
        written: r#"<|function_call|>{"name": {name}, "arguments": {arguments}}"#,
        ..MarkedJson::LIST
    },
    past_text: PastText::of("{calls}", "{content}"),
};
