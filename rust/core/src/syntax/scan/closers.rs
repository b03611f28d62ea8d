//! What ends a call that has failed.

use super::{Delimiters, Scan, starts, starts_as};

/// What ends a call that was opened in a way that no reader accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Closers {
    /// CLOSE.
    #[default]
    Own,
    /// The first of these, case aside.
    Spelled(&'static [&'static str]),
    /// The closing tag of that name, ignoring case; with `slash`, the opening tag is not complete, and `/>` ends it, too.
    Tag { name: String, slash: bool },
}

impl Closers {
    /// Whether the call has failed inside its opening tag, which `/>` would end.
    pub fn in_tag(&self) -> bool {
        match self {
            Closers::Own => false,
            Closers::Spelled(texts) => texts.first() == Some(&"/>"),
            Closers::Tag { slash, .. } => *slash,
        }
    }

    /// The same after that tag.
    pub fn after_tag(self) -> Self {
        match self {
            Closers::Spelled(texts) => Closers::Spelled(texts.split_first().map_or(texts, |(_, rest)| rest)),
            Closers::Tag { name, .. } => Closers::Tag { name, slash: false },
            Closers::Own => Closers::Own,
        }
    }

    /// Whether the text ends in one.
    pub fn end(&self, text: &str) -> bool {
        let ends = |close: &str| {
            let from = text.len().saturating_sub(close.len());
            text.as_bytes()[from..].eq_ignore_ascii_case(close.as_bytes())
        };
        match self {
            Closers::Own => false,
            Closers::Spelled(texts) => texts.iter().any(|close| ends(close)),
            Closers::Tag { name, slash } => (*slash && ends("/>")) || ends(&format!("</{name}>")),
        }
    }
}

/// What ends a call that has failed.
#[derive(Clone, Copy, Debug)]
pub enum Closer<'a> {
    Own(&'a Delimiters),
    /// This text alone.
    Text(&'a str),
    Other(&'a Closers),
}

impl Closer<'_> {
    #[inline]
    pub fn may_begin(&self, byte: u8) -> bool {
        match self {
            Closer::Own(delimiters) => delimiters.close.as_bytes()[0] == byte,
            Closer::Text(text) => text.as_bytes()[0] == byte,
            Closer::Other(Closers::Spelled(texts)) => texts.iter().any(|text| text.as_bytes()[0] == byte),
            Closer::Other(Closers::Own | Closers::Tag { .. }) => matches!(byte, b'<' | b'/'),
        }
    }

    /// Whether one is at the start of the text, and its number of bytes.
    pub fn look(&self, text: &str, last: bool) -> (Scan, usize) {
        let mut found = (Scan::NoMatch, 0);
        let mut add = |close: &str| match (starts_as(text, close, last), found.0) {
            (Scan::Match(()), Scan::NoMatch | Scan::Incomplete) => found = (Scan::Match(()), close.len()),
            (Scan::Incomplete, Scan::NoMatch) => found.0 = Scan::Incomplete,
            _ => {}
        };
        match self {
            Closer::Own(delimiters) => return delimiters.closes(text, last),
            Closer::Text(close) => return (starts(text, close, last), close.len()),
            Closer::Other(Closers::Spelled(texts)) => texts.iter().for_each(|text| add(text)),
            Closer::Other(Closers::Tag { name, slash }) => {
                if *slash {
                    add("/>");
                }
                add(&format!("</{name}>"));
            }
            Closer::Other(Closers::Own) => {}
        }
        found
    }
}
