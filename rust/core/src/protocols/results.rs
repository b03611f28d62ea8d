//! Tool results in text, and why nothing in them can forge a mark.

use crate::event::message;
use crate::toolset::Toolset;

/// The text of a result; nothing in it, and nothing in the name, can be taken for a mark.
pub fn write_result(tools: &Toolset, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
    wrap(tools, name, &tools.neutralise(content), error, number)
}

/// The text of an error's result, for the model. The example is ours, and stays as it is to be written; in the sentence, which may
/// quote the model or a schema, marks are neutralised.
pub fn write_error(tools: &Toolset, name: Option<&str>, sentence: &str, example: Option<&str>) -> String {
    let content = message(&tools.neutralise(sentence), example);
    wrap(tools, name.unwrap_or("unknown"), &content, true, None)
}

/// Of content that is neutral.
fn wrap(tools: &Toolset, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
    tools.protocol.wrap_result(tools, name, content, error, number)
}
