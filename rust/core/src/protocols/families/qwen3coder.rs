//! Calls as Qwen3-Coder writes them: a function with its parameters, each as raw text in a tag.

use std::borrow::Cow;

use crate::arguments::{CallWriter, Context, is_misnamed};
use crate::limits::ATTEMPT_CHARS;
use crate::protocols::Examples;
use crate::protocols::bodies::params::{holds, reads_as};
use crate::protocols::bodies::shared;
use crate::protocols::body::{Body, Opening};
use crate::protocols::frames::named_tags::{self as tags, near_function};
use crate::protocols::protocol::{Attempt, Protocol, Style, TOOL_RESPONSE};
use crate::schema::{NodeId, Schema, UNKNOWN};
use crate::syntax::json::{Member, Value, json_string, parse, write_spaced_object};
use crate::syntax::scan::{Delimiters, Scan, first_chars, ws_run};
use crate::syntax::tags::{Attributes, QWEN3CODER, is_mark, is_name, push_name};
use crate::tools::{Lookup, Syntax, Tool};
use crate::toolset::Toolset;

#[derive(Debug)]
pub struct Qwen3Coder;

/// The text of a value in its tags: a string as it is, all else as JSON. `None`: it would be read as something else.
fn value_text<'v>(cx: &Context<'_>, id: NodeId, value: &'v Value<'_>) -> Option<Cow<'v, str>> {
    let text = match value {
        Value::String(text) => Cow::Borrowed(&**text),
        _ => {
            let mut text = String::new();
            value.write_spaced(&mut text);
            Cow::Owned(text)
        }
    };
    (reads_as(cx, &QWEN3CODER, id, &text, value) && holds(&QWEN3CODER, &text)).then_some(text)
}

/// The call's parameters in their tags. `None`: the tags cannot hold one of them.
fn parameters(cx: &Context<'_>, arguments: &[Member<'_>]) -> Option<String> {
    let root = cx.schema.root;
    let mut out = String::new();
    for (key, value) in arguments {
        if !is_name(key) || key.ends_with('/') || is_misnamed(cx.schema, root, key) {
            return None;
        }
        let text = value_text(cx, cx.schema.member(root, key).unwrap_or(UNKNOWN), value)?;
        out.extend(["<parameter=", key, ">\n", &text, "\n</parameter>\n"]);
    }
    Some(out)
}

impl CallWriter for Qwen3Coder {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        out.push_str("<tool_call>\n<function=");
        push_name(cx.tool, out);
        out.push_str(">\n");
        match parameters(cx, arguments).filter(|_| cx.syntax != Some(Syntax::Json)) {
            Some(text) => out.push_str(&text),
            None => {
                let mut json = String::new();
                write_spaced_object(arguments, &mut json);
                // No tag can be seen in it.
                out.push_str(&json.replace('<', "\\u003c"));
                out.push('\n');
            }
        }
        out.push_str("</function>\n</tool_call>");
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        let text = match parse(value, 0) {
            Ok(Value::String(text)) => text.into_owned(),
            _ => value.to_owned(),
        };
        format!("<parameter={field}>{text}</parameter>")
    }
}

impl Protocol for Qwen3Coder {
    fn delimiters(&self, given: Option<(&str, &str)>) -> Result<Delimiters, String> {
        match given {
            None => Ok(Delimiters::of(QWEN3CODER.block_open, QWEN3CODER.block_close)),
            Some(_) => Err("the tags of qwen3coder are fixed, so it has no delimiters".into()),
        }
    }

    fn result_marks(&self) -> &[Cow<'static, str>] {
        &TOOL_RESPONSE
    }

    fn bad_name(&self, name: &str, _: &Delimiters) -> Option<&'static str> {
        (!is_name(name))
            .then_some("it must have 1 to 128 characters, and no whitespace, control characters, quotes, < or >")
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
        let known = |name: &str, begun: bool| match begun {
            true => tools.tools().any(|tool| tool.name.starts_with(name)),
            false => tools.get(name).is_some(),
        };
        let found = match QWEN3CODER.opener(text, last, true, &known) {
            Scan::Incomplete => return Attempt::Need,
            Scan::NoMatch => return near_function(tools, &QWEN3CODER, text, last),
            Scan::Match(found) => found,
        };
        let (whole, ended) = (text, last);
        let end = first_chars(text, ATTEMPT_CHARS).max(found.body);
        let (text, last) = (&text[..end], last || end < text.len());
        let (open, body, opening) = (found.open, found.body, Opening::Params(found.opened));
        let Some(name) = found.name else {
            return Attempt::Call { lead: 0, open, name: None, body, opening, style: Style::default() };
        };
        let lookup = tools.lookup(&text[name.clone()]);
        // Attributes are meant as arguments, whatever follows. Prose also mentions tags, but without attributes.
        let attributes = found.opened.attributes != Attributes::None;
        let follows = if found.opened.empty || (attributes && lookup != Lookup::Unknown) {
            Scan::Match(())
        } else {
            let schema = lookup.tool().map(|at| &tools.tool(at).schema);
            let declared = |name: &str| schema.is_some_and(|schema| schema.declares(schema.root, name));
            let end = if attributes { found.end } else { Some(body) };
            end.map_or(Scan::NoMatch, |end| {
                let tag = (found.opened.tag, &text[name.clone()]);
                QWEN3CODER.follows(&text[ws_run(text, end)..], last, tag, &declared)
            })
        };
        match follows {
            Scan::Incomplete => Attempt::Need,
            Scan::NoMatch => near_function(tools, &QWEN3CODER, whole, ended),
            Scan::Match(()) => {
                Attempt::Call { lead: 0, open, name: Some((name, lookup)), body, opening, style: Style::default() }
            }
        }
    }

    fn body(&self, cx: &Context<'_>, opening: Opening, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        shared(cx, opening, name, recycled)
    }

    fn ends_reasoning(&self, text: &str) -> Scan {
        match QWEN3CODER.ends_reasoning(text, false) {
            Scan::Match(()) => Scan::Match(()),
            Scan::Incomplete => Scan::Incomplete,
            Scan::NoMatch => Scan::NoMatch,
        }
    }

    fn wrap_result(&self, tools: &Toolset, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
        let name = tools.neutralise(&json_string(name));
        let number = number.map_or(String::new(), |number| format!(" name={name} number=\"{number}\""));
        let error = if error { " error=\"true\"" } else { "" };
        format!("<tool_response{number}{error}>\n{content}\n</tool_response>")
    }

    fn is_mark(&self, tools: &Toolset, text: &str) -> bool {
        is_mark(&QWEN3CODER, text, &|name| tools.get(name).is_some())
            || (text.starts_with('<') && tags::is_mark(tools, text))
    }

    fn header(&self, tools: &Toolset, examples: &Examples<'_>) -> String {
        default_header(self, tools, examples)
    }

    fn signature(&self, tools: &Toolset, tool: &Tool) -> String {
        tags::signature(self, tools, tool)
    }
}

fn default_header(protocol: &Qwen3Coder, tools: &Toolset, examples: &Examples<'_>) -> String {
    let example = examples.any(protocol);
    let json = tools.tools().any(|tool| tool.syntax == Syntax::Json);
    let whole = if json { " Tools shown as JSON take one JSON object in place of all parameters." } else { "" };
    format!(
        "To call a tool, write its name and its parameters in tags, as plain text. Example:\n{example}\n\
         Parameters without ? are required; use the exact names and types. Write strings between the tags as they are, without \
         quotes or escapes, and lists and objects as JSON.{whole} You can write several calls in a row. Write your thoughts before the \
         calls and nothing after them. Results come as <tool_response>; never write one.\nTools (? optional, string by default):"
    )
}
