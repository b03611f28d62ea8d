//! The frame of formats with functions whose parameters are raw text in tags.

use std::borrow::Cow;

use crate::arguments::{CallWriter, Context, is_misnamed};
use crate::error::EncodeError;
use crate::formats::attempt::Attempt;
use crate::formats::bodies::params::{holds, reads_as};
use crate::formats::body::Opening;
use crate::formats::call::{PastCall, Separators};
use crate::formats::frames::envelope;
use crate::formats::frames::flat::PastText;
use crate::formats::layout::Layout;
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::named_tags::{self, near_function};
use crate::formats::protocol::{CallReader, CallResult, MessageWriter, Protocol};
use crate::formats::settings::{FormatInfo, Settings};
use crate::formats::teaching::{Examples, Prompt, Teacher};
use crate::formats::template::markers;
use crate::limits::ATTEMPT_CHARS;
use crate::schema::{NodeId, Schema, UNKNOWN};
use crate::syntax::json::{Member, Value, parse, write_spaced_object};
use crate::syntax::scan::{Candidates, Delimiters, Scan, first_chars, starts, window, ws_run};
use crate::syntax::tags::{self, ElementRow, OpenerAttributes, TagForm, is_markup, is_name, push_name};
use crate::tools::{Lookup, Syntax, Tool, Tools};

/// The opening tag of results in most of these formats.
const RESPONSE: &str = "<tool_response>";

/// A format, with these tags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParamsFormat {
    pub row: &'static ElementRow,
    /// Why the host cannot choose delimiters.
    pub fixed: &'static str,
    pub layout: Layout,
    pub past_text: PastText,
}

/// The text of a value in its tags: a string unchanged, any other value as JSON. `None` if it would be read as another value.
fn value_text<'v>(
    row: &'static ElementRow,
    cx: &Context<'_>,
    id: NodeId,
    value: &'v Value<'_>,
) -> Option<Cow<'v, str>> {
    let text = match value {
        Value::String(text) => Cow::Borrowed(&**text),
        _ => {
            let mut text = String::new();
            value.write_spaced(&mut text);
            Cow::Owned(text)
        }
    };
    (reads_as(cx, row, id, &text, value) && holds(row, cx, &text)).then_some(text)
}

/// The call's parameters in their tags. `None` if the tags cannot hold one of them.
fn parameters(row: &'static ElementRow, cx: &Context<'_>, arguments: &[Member<'_>]) -> Option<String> {
    let root = cx.schema.root;
    let mut out = String::new();
    for (key, value) in arguments {
        let markup = is_markup(key) && !cx.schema.declares(root, key);
        if !is_name(key) || key.ends_with('/') || markup || is_misnamed(cx.schema, root, key) {
            return None;
        }
        let text = value_text(row, cx, cx.schema.member(root, key).unwrap_or(UNKNOWN), value)?;
        let TagForm { open, end, .. } = row.parameter;
        out.extend([open, key, end, "\n", &text, "\n", row.parameter_close, "\n"]);
    }
    Some(out)
}

/// All arguments as one JSON object, which must not contain a tag.
fn object(arguments: &[Member<'_>]) -> String {
    let mut json = String::new();
    write_spaced_object(arguments, &mut json);
    json.replace('<', "\\u003c") + "\n"
}

impl ParamsFormat {
    fn write(&self, cx: &Context<'_>, inside: &str, out: &mut String) {
        let row = self.row;
        out.extend([row.block_open, "\n", row.call.open]);
        push_name(cx.tool, out);
        out.extend([row.call.end, "\n", inside, row.call_close, "\n", row.block_close]);
    }
}

impl CallWriter for ParamsFormat {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        let text = parameters(self.row, cx, arguments).filter(|_| cx.syntax != Some(Syntax::Json));
        self.write(cx, &text.unwrap_or_else(|| object(arguments)), out);
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        let text = match parse(value, 0) {
            Ok(Value::String(text)) => text.into_owned(),
            _ => value.to_owned(),
        };
        let TagForm { open, end, .. } = self.row.parameter;
        format!("{open}{field}{end}{text}{}", self.row.parameter_close)
    }
}

impl Protocol for ParamsFormat {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn info(&self) -> FormatInfo {
        let info = FormatInfo::new(self.row.block_open, self.row.block_close, "parameters").fixed(self.fixed);
        match self.past_text.result_mark {
            Some(mark) if mark != RESPONSE => {
                FormatInfo { result_marks: Cow::Owned(vec![Cow::Borrowed(mark)]), ..info }
            }
            _ => info,
        }
    }

    fn candidates(&self, _: &Delimiters) -> Candidates {
        self.layout.stops.iter().fold(Candidates::none().with_byte(b'<'), |all, stop| all.with_text(stop))
    }

    fn marks(&self) -> MarkSet {
        let (row, mut marks) = (self.row, MarkSet::default());
        marks.push(MarkRole::Open, row.block_open);
        marks.push(MarkRole::Close, row.block_close);
        marks.push(MarkRole::Open, row.call.open);
        marks.extend(MarkRole::Inside, [row.call_close, row.parameter.open, row.parameter_close]);
        marks
    }

    fn bad_name(&self, name: &str, _: &Delimiters) -> Option<&'static str> {
        (!is_name(name))
            .then_some("it must have 1 to 128 characters, and no whitespace, control characters, quotes, < or >")
    }

    fn complexity(&self, schema: &Schema) -> Option<&'static str> {
        schema.complexity()
    }
}

impl CallReader for ParamsFormat {
    fn attempt(&self, tools: &Tools, settings: &Settings, text: &str, last: bool) -> Attempt {
        let row = self.row;
        let Some(first) = text.chars().next() else { return Attempt::Incomplete };
        if first != '<' {
            return Attempt::Text(first.len_utf8());
        }
        let known = |name: &str, begun: bool| match begun {
            true => tools.begins_name(name),
            false => tools.get(name).is_some(),
        };
        let found = match row.opener(text, last, true, &known) {
            Scan::Incomplete => return Attempt::Incomplete,
            Scan::NoMatch => return near_function(tools, settings, row, text, last),
            Scan::Match(found) => found,
        };
        let (whole, ended) = (text, last);
        let end = first_chars(text, ATTEMPT_CHARS).max(found.body);
        let (text, last) = (&text[..end], last || end < text.len());
        let (open, body, opening) = (found.open, found.body, Opening::Params(found.opened));
        let Some(name) = found.name else {
            return Attempt::call(open, body, opening);
        };
        let lookup = tools.called(&text[name.clone()]);
        // Attributes are meant as arguments, whatever follows. Prose also mentions tags, but without attributes.
        let attributes = found.opened.attributes != OpenerAttributes::None;
        let follows = if found.opened.empty || (attributes && lookup != Lookup::Unknown) {
            Scan::Match(())
        } else {
            let schema = lookup.tool().map(|at| &tools.at(at).schema);
            let declared = |name: &str| schema.is_some_and(|schema| schema.declares(schema.root, name));
            let end = if attributes { found.end } else { Some(body) };
            end.map_or(Scan::NoMatch, |end| {
                let tag = (found.opened.tag, &text[name.clone()]);
                row.follows(&text[ws_run(text, end)..], last, tag, &declared)
            })
        };
        match follows {
            Scan::Incomplete => Attempt::Incomplete,
            Scan::NoMatch => near_function(tools, settings, row, whole, ended),
            Scan::Match(()) => Attempt::named(open, (name, lookup), body, opening),
        }
    }

    /// What opens a parameter that a tool declares.
    fn orphan(&self, tools: &Tools, text: &str, last: bool) -> Scan<usize> {
        let TagForm { open, end, .. } = self.row.parameter;
        starts(text, open, last).and_then(|()| {
            let (head, last) = window(&text[open.len()..], ATTEMPT_CHARS, last);
            match head.find(end) {
                None if head.contains(['\n', '<']) => Scan::NoMatch,
                None => Scan::at_end(last),
                Some(length) => {
                    let declared = |tool: &Tool| tool.schema.declares(tool.schema.root, &head[..length]);
                    Scan::some(tools.iter().any(declared).then_some(open.len()))
                }
            }
        })
    }

    fn ends_reasoning(&self, text: &str) -> Scan {
        self.row.ends_reasoning(text)
    }

    fn is_mark(&self, tools: &Tools, _: &Settings, text: &str) -> bool {
        text.starts_with(self.row.parameter.open)
            || markers(self.past_text.result).any(|mark| text.starts_with(mark))
            || tags::is_mark(self.row, text, &|name| tools.get(name).is_some())
            || (text.starts_with('<') && named_tags::is_mark(tools, text))
            || self.layout.is_token(text)
    }
}

impl MessageWriter for ParamsFormat {
    fn write_past_call(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        let text = parameters(self.row, cx, call.arguments)
            .ok_or_else(|| EncodeError(format!("the tags cannot hold these arguments of {:?}", cx.tool)))?;
        self.write(cx, &text, out);
        Ok(())
    }

    fn write_as_object(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> bool {
        self.write(cx, &object(call.arguments), out);
        true
    }

    fn separators(&self) -> Separators {
        self.past_text.separators
    }

    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
        self.past_text.result(prompt, result, None)
    }
}

impl Teacher for ParamsFormat {
    fn header(&self, prompt: &Prompt<'_>, examples: &Examples<'_>) -> String {
        let example = examples.any(self);
        let json = prompt.tools.iter().any(|tool| tool.syntax == Syntax::Json);
        let whole = if json { " Tools shown as JSON take one JSON object in place of all parameters." } else { "" };
        let results = match self.past_text.result_mark {
            Some(mark) if mark != RESPONSE => envelope::results(self, prompt, ""),
            _ => "Results come as <tool_response>; never write one.".to_owned(),
        };
        format!(
            "To call a tool, write its name and its parameters in tags, as plain text. Example:\n{example}\n\
             Parameters without ? are required; use the exact names and types. Write strings between the tags as they are, without \
             quotes or escapes, and lists and objects as JSON.{whole} You can write several calls in a row. Write your thoughts before the \
             calls and nothing after them. {results}\nTools (? optional, string by default):"
        )
    }

    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String {
        named_tags::signature(self, prompt, tool)
    }
}
