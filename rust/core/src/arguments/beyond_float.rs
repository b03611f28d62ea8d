//! Numbers in arguments that are outside the range of a float: decoders read them as infinity.

use super::messages::push_join;
use crate::limits::RECURSION;
use crate::syntax::json::{Value, is_beyond_float, parse};

/// The first number in JSON text that decoders read as infinity, with its field.
pub fn beyond_float(arguments: &str) -> Option<(String, String)> {
    if !may_be_beyond_float(arguments) {
        return None;
    }
    let (mut path, value) = (String::new(), parse(arguments, RECURSION).ok()?);
    find(&value, &mut path).map(|number| (path, number.to_owned()))
}

/// Whether the text has a non-negative exponent or a number of very many digits. Few texts have one.
pub fn may_be_beyond_float(text: &str) -> bool {
    const DIGITS: usize = 300;
    let bytes = text.as_bytes();
    let mut digits = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' if digits == DIGITS => return true,
            b'0'..=b'9' => digits += 1,
            b'e' | b'E' if digits > 0 && bytes.get(at + 1).is_some_and(|next| matches!(next, b'0'..=b'9' | b'+')) => {
                return true;
            }
            _ => digits = 0,
        }
    }
    false
}

/// Leaves in `path` where it is.
fn find<'v>(value: &'v Value<'_>, path: &mut String) -> Option<&'v str> {
    let length = path.len();
    let found = match value {
        Value::Number(text) => is_beyond_float(text).then_some(&**text),
        Value::Array(items) => items.iter().enumerate().find_map(|(at, item)| {
            path.truncate(length);
            path.push_str(&format!("[{at}]"));
            find(item, path)
        }),
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            path.truncate(length);
            push_join(path, name);
            find(member, path)
        }),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    };
    if found.is_none() {
        path.truncate(length);
    }
    found
}
