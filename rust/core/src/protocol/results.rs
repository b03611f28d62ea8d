//! Tool results in text, and why nothing in them can forge a mark.

use crate::toolset::Toolset;

/// The text of a result; nothing in it can be taken for a mark.
pub fn write_result(tools: &Toolset, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
    tools.protocol.wrap_result(tools, name, &tools.neutralise(content), error, number)
}

/// The text of an error's result, for the model. Our own example of the call stays as it is to be written; in everything
/// else, which may quote the model or a schema, marks are neutralised.
pub fn write_error(tools: &Toolset, name: Option<&str>, message: &str) -> String {
    let at = name.and_then(|name| tools.lookup(name).tool());
    let example = tools.protocol.example(&tools.context(at, name.unwrap_or("")));
    let neutral = |text: &str| tools.neutralise(text);
    let ours = match at {
        Some(_) => {
            let safe = tools.protocol.safe_example(tools, &example);
            message.split(example.as_str()).map(neutral).collect::<Vec<_>>().join(&safe)
        }
        None => neutral(message),
    };
    tools.protocol.wrap_result(tools, name.unwrap_or("unknown"), &ours, true, None)
}
