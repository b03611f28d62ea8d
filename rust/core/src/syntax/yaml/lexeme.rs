//! The lexemes of YAML, and what surrounds a YAML text.

use crate::syntax::scan::Scan;

/// The text around a YAML text.
pub(crate) trait Surroundings {
    /// Whether the YAML text ends here. `line`: only whitespace precedes this place in its line.
    fn close(&self, rest: &str, line: bool, last: bool) -> Scan;

    /// Whether something that does not belong to the YAML text begins here, at the start of a line.
    fn open(&self, rest: &str, last: bool) -> Scan;

    /// Whether the word may be a key of the outermost mapping.
    fn is_key(&self, word: &str) -> bool;
}

/// Nothing surrounds the text.
pub(crate) struct NoSurroundings;

impl Surroundings for NoSurroundings {
    fn close(&self, _: &str, _: bool, _: bool) -> Scan {
        Scan::NoMatch
    }

    fn open(&self, _: &str, _: bool) -> Scan {
        Scan::NoMatch
    }

    fn is_key(&self, _: &str) -> bool {
        true
    }
}

/// One lexeme. `Part`, `Own` and `Char` are content of the current scalar.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum YamlLexeme<'w> {
    /// The window ends here. There is no error so far.
    Need,
    /// The text ends here.
    End,
    /// [`Surroundings::close`] or [`Surroundings::open`] matches here. Nothing of it is consumed.
    Close,
    Open,
    /// The `-` of an item.
    Dash,
    /// A key with its colon.
    Key {
        text: String,
        quoted: bool,
    },
    /// One of `[ ] { } , :` in a flow collection.
    Punct(u8),
    /// A scalar starts.
    Start {
        quoted: bool,
    },
    Part(&'w str),
    Own(String),
    Char(char),
    /// The scalar ends.
    Stop,
    /// Not YAML, but unambiguous, so it can be read.
    Lax(Lax),
    /// Not YAML, or not in the supported subset.
    Bad(&'static str),
}

impl YamlLexeme<'_> {
    /// The content of the current scalar. `one` is memory for a single character.
    pub(crate) fn content<'a>(&'a self, one: &'a mut [u8; 4]) -> Option<&'a str> {
        match self {
            YamlLexeme::Part(part) => Some(part),
            YamlLexeme::Own(part) => Some(part),
            YamlLexeme::Char(c) => Some(c.encode_utf8(one)),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lax {
    /// A backslash before a character that is not an escape.
    Backslash,
    /// Plain text that YAML does not allow.
    Verbatim,
}
