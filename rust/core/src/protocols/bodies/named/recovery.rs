//! Recovery after an error: strings, brackets, and outside strings the markers.
//!
//! A double quote opens a string wherever it is, after the object as well: the bracket that ended it may have come too early, and
//! then its other strings follow.

use super::Ends;
use crate::arguments::{Input, Progress};
use crate::syntax::quoting::{Alternation, Inside, Quote};
use crate::syntax::scan::{Scan, is_ws, starts};

/// How the rest of a failed call is read.
#[derive(Debug)]
pub(super) struct NamedRecovery {
    /// Brackets that are open; `None` before the first one.
    depth: Option<usize>,
    /// What a backtick follows: it opens a text where a value begins, and otherwise is a part of a fence.
    before: u8,
    /// There was a quoted text.
    quoted: bool,
    quotes: Alternation,
}

impl NamedRecovery {
    /// Before the object.
    pub(super) fn start() -> Self {
        NamedRecovery { depth: None, before: b'`', quoted: false, quotes: Alternation::START }
    }

    /// In so many brackets, and perhaps in a string, at byte `at` of a window.
    pub(super) fn inside(depth: usize, quote: Option<Quote>, (window, at): (&str, usize)) -> Self {
        let quotes = quote.map_or_else(|| Alternation::at_error(window, at), Alternation::inside);
        NamedRecovery { depth: Some(depth), before: b':', quoted: true, quotes }
    }

    /// After the object.
    pub(super) fn behind() -> Self {
        NamedRecovery { depth: Some(0), before: b'}', quoted: true, quotes: Alternation::START }
    }

    /// Reads to the end of the call.
    pub(super) fn read(&mut self, input: &mut Input<'_>, ends: &Ends) -> Progress {
        while let Some(&byte) = input.window.as_bytes().get(input.at) {
            if self.quotes.open().is_none() {
                if ends.close.is_empty() && self.depth == Some(0) {
                    return Progress::CallEnd;
                }
                match ended(input, ends, byte) {
                    Scan::Match(length) => {
                        input.at += length;
                        return Progress::CallEnd;
                    }
                    Scan::Incomplete => return Progress::Incomplete,
                    Scan::NoMatch => {}
                }
            }
            self.step(byte, !ends.fence.is_empty());
            input.at += 1;
        }
        let ends = ends.close.is_empty() && self.quotes.open().is_none() && self.depth == Some(0);
        if ends { Progress::CallEnd } else { Progress::Incomplete }
    }

    /// `fenced`: a fence may be around the object.
    fn step(&mut self, byte: u8, fenced: bool) {
        let inside = self.quotes.open().is_some();
        let value = match self.depth {
            Some(1..) => matches!(self.before, b'=' | b':' | b',' | b'[' | b'('),
            Some(0) | None => self.quoted && matches!(self.before, b'=' | b':'),
        };
        if byte == b'`' && fenced && !inside && !value {
            (self.quotes, self.before) = (Alternation::CLOSED, byte);
            return;
        }
        self.quotes.step(byte);
        if inside || self.quotes.open().is_some() {
            (self.before, self.quoted) = (b'"', true);
            return;
        }
        self.before = match byte {
            b'(' if self.depth.is_none() => self.before,
            // What separates backticks is a slip in a fence.
            b'=' | b':' | b',' | b'[' | b'(' if self.before == b'`' => self.before,
            _ if is_ws(byte) || !byte.is_ascii() => self.before,
            _ => byte,
        };
        match byte {
            b'"' => self.quotes = Alternation::Inside(Inside::opened_by(Quote::Plain(byte))),
            // Only an object ends a call; other brackets may be a mark, or only a part of what is wrong.
            b']' if self.depth == Some(1) => self.depth = None,
            b'{' | b'[' => self.depth = Some(self.depth.map_or(1, |depth| depth + 1)),
            b'}' | b']' => self.depth = self.depth.map(|depth| depth.saturating_sub(1)),
            _ => {}
        }
    }
}

/// The length of the closer at this byte, or 0 if the call ends before it.
fn ended(input: &Input<'_>, ends: &Ends, byte: u8) -> Scan<usize> {
    let found = |mark: &str, length: usize| match mark.as_bytes().first() {
        Some(first) if *first == byte => starts(input.rest(), mark, input.last).map(|()| length),
        _ => Scan::NoMatch,
    };
    // Where nothing closes calls, an opener that nothing follows is a slip.
    let begins = |mark: &str| match ends.close.is_empty() {
        true => begins(&input.rest()[mark.len()..], input.last),
        false => Scan::Match(()),
    };
    let before = ends.before.iter().map(|mark| found(mark, 0).and_then(|_| begins(mark).map(|()| 0)));
    Scan::first_of([found(ends.close, ends.close.len())].into_iter().chain(before))
}

/// Whether a name or a bracket follows an opener.
fn begins(text: &str, last: bool) -> Scan {
    match text.trim_start_matches([' ', '\t']).chars().next() {
        None => Scan::at_end(last),
        Some(c) => Scan::some((c.is_alphanumeric() || "_{[(<\"'`".contains(c)).then_some(())),
    }
}
