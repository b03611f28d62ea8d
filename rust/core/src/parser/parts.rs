//! Native formats whose messages consist of parts: between parts and in them.

use super::buried::buried;
use super::framed::{InSection, Passed};
use super::quoted::QUOTED;
use super::text::begins_section;
use super::{Machine, OnEvent, Window};
use crate::formats::Attempt;
use crate::formats::commitment::{begins, unreadable};
use crate::formats::parts::{Header, InPart, Part, PartsFrame};
use crate::formats::registry::Reads;
use crate::limits::ATTEMPT_CHARS;
use crate::parser::state::ParserState;
use crate::syntax::quoting::Alternation;
use crate::syntax::scan::{Scan, first_chars, first_mark, is_ws, starts, window as window_of, ws_run};
use crate::toolset::Toolset;

/// So near an opener, a bracket begins what is meant as a call.
const NEAR_CHARS: usize = 32;

impl Machine {
    /// Between two parts.
    pub(super) fn between(
        &mut self,
        tools: &Toolset,
        frame: &dyn PartsFrame,
        window: &mut Window<'_>,
        on_event: OnEvent<'_>,
    ) -> bool {
        let rest = &window.text[window.at..];
        if rest.is_empty() {
            return false;
        }
        if self.waits_on(window) {
            return false;
        }
        let first = self.place.passed == Passed::Nothing;
        let blanks = if first && frame.skips_whitespace() { ws_run(rest, 0) } else { 0 };
        let (rest, begin) = (&rest[blanks..], window.at + blanks);
        let sections = tools.protocol.layout().section.is_some();
        let found =
            if rest.is_empty() { Header::Incomplete } else { frame.header(&tools.tools, rest, first, window.last) };
        let header = match found {
            // Calls are text, with their headers and all that follows them.
            Header::Call(_) | Header::Bad(..) | Header::Part(_, Part::Calls | Part::Dropped)
                if tools.reads == Reads::Nothing =>
            {
                self.place.pass(Passed::Marks);
                self.state = ParserState::TailAsText;
                return true;
            }
            Header::Part(_, Part::Calls) if !sections => {
                Header::Call(tools.protocol.attempt(&tools.tools, &tools.settings, rest, window.last))
            }
            // A call without what begins a list of calls.
            Header::Framing(length) if tools.settings.candidates.may_begin(rest.as_bytes()) => {
                match buried(tools, rest, window.last) {
                    Scan::Match((open, tool)) => Header::Bad(open, Some(tool)),
                    Scan::Incomplete => Header::Incomplete,
                    Scan::NoMatch => Header::Framing(length),
                }
            }
            header => header,
        };
        let header = match (header, &tools.protocol.layout().section) {
            // The opener was only mentioned.
            (Header::Part(length, Part::Calls), Some(section)) if length > 0 => {
                let undecided = || begins_section(tools, section, &rest[length..], false).is_incomplete();
                match begins_section(tools, section, &rest[length..], window.last) {
                    Scan::Match(()) => Header::Part(length, Part::Calls),
                    Scan::NoMatch if window.last && self.truncated == Some(true) && undecided() => {
                        Header::Part(length, Part::Calls)
                    }
                    Scan::Incomplete => Header::Incomplete,
                    Scan::NoMatch => Header::Part(0, Part::Content),
                }
            }
            (header, _) => header,
        };
        if self.in_quotes() {
            let opener = match &header {
                Header::Bad(open, _) | Header::Part(open, Part::Calls) => Some(*open),
                Header::Call(attempt) => attempt.opener(),
                Header::Incomplete | Header::Framing(_) | Header::Part(..) => None,
            };
            if let Some(length) = opener.filter(|length| *length > 0) {
                self.frame(window, begin, on_event);
                return self.lone_mark(tools, window, length, QUOTED, on_event);
            }
        }
        match header {
            Header::Call(Attempt::Incomplete) if !window.last => return self.wait(window),
            Header::Call(Attempt::Incomplete | Attempt::Text(_)) => {
                let open = match first_mark(rest, &tools.settings.marks.call, true) {
                    Scan::Match(length) => length,
                    _ => rest.chars().next().map_or(0, char::len_utf8),
                };
                let head = &rest[open..open + first_chars(&rest[open..], ATTEMPT_CHARS)];
                let ended = window.last || open + head.len() < rest.len();
                // It is doubled.
                match starts(head, &rest[..open], ended) {
                    Scan::Match(()) if open > 1 => {
                        self.frame(window, begin + open, on_event);
                        return true;
                    }
                    Scan::Incomplete => return self.wait(window),
                    Scan::Match(()) | Scan::NoMatch => {}
                }
                let (near, known) = window_of(head, NEAR_CHARS, ended);
                // After a word at most. Prose has brackets, too.
                let object = near.split_once('{').is_some_and(|(lead, _)| lead.split_whitespace().count() < 2);
                // The message may be cut off here.
                let cut = window.last && begins(&tools.tools, head, false).is_incomplete();
                match begins(&tools.tools, head, ended) {
                    Scan::Incomplete => return self.wait(window),
                    Scan::NoMatch if !object && !known => return self.wait(window),
                    Scan::NoMatch if !object && !head.is_empty() && !cut => {
                        self.frame(window, begin, on_event);
                        self.enter(Part::Content);
                        self.content(window, begin + open, on_event);
                        self.place.quotes.get_or_insert(Alternation::CLOSED);
                    }
                    // What opens a call is a call or an error.
                    Scan::Match(_) | Scan::NoMatch => {
                        self.place.pass(Passed::Marks);
                        let attempt = unreadable(&tools.tools, open, None, tools.settings.marks.closers());
                        return self.commit(tools, window, attempt.after(blanks), on_event);
                    }
                }
            }
            Header::Bad(open, tool) => {
                self.place.pass(Passed::Marks);
                let attempt = unreadable(&tools.tools, open, tool, tools.settings.marks.closers());
                return self.commit(tools, window, attempt.after(blanks), on_event);
            }
            // A header that is cut off belongs to no part.
            Header::Incomplete if window.last => self.frame(window, window.text.len(), on_event),
            Header::Incomplete => return self.wait(window),
            Header::Framing(length) => {
                if ws_run(rest, 0) < length {
                    self.place.quotes.get_or_insert(Alternation::START);
                }
                self.read_quotes(tools, &rest[..length]);
                self.frame(window, begin + length, on_event);
            }
            // Without a header, the whitespace belongs to the part.
            Header::Part(0, part) => self.enter(part),
            Header::Part(length, part) => {
                self.frame(window, begin + length, on_event);
                if !self.in_quotes() {
                    self.place.quotes = None;
                }
                self.enter(part);
            }
            // The whitespace before the header belongs to the call.
            Header::Call(attempt) => {
                self.place.pass(Passed::Marks);
                return self.commit(tools, window, attempt.after(blanks), on_event);
            }
        }
        self.place.pass(Passed::Marks);
        true
    }

    /// More text is needed. Returns whether to go on with the window, which is false.
    fn wait(&mut self, window: &Window<'_>) -> bool {
        let held = &window.text[window.at..];
        self.place.waits = if held.as_bytes().last().is_some_and(|byte| is_ws(*byte)) { held.len() } else { 0 };
        false
    }

    /// Whether all that is new since [`Self::wait`] is whitespace. It is scanned once, however long it is.
    fn waits_on(&mut self, window: &Window<'_>) -> bool {
        let waits = std::mem::take(&mut self.place.waits);
        let text = &window.text[window.at..];
        if waits == 0 || window.last || ws_run(text, waits) < text.len() {
            return false;
        }
        self.place.waits = text.len();
        true
    }

    /// At a place in a part that does not end it.
    fn inside(&self, tools: &Toolset, frame: &dyn PartsFrame, text: &str, last: bool) -> InPart {
        if tools.reads == Reads::Nothing {
            return InPart::Text(1);
        }
        match frame.inside(&tools.tools, text, last) {
            text_only @ (InPart::Text(_) | InPart::Mention(_)) => match buried(tools, text, last) {
                Scan::Match((open, tool)) => InPart::Call(open, Some(tool)),
                Scan::Incomplete => InPart::Incomplete,
                Scan::NoMatch => text_only,
            },
            found => found,
        }
    }

    /// A part begins.
    pub(super) fn enter(&mut self, part: Part) {
        (self.place.scanned, self.place.content, self.place.buried) = (0, false, None);
        self.place.section = if part == Part::Calls { InSection::Begun } else { InSection::Outside };
        self.state = if part == Part::Calls { ParserState::Section } else { ParserState::Part(part) };
    }

    /// In a part that is text. Whitespace at its start is held back: a part of whitespace alone is framing.
    pub(super) fn part(
        &mut self,
        tools: &Toolset,
        frame: &dyn PartsFrame,
        part: Part,
        window: &mut Window<'_>,
        on_event: OnEvent<'_>,
    ) -> bool {
        let text = window.text;
        if self.waits_on(window) {
            return false;
        }
        if self.place.passed == Passed::Nothing {
            let opened = frame
                .openers()
                .into_iter()
                .flatten()
                .map(|(open, part)| starts(&text[window.at..], open, window.last).map(|()| (open.len(), part)));
            match Scan::first_of(opened) {
                Scan::Incomplete => return false,
                Scan::Match((_, Part::Calls)) => match buried(tools, &text[window.at..], window.last) {
                    Scan::Incomplete => return false,
                    // The text between parts begins with it.
                    Scan::Match(_) => {
                        self.place.pass(Passed::Marks);
                        self.state = ParserState::Between;
                        return true;
                    }
                    Scan::NoMatch => self.place.pass(Passed::Marks),
                },
                Scan::Match((length, opened)) => {
                    self.frame(window, window.at + length, on_event);
                    self.place.pass(Passed::Marks);
                    self.enter(opened);
                    return true;
                }
                Scan::NoMatch => self.place.pass(Passed::Marks),
            }
        }
        let mut at = window.at + self.place.scanned;
        let (mut closer, mut call, mut quoted, mut undecided) = (None, None, None, false);
        let mut end = text.len();
        // Quotes are not followed in reasoning; elsewhere, up to byte `read`.
        let spoken = part != Part::Reasoning;
        let mut read = at;
        while let Some(offset) = memchr::memchr(frame.begins(), &text.as_bytes()[at..]) {
            at += offset;
            if spoken {
                self.read_quotes(tools, &text[read..at]);
                read = at;
            }
            let in_quotes = spoken && self.in_quotes();
            match frame.closer(&tools.tools, part, &text[at..], window.last) {
                Scan::NoMatch => match self.inside(tools, frame, &text[at..], window.last) {
                    InPart::Mention(length) if spoken && self.place.quotes.is_none() => {
                        at += length;
                        (self.place.quotes, read) = (Some(Alternation::CLOSED), at);
                    }
                    InPart::Text(length) | InPart::Mention(length) => at += length,
                    InPart::Incomplete => {
                        (end, undecided) = (at, true);
                        break;
                    }
                    // A call in reasoning is only rehearsed, if something ends the reasoning.
                    InPart::Call(open, tool) if !spoken => {
                        self.place.buried.get_or_insert(tool);
                        at += open;
                    }
                    InPart::Call(open, _) if in_quotes => {
                        (end, quoted) = (at, Some(open));
                        break;
                    }
                    InPart::Call(open, tool) => {
                        (end, call) = (at, Some((open, tool)));
                        break;
                    }
                },
                Scan::Incomplete => {
                    (end, undecided) = (at, true);
                    break;
                }
                Scan::Match(length) if in_quotes => {
                    (end, quoted) = (at, Some(length.max(1)));
                    break;
                }
                Scan::Match(length) => {
                    (end, closer) = (at, Some(at + length));
                    break;
                }
            }
        }
        if spoken {
            self.read_quotes(tools, &text[read.min(end)..end]);
        }
        // What was looked at is whitespace.
        let blank = !self.place.content && ws_run(&text[..end], window.at + self.place.scanned) == end;
        match (blank, part) {
            (true, _) if closer.is_none() && call.is_none() && quoted.is_none() && !window.last => {
                self.place.scanned = end - window.at;
                return undecided && self.wait(window);
            }
            (true, _) | (_, Part::Dropped | Part::Calls) => self.frame(window, end, on_event),
            (false, Part::Reasoning) => self.reason(tools, window, end, on_event),
            (false, Part::Content) => self.content(window, end, on_event),
        }
        self.place.content |= !blank;
        if let Some(length) = quoted {
            let more = self.lone_mark(tools, window, length, QUOTED, on_event);
            // Beyond the limit of calls, nothing more is read.
            if matches!(self.state, ParserState::Between) {
                self.state = ParserState::Part(part);
            }
            return more;
        }
        if let Some((open, tool)) = call {
            self.place.pass(Passed::Marks);
            let attempt = unreadable(&tools.tools, open, tool, tools.settings.marks.closers());
            return self.commit(tools, window, attempt, on_event);
        }
        let Some(closed) = closer else { return undecided && self.wait(window) };
        self.frame(window, closed, on_event);
        self.place.pass(Passed::Marks);
        self.state = ParserState::Between;
        true
    }
}
