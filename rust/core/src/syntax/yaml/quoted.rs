//! Quoted scalars: escapes in double quotes, `''` in single quotes, and folded lines in both.

use std::ops::ControlFlow::{Break, Continue};

use super::lexeme::{Lax, NoSurroundings, YamlLexeme};
use super::window::{Fold, TextWindow, YamlStep, is_blank};
use crate::syntax::json::{hex_digits, unicode_escape};
use crate::syntax::scan::Scan;

#[derive(Debug)]
pub(super) struct QuotedScalar {
    quote: u8,
    fold: Fold,
    /// The first line break of the fold was escaped.
    joined: bool,
    /// The backslash that is next was reported already.
    reported: bool,
}

impl QuotedScalar {
    pub(super) fn new(quote: u8) -> Self {
        QuotedScalar { quote, fold: Fold::default(), joined: false, reported: false }
    }

    /// The content of a quoted scalar in one line. `None`: it contains a backslash that is not an escape.
    pub(super) fn whole(text: &str) -> Option<String> {
        let mut quoted = QuotedScalar::new(text.as_bytes()[0]);
        let mut w = TextWindow { text, at: 1, last: true, ends: &NoSurroundings };
        let mut out = String::new();
        loop {
            match quoted.next(&mut w) {
                Break(YamlLexeme::Stop) => return Some(out),
                Break(lexeme) => out.push_str(lexeme.content(&mut [0; 4])?),
                Continue(()) => {}
            }
        }
    }

    /// Whether all of the text is content that needs no escape in JSON.
    pub(super) fn is_plain(&self, text: &str) -> bool {
        self.fold.breaks.is_none()
            && self.fold.blanks.is_empty()
            && text.as_bytes().last().is_some_and(|byte| !is_blank(*byte))
            && text.bytes().all(|byte| crate::syntax::json::is_plain(byte) && byte != self.quote)
    }

    pub(super) fn next<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w> {
        let bytes = w.text.as_bytes();
        loop {
            let special = |byte: &u8| *byte == self.quote || matches!(byte, b'\\' | b'\n' | b'\r');
            let end = bytes[w.at..].iter().position(special).map_or(bytes.len(), |offset| w.at + offset);
            let next = bytes.get(end).copied();
            // Whitespace around a line break is dropped.
            let mut content = &w.text[w.at..end];
            if matches!(next, Some(b'\n' | b'\r') | None) {
                content = content.trim_end_matches([' ', '\t']);
            }
            if self.fold.breaks.is_some() {
                let trimmed = content.trim_start_matches([' ', '\t']);
                w.at += content.len() - trimmed.len();
                content = trimmed;
            }
            if !content.is_empty() {
                self.pending()?;
                w.at += content.len();
                return Break(YamlLexeme::Part(content));
            }
            if self.fold.breaks.is_none() {
                self.fold.blanks.push_str(&w.text[w.at..end]);
            }
            w.at = end;
            let Some(byte) = next else { return Break(YamlLexeme::Need) };
            if w.line_break()? {
                self.fold.line_break();
                continue;
            }
            // Pending content comes first.
            self.pending()?;
            if byte == self.quote {
                match bytes.get(end + 1) {
                    _ if byte == b'"' => {}
                    Some(b'\'') => {
                        w.at += 2;
                        return Break(YamlLexeme::Char('\''));
                    }
                    None if !w.last => return Break(YamlLexeme::Need),
                    _ => {}
                }
                w.at += 1;
                return Break(YamlLexeme::Stop);
            }
            if self.quote == b'\'' {
                w.at += 1;
                return Break(YamlLexeme::Char('\\'));
            }
            self.escape(w)?;
        }
    }

    /// The content that was held back.
    fn pending<'w>(&mut self) -> YamlStep<'w> {
        if std::mem::take(&mut self.joined) && self.fold.breaks == Some(0) {
            self.fold.breaks = None;
        }
        self.fold.pending()
    }

    /// At a backslash in double quotes.
    fn escape<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w> {
        let bytes = w.text.as_bytes();
        let Some(&escape) = bytes.get(w.at + 1) else { return Break(YamlLexeme::Need) };
        let decoded = match escape {
            b'0' => '\0',
            b'a' => '\u{7}',
            b'b' => '\u{8}',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\u{b}',
            b'f' => '\u{c}',
            b'r' => '\r',
            b'e' => '\u{1b}',
            b' ' | b'"' | b'/' | b'\\' => escape as char,
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'\n' | b'\r' => {
                w.at += 1 + w.line_break_at(w.at + 1)?;
                (self.fold.breaks, self.joined) = (Some(0), true);
                return Continue(());
            }
            b'u' | b'x' | b'U' => {
                let found = if escape == b'u' { unicode_escape(w.rest(), w.last) } else { hex_escape(w.rest()) };
                return match found {
                    Scan::Incomplete => Break(YamlLexeme::Need),
                    Scan::NoMatch => self.lone(w),
                    Scan::Match((c, length)) => {
                        w.at += length;
                        Break(YamlLexeme::Char(c))
                    }
                };
            }
            _ => return self.lone(w),
        };
        w.at += 2;
        Break(YamlLexeme::Char(decoded))
    }

    /// A backslash before a character that is not an escape.
    fn lone<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w> {
        self.reported = !self.reported;
        if self.reported {
            return Break(YamlLexeme::Lax(Lax::Backslash));
        }
        w.at += 1;
        Break(YamlLexeme::Char('\\'))
    }
}

/// The character of `\x` with two digits or `\U` with eight digits, and the length of the escape.
fn hex_escape(text: &str) -> Scan<(char, usize)> {
    let length = if text.as_bytes()[1] == b'x' { 4 } else { 10 };
    hex_digits(text, 2..length, false).and_then(|code| Scan::some(char::from_u32(code)).map(|c| (c, length)))
}
