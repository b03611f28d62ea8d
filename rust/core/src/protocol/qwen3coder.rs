//! Calls as Qwen3-Coder writes them: a function with its parameters, each in a tag.

use std::borrow::Cow;

use super::{Attempt, Protocol, TOOL_RESPONSE, shown};
use crate::body::{BodyKind, Context, is_misnamed, is_repeated, push_text};
use crate::functions::{
    Look, WRAPPER, closes, closes_function, escape, is_mark, is_name, opener, opens_parameter, push_name,
};
use crate::json::{Member, Value, json_string, parse, write_object};
use crate::limits::ATTEMPT_CHARS;
use crate::scan::{Delimiters, first_chars, ws_run};
use crate::schema::{NodeId, Schema, UNKNOWN};
use crate::toolset::{Syntax, Tool, Toolset};

#[derive(Debug)]
pub struct Qwen3Coder;

/// What opens and closes the block of calls.
const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// Of a string, where it is one; else the JSON.
fn decoded(json: &str) -> String {
    match parse(json, 0) {
        Ok(Value::String(text)) => text.into_owned(),
        _ => json.to_owned(),
    }
}

/// Appends one parameter, in a line of its own.
fn push_parameter(cx: &Context<'_>, key: &str, id: NodeId, value: &Value<'_>, out: &mut String) {
    let mut text = String::new();
    push_text(cx, id, value, &mut text);
    out.push_str("    <parameter=");
    push_name(key, out);
    out.push('>');
    escape(&text, out);
    out.push_str("</parameter>\n");
}

/// The items of a list that is written by repeating its parameter: two or more, none of which could be a list.
fn repeated<'v, 'a>(cx: &Context<'_>, id: NodeId, value: &'v Value<'a>) -> Option<&'v [Value<'a>]> {
    let Value::Array(items) = value else { return None };
    let plain = |item: &Value<'_>| match item {
        Value::String(text) => !text.trim_start().starts_with(['[', '{']),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::Array(_) | Value::Object(_) => false,
    };
    (items.len() > 1 && is_repeated(cx.schema, id) && items.iter().all(plain)).then_some(items)
}

impl Protocol for Qwen3Coder {
    fn delimiters(&self, given: Option<(&str, &str)>) -> Result<Delimiters, String> {
        match given {
            None => Ok(Delimiters::of(OPEN, CLOSE)),
            Some(_) => Err("the tags of qwen3coder are its own".into()),
        }
    }

    fn result_marks(&self) -> &[Cow<'static, str>] {
        &TOOL_RESPONSE
    }

    fn bad_name(&self, name: &str, _: &Delimiters) -> Option<&'static str> {
        (!is_name(name))
            .then_some("it must have 1 to 128 characters, and no blanks, control characters, quotes, < or >")
    }

    fn complexity(&self, schema: &Schema) -> Option<&'static str> {
        schema.complexity()
    }

    fn encoding(&self) -> &'static str {
        "parameters"
    }

    fn attempt(&self, tools: &Toolset, text: &str, last: bool) -> Attempt {
        let Some(first) = text.chars().next() else { return Attempt::Need };
        if first != '<' {
            return Attempt::Text(first.len_utf8());
        }
        let end = first_chars(text, ATTEMPT_CHARS);
        let (text, last) = (&text[..end], last || end < text.len());
        let known = |name: &str, begun: bool| match begun {
            true => tools.tools().any(|tool| tool.name.starts_with(name)),
            false => tools.get(name).is_some(),
        };
        let found = match opener(text, last, true, &known) {
            Look::Need => return Attempt::Need,
            Look::No => return Attempt::Text(1),
            Look::Yes(found) => found,
        };
        let lookup = tools.lookup(&text[found.name.clone()]);
        let at = ws_run(text, found.body);
        let rest = &text[at..];
        // Prose speaks of tags, too; what follows this one tells.
        let follows = match rest.as_bytes().first() {
            _ if found.opened.empty => Look::Yes(()),
            None if last => Look::No,
            None => Look::Need,
            Some(b'{') => Look::Yes(()),
            Some(_) => {
                let own = || found.opened.tag.closes(rest, &text[found.name.clone()], last);
                let closed = || closes_function(rest, last).or(|| closes(rest, WRAPPER, last)).or(own).map(|_| ());
                let schema = lookup.tool().map(|at| &tools.tool(at).schema);
                let declared = |name: &str| schema.is_some_and(|schema| schema.declares(schema.root, name));
                let parameter = opens_parameter(rest, last, &declared);
                if rest.starts_with('<') { parameter.or(closed) } else { parameter }
            }
        };
        match follows {
            Look::Need => Attempt::Need,
            Look::No => Attempt::Text(1),
            Look::Yes(()) => Attempt::Call {
                lead: 0,
                open: found.open,
                name: Some((found.name, lookup)),
                body: found.body,
                kind: BodyKind::Functions(found.opened),
            },
        }
    }

    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        out.push_str("<tool_call>\n  <function=");
        push_name(cx.tool, out);
        out.push_str(">\n");
        let root = cx.schema.root;
        let fits = |(key, _): &Member<'_>| is_name(key) && !is_misnamed(cx.schema, root, key);
        if cx.syntax == Some(Syntax::Json) || !arguments.iter().all(fits) {
            out.push_str("    ");
            write_object(arguments, out);
            out.push('\n');
        } else {
            for (key, value) in arguments {
                let id = cx.schema.member(root, key).unwrap_or(UNKNOWN);
                match repeated(cx, id, value) {
                    Some(items) => {
                        for (at, item) in items.iter().enumerate() {
                            push_parameter(cx, key, cx.schema.item(id, at), item, out);
                        }
                    }
                    None => push_parameter(cx, key, id, value, out),
                }
            }
        }
        out.push_str("  </function>\n</tool_call>");
    }

    fn wrap_result(&self, tools: &Toolset, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
        let name = tools.neutralise(&json_string(name));
        let number = number.map_or(String::new(), |number| format!(" name={name} number=\"{number}\""));
        let error = if error { " error=\"true\"" } else { "" };
        format!("<tool_response{number}{error}>\n{content}\n</tool_response>")
    }

    fn is_mark(&self, tools: &Toolset, text: &str) -> bool {
        is_mark(text, &|name| tools.get(name).is_some())
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        let mut out = format!("<parameter={field}>");
        escape(&decoded(value), &mut out);
        out + "</parameter>"
    }

    fn header(&self, tools: &Toolset) -> String {
        default_header(self, tools)
    }

    fn signature(&self, tools: &Toolset, tool: &Tool) -> String {
        super::tags::signature(self, tools, tool)
    }
}

fn default_header(protocol: &Qwen3Coder, tools: &Toolset) -> String {
    let example = protocol.example(&shown(tools));
    let json = tools.tools().any(|tool| tool.syntax == Syntax::Json);
    let whole = if json { " Tools shown as JSON take one JSON object in place of all parameters." } else { "" };
    format!(
        "To call a tool, write its name and its parameters in tags, as plain text. For example:\n{example}\n\
         Parameters without ? are required; their names and types are exact. A string stands in its tag as it is, without quotes, \
         except that the < of these tags is written &lt; in it. A list repeats its parameter for each item, or is JSON, and so are \
         objects.{whole} Several calls may follow each other. Write what you think in front of the calls, and nothing behind \
         them. Results come as <tool_response>; never write one.\nTools (? optional, string by default):"
    )
}
