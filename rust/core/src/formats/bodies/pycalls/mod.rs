//! Calls as Python writes them, with keyword arguments: items of one list, `[f(a=1, b='x'), g()]`, or one on each line.

mod body;
mod write;

use crate::arguments::Context;
use crate::error::EncodeError;
use crate::formats::attempt::Attempt;
use crate::formats::bodies::json::JsonRules;
use crate::formats::bodies::json::fence::{FENCE, fence_length};
use crate::formats::bodies::json::marked::begins_object;
use crate::formats::body::{Body, Opening, recycle};
use crate::formats::call::{CallFormat, PastCall};
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::settings::Settings;
use crate::limits::{HEAD_CHARS, NAME_CHARS, RECURSION};
use crate::syntax::json::parse;
use crate::syntax::python::{is_name, is_name_char};
use crate::syntax::scan::{Scan, first_chars, is_ws, starts, window, ws_run};
use crate::tools::Tools;

use body::PyCallsBody;

pub(crate) use write::value as write_value;

/// A format, with these markers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PyCalls {
    pub open: &'static [&'static str],
    pub close: &'static str,
    /// Calls are items of one list. Otherwise, each is on a line of its own.
    pub list: bool,
    /// The markers may be missing if the list is the whole message.
    pub bare: bool,
    /// The list may also be one of JSON objects.
    pub json: Option<JsonRules>,
    pub values: PyValues,
}

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PyValues {
    /// As Python does.
    Python,
    /// Strings between single quotes, without escapes, and objects as JSON. Inside lists, as Python does.
    Unescaped,
    Json,
}

/// The opener of one or more calls.
#[derive(Clone, Copy, Debug)]
struct CallsOpener {
    /// The end of the opener, after the bracket of a list.
    end: usize,
    /// It has the marker.
    marked: bool,
    /// The calls are in a list.
    list: bool,
    /// The calls are in a Markdown fence.
    fenced: bool,
}

impl PyCalls {
    /// The opener at the start of the text: the marker, and the bracket of a list. After a marker, whitespace and a fence may precede the
    /// bracket, and a list may differ from the format: no bracket where it writes one, or a bracket where it writes none.
    fn opener(&self, text: &str, last: bool) -> Scan<CallsOpener> {
        let marker = Scan::first_of(self.open.iter().map(|open| starts(text, open, last).map(|()| open.len())));
        let mut at = match marker {
            Scan::Match(length) => ws_run(text, length),
            Scan::NoMatch if self.bare => {
                let (list, bracket) = (self.list, if self.list { "[" } else { "" });
                let opener = CallsOpener { end: bracket.len(), marked: false, list, fenced: false };
                return starts(text, bracket, last).map(|()| opener);
            }
            Scan::NoMatch => return Scan::NoMatch,
            Scan::Incomplete => return Scan::Incomplete,
        };
        let fence = fence_length(&text[at..]);
        let fenced = fence.is_match();
        match fence {
            Scan::Incomplete => return Scan::at_end(last),
            Scan::Match(length) => {
                // A word directly before a parenthesis is the name of a call, not a language.
                let language = text.as_bytes().get(at + length).is_none_or(|byte| is_ws(*byte));
                at = ws_run(text, at + if language { length } else { FENCE.len() });
            }
            Scan::NoMatch => {}
        }
        let Some(first) = text.as_bytes().get(at) else { return Scan::at_end(last) };
        let list = *first == b'[';
        Scan::Match(CallsOpener { end: at + usize::from(list), marked: true, list, fenced })
    }
}

/// The tool's name at the start of a call, and where its parenthesis is.
fn call_name(text: &str, last: bool) -> Scan<(&str, usize)> {
    let end = text.find(|c| !is_name_char(c)).unwrap_or(text.len());
    let name = &text[..end];
    let at = ws_run(text, end);
    match text.as_bytes().get(at) {
        Some(b'(') if is_name(name) && first_chars(name, NAME_CHARS) == end => Scan::Match((name, at)),
        None if name.is_empty() || is_name(name) => Scan::at_end(last),
        _ => Scan::NoMatch,
    }
}

/// Whether the parentheses that begin here are those of a call with keyword arguments.
fn has_keywords(text: &str, last: bool) -> Scan {
    let at = ws_run(text, 1);
    let rest = &text[at..];
    let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
    let equals = ws_run(rest, end);
    match (rest.as_bytes().first(), rest.as_bytes().get(equals)) {
        (Some(b')'), _) => Scan::Match(()),
        (_, Some(b'=')) if is_name(&rest[..end]) => match rest.as_bytes().get(equals + 1) {
            Some(b'=') => Scan::NoMatch,
            Some(_) => Scan::Match(()),
            None => Scan::at_end(last),
        },
        (_, None) if end == 0 || is_name(&rest[..end]) => Scan::at_end(last),
        _ => Scan::NoMatch,
    }
}

/// Whether a list begins with the name of a declared tool, up to three signs, and a parenthesis with values in it. Its body says what
/// is wrong. In prose, `[name](…)` is a link.
fn unreadable_list(tools: &Tools, text: &str) -> Scan {
    let Some(inner) = text.strip_prefix('[') else { return Scan::NoMatch };
    let name = inner.trim_start_matches(|c: char| c.is_whitespace() || "[(<\"'`“".contains(c));
    let end = name.find(|c| !is_name_char(c)).unwrap_or(name.len());
    let after = &name[end..];
    let signs = after.find(|c: char| c == '(' || c.is_alphanumeric() || c.is_whitespace()).unwrap_or(after.len());
    if tools.find(&name[..end]).is_none() || signs > 3 || (after.starts_with(']') && name.len() == inner.len()) {
        return if after.is_empty() { Scan::Incomplete } else { Scan::NoMatch };
    }
    starts(&after[signs..], "(", false).and_then(|()| has_values(&after[signs..]))
}

/// Whether a value, or a key, is directly after the parenthesis.
fn has_values(text: &str) -> Scan {
    let rest = &text[ws_run(text, 1)..];
    let word = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
    let bytes = rest.as_bytes();
    match (bytes.first(), bytes.get(word), bytes.get(word + 1)) {
        (None, ..) | (_, None, _) => Scan::Incomplete,
        (_, Some(b'='), None) if word > 0 => Scan::Incomplete,
        (_, Some(b'='), Some(next)) if word > 0 => Scan::some((*next != b'=').then_some(())),
        (Some(first), Some(next), _) => {
            let begins =
                first.is_ascii_digit() || b"-\"'`[{(".contains(first) || (word > 0 && b"\"':,)".contains(next));
            Scan::some(begins.then_some(()))
        }
    }
}

impl CallFormat for PyCalls {
    fn openers(&self) -> &'static [&'static str] {
        self.open
    }

    fn close(&self) -> &'static str {
        self.close
    }

    fn encoding(&self) -> &'static str {
        "python"
    }

    fn mark(&self, marks: &mut MarkSet) {
        marks.extend(MarkRole::Inside, self.open.iter().copied().chain([self.close]));
    }

    fn has_lists(&self) -> bool {
        self.list
    }

    fn begins_message(&self) -> bool {
        self.bare
    }

    fn attempt(&self, tools: &Tools, _: &Settings, text: &str, last: bool) -> Attempt {
        let (head, last) = window(text, HEAD_CHARS, last);
        let lead = if self.bare { ws_run(head, 0) } else { 0 };
        let head = &head[lead..];
        let found = self.opener(head, last).and_then(|open| {
            let usual = open.list == self.list && !open.fenced;
            let name = ws_run(head, open.end);
            if head[name..].starts_with('{') && open.marked {
                let begins = || begins_object(&head[name..], last);
                return if usual && self.json.is_some() { Scan::Match(open) } else { begins().map(|()| open) };
            }
            let call = call_name(&head[name..], last);
            call.and_then(|(called, at)| match open.marked && tools.called(called).tool().is_some() {
                // The body reports errors in the arguments.
                true => Scan::Match(()),
                false if usual => has_keywords(&head[name + at..], last),
                false => Scan::NoMatch,
            })
            .map(|()| open)
        });
        match found {
            Scan::Match(CallsOpener { end, .. }) => {
                let opening = Opening::OWN;
                Attempt::Call { lead, open: lead + end, name: None, body: lead, opening, style: None }
            }
            Scan::Incomplete => Attempt::Incomplete,
            Scan::NoMatch if self.bare && !last => match unreadable_list(tools, head) {
                Scan::Match(()) => {
                    let (open, opening) = (lead + 1, Opening::OWN);
                    Attempt::Call { lead, open, name: None, body: lead, opening, style: None }
                }
                Scan::Incomplete => Attempt::Incomplete,
                Scan::NoMatch => Attempt::text(text),
            },
            Scan::NoMatch => Attempt::text(text),
        }
    }

    fn body(&self, cx: &Context<'_>, _: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycle(recycled, || PyCallsBody::new(cx, *self), |body: &mut PyCallsBody| body.reset(*self))
    }

    fn write(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        write::call(self.values, cx.tool, call.arguments, out)
    }

    fn write_otherwise(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> bool {
        self.values == PyValues::Unescaped && write::call(PyValues::Python, cx.tool, call.arguments, out).is_ok()
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        let mut out = format!("{field}=");
        match parse(value, RECURSION) {
            Ok(value) => write::value(&value, &mut out),
            Err(_) => out.push_str(value),
        }
        out
    }
}
