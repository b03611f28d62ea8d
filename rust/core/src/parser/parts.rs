//! Native formats whose messages consist of parts: between parts and in them.

use super::{Machine, OnEvent, Window};
use crate::parser::state::ParserState;
use crate::protocols::parts::{Header, Part, PartsFrame};
use crate::syntax::scan::{Scan, starts, ws_run};
use crate::toolset::Toolset;

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
        let first = !self.place.anything;
        match frame.header(&tools.tools, rest, first, window.last) {
            // A header that is cut off belongs to no part.
            Header::Incomplete if window.last => self.frame(window, window.text.len(), on_event),
            Header::Incomplete => return false,
            Header::Framing(length) => self.frame(window, window.at + length, on_event),
            Header::Part(length, part) => {
                self.frame(window, window.at + length, on_event);
                self.enter(part);
            }
            Header::Call(attempt) => {
                self.place.anything = true;
                return self.commit(tools, window, attempt, on_event);
            }
        }
        self.place.anything = true;
        true
    }

    /// A part begins.
    pub(super) fn enter(&mut self, part: Part) {
        (self.place.looked, self.place.content) = (0, false);
        self.place.section = part == Part::Calls;
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
        if !self.place.anything {
            let opened = frame
                .openers()
                .into_iter()
                .flatten()
                .map(|(open, part)| starts(&text[window.at..], open, window.last).map(|()| (open.len(), part)));
            match Scan::first_of(opened) {
                Scan::Incomplete => return false,
                Scan::Match((length, opened)) => {
                    self.frame(window, window.at + length, on_event);
                    self.place.anything = true;
                    self.enter(opened);
                    return true;
                }
                Scan::NoMatch => self.place.anything = true,
            }
        }
        let mut at = window.at + self.place.looked;
        let mut closer = None;
        let mut end = text.len();
        while let Some(offset) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
            at += offset;
            match frame.closer(part, &text[at..], window.last) {
                Scan::NoMatch => at += 1,
                Scan::Incomplete => {
                    end = at;
                    break;
                }
                Scan::Match(length) => {
                    (end, closer) = (at, Some(at + length));
                    break;
                }
            }
        }
        // What was looked at is whitespace.
        let blank = !self.place.content && ws_run(&text[..end], window.at + self.place.looked) == end;
        match (blank, part) {
            (true, _) if closer.is_none() && !window.last => {
                self.place.looked = end - window.at;
                return false;
            }
            (true, _) | (_, Part::Dropped | Part::Calls) => self.frame(window, end, on_event),
            (false, Part::Reasoning) => self.reason(tools, window, end, on_event),
            (false, Part::Content) => self.content(window, end, on_event),
        }
        self.place.content |= !blank;
        let Some(closed) = closer else { return false };
        self.frame(window, closed, on_event);
        self.place.anything = true;
        self.state = ParserState::Between;
        true
    }
}
