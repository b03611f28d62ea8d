//! Quoted scalars: escapes in double quotes, doubled single ones, lines folded in both.

use super::bytes::{LineBreak, is_blank, line_break};
use super::lexeme::{Lax, Lexeme, NoEnds};
use super::window::Window;
use crate::syntax::json::{Escape, unicode_escape};

#[derive(Debug)]
pub struct Quoted {
    quote: u8,
    /// Blanks that are content unless a line break follows.
    blanks: String,
    /// Line breaks that are not passed on yet, less the first. `joined`: the first was escaped.
    fold: Option<usize>,
    joined: bool,
    /// The lone backslash that stands here was told of.
    told: bool,
}

impl Quoted {
    pub(super) fn new(quote: u8) -> Self {
        Quoted { quote, blanks: String::new(), fold: None, joined: false, told: false }
    }

    /// The content of a quoted scalar that stands in one line. `None`: a backslash is in it that is no escape.
    pub(super) fn whole(text: &str) -> Option<String> {
        let mut quoted = Quoted::new(text.as_bytes()[0]);
        let mut w = Window { text, at: 1, last: true, ends: &NoEnds };
        let mut out = String::new();
        loop {
            match quoted.next(&mut w) {
                Lexeme::Stop => return Some(out),
                lexeme => out.push_str(lexeme.content(&mut [0; 4])?),
            }
        }
    }

    /// Is all of the text content, and itself in JSON?
    pub(super) fn is_plain(&self, text: &str) -> bool {
        self.fold.is_none()
            && self.blanks.is_empty()
            && text.as_bytes().last().is_some_and(|byte| !is_blank(*byte))
            && text.bytes().all(|byte| crate::syntax::json::is_plain(byte) && byte != self.quote)
    }

    pub(super) fn next<'w>(&mut self, w: &mut Window<'w, '_>) -> Lexeme<'w> {
        let bytes = w.text.as_bytes();
        loop {
            let start = w.at;
            let special = |byte: &u8| *byte == self.quote || matches!(byte, b'\\' | b'\n' | b'\r');
            let end = bytes[start..].iter().position(special).map_or(bytes.len(), |offset| start + offset);
            let run = &w.text[start..end];
            let next = bytes.get(end).copied();
            // Blanks in front of a line break are dropped, those behind one too.
            let content = match next {
                Some(b'\n' | b'\r') | None => run.trim_end_matches([' ', '\t']),
                Some(_) => run,
            };
            let content = if self.fold.is_some() {
                let trimmed = content.trim_start_matches([' ', '\t']);
                w.at += content.len() - trimmed.len();
                trimmed
            } else {
                content
            };
            if !content.is_empty() {
                if let Some(lexeme) = self.pending() {
                    return lexeme;
                }
                w.at += content.len();
                return Lexeme::Part(content);
            }
            if self.fold.is_none() {
                self.blanks.push_str(&w.text[w.at..end]);
            }
            w.at = end;
            match next {
                None => return Lexeme::Need,
                Some(b'\n' | b'\r') => match line_break(bytes, end, w.last) {
                    LineBreak::Yes(length) => {
                        w.at += length;
                        self.blanks.clear();
                        self.fold = Some(self.fold.map_or(0, |breaks| breaks + 1));
                    }
                    _ => return Lexeme::Need,
                },
                Some(byte) => {
                    // What is pending stands in front of whatever this is.
                    if let Some(lexeme) = self.pending() {
                        return lexeme;
                    }
                    if byte == self.quote {
                        match bytes.get(end + 1) {
                            _ if byte == b'"' => {}
                            Some(b'\'') => {
                                w.at += 2;
                                return Lexeme::Char('\'');
                            }
                            None if !w.last => return Lexeme::Need,
                            _ => {}
                        }
                        w.at += 1;
                        return Lexeme::Stop;
                    }
                    if self.quote == b'\'' {
                        w.at += 1;
                        return Lexeme::Char('\\');
                    }
                    if let Some(lexeme) = self.escape(w) {
                        return lexeme;
                    }
                }
            }
        }
    }

    /// What was held back in front of content.
    fn pending<'w>(&mut self) -> Option<Lexeme<'w>> {
        let joined = std::mem::take(&mut self.joined);
        match self.fold.take() {
            Some(0) if joined => None,
            Some(0) => Some(Lexeme::Char(' ')),
            Some(breaks) => Some(Lexeme::Own("\n".repeat(breaks))),
            None if self.blanks.is_empty() => None,
            None => Some(Lexeme::Own(std::mem::take(&mut self.blanks))),
        }
    }

    /// At a backslash in double quotes.
    fn escape<'w>(&mut self, w: &mut Window<'w, '_>) -> Option<Lexeme<'w>> {
        let bytes = w.text.as_bytes();
        let Some(&escape) = bytes.get(w.at + 1) else { return Some(Lexeme::Need) };
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
                let LineBreak::Yes(length) = line_break(bytes, w.at + 1, w.last) else { return Some(Lexeme::Need) };
                w.at += 1 + length;
                (self.fold, self.joined) = (Some(0), true);
                return None;
            }
            b'u' => match unicode_escape(w.rest(), w.last) {
                Escape::Char(c, length) => {
                    w.at += length;
                    return Some(Lexeme::Char(c));
                }
                Escape::Need => return Some(Lexeme::Need),
                Escape::No => return Some(self.lone(w)),
            },
            b'x' | b'U' => {
                let digits = if escape == b'x' { 2 } else { 8 };
                let mut code = 0;
                for digit in bytes[w.at + 2..].iter().take(digits) {
                    match (*digit as char).to_digit(16) {
                        Some(value) => code = code * 16 + value,
                        None => return Some(self.lone(w)),
                    }
                }
                if bytes.len() < w.at + 2 + digits {
                    return Some(Lexeme::Need);
                }
                let Some(c) = char::from_u32(code) else { return Some(self.lone(w)) };
                w.at += 2 + digits;
                return Some(Lexeme::Char(c));
            }
            _ => return Some(self.lone(w)),
        };
        w.at += 2;
        Some(Lexeme::Char(decoded))
    }

    /// A backslash in front of what is no escape.
    fn lone<'w>(&mut self, w: &mut Window<'w, '_>) -> Lexeme<'w> {
        if !std::mem::replace(&mut self.told, true) {
            return Lexeme::Lax(Lax::Backslash);
        }
        self.told = false;
        w.at += 1;
        Lexeme::Char('\\')
    }
}
