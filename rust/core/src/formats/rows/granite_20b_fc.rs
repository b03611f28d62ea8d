//! Calls as Granite 20B for function calling writes them: a tag before each JSON object. From vLLM,
//! `examples/tool_chat_template_granite_20b_fc.jinja`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("granite-*-functioncalling", "vLLM, docs/features/tool_calling.md")],
    ..Row::new("granite-20b-fc", || Arc::new(GRANITE_20B_FC))
}];

pub(crate) const GRANITE_20B_FC: FlatFormat = FlatFormat {
    layout: Layout { trim_before_call: true, stops: &["<|endoftext|>"], ..Layout::NATIVE },
    call: &MarkedJson {
        open: &["<function_call>"],
        end_of_message: "<|endoftext|>",
        written: r#"<function_call> {"name": {name}, "arguments": {arguments}}"#,
        ..MarkedJson::LIST
    },
    past_text: PastText::of("{content|\n}{calls|\n}", "<function_response> {content}").marked("<function_response>"),
};
