//! Recovery after an error: strings, brackets, and outside strings the markers.
//!
//! A double quote opens a string wherever it is, after the object as well: the bracket that ended it may have come too early, and
//! then its other strings follow.

use super::Ends;
use crate::arguments::{Input, Progress};
use crate::syntax::quoting::{Alternation, Inside, Quote};
use crate::syntax::scan::{Scan, starts};

/// How the rest of a failed call is read.
#[derive(Debug)]
pub(super) struct NamedRecovery {
    /// Brackets that are open; `None` before the first one.
    depth: Option<usize>,
    quotes: Alternation,
    /// The same without backticks, which may be what is left of a fence.
    unfenced: Alternation,
}

impl NamedRecovery {
    fn new(depth: Option<usize>, quotes: Alternation) -> Self {
        NamedRecovery { depth, quotes, unfenced: quotes }
    }

    /// Before the object, after a name that ends at byte `at` of a window, or before that.
    pub(super) fn after(window: &str, at: usize) -> Self {
        NamedRecovery::new(None, Alternation::at_error(window, at))
    }

    /// In so many brackets, and perhaps in a string, at byte `at` of a window.
    pub(super) fn inside(depth: usize, quote: Option<Quote>, (window, at): (&str, usize)) -> Self {
        let quotes = quote.map_or_else(|| Alternation::at_error(window, at), Alternation::inside);
        NamedRecovery::new(Some(depth), quotes)
    }

    /// After the object.
    pub(super) fn behind() -> Self {
        NamedRecovery::new(Some(0), Alternation::START)
    }

    /// Whether a quoted text is open, whatever backticks are.
    fn is_quoted(&self) -> bool {
        self.quotes.open().is_some() || self.unfenced.open().is_some()
    }

    /// Reads to the end of the call.
    pub(super) fn read(&mut self, input: &mut Input<'_>, ends: &Ends) -> Progress {
        while let Some(&byte) = input.window.as_bytes().get(input.at) {
            if !self.is_quoted() {
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
        let ends = ends.close.is_empty() && !self.is_quoted() && self.depth == Some(0);
        if ends { Progress::CallEnd } else { Progress::Incomplete }
    }

    /// `fenced`: a fence may be around the object.
    fn step(&mut self, byte: u8, fenced: bool) {
        let inside = self.is_quoted();
        self.quotes.step(byte);
        match fenced {
            true => self.unfenced.step_over_code(byte),
            false => self.unfenced = self.quotes,
        }
        if inside || self.is_quoted() {
            return;
        }
        match byte {
            b'"' => {
                let opened = Alternation::Inside(Inside::opened_by(Quote::Plain(byte)));
                (self.quotes, self.unfenced) = (opened, opened);
            }
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
    let before = ends.implicit_closers.iter().map(|mark| found(mark, 0).and_then(|_| begins(mark).map(|()| 0)));
    Scan::first_of([found(ends.close, ends.close.len())].into_iter().chain(before))
}

/// Whether a name or a bracket follows an opener.
fn begins(text: &str, last: bool) -> Scan {
    match text.trim_start_matches([' ', '\t']).chars().next() {
        None => Scan::at_end(last),
        Some(c) => Scan::some((c.is_alphanumeric() || "_{[(<\"'`".contains(c)).then_some(())),
    }
}
