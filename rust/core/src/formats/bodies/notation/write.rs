//! Writes arguments with bare keys, sorted as templates sort them, and strings between delimiters.

use crate::arguments::Context;
use crate::error::EncodeError;
use crate::schema::{NodeId, UNKNOWN};
use crate::syntax::delimited::is_bare_key;
use crate::syntax::json::{Member, Value};

/// Appends an object of this type. Recursion is as deep as the value.
pub(super) fn members(
    quote: &str,
    cx: &Context<'_>,
    id: NodeId,
    members: &[Member<'_>],
    out: &mut String,
) -> Result<(), EncodeError> {
    let mut sorted: Vec<&Member<'_>> = members.iter().collect();
    sorted.sort_by_cached_key(|(key, _)| key.to_lowercase());
    out.push('{');
    for (at, (key, value)) in sorted.into_iter().enumerate() {
        if !is_bare_key(key, &|name| cx.schema.declares(id, name)) {
            return Err(EncodeError(format!("a call cannot be written with the key {key:?} in this format")));
        }
        if at > 0 {
            out.push(',');
        }
        out.push_str(key);
        out.push(':');
        self::value(quote, cx, cx.schema.member(id, key).unwrap_or(UNKNOWN), value, out)?;
    }
    out.push('}');
    Ok(())
}

fn value(quote: &str, cx: &Context<'_>, id: NodeId, value: &Value<'_>, out: &mut String) -> Result<(), EncodeError> {
    match value {
        Value::String(text) if text.contains(quote) => {
            return Err(EncodeError(format!("a string with {quote} in it cannot be written in this format")));
        }
        Value::String(text) => out.extend([quote, text, quote]),
        Value::Object(fields) => return members(quote, cx, id, fields, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                self::value(quote, cx, cx.schema.item(id, at), item, out)?;
            }
            out.push(']');
        }
        other => other.write(out),
    }
    Ok(())
}
