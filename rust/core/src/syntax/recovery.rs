//! Reading after an error, up to what ends the call: only the rules of quotes and brackets apply, without repairs.
//!
//! A quote opens a quoted text wherever [`Outside`] allows it, inside a word as well, because `key: "…"` and
//! `("…")` are common after an error.

use crate::syntax::quoting::{Inside, Outside, Quote};
use crate::syntax::scan::{Closer, Scan, is_ws};

/// The state of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    TokenStart,
    /// In a word that may be a key.
    Key(Outside),
    ValueStart,
    Bare(Outside),
    Quoted(Inside),
    /// In so many brackets, and perhaps in a string.
    Bracketed {
        depth: usize,
        string: Option<Inside>,
        outside: Outside,
    },
    /// After a quoted or bracketed text.
    After(Outside),
    /// The body keeps the state.
    Body,
}

impl Recovery {
    /// After a quoted text that is not empty, or after brackets.
    pub(crate) const AFTER: Self = Recovery::After(Outside::WORD);
    /// After an empty quoted text, which may be the beginning of `"""`.
    pub(crate) const AFTER_EMPTY: Self = Recovery::After(Outside::OPENS);

    /// After an error inside brackets.
    pub(crate) fn in_brackets(depth: usize, string: Option<Quote>) -> Self {
        Recovery::Bracketed { depth, string: string.map(Inside::of), outside: Outside::OPENS }
    }

    /// After an error inside brackets, at byte `at` of a window.
    pub(crate) fn in_brackets_at(depth: usize, string: Option<Quote>, window: &str, at: usize) -> Self {
        Recovery::Bracketed { depth, string: string.map(Inside::of), outside: Outside::at_error(window, at) }
    }

    /// After an error inside quotes.
    pub(crate) fn in_quotes(quote: Quote) -> Self {
        Recovery::Quoted(Inside::of(quote))
    }

    /// After an error at a quote that opened a text.
    pub(crate) fn opened_by(quote: Quote) -> Self {
        Recovery::Quoted(Inside::opened_by(quote))
    }

    /// Whether a quoted text is open.
    pub(crate) fn is_quoted(&self) -> bool {
        matches!(self, Recovery::Quoted(_) | Recovery::Bracketed { string: Some(_), .. })
    }

    /// Reads from `*at` on. Returns the number of bytes of a closer, if it stops at one.
    pub(crate) fn read(&mut self, window: &str, at: &mut usize, last: bool, close: &Closer<'_>) -> Option<usize> {
        let bytes = window.as_bytes();
        while let Some(&byte) = bytes.get(*at) {
            let closable = match self {
                Recovery::Quoted(_) | Recovery::Bracketed { string: Some(_), .. } => false,
                Recovery::Bracketed { string: None, .. } => close.in_brackets(),
                _ => true,
            };
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

    /// The same where a double quote in brackets always opens a text, as in JSON.
    pub(crate) fn step_in_json(self, byte: u8) -> Recovery {
        match self.step(byte) {
            Recovery::Bracketed { depth, string: None, outside } if byte == b'"' && !self.is_quoted() => {
                let string = Some(Inside::opened_by(Quote::Plain(byte)));
                Recovery::Bracketed { depth, string, outside }
            }
            next => next,
        }
    }

    /// The state after one byte.
    pub(crate) fn step(self, byte: u8) -> Recovery {
        let word = |mut outside: Outside, otherwise: fn(Outside) -> Recovery| match outside.step(byte) {
            Some(quote) => Recovery::opened_by(quote),
            None => otherwise(outside),
        };
        let start = |otherwise: fn(Outside) -> Recovery| match byte {
            b'{' | b'[' => Recovery::in_brackets(1, None),
            _ => word(Outside::OPENS, otherwise),
        };
        // `a."b"`
        let key = |outside: Outside| Recovery::Key(if byte == b'.' { Outside::OPENS } else { outside });
        match self {
            Recovery::Body => self,
            Recovery::TokenStart | Recovery::Key(_) | Recovery::ValueStart | Recovery::Bare(_) | Recovery::After(_)
                if is_ws(byte) =>
            {
                Recovery::TokenStart
            }
            Recovery::TokenStart | Recovery::Key(_) | Recovery::After(_) if byte == b'=' => Recovery::ValueStart,
            Recovery::After(_) if byte == b',' => Recovery::TokenStart,
            Recovery::TokenStart => match start(Recovery::Key) {
                Recovery::Key(outside) => key(outside),
                opened => opened,
            },
            Recovery::Key(outside) | Recovery::After(outside) => match word(outside, Recovery::Key) {
                Recovery::Key(outside) => key(outside),
                opened => opened,
            },
            Recovery::ValueStart => start(Recovery::Bare),
            Recovery::Bare(outside) => word(outside, Recovery::Bare),
            Recovery::Quoted(mut inside) => match inside.step(byte) {
                Some(outside) => Recovery::After(outside),
                None => Recovery::Quoted(inside),
            },
            Recovery::Bracketed { depth, string: Some(mut inside), outside } => match inside.step(byte) {
                Some(outside) => Recovery::Bracketed { depth, string: None, outside },
                None => Recovery::Bracketed { depth, string: Some(inside), outside },
            },
            Recovery::Bracketed { depth, string: None, mut outside } => match byte {
                b'}' | b']' if depth <= 1 => Recovery::AFTER,
                b'}' | b']' => Recovery::Bracketed { depth: depth - 1, string: None, outside: Outside::WORD },
                b'{' | b'[' => Recovery::in_brackets(depth + 1, None),
                _ => {
                    let string = outside.step(byte).map(Inside::opened_by);
                    Recovery::Bracketed { depth, string, outside }
                }
            },
        }
    }
}
