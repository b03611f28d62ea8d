//! Block scalars, `|` and `>`. They are read line by line, or in smaller parts.

use std::ops::ControlFlow::Break;

use super::lexeme::YamlLexeme;
use super::window::{TextWindow, YamlStep, is_blank};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chomp {
    Clip,
    Strip,
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockState {
    /// In the first line, after its marks.
    Head,
    Indentation,
    Text,
    /// After the last line.
    Over,
}

#[derive(Debug)]
pub(super) struct BlockScalar {
    folded: bool,
    chomp: Chomp,
    /// The indentation given in the first line, relative to the column of the parent.
    said: Option<usize>,
    /// The indentation of the text.
    indent: Option<usize>,
    state: BlockState,
    /// Spaces of the current line's indentation so far.
    pub(super) spaces: usize,
    /// Pending line breaks.
    breaks: usize,
    /// There was a line of text. `deeper`: it began with whitespace.
    begun: bool,
    deeper: bool,
}

/// Approximate bytes of whole lines in one lexeme. More would allocate fresh memory.
const LINES_BYTES: usize = 4096;
const LESS_INDENTED: &str = "a line of a block scalar is less indented than its first line";
const TAB_INDENTED: &str = "a tab cannot indent a line of a block scalar: use spaces";

impl BlockScalar {
    /// The scalar that begins with `|` or `>` and the marks directly after it.
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
        Some(BlockScalar {
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

    /// Whether all of the text is inside a line and needs no escape in JSON.
    pub(super) fn is_plain(&self, text: &str) -> bool {
        self.state == BlockState::Text && text.bytes().all(crate::syntax::json::is_plain)
    }

    pub(super) fn next<'w>(&mut self, w: &mut TextWindow<'w, '_>, inner: usize) -> YamlStep<'w> {
        let bytes = w.text.as_bytes();
        loop {
            match self.state {
                // A comment may follow. It ends nothing that is content.
                BlockState::Head => {
                    if w.skip_to_line_break()? {
                        return Break(self.over());
                    }
                    if !w.line_break()? {
                        return Break(self.at_end(w));
                    }
                    self.indent = self.said.map(|said| inner.saturating_sub(1) + said);
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
                    let inside = self.spaces >= inner;
                    if !inside && byte != b'\t' {
                        return Break(self.over());
                    }
                    self.state = BlockState::Text;
                    if !inside || self.spaces < *self.indent.get_or_insert(self.spaces) {
                        return Break(YamlLexeme::Bad(if byte == b'\t' { TAB_INDENTED } else { LESS_INDENTED }));
                    }
                    let deeper = is_blank(byte);
                    let breaks = std::mem::take(&mut self.breaks);
                    let folds = self.folded && self.begun && !deeper && !self.deeper;
                    (self.begun, self.deeper) = (true, deeper);
                    match breaks {
                        0 => {}
                        1 => return Break(YamlLexeme::Char(if folds { ' ' } else { '\n' })),
                        _ => return Break(YamlLexeme::Own("\n".repeat(breaks - usize::from(folds)))),
                    }
                }
                BlockState::Text => {
                    let rest = &bytes[w.at..];
                    let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                    if length > 0 {
                        let part = &w.text[w.at..w.at + length];
                        w.at += length;
                        return Break(YamlLexeme::Part(part));
                    }
                    if let Some(lines) = self.lines(w) {
                        return Break(YamlLexeme::Own(lines));
                    }
                    if !w.line_break()? {
                        return Break(self.at_end(w));
                    }
                    self.breaks += 1;
                    self.spaces = 0;
                    self.state = BlockState::Indentation;
                }
                BlockState::Over => return Break(YamlLexeme::Stop),
            }
        }
    }

    /// At the end of the window.
    fn at_end<'w>(&mut self, w: &TextWindow<'w, '_>) -> YamlLexeme<'w> {
        if w.last { self.over() } else { YamlLexeme::Need }
    }

    /// Lines of a literal text with the indentation of the first line. The text starts at the line break before them.
    fn lines(&self, w: &mut TextWindow<'_, '_>) -> Option<String> {
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

    /// Ends the scalar and returns its last line breaks.
    fn over<'w>(&mut self) -> YamlLexeme<'w> {
        self.state = BlockState::Over;
        let breaks = match self.chomp {
            Chomp::Strip => 0,
            Chomp::Clip => usize::from(self.begun && self.breaks > 0),
            Chomp::Keep => self.breaks,
        };
        match breaks {
            0 => YamlLexeme::Stop,
            1 => YamlLexeme::Char('\n'),
            _ => YamlLexeme::Own("\n".repeat(breaks)),
        }
    }
}
