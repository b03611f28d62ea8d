//! Tool results in text, and why nothing in them can forge a tag.

use crate::json::json_string;
use crate::scan::{Delimiters, RESULT_TAGS};

/// What begins a result; outside a call only the host writes it.
pub const RESULT_MARKS: [&str; 2] = ["<tool-result", "<tool-error"];

/// Puts a visible backslash into whatever could be taken for a result tag or OPEN; changes nothing else.
///
/// The backslash goes behind the tag's first character, so the output contains no tag, and a text that already has
/// the backslash is left alone.
pub fn neutralise(text: &str, delimiters: &Delimiters) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let rest = &text[at..];
        let tag = RESULT_TAGS.iter().any(|tag| starts_ignoring_case(rest, tag)) || rest.starts_with(&delimiters.open);
        if tag {
            let behind = at + c.len_utf8();
            out.push_str(&text[from..behind]);
            out.push('\\');
            from = behind;
        }
    }
    out.push_str(&text[from..]);
    out
}

fn starts_ignoring_case(text: &str, tag: &str) -> bool {
    text.as_bytes().get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
}

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
