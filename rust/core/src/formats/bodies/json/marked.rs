//! Calls as JSON objects that hold the tool's name, one or in a list, after a marker or as the whole message.

use super::fence::{FENCE, fence_length};
use super::{JsonCall, JsonRules};
use crate::arguments::Context;
use crate::error::EncodeError;
use crate::formats::attempt::Attempt;
use crate::formats::body::{Body, Opening, recycle};
use crate::formats::call::{CallFormat, PastCall, json_field_example};
use crate::formats::commitment::orphan;
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::settings::Settings;
use crate::formats::template::fill;
use crate::limits::ATTEMPT_CHARS;
use crate::syntax::json::{push_string, write_spaced_object};
use crate::syntax::scan::{Scan, starts, window, ws_run};
use crate::tools::Tools;

/// A format: `OPEN {…}` or `OPEN [{…}, …]`, and what may close it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedJson {
    /// What opens calls. A bracket at its end belongs to the JSON.
    pub open: &'static [&'static str],
    /// What may open them where a message begins, the longest first. With "" they need no marker there.
    pub openers_at_start: &'static [&'static str],
    /// A list may follow, too. Otherwise, a message without a marker has one call at most.
    pub lists: bool,
    /// What ends a message, if nothing closes calls.
    pub end_of_message: &'static str,
    /// A past call, with `{name}` and `{id}`, as JSON strings, and `{arguments}` in it.
    pub written: &'static str,
    pub keys: JsonRules,
}

impl MarkedJson {
    /// `{"name": …, "arguments": {…}}` or a list of them, without the markers.
    pub(crate) const LIST: MarkedJson = MarkedJson {
        open: &[],
        openers_at_start: &[],
        lists: true,
        end_of_message: "",
        written: r#"{"name": {name}, "arguments": {arguments}}"#,
        keys: JsonRules::USUAL,
    };

    /// The end of the marker at the start of the text, without a bracket that belongs to the JSON.
    fn opener(&self, text: &str, last: bool) -> Scan<usize> {
        let mut found = Scan::NoMatch;
        for mark in self.open.iter().chain(self.openers_at_start) {
            // A bracket belongs to the JSON, which may be in a fence.
            let length = mark.trim_end_matches(['[', '{']).len();
            let fenced = || match length < mark.len() {
                true => starts(text, &mark[..length], last).and_then(|()| starts(&text[length..], FENCE, last)),
                false => Scan::NoMatch,
            };
            match starts(text, mark, last).or(fenced) {
                // A longer one may be here.
                Scan::Incomplete => return Scan::Incomplete,
                Scan::Match(()) => found = found.or(|| Scan::Match(length)),
                Scan::NoMatch => {}
            }
        }
        found
    }

    /// Where the JSON begins, if a call begins at the start of the text.
    fn json(&self, text: &str, last: bool) -> Scan<usize> {
        let (head, ended) = window(text, ATTEMPT_CHARS, last);
        // Whitespace before the JSON belongs to the call: it may be text.
        let blank = if self.openers_at_start.is_empty() { 0 } else { ws_run(head, 0) };
        self.opener(&head[blank..], ended).and_then(|length| {
            let body = ws_run(head, blank + length);
            // After a marker, a fence may be around it, and it may be a list.
            let marked = length > 0 && !self.keys.may_be_text;
            let fence = match fence_length(&head[body..]) {
                Scan::NoMatch => Scan::Match(0),
                Scan::Incomplete if ended => Scan::NoMatch,
                _ if !marked => Scan::Match(0),
                fence => fence,
            };
            let lists = self.lists || marked;
            fence.and_then(|fence| json_begins(head, ws_run(head, body + fence), lists, ended)).map(|()| body)
        })
    }
}

/// Whether a JSON object, or also a list that begins with one or is empty, begins at byte `at`.
pub(crate) fn json_begins(text: &str, at: usize, lists: bool, last: bool) -> Scan {
    let byte = |at: usize| text.as_bytes().get(at);
    match byte(at) {
        None => Scan::at_end(last),
        Some(b'{') => Scan::Match(()),
        Some(b'[') if lists => match byte(ws_run(text, at + 1)) {
            None => Scan::at_end(last),
            Some(b'{' | b']') => Scan::Match(()),
            Some(_) => Scan::NoMatch,
        },
        Some(_) => Scan::NoMatch,
    }
}

impl MarkedJson {
    /// The last marker of an opener that has several.
    fn inside(&self) -> impl Iterator<Item = &'static str> {
        self.open.iter().filter_map(|open| open.rfind('<').filter(|at| *at > 0).map(|at| open[at..].trim_end()))
    }
}

impl CallFormat for MarkedJson {
    fn openers(&self) -> &'static [&'static str] {
        self.open
    }

    fn close(&self) -> &'static str {
        self.keys.close.first().copied().unwrap_or(self.end_of_message)
    }

    fn has_lists(&self) -> bool {
        self.lists
    }

    fn begins_message(&self) -> bool {
        !self.openers_at_start.is_empty()
    }

    fn attempt(&self, _: &Tools, _: &Settings, text: &str, last: bool) -> Attempt {
        // A semicolon may separate two objects, with whitespace before and after it.
        let (head, _) = window(text, ATTEMPT_CHARS, last);
        let blank = ws_run(head, 0);
        let separated = self.begins_message() && head[blank..].starts_with(';');
        let lead = if separated { ws_run(head, blank + 1) } else { 0 };
        match self.json(&text[lead..], last) {
            Scan::Match(length) => {
                let (body, opening) = (lead + length, Opening::OWN);
                Attempt::Call { lead, open: body + 1, name: None, body, opening, style: None }
            }
            Scan::Incomplete => Attempt::Incomplete,
            Scan::NoMatch => Attempt::text(text),
        }
    }

    fn orphan(&self, tools: &Tools, text: &str, last: bool) -> Scan<usize> {
        orphan(tools, self.inside(), text, ATTEMPT_CHARS, last)
    }

    fn mark(&self, marks: &mut MarkSet) {
        marks.extend(MarkRole::Inside, self.inside());
    }

    fn ends_reasoning(&self, text: &str) -> Scan {
        self.json(text, false).void()
    }

    fn body(&self, cx: &Context<'_>, _: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycle(recycled, JsonCall::default, |body| body.reset_native(cx, self.keys))
    }

    fn write(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        if call.index > 0 && !self.lists && self.begins_message() {
            return Err(EncodeError("a message in this format has one call at most".to_owned()));
        }
        fill(self.written, out, |key, out| {
            match key {
                "name" => push_string(out, cx.tool),
                "id" => push_string(out, &self.id(cx.tool, call).unwrap_or_default()),
                "arguments" => write_spaced_object(call.arguments, out),
                _ => return false,
            }
            true
        });
        Ok(())
    }

    /// The host's id, or the number of the call in the conversation.
    fn id(&self, _: &str, call: &PastCall<'_>) -> Option<String> {
        let written = self.written.contains("{id}");
        written.then(|| call.id.map_or_else(|| call.before.to_string(), str::to_owned))
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        json_field_example(field, value)
    }
}

/// Whether a JSON object begins at the start of the text: a bracket, and a quote or the other one.
pub(crate) fn begins_object(text: &str, last: bool) -> Scan {
    let Some(rest) = text.strip_prefix('{') else { return Scan::NoMatch };
    match rest.as_bytes().get(ws_run(rest, 0)) {
        None => Scan::at_end(last),
        Some(byte) => Scan::some(matches!(byte, b'"' | b'}').then_some(())),
    }
}

/// The same for an object that is not empty.
pub(crate) fn begins_member(text: &str, last: bool) -> Scan {
    begins_object(text, last).filter(|()| text[ws_run(text, 1)..].starts_with('"'))
}
