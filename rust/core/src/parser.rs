//! The parser: the only owner of a buffer.
//!
//! `feed` runs the state over a window: what was held back, and the new text. What a state cannot decide stays in
//! the buffer and is in front of the next window. Nothing else is kept, so cutting a message elsewhere changes nothing.

use crate::body::{
    Body, Failure, Found, Io, Pairs, Skip, Step, Whole, call_example, nameless, too_large, unknown_tool,
};
use crate::error::{ErrorKind, ProblemKind, Repair};
use crate::event::{CallEnd, CallError, Event};
use crate::protocol::{Attempt, BodyStart};
use crate::scan::{Delimiters, Mark, RESULT_MARKS, starts};
use crate::state::{Call, Reading, State, fitting};
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
            State::Text if tools.delimiters.open.as_bytes()[0] == b'<' && !text.as_bytes().contains(&b'<') => {
                Plain::Text
            }
            State::Call(call) if !self.whole => {
                let Reading::Body(Body::Pairs(pairs)) = &mut call.reading else { return Plain::No };
                if call.cut > 0 || call.raw.len() + text.len() > tools.limits.call_bytes {
                    return Plain::No;
                }
                make_room(&mut call.raw, text.len());
                make_room(&mut call.found.args.json, text.len());
                let Some(same) = pairs.feed_plain(&mut call.found, text, &tools.delimiters) else { return Plain::No };
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
        if self.complete || !matches!(self.state, State::Call(_)) {
            self.run_buffer(tools, true, sink);
        }
        if matches!(self.state, State::Call(_)) {
            self.end_inside(tools, sink);
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
                    self.call(tools, &mut window, begin, sink)
                }
            };
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
        let bytes = text.as_bytes();
        let Delimiters { open, .. } = &tools.delimiters;
        let (first, other) = (open.as_bytes()[0], b'<');
        let mut at = window.at;
        loop {
            let found = if first == other {
                memchr::memchr(first, &bytes[at..])
            } else {
                memchr::memchr2(first, other, &bytes[at..])
            };
            let Some(offset) = found else {
                emit_text(&text[window.at..], sink);
                window.at = text.len();
                return false;
            };
            at += offset;
            let rest = &text[at..];
            let marks =
                [starts(rest, open, last), starts(rest, RESULT_MARKS[0], last), starts(rest, RESULT_MARKS[1], last)];
            let held = match marks {
                [Mark::Yes, _, _] => match tools.protocol.attempt(tools, &rest[open.len()..], last) {
                    Attempt::Need => true,
                    Attempt::Text => {
                        at += open.len();
                        continue;
                    }
                    attempt => {
                        emit_text(&text[window.at..at], sink);
                        window.at = at;
                        return self.commit(tools, window, attempt, sink);
                    }
                },
                [_, Mark::Yes, _] => return self.forged(window, at, RESULT_MARKS[0], sink),
                [_, _, Mark::Yes] => return self.forged(window, at, RESULT_MARKS[1], sink),
                marks => marks.contains(&Mark::Partial),
            };
            if held {
                emit_text(&text[window.at..at], sink);
                window.at = at;
                return false;
            }
            // A byte that only looked like a marker's first; never inside a character, so go behind it.
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }

    fn forged(&mut self, window: &mut Window<'_>, at: usize, mark: &str, sink: Sink<'_>) -> bool {
        emit_text(&window.text[window.at..at], sink);
        window.at = at;
        let message =
            format!("Only the tools write {mark}>. End your message after the calls and wait for their results.");
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

    /// A call begins at `window.at`.
    fn commit(&mut self, tools: &Toolset, window: &mut Window<'_>, attempt: Attempt, sink: Sink<'_>) -> bool {
        let open = &tools.delimiters.open;
        if self.calls >= tools.limits.calls {
            let message = format!("At most {} calls may stand in one message.", tools.limits.calls);
            return self.refuse(window, open, ErrorKind::TooManyCalls, message, sink);
        }
        self.calls += 1;
        let mut call = self.spare.take().unwrap_or_default();
        let begin = window.at;
        (call.start, call.start_byte) = (window.offset(begin), window.before + begin);
        let behind = begin + open.len();
        window.at = behind;
        if let Attempt::Call { name, tool, body } = attempt {
            let written = &window.text[behind + name.start..behind + name.end];
            window.at = behind
                + match body {
                    BodyStart::Pairs(at) | BodyStart::Object(at, _) => at,
                };
            self.open_call(tools, &mut call, written, tool, &body, sink);
            if let Reading::Failed(_) = call.reading {
                window.at = behind + name.end;
            }
        } else {
            call.reading = Reading::Failed(Failure {
                kind: ErrorKind::MalformedCall,
                message: nameless(&tools.delimiters),
                skip: Skip::TokenStart,
            });
        }
        self.state = State::Call(call);
        self.call(tools, window, begin, sink)
    }

    /// Names the call, and begins its body if the tool is known.
    fn open_call(
        &mut self,
        tools: &Toolset,
        call: &mut Call,
        written: &str,
        lookup: Lookup,
        body: &BodyStart,
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
            call.reading = Reading::Failed(Failure { kind, message, skip: Skip::TokenStart });
            return;
        }
        call.index = Some(self.started);
        sink(Event::CallStart { index: self.started, name });
        self.started += 1;
        let cx = tools.context(call.tool, name);
        call.reading = Reading::Body(match body {
            BodyStart::Pairs(_) => Body::Pairs(Pairs::default()),
            BodyStart::Object(_, wrapper) => Body::Whole(Whole::new(&cx, *wrapper)),
        });
    }

    /// Reads on in a call whose source in this window begins at byte `begin`. True: the call ended.
    fn call(&mut self, tools: &Toolset, window: &mut Window<'_>, begin: usize, sink: Sink<'_>) -> bool {
        let State::Call(mut call) = std::mem::take(&mut self.state) else { return false };
        let close = tools.delimiters.close.as_str();
        let last = window.last && self.complete;
        loop {
            if let Reading::Failed(failure) = &mut call.reading {
                let closed = failure.skip.read(window.text, &mut window.at, last, close);
                if closed {
                    window.at += close.len();
                    self.fail(tools, *call, window, begin, sink);
                    return true;
                }
                self.keep(tools, call, window, begin);
                return false;
            }
            let Call { name, tool, found, reading, index, raw, .. } = &mut *call;
            let Reading::Body(body) = reading else { return false };
            let cx = tools.context(*tool, name.as_deref().unwrap_or(""));
            // The body sees no further than the limit, whatever the chunk holds: where chunks end must not show.
            let limit = fitting(window.text, begin, tools.limits.call_bytes.saturating_sub(raw.len()));
            if limit < window.at {
                call.reading = Reading::Failed(over_limit(tools, body.skip()));
                continue;
            }
            let large = limit < window.text.len();
            let mut io = Io { cx, found, window: &window.text[..limit], at: window.at, last: last && !large };
            let step = body.feed(&mut io);
            window.at = io.at;
            // What was written in front of an error goes out too: where the chunks ended must not show.
            if !self.whole && !matches!(step, Step::Done) {
                emit_delta(found, *index, sink);
            }
            match step {
                Step::Need => {
                    if large {
                        let Reading::Body(body) = &call.reading else { return false };
                        call.reading = Reading::Failed(over_limit(tools, body.skip()));
                        continue;
                    }
                    self.keep(tools, call, window, begin);
                    return false;
                }
                Step::Done => {
                    if starts(&window.text[window.at..], close, true) == Mark::Yes {
                        window.at += close.len();
                    }
                    self.end(tools, call, window, begin, sink);
                    return true;
                }
                Step::Failed(failure) => call.reading = Reading::Failed(failure),
            }
        }
    }

    /// The window is read, the call goes on.
    fn keep(&mut self, tools: &Toolset, mut call: Box<Call>, window: &Window<'_>, begin: usize) {
        call.add_source(&window.text[begin..window.at], tools.limits.call_bytes);
        self.state = State::Call(call);
    }

    /// The call is complete up to `window.at`.
    fn end(&mut self, tools: &Toolset, mut call: Box<Call>, window: &mut Window<'_>, begin: usize, sink: Sink<'_>) {
        let cx = tools.context(call.tool, call.name.as_deref().unwrap_or(""));
        let Reading::Body(body) = &call.reading else { return self.fail(tools, *call, window, begin, sink) };
        let found = &mut call.found;
        let large = call.raw.len() + (window.at - begin) > tools.limits.call_bytes;
        let validator = call.tool.and_then(|at| tools.tool(at).validator.as_ref());
        if !self.whole && (large || validator.is_some()) {
            emit_delta(found, call.index, sink);
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
                message: format!("{said}\nThe form is: {}", call_example(&cx)),
                skip: Skip::TokenStart,
            })
        } else {
            None
        };
        if let Some(failure) = failure {
            call.reading = Reading::Failed(failure);
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
        let Call { name, index, start, start_byte, raw, reading, .. } = call;
        let (kind, message) = match reading {
            Reading::Failed(Failure { kind, message, .. }) => (kind, message),
            Reading::Body(_) => (ErrorKind::IncompleteCall, "The call was cut off.".to_owned()),
        };
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
        if let Reading::Body(body) = &call.reading {
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
                ErrorKind::UnterminatedValue => "A quote or bracket of the call is never closed",
                _ => "The call was cut off before its end",
            };
            let message = format!("{what}; nothing was run. Write it again in full: {}", call_example(&cx));
            call.reading = Reading::Failed(Failure { kind, message, skip: body.skip() });
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

fn over_limit(tools: &Toolset, skip: Skip) -> Failure {
    Failure { kind: ErrorKind::TooLarge, message: too_large(&tools.limits), skip }
}
