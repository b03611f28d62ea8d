//! Flow collections, in brackets.

use std::ops::ControlFlow::{Break, Continue};

use super::bytes::{is_flow_mark, separates};
use super::lexeme::Lexeme;
use super::lexer::{Lexer, Mode};
use super::lines::{NO_PROPERTIES, RESERVED};
use super::plain::Plain;
use super::quoted::Quoted;
use super::window::{Step, Window, found};

/// Directly behind a mark.
const NEXT: Mode = Mode::Flow { blank: false, adjacent: false, line: false };

impl Lexer {
    pub(super) fn in_flow<'w>(&mut self, w: &mut Window<'w, '_>) -> Step<'w> {
        let Mode::Flow { blank, adjacent, line } = &mut self.mode else { return Continue(()) };
        let start = w.at;
        let byte = loop {
            *blank |= !w.blanks().is_empty();
            let byte = w.byte()?;
            if !matches!(byte, b'\n' | b'\r') {
                break byte;
            }
            w.line_break()?;
            (*blank, *line) = (true, true);
        };
        // Its place is counted from here.
        if w.at > start {
            return Continue(());
        }
        let (blank, adjacent) = (*blank, *adjacent);
        found(w.closes(*line), Lexeme::Close)?;
        let wrong = match byte {
            b'#' if blank => return self.go(Mode::Comment),
            b'[' | b'{' | b',' => {
                w.at += 1;
                self.flow += usize::from(byte != b',');
                return self.out(Lexeme::Punct(byte), NEXT);
            }
            b']' | b'}' => {
                w.at += 1;
                self.flow -= 1;
                return self.out(Lexeme::Punct(byte), self.behind());
            }
            b'"' | b'\'' => {
                w.at += 1;
                return self.start(true, Mode::Quoted(Quoted::new(byte)));
            }
            b':' | b'-' | b'?' => {
                let bytes = w.text.as_bytes();
                let marks = match bytes.get(w.at + 1) {
                    _ if byte == b':' && adjacent => Some(true),
                    Some(next) if is_flow_mark(*next) => Some(true),
                    _ => separates(bytes, w.at + 1, w.last),
                };
                match marks {
                    None => return Break(Lexeme::Need),
                    Some(false) => None,
                    Some(true) if byte == b':' => {
                        w.at += 1;
                        return self.out(Lexeme::Punct(byte), NEXT);
                    }
                    Some(true) => Some(RESERVED),
                }
            }
            b'&' | b'*' | b'!' => {
                return self.out(Lexeme::Bad(NO_PROPERTIES), Mode::Property { inline: true });
            }
            b'|' | b'>' | b'%' | b'@' | b'`' | b'#' => Some(RESERVED),
            _ => None,
        };
        let plain = Mode::Plain(Plain::default());
        match wrong {
            Some(wrong) => self.out(Lexeme::Bad(wrong), plain),
            None => self.start(false, plain),
        }
    }
}
