//! Sentences for the model: what is wrong, and a correct example.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Context, MAX_PROBLEM_BYTES};
use crate::error::ProblemKind;
use crate::json::{Member, Value, is_beyond_float, json_string, parse, respelled};
use crate::limits::Limits;
use crate::pairs::push_segment;
use crate::scan::Delimiters;
use crate::schema::{Choice, NodeId, Schema, UNKNOWN};

/// OPEN without a name behind it.
pub fn nameless(delimiters: &Delimiters) -> String {
    let Delimiters { open, close, .. } = delimiters;
    format!("A tool's name must stand behind {open}. Write: {open}name key=\"value\"{close}")
}

/// Tools that are named where one is not known.
const NAMED_TOOLS: usize = 64;

pub fn unknown_tool<'a>(tools: impl Iterator<Item = &'a str>, name: &str) -> String {
    let names: Vec<&str> = tools.take(NAMED_TOOLS).collect();
    format!("There is no tool {}. The tools are: {}.", shorten(name), names.join(", "))
}

pub fn too_large(limits: &Limits) -> String {
    format!("The call has more than {} bytes. Write less in one call.", limits.call_bytes)
}

/// A member's path, as a key would be written.
pub fn join(path: &str, name: &str) -> String {
    let mut out = String::from(path);
    push_join(&mut out, name);
    out
}

pub fn push_join(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    static DEFAULT: LazyLock<Delimiters> = LazyLock::new(Delimiters::default);
    push_segment(path, name, &DEFAULT);
}

/// As much of a text as a problem can name.
pub fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_PROBLEM_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

pub fn invalid_json(path: &str, what: &str) -> String {
    let place = if path.is_empty() { String::new() } else { format!(" in {path}") };
    format!("This is no valid JSON{place}: {what}. Write it like {{\"key\":\"value\",\"list\":[1,2]}}.")
}

pub fn too_deep(limits: &Limits) -> String {
    format!("The value is nested more than {} levels deep.", limits.depth)
}

/// A short value that the type takes, as it would be written behind `=`.
pub fn example(schema: &Schema, id: NodeId) -> String {
    example_within(schema, id, EXAMPLE_LEVELS)
}

/// Levels of an example; recursive types have no end.
const EXAMPLE_LEVELS: usize = 4;

fn example_within(schema: &Schema, id: NodeId, levels: usize) -> String {
    let node = schema.node(id);
    match node.choices.first() {
        None | Some(Choice::String) => "\"some text\"".into(),
        Some(Choice::Integer) => "5".into(),
        Some(Choice::Number) => "3.14".into(),
        Some(Choice::Boolean) => "true".into(),
        Some(Choice::Null) => "null".into(),
        Some(Choice::Literal(literal)) => literal.json.clone(),
        Some(Choice::Array | Choice::Object) if levels == 0 => "…".into(),
        Some(Choice::Array) => match schema.node(schema.item(id, 0)).choices.first() {
            None | Some(Choice::String) => "[\"a\",\"b\"]".into(),
            Some(Choice::Integer) => "[1,2]".into(),
            _ => format!("[{}]", example_within(schema, schema.item(id, 0), levels - 1)),
        },
        Some(Choice::Object) => match node.object.as_ref().filter(|object| !object.properties.is_empty()) {
            Some(object) => {
                let required = |name: &str| object.required.iter().any(|r| **r == *name);
                let some = object.properties.iter().any(|(name, _)| required(name));
                let shown = object.properties.iter().filter(|(name, _)| !some || required(name));
                let members = shown.take(if some { usize::MAX } else { 1 }).map(|(name, child)| {
                    format!("{}:{}", json_string(name), example_within(schema, *child, levels - 1))
                });
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
            None => "{\"key\":\"value\"}".into(),
        },
    }
}

/// What a type takes, in words.
pub fn expected(schema: &Schema, id: NodeId) -> String {
    let mut words: Vec<String> = Vec::new();
    for choice in &schema.node(id).choices {
        let word = match choice {
            Choice::String => "a string".into(),
            Choice::Integer => "a whole number".into(),
            Choice::Number => "a number".into(),
            Choice::Boolean => "true or false".into(),
            Choice::Null => "null".into(),
            Choice::Array => "a list".into(),
            Choice::Object => "an object".into(),
            Choice::Literal(literal) => literal.json.clone(),
        };
        if words.len() == 24 {
            words.push("…".into());
            break;
        }
        words.push(word);
    }
    words.join(" or ")
}

/// A field with a short value that its type takes.
fn shown(cx: &Context<'_>, id: NodeId, field: &str) -> String {
    cx.protocol.field_example(field, &example(cx.schema, id))
}

/// A value that its type cannot take.
pub fn violation(cx: &Context<'_>, id: NodeId, kind: ProblemKind, field: &str, value: &str) -> String {
    let beyond = respelled(value, false).is_some_and(|json| is_beyond_float(&json));
    let value = shorten(value);
    if beyond {
        return format!("{field}: {value} is outside the range of a float. For example: {}", shown(cx, id, field));
    }
    let expected = expected(cx.schema, id);
    match kind {
        ProblemKind::NotInEnum => format!("{field}: {value} is not allowed; it must be one of: {expected}."),
        _ => format!("{field}: {value} is not {expected}. For example: {}", shown(cx, id, field)),
    }
}

pub fn missing(cx: &Context<'_>, object: NodeId, field: &str, name: &str) -> String {
    let id = cx.schema.member(object, name).unwrap_or(UNKNOWN);
    format!("{field} is required and missing. For example: {}", shown(cx, id, field))
}

pub fn unknown(schema: &Schema, object: NodeId, field: &str) -> String {
    let names: Vec<&str> = schema
        .node(object)
        .object
        .iter()
        .flat_map(|object| object.properties.iter().map(|(name, _)| name))
        .take(24)
        .collect();
    format!("{field} is no field here. The fields are: {}.", names.join(", "))
}

/// A field that is declared under a name that differs in style.
pub fn misnamed(cx: &Context<'_>, id: NodeId, written: &str, declared: &str) -> String {
    format!("The field {} is called {declared}: {}", shorten(written), shown(cx, id, declared))
}

/// A value that strict mode does not convert.
pub fn not_as_written(cx: &Context<'_>, id: NodeId, field: &str, value: &str) -> String {
    let expected = expected(cx.schema, id);
    format!("{field}: {} must be written as {expected}. For example: {}", shorten(value), shown(cx, id, field))
}

/// The fields that an example of a call shows: the required ones, or the first few.
fn shown_fields(schema: &Schema) -> Vec<(&str, NodeId)> {
    let Some(object) = &schema.node(schema.root).object else { return Vec::new() };
    let required: HashSet<&str> = object.required.iter().map(String::as_str).collect();
    let fields = object.properties.iter().filter(|(name, _)| required.is_empty() || required.contains(&**name));
    fields.take(if required.is_empty() { 4 } else { usize::MAX }).map(|(name, id)| (name, *id)).collect()
}

/// Are keys that the schema does not name shown in an example? Only if it says that there may be some, and names none.
fn shows_any_key(schema: &Schema) -> bool {
    schema.is_open() && !schema.declares_properties(schema.root)
}

/// The arguments of an example.
pub fn example_members(schema: &Schema) -> Vec<Member<'static>> {
    let mut members: Vec<Member<'static>> = Vec::new();
    for (name, id) in shown_fields(schema) {
        // What has no end is cut off with a sign that is no JSON.
        let value = parse(&example(schema, id), EXAMPLE_LEVELS + 2).unwrap_or(Value::Array(Vec::new()));
        members.push((Cow::Owned(name.to_owned()), value));
    }
    if shows_any_key(schema) {
        members.push((Cow::Borrowed("key"), Value::String(Cow::Borrowed("some text"))));
    }
    members
}

/// A call in pairs with the tool's required fields, or its first ones.
pub fn pairs_example(cx: &Context<'_>) -> String {
    let Delimiters { open, close, .. } = cx.delimiters;
    let mut out = format!("{open}{}", cx.tool);
    for (name, id) in shown_fields(cx.schema) {
        out.push_str(&format!(" {}={}", join("", name), example(cx.schema, id)));
    }
    if shows_any_key(cx.schema) {
        out.push_str(" key=\"some text\"");
    }
    out + close
}

pub fn unclosed(cx: &Context<'_>) -> String {
    format!("The call is not closed before the next one. Write: {}", cx.protocol.example(cx))
}

/// The first part of a text that may be long, quoted for a sentence.
pub fn shorten(text: &str) -> String {
    shorten_to(text, 60)
}

/// The same, of so many characters.
pub fn shorten_to(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("`{}…`", &text[..at]),
        None => format!("`{text}`"),
    }
}
