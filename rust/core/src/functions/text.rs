//! Text between tags, and in them, as it is written.

use super::tags::{FUNCTIONS, PARAMETERS, WRAPPER};
use crate::limits::NAME_CHARS;
use crate::scan::{first_chars, is_ws, starts_ignoring_case};
use crate::xml::{Entity, entity};

/// A tag whose content a reader takes out, where it is all of a value.
pub const VALUE: &str = "value";
pub const CDATA: &str = "<![CDATA[";

/// What opens and closes results.
const RESULTS: [&str; 2] = ["<tool_response", "</tool_response"];

/// Appends a text as it must stand between the tags of a parameter: blanks around it, and what a reader would take for an
/// entity or a tag, as entities.
pub fn escape(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let rest = &bytes[at..];
        let name = match byte {
            b'&' if matches!(entity(&text[at..], true), Entity::Char(..)) => "&amp;",
            b'<' if is_special(&text[at..]) || (at == 0 && rest.starts_with(CDATA.as_bytes())) => "&lt;",
            _ if is_ws(byte) && (at == 0 || rest.len() == 1) => match byte {
                b' ' => "&#32;",
                b'\t' => "&#9;",
                b'\r' => "&#13;",
                _ => "&#10;",
            },
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(name);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}

/// Could the text, from its `<` on, be taken for a tag where a value is read?
fn is_special(text: &str) -> bool {
    let name = text[1..].strip_prefix('/').unwrap_or(&text[1..]);
    let words = FUNCTIONS.iter().chain(&PARAMETERS).chain([&WRAPPER, &VALUE]);
    words.into_iter().any(|word| starts_ignoring_case(name, word))
}

/// Could a call begin in front of this text, or a result begin or end?
pub fn is_mark(text: &str, known: &dyn Fn(&str) -> bool) -> bool {
    let Some(inner) = text.strip_prefix('<') else { return false };
    if RESULTS.iter().any(|tag| starts_ignoring_case(text, tag)) {
        return true;
    }
    let ends = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n' | '>' | '/' | '=');
    let name = inner.strip_prefix('/').unwrap_or(inner);
    // No name is longer, and a text may have a mark's first character in each place.
    let name = &name[..first_chars(name, NAME_CHARS + 1)];
    let name = &name[..name.find(ends).unwrap_or(name.len())];
    let tag = FUNCTIONS.iter().chain([&WRAPPER]).any(|word| name.eq_ignore_ascii_case(word));
    // What closes a call does so in one only.
    tag && (!inner.starts_with('/') || name.eq_ignore_ascii_case(WRAPPER)) || !inner.starts_with('/') && known(name)
}

/// Appends a name as it stands behind `=` in a tag.
pub fn push_name(name: &str, out: &mut String) {
    if name.ends_with('/') {
        out.extend(["\"", name, "\""]);
    } else {
        out.push_str(name);
    }
}
