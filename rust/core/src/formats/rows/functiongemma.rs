//! What FunctionGemma writes: `<start_function_call>call:name{key:<escape>text<escape>}<end_function_call>`. From Google's page
//! "FunctionGemma formatting and best practices" and vLLM, `tool_parsers/functiongemma_tool_parser.py`.

use std::sync::Arc;

use crate::formats::bodies::notation::NotationFormat;
use crate::formats::frames::flat::{FlatFormat, PastText};
use crate::formats::layout::Layout;
use crate::formats::spec::{Models, Row, TemplateMarks};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("functiongemma", "vLLM, docs/features/tool_calling.md")],
    chat_templates: &[TemplateMarks::of(&[&["<start_function_call>call:", "<end_function_call>", "<escape>"]])],
    ..Row::new("functiongemma", || Arc::new(FUNCTIONGEMMA))
}];

pub(crate) const FUNCTIONGEMMA: FlatFormat = FlatFormat {
    layout: Layout {
        special_tokens: true,
        stops: &["<end_of_turn>", "<start_function_response>", "<eos>"],
        ..Layout::NATIVE
    },
    call: &NotationFormat { open: &["<start_function_call>"], close: "<end_function_call>", quote: "<escape>" },
    past_text: PastText::of(
        "{calls}",
        "<start_function_response>response:{name}{value:<escape>{content}<escape>}<end_function_response>",
    ),
};
