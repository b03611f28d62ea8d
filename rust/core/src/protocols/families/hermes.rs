//! Calls as JSON objects between two markers: `<tool_call>{"name":…,"arguments":{…}}</tool_call>`, or in a fence for Gemma.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use crate::arguments::{CallWriter, Context};
use crate::limits::{ATTEMPT_CHARS, NAME_CHARS};
use crate::protocols::Examples;
use crate::protocols::bodies::shared;
use crate::protocols::body::{Body, Markers, Opening, Wrapper};
use crate::protocols::protocol::{Attempt, Protocol, Style, TOOL_RESPONSE, bad, misspelled};
use crate::schema::{Descriptions, Schema};
use crate::syntax::json::{Member, Value, json_string, parse, write_object};
use crate::syntax::misspelled::{self, meant};
use crate::syntax::pairs::{Segment, segments};
use crate::syntax::scan::{Candidates, Closers, Delimiters, Scan, first_chars, starts, starts_ignoring_case, ws_run};
use crate::tools::Tool;
use crate::toolset::Toolset;

/// The protocol; its variants differ in their markers alone.
#[derive(Debug)]
pub struct Hermes {
    open: &'static str,
    close: &'static str,
    /// Nothing but calls stands in a message with calls.
    alone: bool,
}

const RESULT_MARKS: [&str; 1] = ["<tool_response"];
const RESULT_TAGS: [&str; 2] = [RESULT_MARKS[0], "</tool_response"];
/// What stands around the content of a result, cut at its quotes.
const RESULT_PARTS: [&str; 6] = ["<tool_response>{", ":", ",", ":true,", ":0123456789,", "}</tool_response>"];
/// What the manual says of a call's object, and in front of the tools.
pub const RULES: &str = "\"name\" is a tool's name, \"arguments\" an object that fits its parameters: give every required one and no \
     undeclared ones.";
pub const TOOLS: &str = "Tools, with their parameters as JSON Schema:";
/// The name in an example of no tool.
const ANY_NAME: &str = "tool_name";

impl Hermes {
    pub fn tags() -> Self {
        Hermes { open: "<tool_call>", close: "</tool_call>", alone: false }
    }

    pub fn fence() -> Self {
        Hermes { open: "```tool_call", close: "```", alone: true }
    }
}

/// Calls in a fence stand in lines of their own.
fn line_break(delimiters: &Delimiters) -> &'static str {
    if delimiters.close.starts_with('`') { "\n" } else { "" }
}

/// What stands behind OPEN and blanks.
enum Look {
    Need,
    No,
    Json(usize, Option<Wrapper>),
}

fn look(text: &str, at: usize, last: bool, fences: bool) -> Look {
    let object = |from: usize, wrapper: Option<Wrapper>| {
        let at = ws_run(text, from);
        match text.as_bytes().get(at) {
            Some(b'{') => Look::Json(at, wrapper),
            Some(b'[') => {
                let item = ws_run(text, at + 1);
                match text.as_bytes().get(item) {
                    Some(b'{') => Look::Json(at, wrapper),
                    None if !last => Look::Need,
                    _ => Look::No,
                }
            }
            None if !last => Look::Need,
            _ => Look::No,
        }
    };
    let rest = &text[at..];
    if rest.starts_with('{') {
        return Look::Json(at, None);
    }
    let fence = if fences { starts(rest, "```", last) } else { Scan::NoMatch };
    match (starts(rest, "<json>", last), fence) {
        _ if rest.is_empty() => object(at, None),
        (Scan::Match(()), _) => object(at + 6, Some(Wrapper::Json)),
        (_, Scan::Match(())) => {
            let language = rest[3..].bytes().take_while(u8::is_ascii_alphanumeric).count();
            object(at + 3 + language, Some(Wrapper::Fence))
        }
        (Scan::Incomplete, _) | (_, Scan::Incomplete) => Look::Need,
        (Scan::NoMatch, Scan::NoMatch) => object(at, None),
    }
}

/// Why calls cannot be opened with this.
fn bad_open(open: &str) -> Option<&'static str> {
    if open.starts_with(char::is_alphanumeric) {
        return Some("may not begin with a letter or digit");
    }
    let touches = |tag: &str| open.contains(tag) || open.char_indices().any(|(at, _)| tag.starts_with(&open[at..]));
    let within = RESULT_PARTS.iter().any(|part| part.contains(open));
    (within || RESULT_TAGS.iter().any(|tag| touches(tag))).then_some("could be part of a result")
}

impl CallWriter for Hermes {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        let Delimiters { open, close, .. } = cx.delimiters;
        let line = line_break(cx.delimiters);
        let name = if cx.tool.is_empty() { ANY_NAME } else { cx.tool };
        out.push_str(open);
        out.push_str(line);
        out.push_str("{\"name\":");
        crate::syntax::json::push_string(out, name);
        out.push_str(",\"arguments\":");
        write_object(arguments, out);
        out.push('}');
        out.push_str(line);
        out.push_str(close);
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        let mut out = value.to_owned();
        let path = segments(field);
        for (at, segment) in path.iter().enumerate().rev() {
            let key = match segment {
                Segment::Index(_) => {
                    out = format!("[{out}]");
                    continue;
                }
                Segment::Bare(name) => json_string(name),
                Segment::Quoted(name) | Segment::Bracketed(name) => json_string(name),
            };
            out = if at == 0 { format!("{key}:{out}") } else { format!("{{{key}:{out}}}") };
        }
        out
    }
}

impl Protocol for Hermes {
    fn delimiters(&self, given: Option<(&str, &str)>) -> Result<Delimiters, String> {
        let (open, close) = given.unwrap_or((self.open, self.close));
        // Blanks may stand there anyway.
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
        Candidates::none().with_text(&delimiters.open).with_text(self.open).with(b'<', *b"tT/")
    }

    fn result_marks(&self) -> &[Cow<'static, str>] {
        &TOOL_RESPONSE
    }

    fn bad_name(&self, name: &str, _delimiters: &Delimiters) -> Option<&'static str> {
        (name.is_empty() || first_chars(name, NAME_CHARS) < name.len()).then_some("it must have 1 to 128 characters")
    }

    fn complexity(&self, _schema: &Schema) -> Option<&'static str> {
        None
    }

    fn encoding(&self) -> &'static str {
        "json"
    }

    fn attempt(&self, tools: &Toolset, text: &str, last: bool) -> Attempt {
        let open = tools.delimiters.open.as_str();
        match starts(text, open, last) {
            Scan::Match(()) => {}
            Scan::Incomplete => return Attempt::Need,
            Scan::NoMatch if self.open == open => {
                let spellings = if self.alone { &misspelled::GEMMA } else { &misspelled::HERMES };
                return misspelled(tools, spellings, text, last);
            }
            // Never inside a character.
            Scan::NoMatch => return Attempt::Text(text.chars().next().map_or(1, char::len_utf8)),
        }
        let rest = &text[open.len()..];
        let end = first_chars(rest, ATTEMPT_CHARS);
        let last = last || end < rest.len();
        let fences = !tools.delimiters.close.starts_with('`');
        match look(&rest[..end], ws_run(&rest[..end], 0), last, fences) {
            Look::Need => Attempt::Need,
            Look::No => match meant(rest, last, &tools.delimiters, &|name| tools.lookup(name).tool()) {
                Scan::Incomplete => Attempt::Need,
                Scan::NoMatch => Attempt::Text(open.len()),
                Scan::Match(tool) => bad(tools, open.len(), tool, Closers::Own),
            },
            Look::Json(at, wrapper) => Attempt::Call {
                lead: 0,
                open: open.len(),
                name: None,
                body: open.len() + at,
                opening: Opening::Envelope(wrapper, Markers::Close),
                style: Style::default(),
            },
        }
    }

    fn body(&self, cx: &Context<'_>, opening: Opening, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        shared(cx, opening, name, recycled)
    }

    fn wrap_result(&self, tools: &Toolset, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
        let name = json_string(&tools.neutralise(name));
        let error = if error { ",\"error\":true" } else { "" };
        let number = number.map_or(String::new(), |number| format!(",\"number\":{number}"));
        // An object or list stands there as it is.
        let content = match parse(content, tools.limits.depth) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => {
                let mut json = String::new();
                value.write(&mut json);
                // Unescaped, it may contain a mark.
                if tools.neutralise(&json) == json { json } else { json_string(content) }
            }
            _ => json_string(content),
        };
        format!("<tool_response>{{\"name\":{name}{number}{error},\"content\":{content}}}</tool_response>")
    }

    fn is_mark(&self, tools: &Toolset, text: &str) -> bool {
        let open = tools.delimiters.open.as_str();
        // Of one character alone nothing can be taken away, so the backslash is behind it.
        let opens = |rest: &str| open.chars().nth(1).is_some() || !rest.starts_with('\\');
        let spellings = if self.alone { &misspelled::GEMMA } else { &misspelled::HERMES };
        text.strip_prefix(open).is_some_and(opens)
            || (self.open == open && spellings.open(text))
            || RESULT_TAGS.iter().any(|tag| starts_ignoring_case(text, tag))
    }

    fn header(&self, _tools: &Toolset, examples: &Examples<'_>) -> String {
        let mut out = String::from(
            "To call tools, write calls as plain text, one or more, each a JSON object in its own markers:\n",
        );
        // Two show that each call has its own markers.
        out.push_str(&examples.several(self, 2));
        out.push_str(&format!("\n{RULES} "));
        if self.alone {
            out.push_str("In a message with calls, write nothing else. ");
        }
        out.push_str(&format!("Results come as <tool_response>; never write one.\n{TOOLS}"));
        out
    }

    fn signature(&self, tools: &Toolset, tool: &Tool) -> String {
        let neutral = |text: &str| Json::String(tools.neutralise(text));
        let mut line = Map::new();
        line.insert("name".into(), Json::String(tool.name.clone()));
        let described = tools.descriptions != Descriptions::None;
        if let Some(description) = tool.description.as_deref().filter(|text| described && !text.trim().is_empty()) {
            line.insert("description".into(), neutral(description.trim()));
        }
        line.insert("parameters".into(), shown(tools, &tool.parameters, Part::Schema));
        Json::Object(line).to_string()
    }
}

/// Which part of a JSON Schema a value is.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Schema,
    /// Schemas by names.
    Named,
    /// Values: they are to be written as they are.
    Data,
}

/// Words of a schema that say nothing to a model which the rest does not.
const SILENT: [&str; 3] = ["$schema", "$comment", "title"];

/// A schema as the manual shows it: without what is silent, without descriptions where none are wanted, and with no mark in it.
/// As deep as it was read.
fn shown(tools: &Toolset, value: &Json, part: Part) -> Json {
    match value {
        Json::String(text) => Json::String(tools.neutralise(text)),
        Json::Array(items) => Json::Array(items.iter().map(|item| shown(tools, item, part)).collect()),
        Json::Object(members) => {
            let kept = members.iter().filter(|(key, value)| {
                let description = *key == "description" && tools.descriptions != Descriptions::Full;
                part != Part::Schema || !(value.is_string() && (description || SILENT.contains(&key.as_str())))
            });
            let inner = |key: &str| match (part, key) {
                (Part::Data, _) | (Part::Schema, "enum" | "const" | "default" | "examples") => Part::Data,
                (Part::Schema, "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas") => {
                    Part::Named
                }
                (Part::Schema | Part::Named, _) => Part::Schema,
            };
            Json::Object(kept.map(|(key, value)| (tools.neutralise(key), shown(tools, value, inner(key)))).collect())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
    }
}
