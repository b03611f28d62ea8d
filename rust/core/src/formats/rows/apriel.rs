//! Calls as Apriel 1.5 and 1.6 write them: a list of JSON objects, with ids in past messages. They reason after a fixed sentence, up to
//! their final response.

use super::prelude::*;

const LIST: &[&str] = &["<tool_calls>[", "]</tool_calls>", "[BEGIN FINAL RESPONSE]"];

pub(crate) const ROWS: &[Row] = &[
    Row {
        models: &[Models::of("apriel-1.5-*-thinker", "llama.cpp, models/templates/unsloth-Apriel-1.5.jinja")],
        chat_templates: &[TemplateMarks::of(&[LIST, &["<|assistant|>"]])],
        ..Row::new("apriel-1.5", || Arc::new(APRIEL_1_5))
    },
    Row {
        models: &[Models::of("apriel-1.6-*-thinker", "llama.cpp, models/templates/Apriel-1.6-15b-Thinker-fixed.jinja")],
        chat_templates: &[TemplateMarks::of(&[LIST, &["<|begin_assistant|>"]])],
        ..Row::new("apriel-1.6", || Arc::new(APRIEL_1_6))
    },
];

const REASONING: ReasoningMarks =
    ReasoningMarks::of("Here are my reasoning steps:\n{reasoning}\n[BEGIN FINAL RESPONSE]\n");

pub(crate) const APRIEL_1_5: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks { also: &[("<thinking>", "</thinking>")], ..REASONING }),
        answer: Some(("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]")),
        trim_before_call: true,
        stops: &["<|end|>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<tool_calls>"],
        written: r#"{"name": {name}, "arguments": {arguments}, "id": {id}}"#,
        keys: JsonRules { close: &["</tool_calls>"], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("\n<tool_calls>[{calls|, }]</tool_calls>", "{content}"),
};

/// The prompt opens the reasoning.
pub(crate) const APRIEL_1_6: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            written: ("", "\n[BEGIN FINAL RESPONSE]\n"),
            prompt: Some("Here are my reasoning steps:\n"),
            ..REASONING
        }),
        starts_in_reasoning: true,
        ..APRIEL_1_5.layout
    },
    ..APRIEL_1_5
};
