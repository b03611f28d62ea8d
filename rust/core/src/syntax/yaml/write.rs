//! The YAML writer. What it writes is read back as the same value, with as few quotes as possible.

use std::fmt::Write;

use super::core_schema::json_of;
use crate::syntax::json::{Value, push_string};
use crate::syntax::quoting::Alternation;

/// Columns of one level of indentation.
const STEP: usize = INDENT.len();
const INDENT: &str = "  ";

/// A whole YAML text.
pub fn format(value: &Value<'_>) -> String {
    let mut out = String::new();
    // A list may be in the column of its key.
    if !write_entries(value, 0, false, &mut out) {
        write_scalar(value, 0, &mut out);
    }
    out
}

/// Appends a key. `exact`: in quotes, so that it is read unchanged.
pub(crate) fn write_key(key: &str, exact: bool, out: &mut String) {
    if !exact && is_plain(key) { out.push_str(key) } else { push_quoted(key, out) }
}

/// Appends a value after a key or a dash in this column, and the end of its line. Callers must limit the depth.
pub(crate) fn write_value(value: &Value<'_>, column: usize, out: &mut String) {
    if !write_entries(value, column + STEP, false, out) {
        write_scalar(value, column, out);
    }
}

/// Appends the entries of a collection in this column. False: it has none. `inline`: the first is in the line of a
/// dash.
fn write_entries(value: &Value<'_>, column: usize, inline: bool, out: &mut String) -> bool {
    let begin = |at: usize, out: &mut String| match at {
        0 if inline => out.push(' '),
        _ => begin_line(column, out),
    };
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                begin(at, out);
                out.push('-');
                if !write_entries(item, column + STEP, true, out) {
                    write_scalar(item, column, out);
                }
            }
            !items.is_empty()
        }
        Value::Object(members) => {
            for (at, (key, value)) in members.iter().enumerate() {
                begin(at, out);
                write_key(key, false, out);
                out.push(':');
                write_value(value, column, out);
            }
            !members.is_empty()
        }
        _ => false,
    }
}

/// Appends a value without entries.
fn write_scalar(value: &Value<'_>, column: usize, out: &mut String) {
    out.push(' ');
    match value {
        Value::String(text) if is_plain(text) => out.push_str(text),
        Value::String(text) if is_literal(text) => return write_literal(text, column + STEP, out),
        Value::String(text) => push_quoted(text, out),
        value => value.write(out),
    }
    out.push('\n');
}

fn begin_line(column: usize, out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    indent(column, out);
}

fn indent(columns: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(INDENT, columns / STEP));
}

/// Appends a JSON string, with escapes for characters that are special only in YAML.
fn push_quoted(text: &str, out: &mut String) {
    let start = out.len();
    push_string(out, text);
    if out[start..].contains(is_special) {
        for c in out.split_off(start).chars() {
            if is_special(c) {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            } else {
                out.push(c);
            }
        }
    }
}

/// Whether the character must be escaped: it is not printable, or a line break in YAML 1.1.
fn is_special(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether the text without quotes is read as a string, and as this text.
fn is_plain(text: &str) -> bool {
    // It would be read as null where null is allowed.
    if text == "None" {
        return false;
    }
    let bytes = text.as_bytes();
    let (Some(&first), second) = (bytes.first(), bytes.get(1)) else { return false };
    let begins = match first {
        b'-' => second.is_some_and(|next| !matches!(next, b' ' | b'-')),
        b'.' => second != Some(&b'.'),
        _ => !b" ?:,[]{}#&*!|>'\"%@`".contains(&first),
    };
    if !begins {
        return false;
    }
    let mut before = first;
    for &byte in bytes {
        match byte {
            b'<' | 0x7f | 0..0x20 => return false,
            b' ' if before == b':' => return false,
            b'#' if before == b' ' => return false,
            _ => before = byte,
        }
    }
    let edges = |c: char| c.is_whitespace();
    let mut quotes = Alternation::START;
    quotes.run(text);
    !matches!(before, b' ' | b':')
        && quotes.open().is_none()
        && (text.is_ascii() || !(text.contains(is_special) || text.starts_with(edges) || text.ends_with(edges)))
        && json_of(text).is_none()
}

/// Whether the text can be a block scalar.
fn is_literal(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr(b'\n', bytes).is_some()
        && bytes.iter().any(|byte| *byte != b'\n')
        && !bytes.iter().any(|byte| matches!(byte, 0x7f | 0..0x20) && !matches!(byte, b'\n' | b'\t'))
        && (text.is_ascii() || !text.contains(is_special))
}

fn write_literal(text: &str, column: usize, out: &mut String) {
    let body = text.trim_end_matches('\n');
    out.push('|');
    // The first line that is not empty sets the indentation, unless it is given here.
    if text.starts_with([' ', '\t', '\n']) {
        out.push((b'0' + STEP as u8) as char);
    }
    out.push_str(match text.len() - body.len() {
        0 => "-",
        1 => "",
        _ => "+",
    });
    out.push('\n');
    for line in body.split('\n') {
        if !line.is_empty() {
            indent(column, out);
            out.push_str(line);
        }
        out.push('\n');
    }
    // The first of its line breaks ends the last line.
    out.push_str(&text[(body.len() + 1).min(text.len())..]);
}
