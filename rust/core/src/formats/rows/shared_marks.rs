//! Marks that the chat templates of several formats share.

pub(crate) const JSON_CALL: &[&str] = &["<tool_call>", "</tool_call>", r#""name": "#, r#""arguments": "#];

pub(crate) const KEY_TAGS: &[&str] = &["<tool_call>'", "<arg_key>", "<arg_value>", "</tool_call>"];

pub(crate) const LLAMA_TURN: &[&str] = &["<|start_header_id|>", "<|eot_id|>"];

/// The prompt opens the reasoning.
pub(crate) const THINKS: &str = "assistant\n<think>\n'";

/// In response templates.
pub(crate) const RESPONSE_JSON: &[&str] =
    &["open <tool_call>\n", "close </tool_call>", "content json\n", "transform {content}"];
