//! What the lexer hands out, and what it is told of the text around.

use crate::syntax::scan::Scan;

/// What a YAML text stands in.
pub trait Ends {
    /// Does the text end here? `line`: only blanks stand in front of it in its line.
    fn close(&self, rest: &str, line: bool, last: bool) -> Scan;

    /// Does something begin here, at the start of a line, that is no part of the text?
    fn open(&self, rest: &str, last: bool) -> Scan;

    /// May the word be a key of the outermost mapping?
    fn is_key(&self, word: &str) -> bool;
}

/// A text that stands alone.
pub struct NoEnds;

impl Ends for NoEnds {
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

/// One lexeme. `Part`, `Own` and `Char` are content of the scalar that was started.
#[derive(Debug, PartialEq, Eq)]
pub enum Lexeme<'w> {
    /// The window ends here; nothing is wrong so far.
    Need,
    /// The text ends here: there is no more.
    End,
    /// [`Ends::close`] and [`Ends::open`] stand here; nothing of them is consumed.
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
    /// Not YAML, but it can mean one thing only, and is read as that.
    Lax(Lax),
    /// Not the YAML that is read here.
    Bad(&'static str),
}

impl Lexeme<'_> {
    /// Content of the scalar that was started; `one`: where a lone character is put.
    pub fn content<'a>(&'a self, one: &'a mut [u8; 4]) -> Option<&'a str> {
        match self {
            Lexeme::Part(part) => Some(part),
            Lexeme::Own(part) => Some(part),
            Lexeme::Char(c) => Some(c.encode_utf8(one)),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lax {
    /// A backslash in front of a character that is no escape.
    Backslash,
    /// A plain text that YAML would refuse.
    Verbatim,
}
