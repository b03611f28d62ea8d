//! Reading on after an error, to CLOSE: by the plain rules of quotes and brackets, without repairs.

use crate::scan::{Mark, is_ws, starts};

/// Where the reader stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    TokenStart,
    /// In a word that may be a key; `dot`: directly behind a dot.
    Key {
        dot: bool,
    },
    ValueStart,
    Bare,
    Quoted {
        quote: u8,
        escape: bool,
    },
    /// `token`: a quote opens a string here.
    Bracketed {
        depth: usize,
        string: Option<u8>,
        escape: bool,
        token: bool,
    },
    /// Behind a quoted or bracketed text.
    After,
    /// The body knows.
    Body,
}

impl Skip {
    /// Inside brackets, where an error was found.
    pub fn in_brackets(depth: usize, string: Option<u8>) -> Self {
        Skip::Bracketed { depth, string, escape: false, token: true }
    }

    /// Reads from `*at`. True: CLOSE stands at `*at`.
    pub fn read(&mut self, window: &str, at: &mut usize, last: bool, close: &str) -> bool {
        let bytes = window.as_bytes();
        let first = close.as_bytes()[0];
        while let Some(&byte) = bytes.get(*at) {
            let closable = !matches!(self, Skip::Quoted { .. } | Skip::Bracketed { .. });
            // Continuation bytes are never the first byte of a marker, so slicing is safe.
            if closable && byte == first {
                match starts(&window[*at..], close, last) {
                    Mark::Yes => return true,
                    Mark::Partial => return false,
                    Mark::No => {}
                }
            }
            *self = self.step(byte);
            *at += 1;
        }
        false
    }

    /// The state behind one byte.
    pub(super) fn step(self, byte: u8) -> Skip {
        let opened = |otherwise: Skip| match byte {
            b'"' | b'\'' => Skip::Quoted { quote: byte, escape: false },
            b'{' | b'[' => Skip::Bracketed { depth: 1, string: None, escape: false, token: true },
            _ => otherwise,
        };
        match self {
            Skip::Body => self,
            Skip::TokenStart if is_ws(byte) => Skip::TokenStart,
            Skip::TokenStart if byte == b'=' => Skip::ValueStart,
            Skip::TokenStart => opened(Skip::Key { dot: byte == b'.' }),
            Skip::After if byte == b',' => Skip::TokenStart,
            Skip::Key { dot: true } if byte == b'"' || byte == b'\'' => Skip::Quoted { quote: byte, escape: false },
            Skip::Key { .. } | Skip::After => match byte {
                b'=' => Skip::ValueStart,
                _ if is_ws(byte) => Skip::TokenStart,
                _ => Skip::Key { dot: byte == b'.' },
            },
            Skip::ValueStart if is_ws(byte) => Skip::TokenStart,
            Skip::ValueStart => opened(Skip::Bare),
            Skip::Bare => {
                if is_ws(byte) {
                    Skip::TokenStart
                } else {
                    Skip::Bare
                }
            }
            Skip::Quoted { quote, escape: true } => Skip::Quoted { quote, escape: false },
            Skip::Quoted { quote, escape: false } => match byte {
                b'\\' => Skip::Quoted { quote, escape: true },
                _ if byte == quote => Skip::After,
                _ => self,
            },
            Skip::Bracketed { depth, string: Some(quote), escape, .. } => {
                let ends = byte == quote && !escape;
                Skip::Bracketed {
                    depth,
                    string: (!ends).then_some(quote),
                    escape: byte == b'\\' && !escape,
                    token: false,
                }
            }
            Skip::Bracketed { depth, string: None, token, .. } => match byte {
                b'}' | b']' if depth <= 1 => Skip::After,
                b'}' | b']' => Skip::Bracketed { depth: depth - 1, string: None, escape: false, token: false },
                b'{' | b'[' => Skip::in_brackets(depth + 1, None),
                b'"' | b'\'' if token => Skip::in_brackets(depth, Some(byte)),
                _ => {
                    let token = matches!(byte, b',' | b':') || is_ws(byte);
                    Skip::Bracketed { depth, string: None, escape: false, token }
                }
            },
        }
    }
}
