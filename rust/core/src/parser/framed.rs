//! Native formats: text, reasoning and sections, with whitespace that belongs to the format. What the format takes is framing.
//!
//! Whitespace is held back until it is known what follows it: it may belong to a call. It is kept as a run and scanned once.

use super::{Machine, OnEvent, Window, count_chars, emit_framing, emit_text};
use crate::formats::Attempt;
use crate::formats::commitment::unreadable;
use crate::formats::registry::Reads;
use crate::parser::state::ParserState;
use crate::syntax::quoting::{Alternation, leaves_open};
use crate::syntax::scan::{CodeScanner, Scan, first_mark, fitting, is_ws, window, ws_run};
use crate::syntax::tags::tag;
use crate::toolset::Toolset;

/// Whether the parser is between the markers of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum InSection {
    #[default]
    Outside,
    /// Before the first call or error in it.
    Begun,
    Listed,
}

/// The most that a message had so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Passed {
    /// Whitespace at most.
    #[default]
    Nothing,
    /// Reasoning or markers.
    Marks,
    /// Text other than whitespace. From here on, no reasoning begins.
    Text,
    /// A call or a section.
    Call,
}

/// What came before the current position, outside calls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextContext {
    pub section: InSection,
    /// There was text other than whitespace since the start, reasoning, or the last call or section.
    pub content: bool,
    pub passed: Passed,
    /// Line breaks here are framing.
    pub breaks: bool,
    /// So many bytes of the next window are known to be whitespace.
    pub scanned: usize,
    /// The next window begins with so many bytes that need more text, and end in whitespace. More whitespace decides nothing.
    pub waits: usize,
    /// A call begins in the reasoning, which has not ended. Its tool, if it is known.
    pub buried: Option<Option<usize>>,
    /// The last byte of text since the last call or section that is not whitespace, and how much other text precedes it, up to [`LEAST_BYTES`].
    pub last: u8,
    pub written: usize,
    /// That text contains an opener or a closer of calls.
    pub mentioned: bool,
    /// The quote that is open here. `None`: quotes are not followed, because no opener in text precedes, and no call that has failed or may
    /// have ended too early.
    pub quotes: Option<Alternation>,
}

/// Less text between a call and what closes one is a rest of that call.
const LEAST_BYTES: usize = 8;

impl TextContext {
    pub(super) fn pass(&mut self, passed: Passed) {
        self.passed = self.passed.max(passed);
    }

    /// Text that ends in something other than whitespace.
    #[inline]
    pub(super) fn saw(&mut self, text: &str) {
        self.last = text.as_bytes().last().copied().unwrap_or_default();
        if self.written < LEAST_BYTES {
            self.written += text.bytes().filter(|byte| !is_ws(*byte)).take(LEAST_BYTES).count();
        }
    }
}

/// Bytes at the end of a message in which stop tokens are recognised.
const STOP_BYTES: usize = 256;

/// Where the run of stop tokens and whitespace that ends the text begins, or what may become one.
pub(super) fn stop_tail(text: &str, stops: &[&str], last: bool) -> usize {
    let Some(&first) = stops.first().and_then(|stop| stop.as_bytes().first()) else { return text.len() };
    let from = fitting(text, 0, text.len().saturating_sub(STOP_BYTES));
    let is_run = |run: &str| {
        let mut rest = run;
        loop {
            rest = match stops.iter().find_map(|stop| rest.strip_prefix(stop)) {
                Some(after) => &after[ws_run(after, 0)..],
                None => return rest.is_empty() || (!last && stops.iter().any(|stop| stop.starts_with(rest))),
            };
        }
    };
    let begins = memchr::memchr_iter(first, &text.as_bytes()[from..]).map(|at| from + at);
    begins.into_iter().find(|at| is_run(&text[*at..])).unwrap_or(text.len())
}

/// The byte after the last one that is not whitespace; `from`: it is known that there is none before.
pub(super) fn content_end(text: &str, from: usize) -> usize {
    text.as_bytes()[from..].iter().rposition(|byte| !is_ws(*byte)).map_or(from, |at| from + at + 1)
}

/// Markers in the wrong place before a call.
const STRAY_MARKS: usize = 4;

/// Characters beside a call that may be what is left of a marker.
const LEFT_CHARS: usize = 32;

/// The length of text beside a call that is not meant as another one: what is left of a marker, or a few words. No quote is open after it.
fn leftover(set: &Toolset, text: &str, last: bool) -> Scan<usize> {
    let (head, ended) = window(text, LEFT_CHARS, last);
    let first = head.chars().next().map_or(0, char::len_utf8);
    let begins = |at: &usize| match head[*at..].chars().next() {
        // The brackets of a marker begin nothing.
        Some('[') => head[at + 1..].trim_start().starts_with(['{', '"', '[', '\'']),
        Some(c) => matches!(c, '<' | '\n' | '{' | '(' | '"' | '\''),
        None => false,
    };
    let end = head.char_indices().map(|(at, _)| at).filter(|at| *at >= first).find(begins);
    let run = &head[..end.unwrap_or(head.len())];
    let named = || set.tools.iter().any(|tool| run.contains(&tool.name));
    match end.map(|end| head.as_bytes()[end]) {
        None if !ended => Scan::Incomplete,
        None if run.len() < text.len() => Scan::NoMatch,
        Some(b'{' | b'[' | b'(' | b'"' | b'\'') => Scan::NoMatch,
        _ if named() || leaves_open(run) => Scan::NoMatch,
        _ => match set.protocol.orphan(&set.tools, text, last) {
            Scan::Match(_) => Scan::NoMatch,
            Scan::Incomplete => Scan::Incomplete,
            Scan::NoMatch => Scan::Match(run.len()),
        },
    }
}

impl Machine {
    /// Whether text that has no marker and ends with something other than whitespace can be passed on at once.
    pub(super) fn passes_text(&self, text: &str) -> bool {
        self.place.content && !text.as_bytes().last().is_some_and(|byte| is_ws(*byte))
    }

    /// Reads text in which nothing can begin, in the middle of content, at little cost. Returns whether it has done so.
    #[inline]
    pub(super) fn prose(&mut self, tools: &Toolset, text: &str, on_event: OnEvent<'_>) -> bool {
        let held = self.buffer.len() - self.held;
        // Nothing but whitespace is held back.
        let inside = tools.native && self.place.content && self.place.scanned == held;
        let plain = |text: &[u8]| memchr::memchr(b'<', text).is_none() && tools.settings.candidates.are_missing(text);
        if !inside || !matches!(self.state, ParserState::Text) || !plain(text.as_bytes()) {
            return false;
        }
        self.read_code_and_quotes(tools, text);
        let end = content_end(text, 0);
        if end > 0 {
            let content = if held == 0 {
                &text[..end]
            } else {
                self.buffer.push_str(&text[..end]);
                &self.buffer[self.held..]
            };
            (self.bytes, self.offset) = (self.bytes + content.len(), self.offset + count_chars(content));
            self.place.saw(content);
            emit_text(content, on_event);
            self.buffer.clear();
            (self.held, self.place.scanned) = (0, 0);
        }
        self.buffer.push_str(&text[end..]);
        self.place.scanned += text.len() - end;
        true
    }

    pub(super) fn framed_start(&mut self, tools: &Toolset) {
        let layout = tools.protocol.layout();
        let reasons = !tools.reasoning.is_empty() && self.in_reasoning.unwrap_or(layout.starts_in_reasoning);
        self.place = TextContext { breaks: layout.breaks_at_start && !reasons, ..TextContext::default() };
        if let Some(frame) = layout.parts {
            self.state = ParserState::Between;
            let in_reasoning = self.in_reasoning.or(layout.starts_in_reasoning.then_some(true));
            if let Some(part) = frame.start(in_reasoning) {
                self.enter(part);
            }
            return;
        }
        self.state = if reasons { ParserState::OPENED } else { ParserState::Text };
    }

    /// The state after a call or an error.
    pub(super) fn outside(&mut self, tools: &Toolset) -> ParserState {
        (self.place.content, self.place.scanned, self.place.last) = (false, 0, 0);
        (self.place.written, self.place.mentioned, self.place.buried) = (0, false, None);
        self.place.passed = Passed::Call;
        if self.place.section == InSection::Begun {
            self.place.section = InSection::Listed;
        }
        match tools.protocol.layout().parts {
            _ if self.place.section != InSection::Outside => ParserState::Section,
            Some(_) => ParserState::Between,
            None => ParserState::Text,
        }
    }

    /// Text was reported.
    pub(super) fn wrote(&mut self) {
        self.place.pass(Passed::Text);
        (self.place.content, self.place.scanned) = (true, 0);
    }

    /// Framing up to this byte of the window.
    pub(super) fn frame(&mut self, window: &mut Window<'_>, end: usize, on_event: OnEvent<'_>) {
        emit_framing(&window.text[window.at..end], on_event);
        window.at = end;
        self.place.scanned = 0;
    }

    /// Content up to this byte, which is not whitespace alone.
    pub(super) fn content(&mut self, window: &mut Window<'_>, end: usize, on_event: OnEvent<'_>) {
        if end > window.at {
            self.place.saw(&window.text[window.at..end]);
            emit_text(&window.text[window.at..end], on_event);
            window.at = end;
            self.wrote();
        }
    }

    /// Whitespace up to this byte: framing or content.
    pub(super) fn blanks(&mut self, framing: bool, window: &mut Window<'_>, end: usize, on_event: OnEvent<'_>) {
        match framing {
            true => self.frame(window, end, on_event),
            false => {
                emit_text(&window.text[window.at..end], on_event);
                window.at = end;
                self.place.scanned = 0;
            }
        }
    }

    /// Line breaks that are framing. Returns whether something else follows them.
    pub(super) fn line_breaks(&mut self, tools: &Toolset, window: &mut Window<'_>, on_event: OnEvent<'_>) -> bool {
        let rest = &window.text.as_bytes()[window.at..];
        let end = window.at + rest.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        match self.place.passed > Passed::Nothing {
            true => self.mark(tools, window, end, on_event),
            false => self.frame(window, end, on_event),
        }
        self.place.breaks = window.at == window.text.len();
        !self.place.breaks
    }

    /// A section begins, in the other protocol at this position, and its marker ends at byte `end`.
    pub(super) fn open_section(
        &mut self,
        other: Option<usize>,
        window: &mut Window<'_>,
        end: usize,
        on_event: OnEvent<'_>,
    ) -> bool {
        self.frame(window, end, on_event);
        self.other = other;
        self.code = CodeScanner::AFTER_CALL;
        self.place.section = InSection::Begun;
        self.state = ParserState::Section;
        true
    }

    /// Whether the text since the last call ends in a bracket here, and may hold a call whose opener is missing or misspelled.
    pub(super) fn lacks_opener(&self, tools: &Toolset, window: &Window<'_>, at: usize) -> bool {
        let (before, blanks) = match window.text.as_bytes()[window.at..at].iter().rposition(|byte| !is_ws(*byte)) {
            Some(last) => (window.text.as_bytes()[window.at + last], &window.text[window.at + last + 1..at]),
            None => (self.place.last, &window.text[window.at..at]),
        };
        let python = tools.settings.info.encoding == "python";
        let bracket = matches!(before, b'}' | b']') || (before == b')' && python);
        let bracket = bracket && matches!(blanks, "" | "\n" | "\r\n");
        let text = self.place.written >= LEAST_BYTES && !self.place.mentioned && !self.code.was_seen();
        bracket && text && tools.reads != Reads::Nothing
    }

    /// Outside reasoning, calls and sections.
    pub(super) fn enter_text(&mut self, tools: &Toolset) -> bool {
        self.place.scanned = 0;
        self.state = if tools.protocol.layout().parts.is_some() { ParserState::Between } else { ParserState::Text };
        true
    }

    /// In a section: calls, whitespace, and markers that are in the wrong place. Anything else is an error.
    pub(super) fn section(&mut self, tools: &Toolset, window: &mut Window<'_>, on_event: OnEvent<'_>) -> bool {
        let set = self.read_as(tools);
        let Some(section) = &set.protocol.layout().section else { return self.enter_text(tools) };
        let text = window.text;
        let mut at = window.at;
        loop {
            at = ws_run(text, at);
            let rest = &text[at..];
            if rest.is_empty() {
                self.frame(window, at, on_event);
                return false;
            }
            match section.ended(rest, window.last) {
                Scan::Match(length) => {
                    self.frame(window, at + length, on_event);
                    self.state = self.outside(tools);
                    self.place.section = InSection::Outside;
                    return self.enter_text(tools);
                }
                Scan::Incomplete => {
                    self.frame(window, at, on_event);
                    return false;
                }
                Scan::NoMatch => {}
            }
            let attempt = set.protocol.attempt(&set.tools, &set.settings, rest, window.last);
            let stray = match attempt {
                Attempt::Incomplete if !window.last => Scan::Incomplete,
                Attempt::Text(_) => self.stray_mark(set, rest, window.last),
                _ => Scan::NoMatch,
            };
            match (stray, attempt) {
                (Scan::Match(length), _) => at += length,
                (Scan::Incomplete, _) => {
                    self.frame(window, at, on_event);
                    return false;
                }
                (Scan::NoMatch, attempt @ (Attempt::Call { .. } | Attempt::Bad(_))) => {
                    if let Attempt::Call { lead, .. } = attempt {
                        at += lead;
                    }
                    self.frame(window, at, on_event);
                    return self.commit(tools, window, attempt, on_event);
                }
                (Scan::NoMatch, Attempt::Text(_) | Attempt::Incomplete) => {
                    self.frame(window, at, on_event);
                    let step = rest.chars().next().map_or(1, char::len_utf8);
                    let begun = first_mark(rest, &set.settings.marks.call, true);
                    let open = if let Scan::Match(length) = begun { length } else { step };
                    let attempt = unreadable(&set.tools, open, None, set.settings.marks.closers());
                    return self.commit(tools, window, attempt, on_event);
                }
            }
        }
    }

    /// The length of a marker of the format, or of a tag without attributes, that a call follows, or that follows one.
    fn stray_mark(&self, set: &Toolset, text: &str, last: bool) -> Scan<usize> {
        let layout = set.protocol.layout();
        match layout.begins_calls(set.protocol.separators(), text, last) {
            Scan::NoMatch => {}
            found => return found,
        }
        // What opens calls is a call or an error.
        let (marks, openers) = (&set.settings.marks, &set.settings.marks.before);
        let marks: Vec<_> = marks.call.iter().copied().filter(|mark| !openers.contains(mark)).collect();
        let found = |text: &str| match first_mark(text, &marks, last).or(|| tag(text, last)) {
            Scan::NoMatch => leftover(set, text, last),
            found => found,
        };
        let first = found(text);
        if self.place.section == InSection::Listed {
            return first;
        }
        let mut at = 0;
        for _ in 0..STRAY_MARKS {
            match found(&text[at..]) {
                Scan::Match(length) => at = ws_run(text, at + length),
                other => return other,
            }
            let rest = &text[at..];
            if rest.is_empty() {
                return Scan::at_end(last);
            }
            // A call in the next section does not follow.
            match layout.section.as_ref().map_or(Scan::NoMatch, |section| section.ended(rest, last)) {
                Scan::Match(_) => return Scan::NoMatch,
                Scan::Incomplete => return Scan::Incomplete,
                Scan::NoMatch => {}
            }
            match set.protocol.attempt(&set.tools, &set.settings, rest, last) {
                Attempt::Incomplete => return Scan::Incomplete,
                Attempt::Text(_) => {}
                Attempt::Call { .. } | Attempt::Bad(_) => return first,
            }
        }
        Scan::NoMatch
    }
}
