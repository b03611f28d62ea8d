//! What FunctionGemma writes: `<start_function_call>call:name{key:<escape>text<escape>}<end_function_call>`. From Google's page
//! "FunctionGemma formatting and best practices" and vLLM, `tool_parsers/functiongemma_tool_parser.py`.

use super::prelude::*;

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
    call: &NotationFormat { open: &["<start_function_call>"], close: &["<end_function_call>"], quote: "<escape>" },
    past_text: PastText::of(
        "{calls}",
        "<start_function_response>response:{name}{value:<escape>{content}<escape>}<end_function_response>",
    ),
};
