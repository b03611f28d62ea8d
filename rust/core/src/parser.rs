//! The parser: the only owner of a buffer.
//!
//! `feed` runs the state over a window: what was held back, and the new text. What a state cannot decide stays in
//! the buffer and is in front of the next window. Nothing else is kept, so cutting a message elsewhere changes nothing.

use crate::body::{Failure, Found, Io, Skip, Step, too_large, unknown_tool};
use crate::error::{ErrorKind, ProblemKind, Repair};
use crate::event::{CallEnd, CallError, Event};
use crate::protocol::{Attempt, Reads};
use crate::scan::{Mark, starts};
use crate::state::{Call, State, fitting};
use crate::toolset::{Lookup, Toolset};

/// Reads one message. Which toolset it belongs to is the caller's to remember; it must be the same in every call.
#[derive(Debug, Default)]
pub struct Parser {
    state: State,
    /// Text that is not consumed yet, from byte `held` on.
    buffer: String,
    held: usize,
    /// Characters of the message that were consumed, and bytes.
    offset: usize,
    bytes: usize,
    /// Calls committed so far, and calls reported as started.
    calls: usize,
    started: usize,
    /// Nobody listens to deltas.
    whole: bool,
    /// The message is known not to be cut off: its end decides what a call leaves open.
    complete: bool,
    /// The other protocol that is read, of the call or, from its first call on, of the message.
    other: Option<usize>,
    /// Which protocol is read is decided.
    settled: bool,
    /// The last call, for its memory.
    spare: Option<Box<Call>>,
}

/// What [`Parser::feed_plain`] read: all of the text, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain<'a> {
    No,
    /// It is one text event.
    Text,
    /// It is one delta of the call with this index, to the letter.
    Same {
        index: usize,
    },
    /// It makes one delta of the call with this index; an empty one is no event.
    Delta {
        index: usize,
        delta: &'a str,
    },
}

type Sink<'a> = &'a mut dyn FnMut(Event<'_>);

/// The window of one run, and how much of it is consumed.
struct Window<'w> {
    text: &'w str,
    at: usize,
    /// Bytes of the message in front of the text.
    before: usize,
    /// Characters in front of byte `counted` of the text, in the message.
    chars: usize,
    counted: usize,
    last: bool,
}

impl Window<'_> {
    /// The offset in the message, in characters, of a byte at or behind those asked for before.
    fn offset(&mut self, at: usize) -> usize {
        self.chars += count_chars(&self.text[self.counted..at]);
        self.counted = at;
        self.chars
    }
}

/// Room for `more` bytes. What grows beyond [`LONG_BYTES`] is likely to grow on: it gets room in large steps, because each
/// step may copy it, and to touch fresh memory costs more than to reserve it.
#[inline]
fn make_room(text: &mut String, more: usize) {
    if text.capacity() - text.len() < more && text.len() >= LONG_BYTES {
        text.reserve(text.len() * 7);
    }
}

const LONG_BYTES: usize = 32 << 10;

#[inline]
fn count_chars(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

impl Parser {
    /// `in_reasoning`: the message begins inside reasoning that a template has opened.
    pub fn new(in_reasoning: bool) -> Self {
        Parser { state: if in_reasoning { State::Reasoning } else { State::Start }, ..Parser::default() }
    }

    /// For whole messages: no argument deltas.
    pub fn whole(in_reasoning: bool) -> Self {
        Parser { whole: true, ..Parser::new(in_reasoning) }
    }

    /// Reads text that is the next part of what the last text was, and needs no decision: the common case, in short.
    /// Otherwise nothing is read, and it is for [`Parser::feed`].
    #[inline]
    pub fn feed_plain(&mut self, tools: &Toolset, text: &str) -> Plain<'_> {
        if self.buffer.len() != self.held || text.is_empty() {
            return Plain::No;
        }
        let plain = match &mut self.state {
            State::Text if tools.candidates.are_missing(text.as_bytes()) => Plain::Text,
            State::Call(call) if !self.whole && call.failure.is_none() => {
                if call.cut > 0 || call.raw.len() + text.len() > tools.limits.call_bytes {
                    return Plain::No;
                }
                make_room(&mut call.raw, text.len());
                make_room(&mut call.found.args.json, text.len());
                let tools = self.other.map_or(tools, |at| &tools.others[at]);
                let Some(same) = call.body.feed_plain(&mut call.found, text, &tools.delimiters) else {
                    return Plain::No;
                };
                call.raw.push_str(text);
                let index = call.index.unwrap_or(0);
                match call.found.args.take_delta() {
                    delta if (same && delta.len() == text.len()) || delta == text => Plain::Same { index },
                    delta => Plain::Delta { index, delta },
                }
            }
            State::Start | State::Reasoning | State::Text | State::Call(_) | State::Rest => return Plain::No,
        };
        self.offset += count_chars(text);
        self.bytes += text.len();
        plain
    }

    /// Reads on.
    pub fn feed(&mut self, tools: &Toolset, text: &str, sink: Sink<'_>) {
        if self.buffer.len() == self.held {
            self.buffer.clear();
            self.held = 0;
            let consumed = self.run(tools, text, false, sink);
            self.buffer.push_str(&text[consumed..]);
            return;
        }
        self.buffer.push_str(text);
        self.run_buffer(tools, false, sink);
    }

    /// The message ends. `truncated`: `Some(false)` only if it is known not to be cut off.
    pub fn finish(&mut self, tools: &Toolset, truncated: Option<bool>, sink: Sink<'_>) {
        self.complete = truncated == Some(false);
        let inside = matches!(&self.state, State::Call(call) if call.failure.is_some() || !call.body.is_complete());
        if self.complete || !inside {
            self.run_buffer(tools, true, sink);
        }
        if matches!(self.state, State::Call(_)) {
            self.end_inside(self.read_as(tools), sink);
        }
        *self = Parser { whole: self.whole, ..Parser::default() };
    }

    fn run_buffer(&mut self, tools: &Toolset, last: bool, sink: Sink<'_>) {
        let buffer = std::mem::take(&mut self.buffer);
        self.held += self.run(tools, &buffer[self.held..], last, sink);
        self.buffer = buffer;
        // Moving the rest to the front costs its length, so it is done when that was paid for.
        if self.held * 2 >= self.buffer.len() {
            self.buffer.drain(..self.held);
            self.held = 0;
        }
    }

    /// Runs the states over a window. Returns the bytes consumed.
    fn run(&mut self, tools: &Toolset, text: &str, last: bool, sink: Sink<'_>) -> usize {
        let mut window = Window { text, at: 0, before: self.bytes, chars: self.offset, counted: 0, last };
        loop {
            let more = match self.state {
                State::Start => self.start(tools, &window),
                State::Reasoning => self.reasoning(tools, &mut window, sink),
                State::Text => self.text(tools, &mut window, sink),
                State::Rest => {
                    emit_text(&window.text[window.at..], sink);
                    window.at = text.len();
                    false
                }
                State::Call(_) => {
                    let begin = window.at;
                    self.call(self.read_as(tools), &mut window, begin, sink)
                }
            };
            if tools.reads == Reads::Recovers && matches!(self.state, State::Text) {
                self.other = None;
            }
            if !more {
                break;
            }
        }
        self.offset = window.offset(window.at);
        self.bytes += window.at;
        window.at
    }

    fn start(&mut self, tools: &Toolset, window: &Window<'_>) -> bool {
        let open = tools.reasoning.as_ref().map_or(Mark::No, |(open, _)| starts(window.text, open, window.last));
        self.state = match open {
            Mark::Yes => State::Reasoning,
            Mark::No => State::Text,
            Mark::Partial => return false,
        };
        true
    }

    fn reasoning(&mut self, tools: &Toolset, window: &mut Window<'_>, sink: Sink<'_>) -> bool {
        let rest = &window.text[window.at..];
        let close = tools.reasoning.as_ref().map_or("", |(_, close)| close);
        if let Some(found) = memchr::memmem::find(rest.as_bytes(), close.as_bytes()) {
            let end = found + close.len();
            emit_text(&rest[..end], sink);
            window.at += end;
            self.state = State::Text;
            return true;
        }
        let hold = if window.last { rest.len() } else { partial_end(rest, close) };
        emit_text(&rest[..hold], sink);
        window.at += hold;
        false
    }

    fn text(&mut self, tools: &Toolset, window: &mut Window<'_>, sink: Sink<'_>) -> bool {
        let (text, last) = (window.text, window.last);
        let own = self.read_as(tools);
        let mut at = window.at;
        let mut begins = window.before + at == 0;
        loop {
            let begin = std::mem::take(&mut begins);
            let found = if begin { Some(0) } else { tools.candidates.find(&text.as_bytes()[at..]) };
            let Some(offset) = found else {
                emit_text(&text[window.at..], sink);
                window.at = text.len();
                return false;
            };
            at += offset;
            let rest = &text[at..];
            let (others, reads) = (if self.settled { &[] } else { &*tools.others }, tools.reads);
            let mut held = rest.is_empty();
            let mut step = usize::MAX;
            for (other, set) in std::iter::once((self.other, own)).chain((0..).map(Some).zip(others)) {
                // Where no call of this format begins, one of another may.
                if !begin && !set.candidates.contain(rest.as_bytes()[0]) {
                    step = step.min(rest.chars().next().map_or(1, char::len_utf8));
                    continue;
                }
                // Text that another format would not allow is nobody's mistake.
                let asks = other.is_none() || reads == Reads::First;
                let marks = if asks { set.protocol.result_marks() } else { &[] };
                for mark in marks {
                    match starts(rest, mark, last) {
                        Mark::Yes => return self.forged(window, at, mark, sink),
                        Mark::Partial => held = true,
                        Mark::No => {}
                    }
                }
                match set.protocol.attempt(set, rest, last) {
                    _ if held => break,
                    Attempt::Need => held = true,
                    Attempt::Text(length) => step = step.min(length),
                    // Other protocols may read it; where that cannot be told yet, nobody does.
                    Attempt::Call { open, body, kind, .. }
                        if !others.is_empty() && set.protocol.fits(kind, &rest[body..], last) != Mark::Yes =>
                    {
                        held = set.protocol.fits(kind, &rest[body..], last) == Mark::Partial;
                        step = step.min(open.max(1));
                    }
                    Attempt::Call { open, name: Some((_, lookup)), .. }
                        if other.is_some() && reads == Reads::Recovers && lookup.tool().is_none() =>
                    {
                        step = step.min(open.max(1));
                    }
                    attempt => {
                        if let Attempt::Call { lead, .. } = attempt {
                            at += lead;
                        }
                        emit_text(&text[window.at..at], sink);
                        window.at = at;
                        self.other = other;
                        return self.commit(tools, window, attempt, sink);
                    }
                }
            }
            if held {
                emit_text(&text[window.at..at], sink);
                window.at = at;
                return false;
            }
            at += step;
        }
    }

    /// The toolset in whose protocol the call, or the rest of the message, is read.
    fn read_as<'t>(&self, tools: &'t Toolset) -> &'t Toolset {
        self.other.map_or(tools, |at| &tools.others[at])
    }

    fn forged(&mut self, window: &mut Window<'_>, at: usize, mark: &str, sink: Sink<'_>) -> bool {
        emit_text(&window.text[window.at..at], sink);
        window.at = at;
        // A mark leaves out what a tag may have in it.
        let end = if mark.starts_with('<') && !mark.ends_with('>') { ">" } else { "" };
        let message =
            format!("Only the tools write {mark}{end}. End your message after the calls and wait for their results.");
        self.refuse(window, mark, ErrorKind::ForgedResult, message, sink)
    }

    /// An error that covers the marker at `window.at`; what follows it is text, to the end of the message.
    fn refuse(
        &mut self,
        window: &mut Window<'_>,
        mark: &str,
        kind: ErrorKind,
        message: String,
        sink: Sink<'_>,
    ) -> bool {
        let (start, byte) = (window.offset(window.at), window.before + window.at);
        window.at += mark.len();
        let end = window.offset(window.at);
        self.state = State::Rest;
        let (raw, bytes) = (mark.to_owned(), byte..byte + mark.len());
        sink(Event::CallError(CallError { index: None, name: None, kind, message, raw, start, end, bytes }));
        true
    }

    /// Which protocols are read is decided by a call's beginning.
    fn settle(&mut self, tools: &Toolset, call: &mut Call) {
        match tools.reads {
            Reads::Own => {}
            Reads::First => self.settled = true,
            Reads::Recovers if self.other.is_none() => self.settled = true,
            Reads::Recovers => call.found.repair(Repair::OtherFormat),
        }
    }

    /// A call begins at `window.at`, where the attempt was made or behind its `lead`.
    fn commit(&mut self, tools: &Toolset, window: &mut Window<'_>, attempt: Attempt, sink: Sink<'_>) -> bool {
        let begin = window.at;
        let (base, open) = match attempt {
            Attempt::Call { lead, open, .. } => (begin - lead, open - lead),
            Attempt::Bad { open, .. } => (begin, open),
            Attempt::Need | Attempt::Text(_) => return false,
        };
        if self.calls >= tools.limits.calls {
            let mark = &window.text[begin..begin + open];
            return self.refuse(window, mark, ErrorKind::TooManyCalls, too_many_calls(tools), sink);
        }
        self.calls += 1;
        let mut call = self.spare.take().unwrap_or_default();
        self.settle(tools, &mut call);
        let tools = self.read_as(tools);
        (call.start, call.start_byte) = (window.offset(begin), window.before + begin);
        match attempt {
            Attempt::Call { name, body, kind, .. } => {
                window.at = base + body;
                let written = name.as_ref().map_or("", |(name, _)| &window.text[base + name.start..base + name.end]);
                if let Some((name, lookup)) = name {
                    self.name_call(tools, &mut call, written, lookup, kind.skip(), sink);
                    if call.failure.is_some() && kind.skip() != Skip::Body {
                        window.at = base + name.end;
                    }
                }
                call.body.renew(&tools.context(call.tool, ""), kind, written);
            }
            Attempt::Bad { open, message } => {
                window.at = begin + open;
                call.failure = Some(Failure { kind: ErrorKind::MalformedCall, message, skip: Skip::TokenStart });
            }
            Attempt::Need | Attempt::Text(_) => {}
        }
        self.state = State::Call(call);
        self.call(tools, window, begin, sink)
    }

    /// Names the call, and reports its start if the tool is known.
    fn name_call(
        &mut self,
        tools: &Toolset,
        call: &mut Call,
        written: &str,
        lookup: Lookup,
        skip: Skip,
        sink: Sink<'_>,
    ) {
        call.tool = lookup.tool();
        let name = call.tool.map_or(written, |at| tools.tool(at).name.as_str());
        call.name = Some(name.to_owned());
        let failure = match lookup {
            Lookup::Unknown => {
                Some((ErrorKind::UnknownTool, unknown_tool(tools.tools().map(|tool| tool.name.as_str()), written)))
            }
            Lookup::Folded(_) if tools.strict => {
                let message = format!("The tool {written} is called {name}.");
                Some((ErrorKind::Strict(Repair::ToolStyle), message))
            }
            Lookup::Folded(_) => {
                call.found.repair(Repair::ToolStyle);
                None
            }
            Lookup::Exact(_) | Lookup::Open => None,
        };
        if let Some((kind, message)) = failure {
            call.failure = Some(Failure { kind, message, skip });
            return;
        }
        call.index = Some(self.started);
        sink(Event::CallStart { index: self.started, name });
        self.started += 1;
    }

    /// Reads on in a call whose source in this window begins at byte `begin`. True: the call ended.
    fn call(&mut self, tools: &Toolset, window: &mut Window<'_>, mut begin: usize, sink: Sink<'_>) -> bool {
        let State::Call(mut call) = std::mem::take(&mut self.state) else { return false };
        loop {
            let Call { name, tool, found, body, failure, index, raw, .. } = &mut *call;
            let last = window.last && (self.complete || body.is_complete());
            let cx = tools.context(*tool, name.as_deref().unwrap_or(""));
            if let Some(failure) = failure {
                let close = tools.delimiters.close.as_str();
                let step = match &mut failure.skip {
                    Skip::Body => {
                        let mut io = Io { cx, found, window: window.text, at: window.at, last };
                        let step = body.read_on(&mut io);
                        window.at = io.at;
                        step
                    }
                    skip => {
                        let closed = skip.read(window.text, &mut window.at, last, close);
                        window.at += if closed { close.len() } else { 0 };
                        if closed { Step::Done } else { Step::Need }
                    }
                };
                match step {
                    Step::Next if failure.kind == ErrorKind::TooManyCalls => {}
                    Step::Next => {
                        let next = self.next_call(tools, &mut call, window);
                        self.fail(tools, *call, window, begin, sink);
                        (call, begin) = (next, window.at);
                    }
                    Step::Need => {
                        self.keep(tools, call, window, begin);
                        return false;
                    }
                    Step::Done | Step::Named(_) | Step::Failed(_) => {
                        self.fail(tools, *call, window, begin, sink);
                        return true;
                    }
                }
                continue;
            }
            // The body sees no further than the limit, whatever the chunk holds: where chunks end must not show.
            let limit = fitting(window.text, begin, tools.limits.call_bytes.saturating_sub(raw.len()));
            if limit < window.at {
                *failure = Some(over_limit(tools, body.skip()));
                continue;
            }
            let large = limit < window.text.len();
            let mut io = Io { cx, found, window: &window.text[..limit], at: window.at, last: last && !large };
            let step = body.feed(&mut io);
            window.at = io.at;
            // What was written in front of an error goes out too: where the chunks ended must not show.
            if !self.whole && !matches!(step, Step::Done | Step::Next) {
                emit_delta(found, *index, sink);
            }
            match step {
                Step::Need => {
                    if large {
                        *failure = Some(over_limit(tools, body.skip()));
                        continue;
                    }
                    self.keep(tools, call, window, begin);
                    return false;
                }
                Step::Named(name) => {
                    self.name_call(tools, &mut call, &name, tools.lookup(&name), Skip::Body, sink);
                }
                Step::Done => {
                    self.end(tools, call, window, begin, sink);
                    return true;
                }
                Step::Next => {
                    let next = self.next_call(tools, &mut call, window);
                    self.end(tools, call, window, begin, sink);
                    (call, begin) = (next, window.at);
                }
                Step::Failed(why) => *failure = Some(why),
            }
        }
    }

    /// The call that begins at `window.at`, with the body of the one that ends there.
    fn next_call(&mut self, tools: &Toolset, call: &mut Call, window: &mut Window<'_>) -> Box<Call> {
        let mut next = Box::<Call>::default();
        (next.start, next.start_byte) = (window.offset(window.at), window.before + window.at);
        if self.other.is_some() && !self.settled {
            next.found.repair(Repair::OtherFormat);
        }
        // Its end needs the old body only to put arguments into their places.
        next.body = call.body.next();
        self.calls += 1;
        if self.calls > tools.limits.calls {
            let message = too_many_calls(tools);
            next.failure = Some(Failure { kind: ErrorKind::TooManyCalls, message, skip: Skip::Body });
        }
        next
    }

    /// The window is read, the call goes on.
    fn keep(&mut self, tools: &Toolset, mut call: Box<Call>, window: &Window<'_>, begin: usize) {
        call.add_source(&window.text[begin..window.at], tools.limits.call_bytes);
        self.state = State::Call(call);
    }

    /// The call is complete up to `window.at`.
    fn end(&mut self, tools: &Toolset, mut call: Box<Call>, window: &mut Window<'_>, begin: usize, sink: Sink<'_>) {
        let Call { name, tool, index, raw, found, body, .. } = &mut *call;
        let cx = tools.context(*tool, name.as_deref().unwrap_or(""));
        let large = raw.len() + (window.at - begin) > tools.limits.call_bytes;
        let validator = tool.and_then(|at| tools.tool(at).validator.as_ref());
        if !self.whole && (large || validator.is_some()) {
            emit_delta(found, *index, sink);
        }
        body.finish(&cx, found);
        let failure = if large {
            Some(over_limit(tools, Skip::TokenStart))
        } else if let Some(validator) = validator {
            let mut problems = validator.problems(&found.args.json);
            // What typing has found already it says better.
            let missing = found.problems.iter().any(|known| known.kind == ProblemKind::MissingRequired);
            problems.retain(|problem| {
                let known = found.problems.iter().any(|known| known.field == problem.field)
                    || missing && problem.message.contains("is a required property");
                !known
            });
            let said = found.problems.iter().chain(&problems).map(|problem| problem.message.as_str());
            let said = said.collect::<Vec<_>>().join("\n");
            (!said.is_empty()).then(|| Failure {
                kind: ErrorKind::InvalidArguments,
                // The example shows how it is written; no example can know every bound and pattern.
                message: format!("{said}\nThe form is: {}", cx.protocol.example(&cx)),
                skip: Skip::TokenStart,
            })
        } else {
            None
        };
        if let Some(failure) = failure {
            call.failure = Some(failure);
            return self.fail(tools, *call, window, begin, sink);
        }
        let index = call.index.unwrap_or(0);
        if !self.whole {
            let delta = call.found.args.take_delta();
            sink(Event::ArgumentsDelta { index, delta });
        }
        let end = CallEnd {
            index,
            name: call.name.take().unwrap_or_default(),
            arguments: std::mem::take(&mut call.found.args.json),
            start: call.start,
            end: window.offset(window.at),
            bytes: call.start_byte..window.before + window.at,
            repairs: std::mem::take(&mut call.found.repairs),
            problems: std::mem::take(&mut call.found.problems),
        };
        call.reset();
        self.spare = Some(call);
        self.state = State::Text;
        sink(Event::CallEnd(end));
    }

    /// The failed call ends at `window.at`.
    fn fail(&mut self, tools: &Toolset, mut call: Call, window: &mut Window<'_>, begin: usize, sink: Sink<'_>) {
        call.add_source(&window.text[begin..window.at], tools.limits.call_bytes);
        let Call { name, index, start, start_byte, raw, failure, .. } = call;
        let cut_off = || (ErrorKind::IncompleteCall, "The call was cut off.".to_owned());
        let (kind, message) = failure.map_or_else(cut_off, |failure| (failure.kind, failure.message));
        self.state = State::Text;
        let (end, bytes) = (window.offset(window.at), start_byte..window.before + window.at);
        sink(Event::CallError(CallError { index, name, kind, message, raw, start, end, bytes }));
    }

    /// The message has ended inside a call.
    fn end_inside(&mut self, tools: &Toolset, sink: Sink<'_>) {
        let State::Call(mut call) = std::mem::take(&mut self.state) else { return };
        let buffer = std::mem::take(&mut self.buffer);
        let rest = &buffer[self.held..];
        let mut window =
            Window { text: rest, at: rest.len(), before: self.bytes, chars: self.offset, counted: 0, last: true };
        let cx = tools.context(call.tool, call.name.as_deref().unwrap_or(""));
        if call.failure.is_none() {
            let body = &call.body;
            let whole = self.complete && rest.is_empty() && body.closable(&call.found);
            if whole && !tools.strict {
                call.found.repair(Repair::MissingClose);
                return self.end(tools, call, &mut window, 0, sink);
            }
            let kind = match (whole, self.complete && body.unterminated()) {
                (true, _) => ErrorKind::Strict(Repair::MissingClose),
                (false, true) => ErrorKind::UnterminatedValue,
                (false, false) => ErrorKind::IncompleteCall,
            };
            let what = match kind {
                ErrorKind::UnterminatedValue => "A quote, bracket or tag of the call is never closed",
                _ => "The call was cut off before its end",
            };
            let message = format!("{what}; nothing was run. Write it again in full: {}", cx.protocol.example(&cx));
            call.failure = Some(Failure { kind, message, skip: body.skip() });
        }
        self.fail(tools, *call, &mut window, 0, sink);
    }
}

fn emit_text(text: &str, sink: Sink<'_>) {
    if !text.is_empty() {
        sink(Event::Text(text));
    }
}

fn emit_delta(found: &mut Found, index: Option<usize>, sink: Sink<'_>) {
    let delta = found.args.take_delta();
    if !delta.is_empty() {
        sink(Event::ArgumentsDelta { index: index.unwrap_or(0), delta });
    }
}

/// Where the end of `text` could be the beginning of `marker`.
fn partial_end(text: &str, marker: &str) -> usize {
    let longest = marker.len().saturating_sub(1).min(text.len());
    (text.len() - longest..text.len())
        .find(|at| text.is_char_boundary(*at) && marker.starts_with(&text[*at..]))
        .unwrap_or(text.len())
}

fn too_many_calls(tools: &Toolset) -> String {
    format!("At most {} calls may stand in one message.", tools.limits.calls)
}

fn over_limit(tools: &Toolset, skip: Skip) -> Failure {
    Failure { kind: ErrorKind::TooLarge, message: too_large(&tools.limits), skip }
}
