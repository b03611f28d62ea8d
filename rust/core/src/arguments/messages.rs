//! Sentences for the model that say what is wrong. [`CallError::message`](crate::CallError::message) adds the example of a call, so
//! no sentence here says "For example:". A sentence about a value shows in parentheses how to write it.

use super::{Context, ReadError, example};
use crate::error::{ErrorKind, ProblemKind};
use crate::limits::Limits;
use crate::schema::{Choice, NodeId, Schema, UNKNOWN};
use crate::syntax::json::{is_beyond_float, respelled};

pub(crate) use crate::syntax::shown::{join, push_join, shorten};

/// Tools that are named where one is not known.
const NAMED_TOOLS: usize = 64;

/// Values or parameters that a sentence lists.
const LISTED: usize = 24;

pub(crate) fn unknown_tool<'a>(tools: impl Iterator<Item = &'a str>, name: &str) -> String {
    let names: Vec<&str> = tools.take(NAMED_TOOLS).collect();
    if names.is_empty() {
        return format!("There is no tool {}. There are no tools: answer without a call.", shorten(name));
    }
    format!("There is no tool {}. The tools are: {}.", shorten(name), names.join(", "))
}

pub(crate) fn too_large(limits: &Limits) -> String {
    format!("The call has more than {} bytes. Write less in one call.", limits.call_bytes)
}

pub(crate) fn invalid_json(path: &str, what: &str) -> String {
    let place = if path.is_empty() { String::new() } else { format!(" in {path}") };
    format!("This is not valid JSON{place}: {what}. Write it like {{\"key\":\"value\",\"list\":[1,2]}}.")
}

/// A token that is not a pair. If it could be the value of the first field, that is named.
pub(crate) fn no_pair(cx: &Context<'_>, token: &str) -> String {
    let first = cx.schema.node(cx.schema.root).object.iter().flat_map(|object| object.properties.iter()).next();
    let shown = shorten(token);
    match first {
        _ if token.starts_with(['#', '/']) => {
            format!("{}: remove {shown}; comments are not allowed in a call.", cx.tool)
        }
        _ if token.starts_with('<') => {
            format!("{}: {shown} is not a key=value pair; write arguments without tags.", cx.tool)
        }
        Some((name, _)) if token.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '\'' | '-')) => {
            let key = join("", name);
            format!(
                "{}: {shown} is not a key=value pair. Name each argument ({key}=…), and quote values with spaces.",
                cx.tool
            )
        }
        _ => format!("{}: {shown} is not a key=value pair. Quote values with spaces.", cx.tool),
    }
}

/// Of arguments in parentheses.
pub(crate) const NO_KEYWORDS: &str =
    "Write arguments in parentheses as key=value, with strings in quotes and commas between the arguments.";

pub(crate) fn too_deep(limits: &Limits) -> String {
    format!("The value is nested more than {} levels deep.", limits.depth)
}

/// What a type takes, in words.
pub(crate) fn expected(schema: &Schema, id: NodeId) -> String {
    let word = |choice| match choice {
        &Choice::String => "a string",
        Choice::Integer => "a whole number",
        Choice::Number => "a number",
        Choice::Boolean => "true or false",
        Choice::Null => "null",
        Choice::Array => "a list",
        Choice::Object => "an object",
        Choice::Literal(literal) => literal.json.as_str(),
    };
    let choices = &schema.node(id).choices;
    let more = (choices.len() > LISTED).then_some("…");
    choices.iter().take(LISTED).map(word).chain(more).collect::<Vec<_>>().join(" or ")
}

/// A field with a short value that its type takes.
fn shown(cx: &Context<'_>, id: NodeId, field: &str) -> String {
    cx.writer.field_example(field, &example(cx.schema, id))
}

/// A value that its type cannot take.
pub(crate) fn violation(cx: &Context<'_>, id: NodeId, kind: ProblemKind, field: &str, value: &str) -> String {
    let beyond = respelled(value, false).is_some_and(|json| is_beyond_float(&json));
    let value = shorten(value);
    if beyond {
        return format!("{field}: {value} is outside the range of a float (write {}).", shown(cx, id, field));
    }
    let expected = expected(cx.schema, id);
    match kind {
        ProblemKind::NotInEnum => format!("{field}: {value} is not allowed; it must be one of: {expected}."),
        _ => format!("{field}: {value} is not {expected} (write {}).", shown(cx, id, field)),
    }
}

pub(crate) fn missing(cx: &Context<'_>, object: NodeId, field: &str, name: &str) -> String {
    let id = cx.schema.member(object, name).unwrap_or(UNKNOWN);
    format!("{field} is required and missing (write {}).", shown(cx, id, field))
}

pub(crate) fn unknown(schema: &Schema, object: NodeId, field: &str) -> String {
    let names: Vec<&str> = schema
        .node(object)
        .object
        .iter()
        .flat_map(|object| object.properties.iter().map(|(name, _)| name))
        .take(LISTED)
        .collect();
    format!("{field} is not a parameter here. The parameters are: {}.", names.join(", "))
}

/// A value that was given before, and not the same.
pub(crate) fn twice(path: &str) -> ReadError {
    (ErrorKind::DuplicateArgument, format!("{path} is given twice, with different values. Give it once."))
}

/// A container, where its content says nothing.
pub(crate) fn container(bracket: u8) -> &'static str {
    if bracket == b'{' { "{…}" } else { "[…]" }
}

/// A field that is declared under a name that differs in style.
pub(crate) fn misnamed(cx: &Context<'_>, id: NodeId, written: &str, declared: &str) -> String {
    format!("The field {} is called {declared} (write {}).", shorten(written), shown(cx, id, declared))
}

/// A value that strict mode does not convert.
pub(crate) fn not_as_written(cx: &Context<'_>, id: NodeId, field: &str, value: &str) -> String {
    let expected = expected(cx.schema, id);
    format!("{field}: {} must be written as {expected} (write {}).", shorten(value), shown(cx, id, field))
}

/// Of a call that no reader accepts.
pub(crate) const UNREADABLE: &str = "The call is not in the expected format.";

pub(crate) const UNCLOSED: &str = "The call is not closed before the next one.";
