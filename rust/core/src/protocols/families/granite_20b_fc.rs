//! Calls as Granite 20B for function calling writes them: a tag before each JSON object. From vLLM,
//! `examples/tool_chat_template_granite_20b_fc.jinja`.

use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;

pub(crate) const GRANITE_20B_FC: FlatFamily = FlatFamily {
    layout: Layout { trim_before_call: true, stops: &["<|endoftext|>"], ..Layout::NATIVE },
    call: &MarkedEnvelope {
        open: &["<function_call>"],
        last: "<|endoftext|>",
        written: r#"<function_call> {"name": {name}, "arguments": {arguments}}"#,
        ..MarkedEnvelope::LIST
    },
    writing: Writing {
        begin: "",
        end: "",
        between: "\n",
        after_content: "\n",
        result: "<function_response> {content}",
        result_mark: Some("<function_response>"),
    },
};
