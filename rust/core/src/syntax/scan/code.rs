//! Code in Markdown text. What opens code is decided at once; later text never changes it. Runs of marks are counted,
//! not read again.

use std::sync::LazyLock;

use super::Candidates;

const BACKTICK: u8 = b'`';
const TILDE: u8 = b'~';
/// Marks of a run that opens a fence.
const FENCE_LENGTH: usize = 3;

/// The bytes that change the state in the middle of a line.
static SPECIAL: LazyLock<Candidates> =
    LazyLock::new(|| [BACKTICK, TILDE, b'\n', b'\r'].into_iter().fold(Candidates::none(), Candidates::with_byte));

/// Whether a place in a text is inside code. It keeps the state after the text that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeScanner {
    open: Open,
    line: Line,
    /// There was code.
    seen: bool,
}

/// The code that is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    /// Up to the next run of this many backticks, or the end of the line.
    Inline(usize),
    /// Up to a line that contains only a run of at least this many marks.
    Fence { mark: u8, length: usize },
}

/// A place in a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Line {
    /// After spaces, tabs and `>` only.
    #[default]
    Start,
    /// In a run of marks. `first`: it is the first thing on its line.
    Run {
        mark: u8,
        length: usize,
        first: bool,
    },
    /// After a run that closes the open fence, if the rest of the line is empty.
    Closing,
    Middle,
}

impl CodeScanner {
    /// After a call: outside code, in the middle of a line.
    pub(crate) const AFTER_CALL: Self = CodeScanner { open: Open::Nothing, line: Line::Middle, seen: false };

    /// Reads text without calls. It is not inlined, because the loops that call it are faster without it.
    #[inline(never)]
    pub(crate) fn read(&mut self, mut text: &[u8]) {
        loop {
            if self.line == Line::Middle {
                let Some(at) = SPECIAL.find(text) else { return };
                text = &text[at..];
            }
            let Some((&byte, rest)) = text.split_first() else { return };
            self.step(byte);
            text = rest;
        }
    }

    /// Whether what begins with this byte, after the text that was read, is outside code. A line break belongs to the
    /// line after it. A mark that is not the first of its run begins nothing.
    pub(crate) fn is_outside(mut self, next: u8) -> bool {
        match (self.line, next) {
            (Line::Run { mark, .. }, _) if mark == next => return false,
            (_, b'\n' | b'\r') => self.step(next),
            _ => self.end_run(),
        }
        self.open == Open::Nothing
    }

    fn step(&mut self, byte: u8) {
        match &mut self.line {
            Line::Run { mark, length, .. } if *mark == byte => return *length += 1,
            _ => self.end_run(),
        }
        self.line = match (self.line, byte) {
            (line, b'\n' | b'\r') => {
                if line == Line::Closing || matches!(self.open, Open::Inline(_)) {
                    self.open = Open::Nothing;
                }
                Line::Start
            }
            (Line::Start, b' ' | b'\t' | b'>') => Line::Start,
            (Line::Closing, b' ' | b'\t') => Line::Closing,
            (line, BACKTICK | TILDE) => Line::Run { mark: byte, length: 1, first: line == Line::Start },
            _ => Line::Middle,
        };
    }

    /// Ends a run at a character that is not its mark.
    fn end_run(&mut self) {
        let Line::Run { mark, length, first } = self.line else { return };
        self.line = Line::Middle;
        let was = self.open;
        match self.open {
            Open::Nothing if first && length >= FENCE_LENGTH => self.open = Open::Fence { mark, length },
            Open::Nothing if mark == BACKTICK => self.open = Open::Inline(length),
            Open::Inline(opened) if mark == BACKTICK && length == opened => self.open = Open::Nothing,
            Open::Fence { mark: opened, length: least } if first && mark == opened && length >= least => {
                self.line = Line::Closing;
            }
            Open::Nothing | Open::Inline(_) | Open::Fence { .. } => {}
        }
        self.seen |= was == Open::Nothing && self.open != Open::Nothing;
    }

    /// Whether there was code in the text that was read.
    pub(crate) fn was_seen(self) -> bool {
        self.seen
    }
}
