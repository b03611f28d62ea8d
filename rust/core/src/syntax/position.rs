//! Places in a text, for errors.

use std::borrow::Cow;

use crate::error::SyntaxError;

/// A line, which ends with a line feed, and a column in characters. Both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub line: usize,
    pub column: usize,
}

impl Position {
    pub(crate) const START: Self = Position { line: 1, column: 1 };

    /// The position after this text.
    pub(crate) fn after(self, text: &str) -> Self {
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let tail = memchr::memrchr(b'\n', text.as_bytes()).map_or(text, |at| &text[at + 1..]);
        let column = if lines > 0 { 1 } else { self.column };
        Position { line: self.line + lines, column: column + tail.chars().count() }
    }

    pub(crate) fn error(self, message: impl Into<Cow<'static, str>>) -> SyntaxError {
        SyntaxError { message: message.into(), line: self.line, column: self.column }
    }
}
