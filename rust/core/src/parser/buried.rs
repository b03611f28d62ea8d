//! Calls inside reasoning and other parts that are text.
//!
//! A model rehearses calls in its reasoning, so they never run there. If nothing ends the reasoning, the call was meant, and it is an error.

use super::example::example;
use super::{Machine, OnEvent};
use crate::error::ErrorKind;
use crate::event::{CallError, Event};
use crate::formats::Attempt;
use crate::formats::commitment::{begins_call, begins_call_of};
use crate::formats::layout::TOKEN_BEGINS;
use crate::formats::registry::Reads;
use crate::limits::ATTEMPT_CHARS;
use crate::parser::state::{ParserState, Reports};
use crate::syntax::scan::{Scan, starts, window, ws_run};
use crate::toolset::Toolset;

/// Whether a call of a declared tool begins here, with its section or without: the length of its opener, and the tool.
pub(super) fn buried(set: &Toolset, text: &str, last: bool) -> Scan<(usize, usize)> {
    if set.reads == Reads::Nothing {
        return Scan::NoMatch;
    }
    let section = match &set.protocol.layout().section {
        Some(section) => section.begins(text, last),
        None => Scan::NoMatch,
    };
    let at = match section {
        Scan::Incomplete => return Scan::Incomplete,
        Scan::NoMatch => 0,
        // The whitespace is scanned again with each chunk, so only a little is allowed.
        Scan::Match(length) => match ws_run(text, length) {
            at if at - length > ATTEMPT_CHARS => return Scan::NoMatch,
            at => at,
        },
    };
    let rest = &text[at..];
    if rest.is_empty() {
        return Scan::at_end(last);
    }
    let found = match set.protocol.attempt(&set.tools, &set.settings, rest, last) {
        Attempt::Incomplete => Scan::at_end(last),
        Attempt::Text(_) => Scan::NoMatch,
        Attempt::Call { open, name: Some((_, lookup)), body, .. } => Scan::some(lookup.tool())
            .and_then(|tool| goes_on(set, &rest[body.min(rest.len())..], last).map(|()| (open, tool))),
        // The name is in the body.
        Attempt::Call { open, .. } => begins_call_of(&set.tools, &rest[open..], last).map(|tool| (open, tool)),
        Attempt::Bad(bad) => match bad.tool {
            Some(tool) => Scan::Match((bad.open, tool)),
            None => begins_call_of(&set.tools, &rest[bad.open..], last).map(|tool| (bad.open, tool)),
        },
    };
    found.map(|(open, tool)| (at + open, tool))
}

/// Whether the text after an opener that names a tool goes on as a call.
pub(super) fn goes_on(set: &Toolset, text: &str, last: bool) -> Scan {
    let rest = &text[ws_run(text, 0)..];
    let rest = rest.strip_prefix('>').map_or(rest, |rest| &rest[ws_run(rest, 0)..]);
    let (head, ended) = window(rest, ATTEMPT_CHARS, last);
    let marked = set.settings.marks.call.iter().chain(&TOKEN_BEGINS).chain(&["```"]);
    Scan::first_of(marked.map(|mark| starts(rest, mark, last))).or(|| begins_call(&set.tools, head, ended).void())
}

impl Machine {
    /// The message has ended. A call inside reasoning that does not end was not run.
    pub(super) fn report_buried(&mut self, tools: &Toolset, on_event: OnEvent<'_>) {
        let outside = matches!(self.state, ParserState::Reasoning { .. } | ParserState::Part(_) | ParserState::Between);
        let Some(tool) = self.place.buried.take().filter(|_| outside) else { return };
        let kind = if self.truncated == Some(false) { ErrorKind::MalformedCall } else { ErrorKind::IncompleteCall };
        let name = tool.map(|at| tools.tools.at(at).name.clone());
        let of = name.as_ref().map_or(String::new(), |name| format!(" of {name}"));
        let sentence =
            format!("The call{of} is inside reasoning that does not end. It was not run: end the reasoning first.");
        let example = if self.reports == Reports::NoExamples { None } else { example(tools, kind, tool, None) };
        on_event(Event::CallError(Box::new(CallError {
            index: None,
            name,
            kind,
            sentence,
            example,
            arguments: None,
            problems: Vec::new(),
            raw: String::new(),
            start: self.offset,
            end: self.offset,
            bytes: self.bytes..self.bytes,
        })));
    }
}
