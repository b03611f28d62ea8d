//! Calls as the official templates write them.

use std::borrow::Cow;

use super::ends::{QuotedTag, ValueContext, ValueEnd};
use super::value::write_typed;
use super::{CDATA, HEAD_CHARS, Head, TagAttributes, Tags, ValueStyle};
use crate::arguments::tree::ValuePath;
use crate::arguments::{Context, Report, is_misnamed};
use crate::error::EncodeError;
use crate::formats::bodies::pycalls::write_value;
use crate::formats::call::{PastCall, json_field_example};
use crate::limits::RECURSION;
use crate::schema::{Node, UNKNOWN};
use crate::syntax::json::{Member, Value, parse};
use crate::syntax::scan::{Scan, first_chars, trim};
use crate::syntax::tags::is_markup;

pub(super) fn call(tags: &Tags, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
    out.push_str(tags.open);
    match &tags.head {
        Head::Text(text) => out.extend([cx.tool, text.name_close]),
        Head::Attributes(attributes) => {
            push_attribute(attributes, attributes.tool, cx.tool, out);
            if let Some(index) = attributes.index {
                out.push(' ');
                push_attribute(attributes, index, &(call.index + 1).to_string(), out);
            }
            out.push_str(attributes.end);
        }
    }
    if call.arguments.is_empty() {
        out.push_str(tags.lines.empty);
    }
    out.push_str(tags.lines.head);
    arguments(tags, cx, call, out)?;
    out.extend([tags.lines.close, tags.close]);
    Ok(())
}

/// The arguments alone. The template's text after a value is only between two of them where nothing closes the call.
pub(super) fn arguments(
    tags: &Tags,
    cx: &Context<'_>,
    call: &PastCall<'_>,
    out: &mut String,
) -> Result<(), EncodeError> {
    for (at, (key, value)) in call.arguments.iter().enumerate() {
        holds(tags, cx, key, value)?;
        argument(tags, key, value, out);
        if !tags.is_part() || at + 1 < call.arguments.len() {
            out.push_str(tags.lines.value);
        }
    }
    Ok(())
}

fn push_attribute(attributes: &TagAttributes, key: &str, value: &str, out: &mut String) {
    out.extend([key, "=\"", &attributes.encode(value), "\""]);
}

/// The text of a value.
fn text<'v>(values: ValueStyle, value: &'v Value<'_>) -> Cow<'v, str> {
    let mut out = String::new();
    match (value, values) {
        (Value::String(text), _) => return Cow::Borrowed(text),
        (_, ValueStyle::Json) => value.write_spaced(&mut out),
        (_, ValueStyle::Python | ValueStyle::PythonOrCdata) => write_value(value, &mut out),
    }
    Cow::Owned(out)
}

/// Whether the value is written between [`CDATA`].
fn is_cdata(tags: &Tags, value: &Value<'_>) -> bool {
    tags.values == ValueStyle::PythonOrCdata && matches!(value, Value::String(text) if text.contains(['<', '&', '\n']))
}

fn argument(tags: &Tags, key: &str, value: &Value<'_>, out: &mut String) {
    out.push_str(tags.argument);
    match &tags.head {
        Head::Text(text) => out.extend([key, text.key_close, tags.lines.key, text.value]),
        Head::Attributes(attributes) => {
            push_attribute(attributes, attributes.key, key, out);
            out.push(' ');
            push_attribute(attributes, attributes.kind, kind(attributes, value), out);
            out.push_str(attributes.end);
        }
    }
    let (open, close) = if is_cdata(tags, value) { CDATA } else { ("", "") };
    let line = if tags.line_breaks { "\n" } else { "" };
    out.extend([line, open, &text(tags.values, value), close, line, tags.argument_close]);
}

fn kind(attributes: &TagAttributes, value: &Value<'_>) -> &'static str {
    let [string, number, boolean, null, array, object] = attributes.kinds;
    match value {
        Value::String(_) => string,
        Value::Number(_) => number,
        Value::Bool(_) => boolean,
        Value::Null => null,
        Value::Array(_) => array,
        Value::Object(_) => object,
    }
}

/// Whether the argument is read back as it is.
fn holds(tags: &Tags, cx: &Context<'_>, key: &str, value: &Value<'_>) -> Result<(), EncodeError> {
    let refused = |what: &str| Err(EncodeError(format!("the argument {key:?} {what}")));
    let (mut head, key_holds) = match &tags.head {
        Head::Text(text) => (key.to_owned(), trim(key) == key && !key.contains(text.key_close)),
        Head::Attributes(attributes) => (attributes.encode(key), attributes.escaped || !key.contains('"')),
    };
    if let Head::Attributes(attributes) = &tags.head {
        head.extend([attributes.key, "=\"\" ", attributes.kind, "=\"", kind(attributes, value), "\"", attributes.end]);
    }
    if !key_holds || first_chars(&head, HEAD_CHARS) < head.len() {
        return refused("has a key that the tags cannot hold");
    }
    if matches!(tags.head, Head::Text(_)) && is_markup(key) && !cx.schema.declares(cx.schema.root, key) {
        return refused("has a key that the tags cannot hold");
    }
    if is_misnamed(cx.schema, cx.schema.root, key) {
        return refused("is read as a declared one");
    }
    let (text, cdata) = (text(tags.values, value), is_cdata(tags, value));
    if closes(tags, cx, cdata, &text) {
        return refused("contains what ends a value");
    }
    match (&tags.head, value) {
        (Head::Text(_), Value::String(own))
            if !(reads_as_string(tags.values, cx, key, own) || cdata && node(cx, key).takes_string()) =>
        {
            refused("is a string that is read as another value")
        }
        // Where only strings fit, the value is not what the tool takes, and the text is that of the template.
        (Head::Text(_), Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))
            if !node(cx, key).is_string() && reads_as_string(tags.values, cx, key, &text) =>
        {
            refused("is read as a string")
        }
        _ => Ok(()),
    }
}

/// Whether the text has tags that end a value before its closer, or could.
fn closes(tags: &Tags, cx: &Context<'_>, cdata: bool, text: &str) -> bool {
    let mark = if cdata { b']' } else { b'<' };
    if memchr::memchr(mark, text.as_bytes()).is_none() {
        return false;
    }
    let before = tags.before_value();
    if !before.is_empty() && text.starts_with(before) {
        return true;
    }
    let end = if cdata { CDATA.1 } else { "" };
    let whole = [text, end, tags.argument_close, tags.close].concat();
    let mut quoted = QuotedTag::None;
    memchr::memchr_iter(mark, text.as_bytes()).any(|at| {
        let spaced = text[..at].ends_with(' ');
        let around = ValueContext { cx, cdata, quoted, spaced, near: false, last: false };
        match tags.value_end(&whole[at..], around, &mut 0) {
            Scan::NoMatch => false,
            Scan::Match(found @ (ValueEnd::Kept | ValueEnd::Call)) => {
                if quoted == QuotedTag::None {
                    quoted = if found == ValueEnd::Kept { QuotedTag::Closer } else { QuotedTag::Call };
                }
                false
            }
            Scan::Match(_) | Scan::Incomplete => true,
        }
    })
}

fn node<'c>(cx: &Context<'c>, key: &str) -> &'c Node {
    cx.schema.node(cx.schema.member(cx.schema.root, key).unwrap_or(UNKNOWN))
}

fn reads_as_string(values: ValueStyle, cx: &Context<'_>, key: &str, text: &str) -> bool {
    if node(cx, key).is_string() {
        return true;
    }
    let node = cx.schema.member(cx.schema.root, key).unwrap_or(UNKNOWN);
    let cx = Context { strict: true, ..*cx };
    let mut report = Report::default();
    let read = write_typed(&cx, &mut report, values, &ValuePath::root(node, 1), text);
    read.is_ok() && report.args.json == crate::syntax::json::json_string(text)
}

/// A parameter with a value, given as JSON.
pub(super) fn field_example(tags: &Tags, field: &str, value: &str) -> String {
    let json = format!("{{{}}}", json_field_example(field, value));
    let members: Vec<Member<'_>> = match parse(&json, RECURSION) {
        Ok(Value::Object(members)) => members,
        _ => return format!("{field}: {value}"),
    };
    let mut out = String::new();
    for (key, value) in &members {
        argument(tags, key, value, &mut out);
    }
    out
}
