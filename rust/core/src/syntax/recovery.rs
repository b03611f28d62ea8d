//! Reading after an error, up to CLOSE: only the rules of quotes and brackets apply, without repairs.
//!
//! A quote opens a quoted text wherever [`opens_after`] allows it, inside a word as well, because `key: "…"` and
//! `("…")` are common after an error.

use crate::syntax::quoting::{is_quote, opens_after};
use crate::syntax::scan::{Closer, Scan, is_ws};

/// The state of the reader. `opens`: a quote opens a quoted text here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    TokenStart,
    /// In a word that may be a key.
    Key {
        opens: bool,
    },
    ValueStart,
    Bare {
        opens: bool,
    },
    /// `empty`: the text is empty so far.
    Quoted {
        quote: u8,
        escape: bool,
        empty: bool,
    },
    /// In a string, `opens` means that it is empty so far.
    Bracketed {
        depth: usize,
        string: Option<u8>,
        escape: bool,
        opens: bool,
    },
    /// After a quoted or bracketed text.
    After,
    /// After an empty quoted text, which may be the beginning of `"""`.
    AfterEmpty,
    /// The body keeps the state.
    Body,
}

/// Whether a letter or digit precedes the byte. A quote after it is an apostrophe.
pub(crate) fn ends_in_word(window: &str, at: usize) -> bool {
    window[..at].chars().next_back().is_some_and(char::is_alphanumeric)
}

impl Recovery {
    /// After an error inside brackets.
    pub(crate) fn in_brackets(depth: usize, string: Option<u8>) -> Self {
        Recovery::Bracketed { depth, string, escape: false, opens: string.is_none() }
    }

    /// After an error inside brackets, at byte `at` of a window. In a word, a quote is an apostrophe.
    pub(crate) fn in_brackets_at(depth: usize, string: Option<u8>, window: &str, at: usize) -> Self {
        let word = ends_in_word(window, at);
        // In a string, `opens` would mean that the string is empty.
        Recovery::Bracketed { depth, string, escape: false, opens: !word && string.is_none() }
    }

    /// After an error inside quotes.
    pub(crate) fn in_quotes(quote: u8) -> Self {
        Recovery::Quoted { quote, escape: false, empty: false }
    }

    /// After an error at a quote that opened a text.
    pub(crate) fn opened_by(quote: u8) -> Self {
        Recovery::Quoted { quote, escape: false, empty: true }
    }

    /// Reads from `*at` on. Returns the number of bytes of a closer, if it stops at one.
    pub(crate) fn read(&mut self, window: &str, at: &mut usize, last: bool, close: &Closer<'_>) -> Option<usize> {
        let bytes = window.as_bytes();
        while let Some(&byte) = bytes.get(*at) {
            let closable = !matches!(self, Recovery::Quoted { .. } | Recovery::Bracketed { .. });
            // Continuation bytes never begin a marker, so slicing here is safe.
            if closable && close.may_begin(byte) {
                match close.look(&window[*at..], last) {
                    Scan::Match(length) => return Some(length),
                    Scan::Incomplete => return None,
                    Scan::NoMatch => {}
                }
            }
            *self = self.step(byte);
            *at += 1;
        }
        None
    }

    /// The state after one byte.
    pub(crate) fn step(self, byte: u8) -> Recovery {
        let quoted = Recovery::opened_by(byte);
        let opened = |otherwise: Recovery| match byte {
            b'"' | b'\'' => quoted,
            b'{' | b'[' => Recovery::in_brackets(1, None),
            _ => otherwise,
        };
        // A backslash before a quote does not change whether the quote opens.
        let next = |opens: bool| opens_after(byte) || (opens && byte == b'\\');
        match self {
            Recovery::Body => self,
            Recovery::TokenStart if is_ws(byte) => Recovery::TokenStart,
            Recovery::TokenStart if byte == b'=' => Recovery::ValueStart,
            Recovery::TokenStart => opened(Recovery::Key { opens: next(true) || byte == b'.' }),
            Recovery::After | Recovery::AfterEmpty if byte == b',' => Recovery::TokenStart,
            Recovery::Key { opens: true } | Recovery::AfterEmpty | Recovery::Bare { opens: true } if is_quote(byte) => {
                quoted
            }
            Recovery::Key { .. } | Recovery::After | Recovery::AfterEmpty => match byte {
                b'=' => Recovery::ValueStart,
                _ if is_ws(byte) => Recovery::TokenStart,
                _ => Recovery::Key { opens: next(self == Recovery::Key { opens: true }) || byte == b'.' },
            },
            Recovery::ValueStart if is_ws(byte) => Recovery::TokenStart,
            Recovery::ValueStart => opened(Recovery::Bare { opens: next(true) }),
            Recovery::Bare { .. } if is_ws(byte) => Recovery::TokenStart,
            Recovery::Bare { opens } => Recovery::Bare { opens: next(opens) },
            Recovery::Quoted { quote, escape: true, .. } => Recovery::in_quotes(quote),
            Recovery::Quoted { quote, escape: false, empty } => match byte {
                b'\\' => Recovery::Quoted { quote, escape: true, empty: false },
                _ if byte == quote && empty => Recovery::AfterEmpty,
                _ if byte == quote => Recovery::After,
                _ => Recovery::in_quotes(quote),
            },
            Recovery::Bracketed { depth, string: Some(quote), escape, opens: empty } => {
                let ends = byte == quote && !escape;
                let string = (!ends).then_some(quote);
                Recovery::Bracketed { depth, string, escape: byte == b'\\' && !escape, opens: ends && empty }
            }
            Recovery::Bracketed { depth, string: None, opens, .. } => match byte {
                b'}' | b']' if depth <= 1 => Recovery::After,
                b'}' | b']' => Recovery::Bracketed { depth: depth - 1, string: None, escape: false, opens: false },
                b'{' | b'[' => Recovery::in_brackets(depth + 1, None),
                b'"' | b'\'' if opens => Recovery::Bracketed { depth, string: Some(byte), escape: false, opens: true },
                _ => Recovery::Bracketed { depth, string: None, escape: false, opens: next(opens) },
            },
        }
    }
}
