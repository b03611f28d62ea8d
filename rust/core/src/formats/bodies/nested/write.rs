//! Calls as the official template writes them.

use super::NestedFormat;
use super::body::NestedBody;
use crate::arguments::{Context, Input, Progress, Report};
use crate::error::EncodeError;
use crate::formats::body::Body;
use crate::formats::call::json_field_example;
use crate::limits::RECURSION;
use crate::syntax::json::{Member, Value, parse};

/// Appends a call. Members that are null are left out.
pub(super) fn call(
    format: &NestedFormat,
    cx: &Context<'_>,
    arguments: &[Member<'_>],
    out: &mut String,
) -> Result<(), EncodeError> {
    let [open] = format.open;
    out.extend([open, cx.tool, format.open_end]);
    let start = out.len();
    members(format, arguments, out);
    out.push_str(format.close);
    match read_back(format, cx, &out[start..]) {
        Some(read) if parse(&read, RECURSION).is_ok_and(|read| same_members(arguments, &read)) => Ok(()),
        _ => Err(EncodeError(format!("the tags cannot hold these arguments of {:?}", cx.tool))),
    }
}

/// The arguments, as they are read without repairs.
fn read_back(format: &NestedFormat, cx: &Context<'_>, text: &str) -> Option<String> {
    let cx = Context { strict: true, any_style: false, ..*cx };
    let mut report = Report::default();
    let mut body = NestedBody::new(*format);
    body.reset(&cx, *format, cx.tool);
    let mut input = Input { cx, report: &mut report, window: text, at: 0, last: true };
    let ends = matches!(body.feed(&mut input), Progress::CallEnd) && input.at == text.len();
    ends.then_some(report.args.json)
}

/// Whether the JSON is the same, but for members that are null.
fn same(given: &Value<'_>, read: &Value<'_>) -> bool {
    match (given, read) {
        (Value::Object(members), _) => same_members(members, read),
        (Value::Array(items), Value::Array(others)) => {
            items.len() == others.len() && items.iter().zip(others).all(|(item, other)| same(item, other))
        }
        _ => given == read,
    }
}

fn same_members(given: &[Member<'_>], read: &Value<'_>) -> bool {
    let Value::Object(read) = read else { return false };
    let not_null = |(_, value): &&Member<'_>| *value != Value::Null;
    let (mut given, mut read) = (given.iter().filter(not_null), read.iter().filter(not_null));
    let pairs = read.by_ref().zip(given.by_ref()).all(|((key, value), (own, other))| key == own && same(other, value));
    pairs && read.next().is_none() && given.next().is_none()
}

fn members(format: &NestedFormat, members: &[Member<'_>], out: &mut String) {
    for (key, value) in members {
        if *value != Value::Null {
            element(format, key, value, out);
        }
    }
}

/// Recursion is as deep as the value.
fn element(format: &NestedFormat, name: &str, content: &Value<'_>, out: &mut String) {
    out.extend([format.prefix, "<", name, ">"]);
    match content {
        Value::Null => {}
        Value::String(text) => out.push_str(text),
        Value::Object(inner) => members(format, inner, out),
        Value::Array(items) => items.iter().for_each(|item| element(format, format.item, item, out)),
        Value::Bool(_) | Value::Number(_) => content.write(out),
    }
    out.extend([format.prefix, "</", name, ">"]);
}

/// A parameter with a value, given as JSON.
pub(super) fn field_example(format: &NestedFormat, field: &str, value: &str) -> String {
    let json = format!("{{{}}}", json_field_example(field, value));
    let mut out = String::new();
    match parse(&json, RECURSION) {
        Ok(Value::Object(fields)) => members(format, &fields, &mut out),
        _ => out.extend([field, ": ", value]),
    }
    out
}
