//! A window of the text, and what is at a place in it.

use std::ops::ControlFlow::{self, Break, Continue};

use super::lexeme::{Ends, Lexeme};
use crate::syntax::scan::Scan;

/// `at`: bytes that are consumed.
pub(super) struct Window<'w, 'e> {
    pub text: &'w str,
    pub at: usize,
    pub last: bool,
    pub ends: &'e dyn Ends,
}

/// The next lexeme, or what is known without one.
pub(super) type Step<'w, T = ()> = ControlFlow<Lexeme<'w>, T>;

/// Whether there is a match; where that is not known yet, the lexeme that says so.
pub(super) fn is_match<'w, T>(scan: Scan<T>) -> Step<'w, bool> {
    match scan {
        Scan::Match(_) => Continue(true),
        Scan::NoMatch => Continue(false),
        Scan::Incomplete => Break(Lexeme::Need),
    }
}

impl<'w> Window<'w, '_> {
    pub fn rest(&self) -> &'w str {
        &self.text[self.at..]
    }

    /// The next byte.
    #[inline]
    pub fn byte(&self) -> Step<'w, u8> {
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

    /// The bytes of the line break at a place, 0 if none is there. After a carriage return, a line feed may follow.
    #[inline]
    pub fn line_break_at(&self, at: usize) -> Step<'w, usize> {
        let bytes = self.text.as_bytes();
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'\r'), None) if !self.last => Break(Lexeme::Need),
            (Some(b'\r'), Some(b'\n')) => Continue(2),
            (Some(b'\n' | b'\r'), _) => Continue(1),
            _ => Continue(0),
        }
    }

    /// Consumes a line break, if one is here.
    #[inline]
    pub fn line_break(&mut self) -> Step<'w, bool> {
        let length = self.line_break_at(self.at)?;
        self.at += length;
        Continue(length > 0)
    }

    /// Whether the text ends here. `line`: only blanks precede it in its line.
    #[inline]
    pub fn closes(&self, line: bool) -> Step<'w, bool> {
        is_match(self.ends.close(self.rest(), line, self.last))
    }

    /// [`Lexeme::Close`], if the text ends here.
    pub fn close(&self, line: bool) -> Step<'w> {
        if self.closes(line)? { Break(Lexeme::Close) } else { Continue(()) }
    }

    /// Consumes text up to a line break, or to where the whole text ends: then true.
    pub fn to_line_break(&mut self) -> Step<'w, bool> {
        let bytes = self.text.as_bytes();
        loop {
            let rest = &bytes[self.at..];
            self.at += memchr::memchr3(b'\n', b'\r', b'<', rest).unwrap_or(rest.len());
            if bytes.get(self.at) != Some(&b'<') {
                return Continue(false);
            }
            if self.closes(false)? {
                return Continue(true);
            }
            self.at += 1;
        }
    }
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

pub(super) fn is_flow_mark(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

/// Whether the byte at `at`, after an indicator, is a blank, a line break or the end.
pub(super) fn separates(bytes: &[u8], at: usize, last: bool) -> Scan {
    match bytes.get(at) {
        None if !last => Scan::Incomplete,
        Some(byte) if !is_blank(*byte) && !is_line_break(*byte) => Scan::NoMatch,
        _ => Scan::Match(()),
    }
}

/// Line breaks and blanks in a scalar that is folded. What they mean depends on what follows.
#[derive(Debug, Default)]
pub(super) struct Fold {
    /// Blanks that are content unless a line break follows.
    pub blanks: String,
    /// Line breaks that are not passed on yet, less the first.
    pub breaks: Option<usize>,
}

impl Fold {
    /// After a line break.
    pub fn line_break(&mut self) {
        self.blanks.clear();
        self.breaks = Some(self.breaks.map_or(0, |breaks| breaks + 1));
    }

    /// The content that is held back, before other content.
    pub fn pending<'w>(&mut self) -> Step<'w> {
        match self.breaks.take() {
            Some(0) => Break(Lexeme::Char(' ')),
            Some(breaks) => Break(Lexeme::Own("\n".repeat(breaks))),
            None if self.blanks.is_empty() => Continue(()),
            None => Break(Lexeme::Own(std::mem::take(&mut self.blanks))),
        }
    }
}
