//! A window of the text, and what stands at a place in it.

use std::ops::ControlFlow::{self, Break, Continue};

use super::bytes::{LineBreak, is_blank, line_break};
use super::lexeme::{Ends, Lexeme};
use crate::syntax::scan::Scan;

/// `at`: bytes that are consumed.
pub(super) struct Window<'w, 'e> {
    pub text: &'w str,
    pub at: usize,
    pub last: bool,
    pub ends: &'e dyn Ends,
}

/// A lexeme, or nothing yet: on.
pub(super) type Step<'w> = ControlFlow<Lexeme<'w>>;

/// The lexeme if its mark stands here.
pub(super) fn found(mark: Scan, lexeme: Lexeme<'_>) -> Step<'_> {
    match mark {
        Scan::Match(()) => Break(lexeme),
        Scan::Incomplete => Break(Lexeme::Need),
        Scan::NoMatch => Continue(()),
    }
}

impl<'w> Window<'w, '_> {
    pub fn rest(&self) -> &'w str {
        &self.text[self.at..]
    }

    /// The next byte; where there is none, the lexeme that says so.
    pub fn byte(&self) -> ControlFlow<Lexeme<'w>, u8> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) => Continue(*byte),
            None => Break(if self.last { Lexeme::End } else { Lexeme::Need }),
        }
    }

    /// Consumes blanks.
    pub fn blanks(&mut self) -> &'w str {
        let rest = self.rest();
        let run = rest.bytes().take_while(|byte| is_blank(*byte)).count();
        self.at += run;
        &rest[..run]
    }

    /// Consumes the line break that begins here.
    pub fn line_break(&mut self) -> Step<'w> {
        let LineBreak::Yes(length) = line_break(self.text.as_bytes(), self.at, self.last) else {
            return Break(Lexeme::Need);
        };
        self.at += length;
        Continue(())
    }

    /// `line`: only blanks stand in front in the line.
    pub fn closes(&self, line: bool) -> Scan {
        self.ends.close(self.rest(), line, self.last)
    }
}
