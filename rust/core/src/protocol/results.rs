//! Tool results in text, and why nothing in them can forge a tag.

use crate::json::json_string;
use crate::scan::{Delimiters, neutralise};

/// `<tool-result name="…">…</tool-result>`, or `tool-error`.
pub fn write_result(delimiters: &Delimiters, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
    wrap_result(delimiters, name, &neutralise(content, delimiters), error, number)
}

/// The same around content that has no tag in it.
pub fn wrap_result(delimiters: &Delimiters, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
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
