//! The parser: the only owner of a buffer.
//!
//! `feed` runs the state over a window: the text that was held back, then the new text. Text that a state cannot decide yet stays
//! in the buffer and begins the next window. Nothing else is kept, so the result does not depend on where chunks end.

mod buried;
mod call;
mod example;
mod failed;
mod framed;
mod lists;
mod parts;
mod quoted;
mod reasoning;
mod state;
mod text;

pub(crate) use example::shown_example;

use std::ops::Deref;
use std::sync::Arc;

use crate::event::{Event, Item, fold};
use crate::formats::parts::Part;
use crate::formats::registry::Reads;
use crate::parser::framed::{Passed, TextContext, stop_tail};
use crate::parser::state::{Call, ParserState, Reports, WaitingCall};
use crate::syntax::scan::{CodeScanner, Scan, starts};
use crate::toolset::{CodeMode, Toolset};

/// Parses one message after another with the same tools. It can be moved between threads.
///
/// ```
/// # fn main() -> Result<(), wirecall_core::ToolError> {
/// use std::sync::Arc;
/// use wirecall_core::{Definition, Event, Options, Parser, Toolset};
///
/// let tool = Definition::new("say", "{}");
/// let tools = Arc::new(Toolset::new(vec![tool], Options::default())?);
/// let (mut parser, mut calls) = (Parser::new(tools, None), Vec::new());
/// let mut on_event = |event: Event<'_>| {
///     if let Event::CallEnd(call) = event {
///         calls.push(call.arguments);
///     }
/// };
/// parser.feed("<call>say text=hi</ca", &mut on_event);
/// parser.feed("ll>", &mut on_event);
/// parser.finish(Some(false), &mut on_event);
/// assert_eq!(calls, [r#"{"text":"hi"}"#]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Parser<T = Arc<Toolset>> {
    tools: T,
    machine: Machine,
}

impl Parser {
    /// `in_reasoning`: whether the message begins inside reasoning, because a template has opened it; `None` for the protocol's
    /// default.
    pub fn new(tools: Arc<Toolset>, in_reasoning: Option<bool>) -> Self {
        Parser { tools, machine: Machine::new(in_reasoning) }
    }
}

impl<'t> Parser<&'t Toolset> {
    /// A parser that borrows the tools.
    pub fn borrowing(tools: &'t Toolset, in_reasoning: Option<bool>) -> Self {
        Parser { tools, machine: Machine::new(in_reasoning) }
    }

    /// For whole messages: no argument deltas.
    pub(crate) fn whole(tools: &'t Toolset, in_reasoning: Option<bool>) -> Self {
        Parser { tools, machine: Machine { reports: Reports::NoDeltas, ..Machine::new(in_reasoning) } }
    }

    /// Parses a whole text, which does not begin in reasoning. Its errors have no examples.
    fn items(tools: &'t Toolset, text: &str) -> Vec<Item> {
        let machine = Machine { reports: Reports::NoExamples, ..Machine::new(Some(false)) };
        Parser { tools, machine }.read_all(text, None)
    }

    /// Feed, finish, fold.
    pub(crate) fn read_all(mut self, text: &str, truncated: Option<bool>) -> Vec<Item> {
        let mut items = Vec::new();
        let mut on_event = |event: Event<'_>| fold(&mut items, event);
        self.feed(text, &mut on_event);
        self.finish(truncated, &mut on_event);
        items
    }
}

impl<T: Deref<Target = Toolset>> Parser<T> {
    /// The tools of this parser.
    pub fn tools(&self) -> &T {
        &self.tools
    }

    /// The fast path: reads text that continues what came before and needs no decision.
    /// If it does not apply, nothing is read, and [`Parser::feed`] must be called.
    #[inline(always)]
    pub fn feed_plain(&mut self, text: &str) -> Plain<'_> {
        self.machine.feed_plain(&self.tools, text)
    }

    /// Parses the next part of the message, cut anywhere, and reports what has become certain.
    pub fn feed(&mut self, text: &str, on_event: &mut dyn FnMut(Event<'_>)) {
        self.machine.feed(&self.tools, text, on_event);
    }

    /// Ends the message. `truncated` is `Some(false)` only if the message is known to be complete, and `Some(true)` only if it is
    /// known to be cut off: then what may still become a call is an error, not text. The next text begins a new one.
    pub fn finish(&mut self, truncated: Option<bool>, on_event: &mut dyn FnMut(Event<'_>)) {
        self.machine.finish(&self.tools, truncated, on_event);
    }
}

/// The parser without its toolset, which must be the same in every call.
#[derive(Debug, Default)]
struct Machine {
    state: ParserState,
    /// Text that is not consumed yet starts at byte `held`.
    buffer: String,
    held: usize,
    /// Consumed characters and bytes of the message.
    offset: usize,
    bytes: usize,
    /// Calls committed so far, and calls reported as started.
    calls: usize,
    started: usize,
    reports: Reports,
    /// Whether the message is cut off, if that is known: the end of a complete one can complete a call.
    truncated: Option<bool>,
    /// The position of the other protocol in which the call, or the message from its first call on, is read.
    other: Option<usize>,
    /// It is decided which protocol the message has.
    settled: bool,
    /// What the host says of the end of the prompt.
    in_reasoning: Option<bool>,
    /// In native formats, and for reasoning that is separated from the text.
    place: TextContext,
    /// Code in the text that is consumed, if it matters.
    code: CodeScanner,
    /// Calls of a list that has not ended.
    waiting: Vec<WaitingCall>,
    /// The last call, kept for its allocations.
    recycled: Option<Box<Call>>,
}

/// The result of [`Parser::feed_plain`], which reads all of the text or nothing. It can be matched exhaustively, because a host
/// that does not know what was read would lose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain<'a> {
    /// Nothing was read.
    No,
    /// The text is one text event.
    Text,
    /// The text is, unchanged, one delta of the call with this index.
    DeltaIsInput {
        /// The index of the call.
        index: usize,
    },
    /// One delta of the call with this index. An empty delta is not an event.
    Delta {
        /// The index of the call.
        index: usize,
        /// A part of the compact JSON text.
        delta: &'a str,
    },
}

type OnEvent<'a> = &'a mut dyn FnMut(Event<'_>);

/// The text of one run, and how much of it is consumed.
struct Window<'w> {
    text: &'w str,
    at: usize,
    /// Bytes of the message before the text.
    before: usize,
    /// Characters of the message before byte `counted` of the text.
    chars: usize,
    counted: usize,
    /// All bytes from `counted` up to this one are known to be ASCII.
    ascii: usize,
    last: bool,
}

impl<'w> Window<'w> {
    /// A window that begins after this many bytes and characters of the message.
    fn new(text: &'w str, before: usize, chars: usize, last: bool) -> Self {
        Window { text, at: 0, before, chars, counted: 0, ascii: 0, last }
    }

    /// The offset in characters of a byte of the text. Bytes must be given in ascending order.
    fn offset(&mut self, at: usize) -> usize {
        if at > self.ascii {
            // Calls are short, so one scan covers many of them.
            let ahead = self.text.len().min(at + AHEAD_BYTES);
            if self.text.as_bytes()[self.counted..ahead].is_ascii() {
                self.ascii = ahead;
            }
        }
        self.chars += if at <= self.ascii { at - self.counted } else { count_chars(&self.text[self.counted..at]) };
        self.counted = at;
        self.chars
    }
}

const AHEAD_BYTES: usize = 1024;

/// Reserves room for `more` bytes. A text beyond [`LONG_BYTES`] is likely to grow further. It gets room in large steps, because
/// each step may copy the text, and reserving memory costs less than copying.
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

impl Machine {
    fn new(in_reasoning: Option<bool>) -> Self {
        Machine { in_reasoning, ..Machine::default() }
    }

    #[inline(always)]
    fn feed_plain(&mut self, tools: &Toolset, text: &str) -> Plain<'_> {
        if self.buffer.len() != self.held || text.is_empty() {
            return Plain::No;
        }
        if tools.native && memchr::memchr2(b'<', tools.stop, text.as_bytes()).is_some() {
            return Plain::No;
        }
        if matches!(self.state, ParserState::Text | ParserState::Part(Part::Content)) {
            let waits = if tools.native { !self.passes_text(text) } else { self.place.breaks };
            if waits || !tools.settings.candidates.are_missing(text.as_bytes()) {
                return Plain::No;
            }
            self.read_code_and_quotes(tools, text);
            // In native formats, it does not end in whitespace.
            self.place.saw(text);
            self.offset += count_chars(text);
            self.bytes += text.len();
            return Plain::Text;
        }
        self.feed_plain_in_call(tools, text)
    }

    #[inline(always)]
    fn feed_plain_in_call(&mut self, tools: &Toolset, text: &str) -> Plain<'_> {
        let ParserState::Call(call) = &mut self.state else { return Plain::No };
        let too_long = text.len() > call.room(tools.settings.limits.call_bytes);
        if self.reports != Reports::All || call.failure.is_some() || too_long {
            return Plain::No;
        }
        make_room(&mut call.raw, text.len());
        make_room(&mut call.report.args.json, text.len());
        let tools = self.other.map_or(tools, |at| &tools.others[at]);
        let delimiters = call.delimiters.as_deref().unwrap_or(&tools.settings.delimiters);
        let Some(same) = call.body.feed_plain(&mut call.report, text, delimiters) else { return Plain::No };
        call.raw.push_str(text);
        self.offset += count_chars(text);
        self.bytes += text.len();
        let index = call.index.unwrap_or(0);
        match call.report.args.take_delta() {
            delta if (same && delta.len() == text.len()) || delta == text => Plain::DeltaIsInput { index },
            delta => Plain::Delta { index, delta },
        }
    }

    fn feed(&mut self, tools: &Toolset, text: &str, on_event: OnEvent<'_>) {
        if self.prose(tools, text, on_event) {
            return;
        }
        if self.buffer.len() == self.held {
            self.buffer.clear();
            self.held = 0;
            let consumed = self.run(tools, &text[..self.stop_tail(tools, text, false)], false, on_event);
            self.buffer.push_str(&text[consumed..]);
            return;
        }
        self.buffer.push_str(text);
        self.run_buffer(tools, false, on_event);
    }

    fn finish(&mut self, tools: &Toolset, truncated: Option<bool>, on_event: OnEvent<'_>) {
        self.truncated = truncated;
        // The end of a list counts for the calls before one that has failed.
        let ends = |call: &Call| call.body.is_complete() && (call.failure.is_none() || call.body.waits());
        let inside = matches!(&self.state, ParserState::Call(call) if !ends(call));
        // Stop tokens belong to no call, also if it is still open.
        let stops = self.held + self.stop_tail(tools, &self.buffer[self.held..], true);
        let stops = self.buffer.split_off(stops);
        if truncated == Some(false) || !inside {
            self.run_buffer(tools, true, on_event);
        }
        if matches!(self.state, ParserState::Call(_)) {
            self.end_inside(self.read_as(tools), on_event);
        }
        self.report_buried(tools, on_event);
        emit_framing(&stops, on_event);
        *self = Machine { reports: self.reports, ..Machine::default() };
    }

    fn run_buffer(&mut self, tools: &Toolset, last: bool, on_event: OnEvent<'_>) {
        let buffer = std::mem::take(&mut self.buffer);
        let text = &buffer[self.held..];
        let end = if last { text.len() } else { self.stop_tail(tools, text, false) };
        self.held += self.run(tools, &text[..end], last, on_event);
        self.buffer = buffer;
        // Moving the rest costs its length, so it is done only after as much was consumed.
        if self.held * 2 >= self.buffer.len() {
            self.buffer.drain(..self.held);
            self.held = 0;
        }
    }

    /// Runs the states over a window. Returns the number of bytes consumed.
    fn run(&mut self, tools: &Toolset, text: &str, last: bool, on_event: OnEvent<'_>) -> usize {
        let mut window = Window::new(text, self.bytes, self.offset, last);
        loop {
            let more = match self.state {
                ParserState::Start => self.start(tools, &mut window, on_event),
                ParserState::Reasoning { .. } if tools.native || tools.separates => {
                    self.framed_reasoning(tools, &mut window, on_event)
                }
                ParserState::Reasoning { .. } => self.reasoning(tools, &mut window, on_event),
                ParserState::Text => self.text(tools, &mut window, on_event),
                ParserState::Between => match tools.protocol.layout().parts {
                    Some(frame) => self.between(tools, frame, &mut window, on_event),
                    None => self.enter_text(tools),
                },
                ParserState::Part(part) => match tools.protocol.layout().parts {
                    Some(frame) => self.part(tools, frame, part, &mut window, on_event),
                    None => self.enter_text(tools),
                },
                ParserState::Section => self.section(tools, &mut window, on_event),
                ParserState::TailAsText => {
                    emit_text(&window.text[window.at..], on_event);
                    window.at = text.len();
                    false
                }
                ParserState::TailAsFraming => {
                    self.frame(&mut window, text.len(), on_event);
                    false
                }
                ParserState::Call(_) => {
                    let begin = window.at;
                    self.call(self.read_as(tools), &mut window, begin, on_event)
                }
            };
            if tools.reads == Reads::Recovers && matches!(self.state, ParserState::Text) {
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

    /// Where the stop tokens at the end of a message begin. Until something follows them, they are held back.
    #[inline]
    fn stop_tail(&self, tools: &Toolset, text: &str, last: bool) -> usize {
        if tools.native { stop_tail(text, tools.protocol.layout().stops, last) } else { text.len() }
    }

    fn start(&mut self, tools: &Toolset, window: &mut Window<'_>, on_event: OnEvent<'_>) -> bool {
        if tools.native {
            self.framed_start(tools);
            return true;
        }
        if self.in_reasoning == Some(true) {
            self.state = ParserState::OPENED;
            return true;
        }
        let open = tools.reasoning.first().map(|(open, _)| open);
        self.state = match open.map_or(Scan::NoMatch, |open| starts(window.text, open, false)) {
            Scan::Match(()) => {
                if tools.separates {
                    window.at = open.map_or(0, String::len);
                    emit_framing(&window.text[..window.at], on_event);
                }
                self.place.pass(Passed::Marks);
                ParserState::OPENED
            }
            Scan::NoMatch => ParserState::Text,
            Scan::Incomplete if window.last => ParserState::TailAsText,
            Scan::Incomplete => return false,
        };
        true
    }

    /// Scans consumed text for code and quotes.
    #[inline]
    fn read_code_and_quotes(&mut self, tools: &Toolset, text: &str) {
        if tools.code == CodeMode::Text {
            self.code.read(text.as_bytes());
        }
        self.read_quotes(tools, text);
    }

    /// The toolset of the protocol in which the call, or the rest of the message, is read.
    fn read_as<'t>(&self, tools: &'t Toolset) -> &'t Toolset {
        self.other.map_or(tools, |at| &tools.others[at])
    }
}

fn emit_framing(text: &str, on_event: OnEvent<'_>) {
    if !text.is_empty() {
        on_event(Event::Framing(text));
    }
}

fn emit_text(text: &str, on_event: OnEvent<'_>) {
    if !text.is_empty() {
        on_event(Event::Text(text));
    }
}
