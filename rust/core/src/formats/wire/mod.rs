//! The wire format: `<call>name key=value</call>`, or `<call>name {…}</call>` with one JSON object.

mod bare;
mod grammar;
mod opening;
pub(crate) mod pairs;

use std::borrow::Cow;
use std::sync::Arc;

use super::attempt::Attempt;
use super::body::{Body, Form, recycle};
use super::protocol::{CallReader, CallResult, MessageWriter, Protocol};
use super::settings::{FormatInfo, Settings};
use super::spec::Row;
use super::teaching::{Examples, LISTED, Prompt, Teacher};
use crate::arguments::{CallWriter, Context};
use crate::grammar::CallGrammarWriter;
use crate::limits::NAME_CHARS;
use crate::schema::Schema;
use crate::syntax::json::{Member, json_string, write_object};
use crate::syntax::marks::{self, CLOSE, OPEN, is_mark, neutralise};
use crate::syntax::scan::{Candidates, Delimiters, RESULT_MARKS};
use crate::tools::{Syntax, Tool, Tools};
use opening::may_repeat_name;
use pairs::{Pairs, write_pairs};

pub(crate) const ROW: Row = Row::new("wire", || Arc::new(Wire));

static MARKS: [Cow<'static, str>; 2] = [Cow::Borrowed(RESULT_MARKS[0]), Cow::Borrowed(RESULT_MARKS[1])];

#[derive(Debug)]
pub(crate) struct Wire;

/// Whether the reader finds a tool's name after OPEN.
fn is_writable_name(name: &str, delimiters: &Delimiters) -> bool {
    !name.is_empty()
        && name.chars().count() <= NAME_CHARS
        && delimiters.name_run(name) == name.len()
        && !name.chars().any(char::is_control)
}

/// Whether an undeclared tool's name is a call even without a body.
fn is_plain_name(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'/' | b'-'))
}

impl CallWriter for Wire {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        let Delimiters { open, close, .. } = cx.delimiters;
        out.push_str(open);
        out.push_str(cx.tool);
        let length = out.len();
        if cx.syntax == Some(Syntax::Json) || write_pairs(cx.schema, cx.delimiters, arguments, out).is_none() {
            out.truncate(length);
        }
        // The name of an undeclared tool alone is a call only if it is plain.
        let alone = arguments.is_empty() && (cx.syntax.is_some() || is_plain_name(cx.tool));
        if out.len() == length && !alone {
            out.push(' ');
            let start = out.len();
            write_object(arguments, out);
            // Otherwise it would be read as a call in another notation.
            if out[start..].starts_with(&format!("{{\"name\":\"{}\",", cx.tool)) && may_repeat_name(cx.schema) {
                out.replace_range(start..start + "{\"name".len(), "{\"\\u006eame");
            }
        }
        out.push_str(close);
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        format!("{field}={value}")
    }
}

impl Protocol for Wire {
    fn info(&self) -> FormatInfo {
        FormatInfo { near_misses: false, result_marks: Cow::Borrowed(&MARKS), ..FormatInfo::new(OPEN, CLOSE, "pairs") }
    }

    fn delimiters(&self, open: &str, close: &str) -> Result<Delimiters, String> {
        Delimiters::new(open, close)
    }

    fn bad_name(&self, name: &str, delimiters: &Delimiters) -> Option<&'static str> {
        (!is_writable_name(name, delimiters)).then_some(
            "it must have 1 to 128 characters, and no whitespace, control characters, quotes or any of < { =",
        )
    }

    fn complexity(&self, schema: &Schema) -> Option<&'static str> {
        schema.complexity()
    }

    fn candidates(&self, delimiters: &Delimiters) -> Candidates {
        marks::candidates(delimiters)
    }
}

impl CallReader for Wire {
    /// The end of the message decides nothing.
    fn attempt(&self, tools: &Tools, settings: &Settings, text: &str, _last: bool) -> Attempt {
        opening::attempt(tools, settings, text)
    }

    fn body(&self, _: &Context<'_>, _: Form, _: bool, _: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycle(recycled, Pairs::default, |body| *body = Pairs::default())
    }

    fn is_mark(&self, _: &Tools, settings: &Settings, text: &str) -> bool {
        is_mark(text, &settings.delimiters)
    }

    fn neutralise(&self, _: &Tools, settings: &Settings, text: &str) -> String {
        neutralise(text, &settings.delimiters)
    }
}

impl MessageWriter for Wire {
    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
        let CallResult { name, content, error, number, .. } = *result;
        let tag = if error { "tool-error" } else { "tool-result" };
        let name = prompt.neutralise(&json_string(name));
        let number = number.map_or(String::new(), |number| format!(" number=\"{number}\""));
        format!("<{tag} name={name}{number}>{content}</{tag}>")
    }

    fn grammar(&self) -> Option<&dyn CallGrammarWriter> {
        Some(self)
    }
}

impl Teacher for Wire {
    fn header(&self, prompt: &Prompt<'_>, examples: &Examples<'_>) -> String {
        let pairs = examples.of(|tool| tool.syntax == Syntax::Wire);
        let json = examples.of(|tool| tool.syntax == Syntax::Json);
        let mut calls: Vec<String> = pairs.into_iter().chain(json).collect();
        if calls.is_empty() {
            calls.push(examples.any(self));
        }
        let (rules, listed) = self.rules(prompt.tools);
        format!(
            "To call tools, write calls as plain text, one or more in a row:\n{}\n{rules}Results come as <tool-result>; \
             never write one.\n{listed}",
            calls.join("\n"),
        )
    }

    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String {
        let parameters = prompt.parameters(tool, tool.syntax == Syntax::Json);
        format!("{}{parameters}{}", tool.name, prompt.description(tool))
    }

    fn rules(&self, tools: &Tools) -> (String, &'static str) {
        let mut out = String::new();
        let json = tools.iter().any(|tool| tool.syntax == Syntax::Json);
        if tools.iter().any(|tool| tool.syntax == Syntax::Wire) || !json {
            out.push_str(
                "Quote values with spaces; in quotes, escape with \\\" \\\\ \\n. Write lists as JSON, like [\"a\",\"b\"], and nested keys with \
                 dots, like a.b=1. ",
            );
            if json {
                out.push_str("Tools shown with {…} take one JSON object. ");
            }
        }
        (out, LISTED)
    }
}
