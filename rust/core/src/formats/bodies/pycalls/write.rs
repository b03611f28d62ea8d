//! Writes calls as Python does.

use super::PyValues;
use crate::error::EncodeError;
use crate::syntax::json::{Member, Value};
use crate::syntax::python::is_name;

/// Appends one call.
pub(super) fn call(
    values: PyValues,
    name: &str,
    arguments: &[Member<'_>],
    out: &mut String,
) -> Result<(), EncodeError> {
    let bad = |what: &str| Err(EncodeError(format!("a call cannot be written with the {what} in this format")));
    if !is_name(name) {
        return bad(&format!("name {name:?}"));
    }
    out.push_str(name);
    out.push('(');
    for (at, (key, argument)) in arguments.iter().enumerate() {
        if !is_name(key) {
            return bad(&format!("key {key:?}"));
        }
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(key);
        out.push('=');
        match (values, argument) {
            (PyValues::Unescaped, Value::String(text)) if text.contains(['\'', '\\']) => {
                return bad("quote or backslash in a string");
            }
            (PyValues::Unescaped, Value::String(text)) => out.extend(["'", text, "'"]),
            (PyValues::Unescaped, Value::Object(_)) | (PyValues::Json, _) => argument.write_spaced(out),
            _ => value(argument, out),
        }
    }
    out.push(')');
    Ok(())
}

/// Appends a value. Recursion is as deep as the value.
pub(crate) fn value(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(text) => out.push_str(text),
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                self::value(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, member)) in members.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                string(key, out);
                out.push_str(": ");
                self::value(member, out);
            }
            out.push('}');
        }
    }
}

/// In single quotes, or in double quotes if there are only single ones in it. What cannot be printed is escaped, as in Python's `repr`.
fn string(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if is_printable(c) => out.push(c),
            c => out.push_str(&match c as u32 {
                code @ ..0x100 => format!("\\x{code:02x}"),
                code @ ..0x10000 => format!("\\u{code:04x}"),
                code => format!("\\U{code:08x}"),
            }),
        }
    }
    out.push(quote);
}

/// Whether it is neither a control, a format character, a separator other than a space, nor unassigned.
fn is_printable(c: char) -> bool {
    // The standard library has the table, but no function for it. After another character, combining marks are not escaped.
    matches!(c, '\'' | '"') || ['a', c].iter().collect::<String>().escape_debug().count() == 2
}
