//! Tool results in text, and why nothing in them can forge a tag.

use crate::body::call_example;
use crate::json::json_string;
use crate::scan::{Delimiters, neutralise};
use crate::toolset::Toolset;

/// `<tool-result name="…">…</tool-result>`, or `tool-error`.
pub fn write_result(delimiters: &Delimiters, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
    wrap_result(delimiters, name, &neutralise(content, delimiters), error, number)
}

/// The same around content that has no tag in it.
fn wrap_result(delimiters: &Delimiters, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
    let tag = if error { "tool-error" } else { "tool-result" };
    let mut out = format!("<{tag} name=");
    out.push_str(&neutralise(&json_string(name), delimiters));
    if let Some(number) = number {
        out.push_str(&format!(" number=\"{number}\""));
    }
    out.push('>');
    out.push_str(content);
    out.push_str(&format!("</{tag}>"));
    out
}

/// The text of an error's result, for the model. Our own example of the call stays as it is to be written; in everything
/// else, which may quote the model or a schema, tags are neutralised.
pub fn write_error(tools: &Toolset, name: Option<&str>, message: &str) -> String {
    let at = name.and_then(|name| tools.lookup(name).tool());
    let example = call_example(&tools.context(at, name.unwrap_or("")));
    let open = tools.delimiters.open.as_str();
    let neutral = |text: &str| neutralise(text, &tools.delimiters);
    let ours = match at.and_then(|_| example.strip_prefix(open)) {
        Some(rest) => {
            let safe = format!("{open}{}", neutral(rest));
            message.split(example.as_str()).map(neutral).collect::<Vec<_>>().join(&safe)
        }
        None => neutral(message),
    };
    wrap_result(&tools.delimiters, name.unwrap_or("unknown"), &ours, true, None)
}
