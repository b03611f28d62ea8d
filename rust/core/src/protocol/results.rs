//! Tool results in text, and why nothing in them can forge a tag.

use crate::json::json_string;
use crate::scan::{Delimiters, neutralise};

/// `<tool-result name="…">…</tool-result>`, or `tool-error`.
pub fn write_result(delimiters: &Delimiters, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
    let tag = if error { "tool-error" } else { "tool-result" };
    let mut out = format!("<{tag} name=");
    out.push_str(&neutralise(&json_string(name), delimiters));
    if let Some(number) = number {
        out.push_str(&format!(" number=\"{number}\""));
    }
    out.push('>');
    out.push_str(&neutralise(content, delimiters));
    out.push_str(&format!("</{tag}>"));
    out
}
