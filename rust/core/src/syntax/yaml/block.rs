//! Block scalars, `|` and `>`: line by line, or finer.

use std::ops::ControlFlow::Break;

use super::lexeme::Lexeme;
use super::window::{Step, Window, is_blank};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chomp {
    Clip,
    Strip,
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockState {
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
    state: BlockState,
    /// Blanks of the line's indentation so far.
    pub(super) spaces: usize,
    /// Line breaks in front that are not passed on yet.
    breaks: usize,
    /// There was a line of text; it began with a blank.
    begun: bool,
    deeper: bool,
}

/// About so many bytes of whole lines are one lexeme: more would need memory that was not touched yet.
const LINES_BYTES: usize = 4096;
const LESS_INDENTED: &str = "a line of a block scalar is less indented than its first line";
const TAB_INDENTED: &str = "a tab cannot indent a line of a block scalar: use spaces";

impl Block {
    /// The scalar that `|` or `>` and the marks directly after it begin.
    pub(super) fn new(marks: &[u8]) -> Option<Self> {
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
            state: BlockState::Head,
            spaces: 0,
            breaks: 0,
            begun: false,
            deeper: false,
        })
    }

    /// Whether all of the text inside a line, and itself in JSON?
    pub(super) fn is_plain(&self, text: &str) -> bool {
        self.state == BlockState::Text && text.bytes().all(crate::syntax::json::is_plain)
    }

    pub(super) fn next<'w>(&mut self, w: &mut Window<'w, '_>, parent: isize) -> Step<'w> {
        let bytes = w.text.as_bytes();
        loop {
            match self.state {
                // A comment may follow; it ends nothing that is content.
                BlockState::Head => {
                    if w.to_line_break()? {
                        return Break(self.over());
                    }
                    if !w.line_break()? {
                        return Break(self.at_end(w));
                    }
                    self.indent = self.said.map(|said| parent.max(0) as usize + said);
                    self.state = BlockState::Indentation;
                }
                BlockState::Indentation => {
                    let most = self.indent.unwrap_or(usize::MAX);
                    while self.spaces < most && bytes.get(w.at) == Some(&b' ') {
                        self.spaces += 1;
                        w.at += 1;
                    }
                    let Some(&byte) = bytes.get(w.at) else { return Break(self.at_end(w)) };
                    if w.line_break()? {
                        self.breaks += 1;
                        self.spaces = 0;
                        continue;
                    }
                    let inside = self.spaces as isize > parent;
                    if !inside && byte != b'\t' {
                        return Break(self.over());
                    }
                    self.state = BlockState::Text;
                    if !inside || self.spaces < *self.indent.get_or_insert(self.spaces) {
                        return Break(Lexeme::Bad(if byte == b'\t' { TAB_INDENTED } else { LESS_INDENTED }));
                    }
                    let deeper = is_blank(byte);
                    let breaks = std::mem::take(&mut self.breaks);
                    let folds = self.folded && self.begun && !deeper && !self.deeper;
                    (self.begun, self.deeper) = (true, deeper);
                    match breaks {
                        0 => {}
                        1 => return Break(Lexeme::Char(if folds { ' ' } else { '\n' })),
                        _ => return Break(Lexeme::Own("\n".repeat(breaks - usize::from(folds)))),
                    }
                }
                BlockState::Text => {
                    let rest = &bytes[w.at..];
                    let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                    if length > 0 {
                        let part = &w.text[w.at..w.at + length];
                        w.at += length;
                        return Break(Lexeme::Part(part));
                    }
                    if let Some(lines) = self.lines(w) {
                        return Break(Lexeme::Own(lines));
                    }
                    if !w.line_break()? {
                        return Break(self.at_end(w));
                    }
                    self.breaks += 1;
                    self.spaces = 0;
                    self.state = BlockState::Indentation;
                }
                BlockState::Over => return Break(Lexeme::Stop),
            }
        }
    }

    /// At the end of the window.
    fn at_end<'w>(&mut self, w: &Window<'w, '_>) -> Lexeme<'w> {
        if w.last { self.over() } else { Lexeme::Need }
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
        self.state = BlockState::Over;
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
