//! Calls as Apriel 1.5 writes them: a list of JSON objects, with ids in past messages. It reasons after a fixed sentence, up to its
//! final response.

use std::sync::Arc;

use crate::formats::bodies::envelope::NativeEnvelope;
use crate::formats::bodies::envelope::marked::MarkedEnvelope;
use crate::formats::frames::flat::{FlatFormat, PastText};
use crate::formats::layout::{Layout, ReasoningMarks};
use crate::formats::spec::{Models, Row, TemplateMarks};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("apriel-1.5-*-thinker", "llama.cpp, models/templates/unsloth-Apriel-1.5.jinja")],
    chat_templates: &[TemplateMarks::of(&[&[
        "<tool_calls>[",
        "]</tool_calls>",
        "[BEGIN FINAL RESPONSE]",
        "<|assistant|>",
    ]])],
    ..Row::new("apriel-1.5", || Arc::new(APRIEL_1_5))
}];

pub(crate) const APRIEL_1_5: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            also: &[("<thinking>", "</thinking>")],
            ..ReasoningMarks::of("Here are my reasoning steps:\n{reasoning}\n[BEGIN FINAL RESPONSE]\n")
        }),
        answer: Some(("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]")),
        trim_before_call: true,
        stops: &["<|end|>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<tool_calls>"],
        written: r#"{"name": {name}, "arguments": {arguments}, "id": {id}}"#,
        keys: NativeEnvelope { close: &["</tool_calls>"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    past_text: PastText::of("\n<tool_calls>[{calls|, }]</tool_calls>", "{content}"),
};
