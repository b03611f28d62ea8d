//! A window of the text, and scans at a place in it.

use std::ops::ControlFlow::{self, Break, Continue};

use super::lexeme::{Surroundings, YamlLexeme};
use crate::syntax::scan::Scan;

/// `at`: the number of consumed bytes.
pub(super) struct TextWindow<'w, 'e> {
    pub text: &'w str,
    pub at: usize,
    pub last: bool,
    pub ends: &'e dyn Surroundings,
}

/// The next lexeme, or a result without one.
pub(super) type YamlStep<'w, T = ()> = ControlFlow<YamlLexeme<'w>, T>;

/// Whether there is a match. If more text is needed, the step ends with `Need`.
pub(super) fn is_match<'w, T>(scan: Scan<T>) -> YamlStep<'w, bool> {
    match scan {
        Scan::Match(_) => Continue(true),
        Scan::NoMatch => Continue(false),
        Scan::Incomplete => Break(YamlLexeme::Need),
    }
}

impl<'w> TextWindow<'w, '_> {
    pub(super) fn rest(&self) -> &'w str {
        &self.text[self.at..]
    }

    /// The next byte.
    #[inline]
    pub(super) fn byte(&self) -> YamlStep<'w, u8> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) => Continue(*byte),
            None => Break(if self.last { YamlLexeme::End } else { YamlLexeme::Need }),
        }
    }

    /// Consumes spaces and tabs.
    pub(super) fn blanks(&mut self) -> &'w str {
        let rest = self.rest();
        let run = rest.bytes().take_while(|byte| is_blank(*byte)).count();
        self.at += run;
        &rest[..run]
    }

    /// The length of the line break at a place, or 0. After a carriage return, a line feed may follow.
    #[inline]
    pub(super) fn line_break_at(&self, at: usize) -> YamlStep<'w, usize> {
        let bytes = self.text.as_bytes();
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'\r'), None) if !self.last => Break(YamlLexeme::Need),
            (Some(b'\r'), Some(b'\n')) => Continue(2),
            (Some(b'\n' | b'\r'), _) => Continue(1),
            _ => Continue(0),
        }
    }

    /// Consumes a line break, if one is here.
    #[inline]
    pub(super) fn line_break(&mut self) -> YamlStep<'w, bool> {
        let length = self.line_break_at(self.at)?;
        self.at += length;
        Continue(length > 0)
    }

    /// Whether the YAML text ends here. `line`: only whitespace precedes this place in its line.
    #[inline]
    pub(super) fn closes(&self, line: bool) -> YamlStep<'w, bool> {
        is_match(self.ends.close(self.rest(), line, self.last))
    }

    /// Ends the step with [`YamlLexeme::Close`] if the YAML text ends here.
    pub(super) fn close(&self, line: bool) -> YamlStep<'w> {
        if self.closes(line)? { Break(YamlLexeme::Close) } else { Continue(()) }
    }

    /// Consumes text up to a line break. True: the YAML text ends before it.
    pub(super) fn skip_to_line_break(&mut self) -> YamlStep<'w, bool> {
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

/// Whether whitespace, a line break or the end is at `at`, after an indicator.
pub(super) fn separates(bytes: &[u8], at: usize, last: bool) -> Scan {
    match bytes.get(at) {
        None if !last => Scan::Incomplete,
        Some(byte) if !is_blank(*byte) && !is_line_break(*byte) => Scan::NoMatch,
        _ => Scan::Match(()),
    }
}

/// Whitespace and line breaks in a folded scalar. Their meaning depends on what follows.
#[derive(Debug, Default)]
pub(super) struct Fold {
    /// Whitespace that is content unless a line break follows.
    pub blanks: String,
    /// Pending line breaks, without the first.
    pub breaks: Option<usize>,
}

impl Fold {
    /// After a line break.
    pub(super) fn line_break(&mut self) {
        self.blanks.clear();
        self.breaks = Some(self.breaks.map_or(0, |breaks| breaks + 1));
    }

    /// Returns pending content, before other content.
    pub(super) fn pending<'w>(&mut self) -> YamlStep<'w> {
        match self.breaks.take() {
            Some(0) => Break(YamlLexeme::Char(' ')),
            Some(breaks) => Break(YamlLexeme::Own("\n".repeat(breaks))),
            None if self.blanks.is_empty() => Continue(()),
            None => Break(YamlLexeme::Own(std::mem::take(&mut self.blanks))),
        }
    }
}
