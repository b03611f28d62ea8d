//! Reading after an error, up to CLOSE: only the rules of quotes and brackets apply, without repairs.
//!
//! A quote opens a quoted text wherever [`opens_after`] allows it, inside a word as well, because `key: "…"` and
//! `("…")` are common after an error.

use crate::syntax::quoting::{is_quote, opens_after};
use crate::syntax::scan::{Closer, Scan, is_ws};

/// The state of the reader. `opens`: a quote opens a quoted text here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
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
pub fn ends_in_word(window: &str, at: usize) -> bool {
    window[..at].chars().next_back().is_some_and(char::is_alphanumeric)
}

impl Skip {
    /// After an error inside brackets.
    pub fn in_brackets(depth: usize, string: Option<u8>) -> Self {
        Skip::Bracketed { depth, string, escape: false, opens: string.is_none() }
    }

    /// After an error inside brackets, at byte `at` of a window. In a word, a quote is an apostrophe.
    pub fn in_brackets_at(depth: usize, string: Option<u8>, window: &str, at: usize) -> Self {
        let word = ends_in_word(window, at);
        // In a string, `opens` would mean that the string is empty.
        Skip::Bracketed { depth, string, escape: false, opens: !word && string.is_none() }
    }

    /// After an error inside quotes.
    pub fn in_quotes(quote: u8) -> Self {
        Skip::Quoted { quote, escape: false, empty: false }
    }

    /// After an error at a quote that opened a text.
    pub fn opened_by(quote: u8) -> Self {
        Skip::Quoted { quote, escape: false, empty: true }
    }

    /// Reads from `*at` on. Returns the number of bytes of a closer, if it stops at one.
    pub fn read(&mut self, window: &str, at: &mut usize, last: bool, close: &Closer<'_>) -> Option<usize> {
        let bytes = window.as_bytes();
        while let Some(&byte) = bytes.get(*at) {
            let closable = !matches!(self, Skip::Quoted { .. } | Skip::Bracketed { .. });
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
    pub fn step(self, byte: u8) -> Skip {
        let quoted = Skip::Quoted { quote: byte, escape: false, empty: true };
        let opened = |otherwise: Skip| match byte {
            b'"' | b'\'' => quoted,
            b'{' | b'[' => Skip::in_brackets(1, None),
            _ => otherwise,
        };
        // A backslash before a quote does not change whether the quote opens.
        let next = |opens: bool| opens_after(byte) || (opens && byte == b'\\');
        match self {
            Skip::Body => self,
            Skip::TokenStart if is_ws(byte) => Skip::TokenStart,
            Skip::TokenStart if byte == b'=' => Skip::ValueStart,
            Skip::TokenStart => opened(Skip::Key { opens: next(true) || byte == b'.' }),
            Skip::After | Skip::AfterEmpty if byte == b',' => Skip::TokenStart,
            Skip::Key { opens: true } | Skip::AfterEmpty | Skip::Bare { opens: true } if is_quote(byte) => quoted,
            Skip::Key { .. } | Skip::After | Skip::AfterEmpty => match byte {
                b'=' => Skip::ValueStart,
                _ if is_ws(byte) => Skip::TokenStart,
                _ => Skip::Key { opens: next(self == Skip::Key { opens: true }) || byte == b'.' },
            },
            Skip::ValueStart if is_ws(byte) => Skip::TokenStart,
            Skip::ValueStart => opened(Skip::Bare { opens: next(true) }),
            Skip::Bare { .. } if is_ws(byte) => Skip::TokenStart,
            Skip::Bare { opens } => Skip::Bare { opens: next(opens) },
            Skip::Quoted { quote, escape: true, .. } => Skip::in_quotes(quote),
            Skip::Quoted { quote, escape: false, empty } => match byte {
                b'\\' => Skip::Quoted { quote, escape: true, empty: false },
                _ if byte == quote && empty => Skip::AfterEmpty,
                _ if byte == quote => Skip::After,
                _ => Skip::in_quotes(quote),
            },
            Skip::Bracketed { depth, string: Some(quote), escape, opens: empty } => {
                let ends = byte == quote && !escape;
                let string = (!ends).then_some(quote);
                Skip::Bracketed { depth, string, escape: byte == b'\\' && !escape, opens: ends && empty }
            }
            Skip::Bracketed { depth, string: None, opens, .. } => match byte {
                b'}' | b']' if depth <= 1 => Skip::After,
                b'}' | b']' => Skip::Bracketed { depth: depth - 1, string: None, escape: false, opens: false },
                b'{' | b'[' => Skip::in_brackets(depth + 1, None),
                b'"' | b'\'' if opens => Skip::Bracketed { depth, string: Some(byte), escape: false, opens: true },
                _ => Skip::Bracketed { depth, string: None, escape: false, opens: next(opens) },
            },
        }
    }
}
