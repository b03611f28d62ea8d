//! Calls as LongCat writes them: one JSON object between two tags. From vLLM, `tool_parsers/longcat_tool_parser.py`.

use std::sync::Arc;

use crate::formats::bodies::envelope::NativeEnvelope;
use crate::formats::bodies::envelope::marked::MarkedEnvelope;
use crate::formats::frames::flat::{FlatFormat, PastText};
use crate::formats::layout::{Layout, ReasoningMarks};
use crate::formats::spec::{Models, Row, TemplateMarks};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("longcat-flash-chat", "vLLM, docs/features/tool_calling.md")],
    chat_templates: &[TemplateMarks::of(&[&["<longcat_tool_call>", "</longcat_tool_call>"]])],
    ..Row::new("longcat", || Arc::new(LONGCAT))
}];

pub(crate) const LONGCAT: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::of("<longcat_think>\n{reasoning}\n</longcat_think>\n")),
        trim_before_call: true,
        stops: &["</longcat_s>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<longcat_tool_call>"],
        written: "<longcat_tool_call>\n{\"name\": {name}, \"arguments\": {arguments}}\n</longcat_tool_call>",
        keys: NativeEnvelope { close: &["</longcat_tool_call>"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    past_text: PastText::of("{content|\n}{calls|\n}", "{content}"),
};
