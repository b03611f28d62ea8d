//! The frame of formats with calls as JSON objects between two markers, and how the manual shows the tools.

use crate::arguments::{CallWriter, Context};
use crate::formats::attempt::Attempt;
use crate::formats::body::{Markers, Opening, json_start};
use crate::formats::call::{PastCall, json_field_example};
use crate::formats::commitment::{bad, committed, misspelled};
use crate::formats::layout::{Layout, TOKEN_BEGINS};
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::protocol::{CallReader, CallResult, MessageWriter, Protocol, RESULT_TAGS, is_result_tag};
use crate::formats::results::ResultForm;
use crate::formats::settings::{FormatInfo, Settings};
use crate::formats::teaching::{ANY_NAME, Examples, Prompt, Teacher};
use crate::limits::{ATTEMPT_CHARS, NAME_CHARS};
use crate::schema::Descriptions;
use crate::syntax::json::{Member, Value, push_string, write_object, write_spaced_object};
use crate::syntax::misspelled::{Spellings, meant};
use crate::syntax::scan::{Candidates, Closers, Delimiters, Scan, first_chars, starts, window, ws_run};
use crate::tools::{Tool, Tools};

/// The parts of a result around its content, split at quotes.
const RESULT_PARTS: [&str; 6] = ["<tool_response>{", ":", ",", ":true,", ":0123456789,", "}</tool_response>"];
/// The sentences about a call's object in the manual, and the line above the tools.
const RULES: &str = "\"name\" is a tool's name, \"arguments\" an object that fits its parameters: give every required one and no \
     undeclared ones.";
pub(super) const LISTED: &str = "Tools, with their parameters as JSON Schema:";

/// Calls in a fence are on lines of their own.
fn line_break(delimiters: &Delimiters) -> &'static str {
    if delimiters.close.starts_with('`') { "\n" } else { "" }
}

/// Why this text cannot open calls.
fn bad_open(open: &str) -> Option<&'static str> {
    if open.starts_with(char::is_alphanumeric) {
        return Some("may not begin with a letter or digit");
    }
    let touches = |tag: &str| open.contains(tag) || open.char_indices().any(|(at, _)| tag.starts_with(&open[at..]));
    let within = RESULT_PARTS.iter().any(|part| part.contains(open));
    (within || RESULT_TAGS.iter().any(|tag| touches(tag))).then_some("could be part of a result")
}

/// A format: one JSON object with the tool's name and its arguments, or a list of them, between markers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnvelopeFormat {
    /// What opens and closes a call, unless the host chooses.
    pub open: &'static str,
    pub close: &'static str,
    pub spellings: Spellings,
    /// A message with calls contains nothing but calls.
    pub alone: bool,
    pub layout: Layout,
}

impl CallWriter for EnvelopeFormat {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        if self.layout.native { write_as_template(cx, arguments, out) } else { write_call(cx, arguments, out) }
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        json_field_example(field, value)
    }
}

impl Protocol for EnvelopeFormat {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn info(&self) -> FormatInfo {
        FormatInfo::new(self.open, self.close, "json")
    }

    fn delimiters(&self, open: &str, close: &str) -> Result<Delimiters, String> {
        // Whitespace is allowed there anyway.
        let (open, close) = (open.trim(), close.trim());
        for mark in [open, close] {
            if mark.is_empty() {
                return Err("a delimiter must not be empty or whitespace".into());
            }
            if let Some(bad) = mark.chars().find(|c| c.is_control() || matches!(c, '"' | '\\')) {
                return Err(format!("the delimiter {mark:?} may not contain {bad:?}"));
            }
        }
        if open == close {
            return Err(format!("a call cannot be opened and closed with the same delimiter {open:?}"));
        }
        match bad_open(open) {
            Some(why) => Err(format!("the delimiter {open:?} {why}")),
            None => Ok(Delimiters::of(open, close)),
        }
    }

    fn candidates(&self, delimiters: &Delimiters) -> Candidates {
        let own = Candidates::none().with_text(&delimiters.open).with_text(self.open).with(b'<', *b"tT/");
        let tokens = TOKEN_BEGINS.iter().chain(self.layout.stops).filter(|_| self.layout.native);
        tokens.fold(own, |all, token| all.with_text(token))
    }

    fn bad_name(&self, name: &str, _: &Delimiters) -> Option<&'static str> {
        (name.is_empty() || first_chars(name, NAME_CHARS) < name.len()).then_some("it must have 1 to 128 characters")
    }

    fn marks(&self) -> MarkSet {
        let mut marks = MarkSet::default();
        if self.layout.native && !self.close.starts_with('`') {
            marks.push(MarkRole::End, self.close);
        }
        marks
    }
}

impl CallReader for EnvelopeFormat {
    fn attempt(&self, tools: &Tools, settings: &Settings, text: &str, last: bool) -> Attempt {
        let open = settings.delimiters.open.as_str();
        match starts(text, open, last) {
            Scan::Match(()) => {}
            Scan::Incomplete => return Attempt::Incomplete,
            // Only the usual delimiters have known misspellings.
            Scan::NoMatch if open == self.open => return misspelled(tools, settings, &self.spellings, text, last),
            Scan::NoMatch => return Attempt::text(text),
        }
        let rest = &text[open.len()..];
        let (head, last) = window(rest, ATTEMPT_CHARS, last);
        let fences = !settings.delimiters.close.starts_with('`');
        match json_start(head, ws_run(head, 0), last, fences, true) {
            Scan::Incomplete => Attempt::Incomplete,
            Scan::NoMatch => match meant(rest, last, &settings.delimiters, &|name| tools.find(name)) {
                Scan::Incomplete => Attempt::Incomplete,
                Scan::NoMatch => committed(tools, || Closers::Own, text, open.len(), last),
                Scan::Match(tool) => bad(tools, open.len(), tool, Closers::Own, false),
            },
            Scan::Match((at, wrapper)) => {
                Attempt::call(open.len(), open.len() + at, Opening::Envelope(wrapper, Markers::Close))
            }
        }
    }

    fn ends_reasoning(&self, text: &str) -> Scan {
        starts(text, self.open, false).and_then(|()| {
            let end = first_chars(text, ATTEMPT_CHARS);
            let at = ws_run(&text[..end], self.open.len());
            starts(&text[at..end], "{\"", end < text.len())
        })
    }

    fn is_mark(&self, _: &Tools, settings: &Settings, text: &str) -> bool {
        let open = settings.delimiters.open.as_str();
        // Nothing can be removed from a single character, so the backslash follows it.
        let opens = |rest: &str| open.chars().nth(1).is_some() || !rest.starts_with('\\');
        is_result_tag(text)
            || text.strip_prefix(open).is_some_and(opens)
            || settings.marks.ends.iter().any(|end| text.starts_with(end))
            || (self.open == open && self.spellings.open(text))
            || self.layout.is_token(text)
    }
}

impl MessageWriter for EnvelopeFormat {
    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
        (if self.layout.native { ResultForm::Lines } else { ResultForm::Json }).write(prompt, result)
    }
}

impl Teacher for EnvelopeFormat {
    fn header(&self, _: &Prompt<'_>, examples: &Examples<'_>) -> String {
        header(self, self.alone, examples)
    }

    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String {
        signature(prompt, tool)
    }

    fn rules(&self, _: &Tools) -> (String, &'static str) {
        (format!("{RULES} "), LISTED)
    }
}

pub(crate) fn write_call(cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
    let Delimiters { open, close, .. } = cx.delimiters;
    let line = line_break(cx.delimiters);
    let name = if cx.tool.is_empty() { ANY_NAME } else { cx.tool };
    out.push_str(open);
    out.push_str(line);
    out.push_str("{\"name\":");
    push_string(out, name);
    out.push_str(",\"arguments\":");
    write_object(arguments, out);
    out.push('}');
    out.push_str(line);
    out.push_str(close);
}

/// The call as the models' own templates write it: the object on a line of its own, with spaces after commas and colons.
fn write_as_template(cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
    let Delimiters { open, close, .. } = cx.delimiters;
    out.extend([open, "\n{\"name\": "]);
    push_string(out, if cx.tool.is_empty() { ANY_NAME } else { cx.tool });
    out.push_str(", \"arguments\": ");
    write_spaced_object(arguments, out);
    out.extend(["}\n", close]);
}

/// The start of the manual. With `alone`, a message with calls contains nothing else.
pub(crate) fn header(writer: &dyn CallWriter, alone: bool, examples: &Examples<'_>) -> String {
    let mut out =
        String::from("To call tools, write calls as plain text, one or more, each a JSON object in its own markers:\n");
    // Two examples show that each call has its own markers.
    out.push_str(&examples.several(writer, 2));
    out.push_str(&format!("\n{RULES} "));
    if alone {
        out.push_str("In a message with calls, write nothing else. ");
    }
    out.push_str(&format!("Results come as <tool_response>; never write one.\n{LISTED}"));
    out
}

/// One tool as a line of JSON.
pub(crate) fn signature(prompt: &Prompt<'_>, tool: &Tool) -> String {
    let neutral = |text: &str| Value::String(prompt.neutralise(text).into());
    let mut line: Vec<Member<'_>> = vec![("name".into(), Value::String(tool.name.as_str().into()))];
    let described = prompt.settings.descriptions != Descriptions::None;
    if let Some(description) = tool.description.as_deref().filter(|text| described && !text.trim().is_empty()) {
        line.push(("description".into(), neutral(description.trim())));
    }
    line.push(("parameters".into(), shown(prompt, &tool.parameters, SchemaPart::Schema)));
    Value::Object(line).to_json()
}

/// The part of a JSON Schema that a value is.
#[derive(Clone, Copy, PartialEq)]
enum SchemaPart {
    Schema,
    /// Schemas by names.
    Named,
    /// Values, which are not changed.
    Data,
}

/// Keywords of a schema that tell a model nothing more.
const SILENT: [&str; 3] = ["$schema", "$comment", "title"];

/// A schema as the manual shows it: without silent keywords and unwanted descriptions, and neutralised. The recursion is as deep
/// as the schema.
fn shown(prompt: &Prompt<'_>, value: &Value<'static>, part: SchemaPart) -> Value<'static> {
    match value {
        Value::String(text) => Value::String(prompt.neutralise(text).into()),
        Value::Array(items) => Value::Array(items.iter().map(|item| shown(prompt, item, part)).collect()),
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, value)| {
                let description = key == "description" && prompt.settings.descriptions != Descriptions::Full;
                part != SchemaPart::Schema || !(value.is_string() && (description || SILENT.contains(&&**key)))
            });
            let inner = |key: &str| match (part, key) {
                (SchemaPart::Data, _) | (SchemaPart::Schema, "enum" | "const" | "default" | "examples") => {
                    SchemaPart::Data
                }
                (
                    SchemaPart::Schema,
                    "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                ) => SchemaPart::Named,
                (SchemaPart::Schema | SchemaPart::Named, _) => SchemaPart::Schema,
            };
            let shown =
                |(key, value): &Member<'static>| (prompt.neutralise(key).into(), shown(prompt, value, inner(key)));
            Value::Object(kept.map(shown).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The sentence of a manual about results, with the result of a tool of this name.
pub(crate) fn results(writer: &dyn MessageWriter, prompt: &Prompt<'_>, name: &str) -> String {
    let result = CallResult { name, content: "…", error: false, number: None, call: PastCall::NONE };
    match writer.wrap_result(prompt, &result) {
        plain if plain == result.content => "Results come as plain text; never write one.".to_owned(),
        marked => format!("Results come in this form; never write one:\n{}", marked.trim()),
    }
}
