//! Names in tags, and untrusted text.

use super::ElementRow;
use crate::limits::NAME_CHARS;
use crate::syntax::scan::{first_chars, starts_ignoring_case};

/// What begins and ends results.
const RESULTS: [&str; 2] = ["<tool_response", "</tool_response"];

/// Whether a call could begin at the start of this text, or a result begin or end.
pub(crate) fn is_mark(row: &ElementRow, text: &str, known: &dyn Fn(&str) -> bool) -> bool {
    let Some(inner) = text.strip_prefix('<') else { return false };
    if RESULTS.iter().any(|tag| starts_ignoring_case(text, tag)) {
        return true;
    }
    let ends = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n' | '>' | '/' | '=');
    let name = inner.strip_prefix('/').unwrap_or(inner);
    // Names are not longer. A text may repeat the first characters of a mark, so the scan is bounded.
    let name = &name[..first_chars(name, NAME_CHARS + 1)];
    let name = &name[..name.find(ends).unwrap_or(name.len())];
    let tag = row.call.words.iter().chain([&row.block]).any(|word| name.eq_ignore_ascii_case(word));
    // The closing tag of a function only matters inside a call.
    tag && (!inner.starts_with('/') || name.eq_ignore_ascii_case(row.block)) || !inner.starts_with('/') && known(name)
}

/// Appends a name as it is written after `=` in a tag.
pub(crate) fn push_name(name: &str, out: &mut String) {
    if name.ends_with('/') {
        out.extend(["\"", name, "\""]);
    } else {
        out.push_str(name);
    }
}
