//! Calls as Apriel 1.6 writes them: as 1.5. The prompt opens the reasoning.

use std::sync::Arc;

use crate::formats::bodies::envelope::NativeEnvelope;
use crate::formats::bodies::envelope::marked::MarkedEnvelope;
use crate::formats::frames::flat::{FlatFormat, PastText};
use crate::formats::layout::{Layout, ReasoningMarks};
use crate::formats::spec::{Models, Row, TemplateMarks};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("apriel-1.6-*-thinker", "llama.cpp, models/templates/Apriel-1.6-15b-Thinker-fixed.jinja")],
    chat_templates: &[TemplateMarks::of(&[&[
        "<tool_calls>[",
        "]</tool_calls>",
        "[BEGIN FINAL RESPONSE]",
        "<|begin_assistant|>",
    ]])],
    ..Row::new("apriel-1.6", || Arc::new(APRIEL_1_6))
}];

pub(crate) const APRIEL_1_6: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            written: ("", "\n[BEGIN FINAL RESPONSE]\n"),
            prompt: Some("Here are my reasoning steps:\n"),
            ..ReasoningMarks::of("Here are my reasoning steps:\n{reasoning}\n[BEGIN FINAL RESPONSE]\n")
        }),
        answer: Some(("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]")),
        starts_in_reasoning: true,
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
