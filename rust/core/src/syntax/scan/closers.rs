//! What ends a call after an error.

use super::{Delimiters, Scan, first_mark, starts, starts_as};

/// What ends a call whose opening no reader accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Closers {
    /// CLOSE.
    #[default]
    Own,
    /// The first of these texts, ignoring case.
    Spelled(&'static [&'static str]),
    /// The closing tag of that name, ignoring case.
    Tag(String),
    /// Those of a native format, in brackets, too: what closes a call, and what the call ends before.
    Marks { close: Vec<&'static str>, before: Vec<&'static str> },
}

impl Closers {
    /// Whether the text ends with a closer.
    pub(crate) fn end(&self, text: &str) -> bool {
        let ends = |close: &str| {
            let from = text.len().saturating_sub(close.len());
            text.as_bytes()[from..].eq_ignore_ascii_case(close.as_bytes())
        };
        match self {
            Closers::Own | Closers::Marks { .. } => false,
            Closers::Spelled(texts) => texts.iter().any(|close| ends(close)),
            Closers::Tag(name) => ends(&format!("</{name}>")),
        }
    }
}

/// The length of a closer at the start of the text: a fence with a language opens, and closes nothing.
pub(crate) fn no_opener(text: &str, length: usize, last: bool) -> Scan<usize> {
    match text.as_bytes().get(length) {
        _ if &text[..length] != "```" => Scan::Match(length),
        None if !last => Scan::Incomplete,
        Some(byte) if byte.is_ascii_alphanumeric() => Scan::NoMatch,
        _ => Scan::Match(length),
    }
}

/// A closer to look for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Closer<'a> {
    Own(&'a Delimiters),
    /// This text only.
    Text(&'a str),
    Other(&'a Closers),
}

impl Closer<'_> {
    /// Whether it ends a call in brackets.
    pub(crate) fn in_brackets(&self) -> bool {
        matches!(self, Closer::Other(Closers::Marks { .. }))
    }

    #[inline]
    pub(crate) fn may_begin(&self, byte: u8) -> bool {
        match self {
            Closer::Own(delimiters) => delimiters.close.as_bytes()[0] == byte,
            Closer::Text(text) => text.as_bytes()[0] == byte,
            Closer::Other(Closers::Spelled(texts)) => texts.iter().any(|text| text.as_bytes()[0] == byte),
            Closer::Other(Closers::Own | Closers::Tag(_)) => byte == b'<',
            Closer::Other(Closers::Marks { close, before }) => {
                close.iter().chain(before).any(|text| text.as_bytes()[0] == byte)
            }
        }
    }

    /// The number of bytes of the closer at the start of the text.
    pub(crate) fn look(&self, text: &str, last: bool) -> Scan<usize> {
        let spelled = |close: &str| starts_as(text, close, last).map(|()| close.len());
        match self {
            Closer::Own(delimiters) => delimiters.closes(text, last).and_then(|length| no_opener(text, length, last)),
            Closer::Text(close) => starts(text, close, last).map(|()| close.len()),
            Closer::Other(Closers::Own) => Scan::NoMatch,
            Closer::Other(Closers::Spelled(texts)) => Scan::first_of(texts.iter().map(|text| spelled(text))),
            Closer::Other(Closers::Tag(name)) => spelled(&format!("</{name}>")),
            Closer::Other(Closers::Marks { close, before }) => first_mark(text, close, last)
                .and_then(|length| no_opener(text, length, last))
                .or(|| first_mark(text, before, last).map(|_| 0)),
        }
    }
}
