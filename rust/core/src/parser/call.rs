//! Calls, from their beginning to their end.

use super::failed::recover;
use super::{Machine, OnEvent, Window, emit_text};
use crate::arguments::{Failure, Input, Progress, Report, messages};
use crate::error::{ErrorKind, ProblemKind, Repair};
use crate::event::{CallEnd, Event};
use crate::formats::attempt::Style;
use crate::formats::bodies::body_of;
use crate::formats::commitment::unreadable;
use crate::formats::registry::Reads;
use crate::formats::{Attempt, BadCall};
use crate::parser::state::{Call, ParserState, RejectedText, Reports, WaitingCall};
use crate::syntax::quoting::Alternation;
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Closers, fitting};
use crate::tools::{Lookup, is_plausible_name};
use crate::toolset::Toolset;

impl Machine {
    /// The start of a call decides which protocols are read from then on.
    fn settle(&mut self, tools: &Toolset, call: &mut Call) {
        match tools.reads {
            Reads::Nothing | Reads::Own => {}
            Reads::First => self.settled = true,
            Reads::Recovers => match self.other {
                None => self.settled = true,
                Some(at) if tools.others[at].spelling => call.report.repair(Repair::TagStyle),
                Some(_) => call.report.repair(Repair::OtherFormat),
            },
        }
    }

    /// Turns a near miss of a tag after a failed call into an error: it may be quoted text of that call.
    fn certain(&self, tools: &Toolset, attempt: Attempt) -> Attempt {
        match &attempt {
            Attempt::Call { lead, open, name, style: Some(style), .. }
                if tools.native && self.place.quotes.is_some() && style.repairs.contains(&Repair::TagStyle) =>
            {
                let set = self.read_as(tools);
                let tool = name.as_ref().and_then(|(_, lookup)| lookup.tool());
                unreadable(&set.tools, open - lead, tool, set.settings.marks.closers())
            }
            _ => attempt,
        }
    }

    /// A call begins at `window.at`: where the attempt was made, or after its `lead`.
    pub(super) fn commit(
        &mut self,
        tools: &Toolset,
        window: &mut Window<'_>,
        attempt: Attempt,
        on_event: OnEvent<'_>,
    ) -> bool {
        let attempt = self.certain(tools, attempt);
        let begin = window.at;
        let (base, open) = match &attempt {
            Attempt::Call { lead, open, .. } => (begin - lead, open - lead),
            Attempt::Bad(bad) => (begin, bad.open),
            Attempt::Incomplete | Attempt::Text(_) => return false,
        };
        if self.too_many(tools, window, open, on_event) {
            return true;
        }
        let mut call = self.recycled.take().unwrap_or_default();
        self.settle(tools, &mut call);
        let tools = self.read_as(tools);
        (call.start, call.start_byte) = (window.offset(begin), window.before + begin);
        match attempt {
            Attempt::Call { name, body, opening, style, .. } => {
                window.at = base + body;
                let Style { repairs, delimiters } = style.map_or_else(Style::default, |style| *style);
                call.delimiters = delimiters;
                call.closers = if call.delimiters.is_some() { Closers::Spelled(&["</call>"]) } else { Closers::Own };
                let written = name.as_ref().map_or("", |(name, _)| &window.text[base + name.start..base + name.end]);
                call.tool = name.as_ref().and_then(|(_, lookup)| lookup.tool());
                let cx = tools.context(call.tool, "").spelled(call.delimiters.as_deref());
                let recycled = std::mem::take(&mut call.body);
                call.body = body_of(&*tools.protocol, &cx, opening, written, recycled);
                let recovery = call.body.recovery_at_start();
                if let Some((name, lookup)) = name {
                    self.name_call(tools, &mut call, written.to_owned(), lookup, recovery, on_event);
                    if call.failure.is_some() && recovery != Recovery::Body {
                        window.at = base + name.end.max(open);
                    }
                }
                if !repairs.is_empty() {
                    let cx = tools.context(call.tool, "");
                    let refused = repairs.iter().find_map(|repair| cx.repair(&mut call.report, *repair).err());
                    if let Some(error) = refused.filter(|_| call.failure.is_none()) {
                        let message = messages::UNREADABLE.to_owned();
                        call.failure = Some(Failure { kind: error, message, recovery });
                    }
                }
            }
            Attempt::Bad(bad) => {
                let BadCall { open, tool, kind, message, closers, in_tag } = *bad;
                window.at = begin + open;
                call.name = tool.map(|at| tools.tools.at(at).name.clone());
                (call.tool, call.closers, call.in_tag) = (tool, closers, in_tag);
                call.failure = Some(Failure { kind, message, recovery: Recovery::TokenStart });
            }
            Attempt::Incomplete | Attempt::Text(_) => {}
        }
        self.state = ParserState::Call(call);
        self.call(tools, window, begin, on_event)
    }

    /// Counts a call whose opener has this length. Beyond the limit, reports an error instead, and returns true.
    pub(super) fn too_many(
        &mut self,
        tools: &Toolset,
        window: &mut Window<'_>,
        open: usize,
        on_event: OnEvent<'_>,
    ) -> bool {
        if self.calls < tools.settings.limits.calls {
            self.calls += 1;
            return false;
        }
        let mark = &window.text[window.at..window.at + open];
        let refused = RejectedText::new(mark, ErrorKind::TooManyCalls, too_many_calls(tools));
        self.refuse(window, refused, on_event);
        self.drop_rest(tools);
        true
    }

    /// There are too many calls. More may follow, and markup of native formats is never content.
    pub(super) fn drop_rest(&mut self, tools: &Toolset) {
        if tools.native {
            self.state = ParserState::TailAsFraming;
        }
    }

    /// Names the call, and reports its start if the tool is known.
    fn name_call(
        &mut self,
        tools: &Toolset,
        call: &mut Call,
        written: String,
        lookup: Lookup,
        recovery: Recovery,
        on_event: OnEvent<'_>,
    ) {
        call.tool = lookup.tool();
        let (name, read) = match lookup {
            Lookup::Unknown if tools.settings.forwards_unknown && is_plausible_name(&written) => (written, Ok(())),
            Lookup::Unknown => {
                let message = messages::unknown_tool(tools.tools().map(|tool| tool.name.as_str()), &written);
                (written, Err((ErrorKind::UnknownTool, message)))
            }
            Lookup::Folded(at) => {
                let name = tools.tools.at(at).name.clone();
                let message = || format!("The tool {written} is called {name}.");
                let cx = tools.context(call.tool, "");
                let read = cx.repair_or(&mut call.report, Repair::ToolStyle, message);
                (name, read)
            }
            Lookup::Exact(_) | Lookup::Open => (written, Ok(())),
        };
        match read {
            Err((kind, message)) => call.failure = Some(Failure { kind, message, recovery }),
            Ok(()) => {
                call.index = Some(self.started);
                on_event(Event::CallStart { index: self.started, name: &name });
                self.started += 1;
            }
        }
        call.name = Some(name);
    }

    /// Reads the rest of a call whose source in this window begins at byte `begin`. Returns whether the call ended.
    pub(super) fn call(
        &mut self,
        tools: &Toolset,
        window: &mut Window<'_>,
        mut begin: usize,
        on_event: OnEvent<'_>,
    ) -> bool {
        let ParserState::Call(mut call) = std::mem::take(&mut self.state) else { return false };
        loop {
            let last = window.last && self.ends(&call, window, begin);
            if call.failure.is_some() {
                match recover(tools, &mut call, window, last) {
                    Progress::NextCall => {
                        let next = self.next_call(tools, &mut call, window, begin);
                        self.fail(tools, *call, window, begin, on_event);
                        (call, begin) = (next, window.at);
                    }
                    Progress::Incomplete => return self.keep(tools, call, window, begin),
                    Progress::CallEnd | Progress::ToolName(_) | Progress::Text | Progress::Failed(_) => {
                        self.fail(tools, *call, window, begin, on_event);
                        return true;
                    }
                }
                continue;
            }
            let room = call.room(tools.settings.limits.call_bytes);
            let Call { name, tool, report, body, failure, index, delimiters, raw, .. } = &mut *call;
            let cx = tools.context(*tool, name.as_deref().unwrap_or("")).spelled(delimiters.as_deref());
            // The body sees the text up to the limit only, so that the result does not depend on where chunks end.
            let limit = fitting(window.text, begin, room);
            if limit < window.at {
                *failure = Some(over_limit(tools, body.recovery()));
                continue;
            }
            let large = limit < window.text.len();
            let mut input = Input { cx, report, window: &window.text[..limit], at: window.at, last: last && !large };
            let step = body.feed(&mut input);
            window.at = input.at;
            // Arguments before an error are reported too, so that the result does not depend on where chunks end.
            // So are those of a call whose end waits for that of its list.
            let waits = matches!(step, Progress::NextCall) && body.waits();
            if self.reports == Reports::All && (waits || !matches!(step, Progress::CallEnd | Progress::NextCall)) {
                emit_delta(report, *index, on_event);
            }
            match step {
                Progress::Incomplete => {
                    // A complete call is reported even if more text could belong to it.
                    if large && body.is_complete() {
                        return self.end(tools, call, window, begin, on_event);
                    }
                    if !large {
                        return self.keep(tools, call, window, begin);
                    }
                    *failure = Some(over_limit(tools, body.recovery()));
                }
                Progress::ToolName(name) => {
                    let lookup = tools.tools.called(&name);
                    self.name_call(tools, &mut call, name.into_string(), lookup, Recovery::Body, on_event);
                }
                Progress::Text if !is_marked(tools, raw, &window.text[begin..window.at]) => {
                    return self.not_a_call(tools, call, window, begin, on_event);
                }
                // What a marker opens is a call or an error.
                Progress::Text => {
                    let message = messages::UNREADABLE.to_owned();
                    *failure = Some(Failure { kind: ErrorKind::MalformedCall, message, recovery: Recovery::Body });
                }
                Progress::CallEnd => return self.end(tools, call, window, begin, on_event),
                Progress::NextCall => {
                    let next = self.next_call(tools, &mut call, window, begin);
                    self.end(tools, call, window, begin, on_event);
                    (call, begin) = (next, window.at);
                }
                Progress::Failed(why) => *failure = Some(*why),
            }
        }
    }

    /// Whether the end of the message completes the call. It does not where a word may have been cut off.
    fn ends(&self, call: &Call, window: &Window<'_>, begin: usize) -> bool {
        let cut_off = || call.body.ends_bare() && ends_inside_word(&call.raw, &window.text[begin..]);
        call.body.is_complete() || (self.truncated == Some(false) && !cut_off())
    }

    /// The window is read. The call continues in the next one.
    fn keep(&mut self, tools: &Toolset, mut call: Box<Call>, window: &Window<'_>, begin: usize) -> bool {
        call.add_source(&window.text[begin..window.at], tools.settings.limits.call_bytes);
        self.state = ParserState::Call(call);
        false
    }

    /// The call is complete up to `window.at`.
    fn end(
        &mut self,
        tools: &Toolset,
        mut call: Box<Call>,
        window: &mut Window<'_>,
        begin: usize,
        on_event: OnEvent<'_>,
    ) -> bool {
        let large = window.at - begin > call.room(tools.settings.limits.call_bytes);
        let Call { name, tool, index, report, body, delimiters, .. } = &mut *call;
        let cx = tools.context(*tool, name.as_deref().unwrap_or("")).spelled(delimiters.as_deref());
        let validator = tool.and_then(|at| tools.tools.at(at).validator.as_ref());
        // The arguments of the last call of a list come before the ends of those that wait for it.
        if self.reports == Reports::All && (large || validator.is_some() || !self.waiting.is_empty()) {
            emit_delta(report, *index, on_event);
        }
        body.finish(&cx, report);
        let failure = if large {
            Some(over_limit(tools, Recovery::TokenStart))
        } else if let Some(validator) = validator {
            let mut problems = validator.problems(&report.args.json);
            // Problems that typing has already found are described better there.
            let missing = report.problems.iter().any(|known| known.kind == ProblemKind::MissingRequired);
            problems.retain(|problem| {
                let known = report.problems.iter().any(|known| known.field == problem.field);
                !(known || missing && problem.message.contains("is a required property"))
            });
            report.problems.append(&mut problems);
            let said = report.problems.iter().map(|problem| problem.message.as_str());
            let (kind, message) = (ErrorKind::InvalidArguments, said.collect::<Vec<_>>().join("\n"));
            (!message.is_empty()).then_some(Failure { kind, message, recovery: Recovery::TokenStart })
        } else {
            None
        };
        if let Some(failure) = failure {
            if failure.kind == ErrorKind::InvalidArguments && !report.used(Repair::MissingClose) {
                call.arguments = Some(std::mem::take(&mut report.args.json));
            }
            call.failure = Some(failure);
            self.fail(tools, *call, window, begin, on_event);
            return true;
        }
        self.state = self.outside(tools);
        let early = report.used(Repair::UnbalancedBrackets) || report.used(Repair::MissingClose);
        self.place.quotes = early.then_some(Alternation::START);
        let (end, end_byte) = (window.offset(window.at), window.before + window.at);
        if call.waits {
            // Many calls may wait, and none of them is read any more.
            call.body = Box::default();
            call.add_source(&window.text[begin..window.at], tools.settings.limits.call_bytes);
            self.waiting.push(WaitingCall::Complete(call, end, end_byte));
        } else {
            self.release(on_event);
            self.complete(call, end, end_byte, on_event);
        }
        true
    }

    /// Reports the end of a call, and the last part of its arguments.
    pub(super) fn complete(&mut self, mut call: Box<Call>, end: usize, end_byte: usize, on_event: OnEvent<'_>) {
        let index = call.index.unwrap_or(0);
        if self.reports == Reports::All {
            let delta = call.report.args.take_delta();
            on_event(Event::ArgumentsDelta { index, delta });
        }
        on_event(Event::CallEnd(CallEnd {
            index,
            name: call.name.take().unwrap_or_default(),
            arguments: std::mem::take(&mut call.report.args.json),
            start: call.start,
            end,
            bytes: call.start_byte..end_byte,
            repairs: std::mem::take(&mut call.report.repairs),
            problems: std::mem::take(&mut call.report.problems),
        }));
        call.reset();
        self.recycled = Some(call);
    }

    /// What was taken for the beginning of a call is text, up to `window.at`.
    fn not_a_call(
        &mut self,
        tools: &Toolset,
        call: Box<Call>,
        window: &mut Window<'_>,
        begin: usize,
        on_event: OnEvent<'_>,
    ) -> bool {
        self.calls -= 1;
        self.settled &= self.calls > 0;
        self.state = self.outside(tools);
        self.place.quotes = Some(Alternation::START);
        for text in [call.raw.as_str(), &window.text[begin..window.at]] {
            emit_text(text, on_event);
            self.read_code_and_quotes(tools, text);
        }
        self.wrote();
        true
    }

    /// The message has ended inside a call.
    pub(super) fn end_inside(&mut self, tools: &Toolset, on_event: OnEvent<'_>) {
        let ParserState::Call(mut call) = std::mem::take(&mut self.state) else { return };
        let buffer = std::mem::take(&mut self.buffer);
        let rest = &buffer[self.held..];
        let mut window = Window { at: rest.len(), ..Window::new(rest, self.bytes, self.offset, true) };
        if self.truncated != Some(true) && call.failure.is_none() && call.body.may_be_text() {
            self.not_a_call(tools, call, &mut window, 0, on_event);
            return;
        }
        if call.failure.is_none() {
            let body = &call.body;
            let complete = self.truncated == Some(false);
            let whole = complete && rest.is_empty() && body.closable(&call.report);
            if whole && !tools.settings.strict {
                call.report.repair(Repair::MissingClose);
                self.end(tools, call, &mut window, 0, on_event);
                return;
            }
            let kind = match (whole, complete && body.unterminated()) {
                (true, _) => ErrorKind::Strict(Repair::MissingClose),
                (false, true) => ErrorKind::UnterminatedValue,
                (false, false) => ErrorKind::IncompleteCall,
            };
            let what = match kind {
                ErrorKind::UnterminatedValue => "A quote, bracket or tag of the call is never closed",
                _ => "The call was not closed, or was cut off",
            };
            let message = format!("{what}. It was not run: write it again in full.");
            call.failure = Some(Failure { kind, message, recovery: body.recovery() });
        }
        // What follows could have made it a call that can be read.
        let cut = self.truncated != Some(false) && matches!(call.closers, Closers::Marks { .. });
        if let Some(failure) = call.failure.as_mut().filter(|_| cut) {
            (failure.kind, failure.message) = (ErrorKind::IncompleteCall, "The call was cut off.".to_owned());
        }
        self.cut_list(tools, on_event);
        self.fail(tools, *call, &mut window, 0, on_event);
    }
}

/// Whether a call with this source, in two parts, began with a marker.
#[cold]
fn is_marked(tools: &Toolset, raw: &str, text: &str) -> bool {
    let source = [raw, text].concat();
    tools.settings.marks.before.iter().any(|open| source.trim_start().starts_with(open))
}

/// Whether the source, which continues in the window, ends inside a word.
fn ends_inside_word(raw: &str, window: &str) -> bool {
    let last = window.chars().next_back().or_else(|| raw.chars().next_back());
    last.is_some_and(|c| !c.is_ascii_whitespace() && !matches!(c, '"' | '\'' | ']' | '}' | '>'))
}

fn emit_delta(report: &mut Report, index: Option<usize>, on_event: OnEvent<'_>) {
    let delta = report.args.take_delta();
    if !delta.is_empty() {
        on_event(Event::ArgumentsDelta { index: index.unwrap_or(0), delta });
    }
}

pub(super) fn too_many_calls(tools: &Toolset) -> String {
    format!("At most {} calls are allowed in one message.", tools.settings.limits.calls)
}

fn over_limit(tools: &Toolset, recovery: Recovery) -> Failure {
    Failure { kind: ErrorKind::TooLarge, message: messages::too_large(&tools.settings.limits), recovery }
}
