//! Block scalars, `|` and `>`: line by line, or finer.

use super::bytes::{LineBreak, is_blank, line_break};
use super::lexeme::Lexeme;
use super::window::Window;
use crate::syntax::scan::Scan;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chomp {
    Clip,
    Strip,
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the first line, behind its marks.
    Head,
    Indentation,
    Text,
    /// Behind the last line.
    Over,
}

#[derive(Debug)]
pub struct Block {
    folded: bool,
    chomp: Chomp,
    /// The indentation that the first line says, counted from the parent's column.
    said: Option<usize>,
    /// The indentation of the text.
    indent: Option<usize>,
    place: Place,
    /// Blanks of the line's indentation so far.
    pub(super) spaces: usize,
    /// Line breaks in front that are not passed on yet.
    breaks: usize,
    /// There was a line of text; it began with a blank.
    begun: bool,
    deeper: bool,
}

/// Is it the first line of a block scalar?
#[derive(Debug)]
pub enum Head {
    Need,
    Yes { block: Block, length: usize },
    No,
}

impl Head {
    /// By `|` or `>` and what follows directly.
    pub(super) fn of(marks: &[u8]) -> Option<Block> {
        let (mut said, mut chomp) = (None, None);
        for mark in &marks[1..] {
            match mark {
                b'-' if chomp.is_none() => chomp = Some(Chomp::Strip),
                b'+' if chomp.is_none() => chomp = Some(Chomp::Keep),
                b'1'..=b'9' if said.is_none() => said = Some((mark - b'0') as usize),
                _ => return None,
            }
        }
        Some(Block {
            folded: marks[0] == b'>',
            chomp: chomp.unwrap_or(Chomp::Clip),
            said,
            indent: None,
            place: Place::Head,
            spaces: 0,
            breaks: 0,
            begun: false,
            deeper: false,
        })
    }
}

/// About so many bytes of whole lines are one lexeme: more would need memory that was not touched yet.
const LINES_BYTES: usize = 4096;
const LESS_INDENTED: &str = "a line of a block scalar is less indented than its first line";
const TAB_INDENTED: &str = "a tab cannot indent a line of a block scalar: use spaces";

impl Block {
    /// Is all of the text inside a line, and itself in JSON?
    pub(super) fn is_plain(&self, text: &str) -> bool {
        self.place == Place::Text && text.bytes().all(crate::syntax::json::is_plain)
    }

    pub(super) fn next<'w>(&mut self, w: &mut Window<'w, '_>, parent: isize) -> Lexeme<'w> {
        let bytes = w.text.as_bytes();
        loop {
            match self.place {
                Place::Head => {
                    // A comment may stand here; it ends nothing that is content.
                    let Some(offset) = memchr::memchr3(b'\n', b'\r', b'<', &bytes[w.at..]) else {
                        w.at = bytes.len();
                        return if w.last { self.over() } else { Lexeme::Need };
                    };
                    w.at += offset;
                    match line_break(bytes, w.at, w.last) {
                        LineBreak::Need => return Lexeme::Need,
                        LineBreak::Yes(length) => {
                            w.at += length;
                            self.indent = self.said.map(|said| parent.max(0) as usize + said);
                            self.place = Place::Indentation;
                        }
                        LineBreak::No => match w.closes(false) {
                            Scan::Match(()) => return self.over(),
                            Scan::Incomplete => return Lexeme::Need,
                            Scan::NoMatch => w.at += 1,
                        },
                    }
                }
                Place::Indentation => {
                    let most = self.indent.unwrap_or(usize::MAX);
                    while self.spaces < most && bytes.get(w.at) == Some(&b' ') {
                        self.spaces += 1;
                        w.at += 1;
                    }
                    let Some(&byte) = bytes.get(w.at) else {
                        return if w.last { self.over() } else { Lexeme::Need };
                    };
                    match line_break(bytes, w.at, w.last) {
                        LineBreak::Need => return Lexeme::Need,
                        LineBreak::Yes(length) => {
                            w.at += length;
                            self.breaks += 1;
                            self.spaces = 0;
                            continue;
                        }
                        LineBreak::No => {}
                    }
                    let inside = self.spaces as isize > parent;
                    if !inside && byte != b'\t' {
                        return self.over();
                    }
                    self.place = Place::Text;
                    if !inside || self.spaces < *self.indent.get_or_insert(self.spaces) {
                        return Lexeme::Bad(if byte == b'\t' { TAB_INDENTED } else { LESS_INDENTED });
                    }
                    let deeper = is_blank(byte);
                    let breaks = std::mem::take(&mut self.breaks);
                    let folds = self.folded && self.begun && !deeper && !self.deeper;
                    (self.begun, self.deeper) = (true, deeper);
                    match breaks {
                        0 => {}
                        1 => return Lexeme::Char(if folds { ' ' } else { '\n' }),
                        _ => return Lexeme::Own("\n".repeat(breaks - usize::from(folds))),
                    }
                }
                Place::Text => {
                    let rest = &bytes[w.at..];
                    let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                    if length > 0 {
                        let part = &w.text[w.at..w.at + length];
                        w.at += length;
                        return Lexeme::Part(part);
                    }
                    if let Some(lines) = self.lines(w) {
                        return Lexeme::Own(lines);
                    }
                    match line_break(bytes, w.at, w.last) {
                        LineBreak::Yes(length) => {
                            w.at += length;
                            self.breaks += 1;
                            self.spaces = 0;
                            self.place = Place::Indentation;
                        }
                        _ if w.last => return self.over(),
                        _ => return Lexeme::Need,
                    }
                }
                Place::Over => return Lexeme::Stop,
            }
        }
    }

    /// Lines of a literal text, as deep as its first, from the line break in front of them on.
    fn lines(&self, w: &mut Window<'_, '_>) -> Option<String> {
        let indent = self.indent.filter(|_| !self.folded)?;
        let bytes = w.text.as_bytes();
        let mut out = String::new();
        while out.len() < LINES_BYTES {
            let breaks = bytes[w.at..].iter().take_while(|byte| **byte == b'\n').count();
            let start = w.at + breaks + indent;
            let deep = || bytes[w.at + breaks..start].iter().all(|byte| *byte == b' ');
            if breaks == 0 || bytes.get(start).is_none_or(|byte| matches!(byte, b'\n' | b'\r')) || !deep() {
                break;
            }
            let length = memchr::memchr2(b'\n', b'\r', &bytes[start..]).unwrap_or(bytes.len() - start);
            out.extend(std::iter::repeat_n('\n', breaks));
            out.push_str(&w.text[start..start + length]);
            w.at = start + length;
        }
        (!out.is_empty()).then_some(out)
    }

    /// What is left of the line breaks behind the text; the end is next.
    fn over<'w>(&mut self) -> Lexeme<'w> {
        self.place = Place::Over;
        let breaks = match self.chomp {
            Chomp::Strip => 0,
            Chomp::Clip => usize::from(self.begun && self.breaks > 0),
            Chomp::Keep => self.breaks,
        };
        match breaks {
            0 => Lexeme::Stop,
            1 => Lexeme::Char('\n'),
            _ => Lexeme::Own("\n".repeat(breaks)),
        }
    }
}
