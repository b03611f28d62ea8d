//! What follows a value. At most whitespace, a comma, a key, more whitespace and one character are scanned.

use super::key::lex_key;
use crate::syntax::scan::{Delimiters, Scan, has_line_break, is_ws, starts, ws_run};

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Following {
    Need,
    Close,
    End,
    /// `line`: the whitespace before it contains a line break.
    Open {
        line: bool,
    },
    /// A key of `length` bytes at `at`, with `=` after it. `direct`: no whitespace precedes the `=`.
    Pair {
        at: usize,
        length: usize,
        direct: bool,
    },
    /// This many bytes of punctuation directly after the value, then CLOSE.
    Trailing {
        length: usize,
    },
    Other,
}

/// How far was scanned already. Whitespace may be long and arrive one character at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lookahead {
    /// Directly after a value, where punctuation may precede CLOSE.
    after_value: bool,
    blanks: usize,
    /// The end of the key, and of the known whitespace after it.
    key: Option<(usize, usize)>,
}

impl Lookahead {
    /// Before a key of this many bytes, which was scanned already.
    pub(crate) fn at_key(length: usize) -> Self {
        Lookahead { key: Some((length, length)), ..Lookahead::default() }
    }

    /// Directly after a value.
    pub(crate) fn after_value() -> Self {
        Lookahead { after_value: true, ..Lookahead::default() }
    }

    /// Scans `text`, which starts directly after the value. Until there is an answer, each call must pass the same text
    /// with more at its end.
    pub(crate) fn look(&mut self, text: &str, last: bool, delimiters: &Delimiters) -> Following {
        let bytes = text.as_bytes();
        let comma = bytes.first() == Some(&b',');
        let punctuation = match bytes {
            [b',', ..] => 1,
            [b';' | b'>', ..] if self.after_value => 1,
            [b'/', b'>', ..] if self.after_value => 2,
            [b'/'] if self.after_value && !last => return Following::Need,
            [b'/', ..] if self.after_value => return Following::Other,
            _ => 0,
        };
        self.blanks = ws_run(text, self.blanks.max(punctuation));
        let at = self.blanks;
        let Some(&byte) = bytes.get(at) else {
            return match last {
                true if punctuation > 0 => Following::Other,
                true => Following::End,
                false => Following::Need,
            };
        };
        let rest = &text[at..];
        match delimiters.closes(rest, last) {
            Scan::Match(_) if punctuation > 0 => return Following::Trailing { length: punctuation },
            Scan::Match(_) => return Following::Close,
            Scan::Incomplete => return Following::Need,
            Scan::NoMatch => {}
        }
        if punctuation > 0 && !comma {
            return Following::Other;
        }
        if !comma {
            match starts(rest, &delimiters.open, last) {
                Scan::Match(()) => return Following::Open { line: has_line_break(&text[..at]) },
                Scan::Incomplete => return Following::Need,
                Scan::NoMatch => {}
            }
        }
        if byte == b',' {
            return Following::Other;
        }
        let (end, from) = match self.key {
            Some(known) => known,
            None => match lex_key(rest, last, delimiters) {
                Scan::Incomplete => return Following::Need,
                Scan::NoMatch => return Following::Other,
                Scan::Match(length) => (at + length, at + length),
            },
        };
        let stop = ws_run(text, from);
        self.key = Some((end, stop));
        match bytes.get(stop) {
            Some(b'=') => Following::Pair { at, length: end - at, direct: stop == end },
            None if !last => Following::Need,
            _ => Following::Other,
        }
    }
}

/// Whether the text begins with whitespace or a comma.
pub(crate) fn separated(text: &str) -> bool {
    text.as_bytes().first().is_some_and(|byte| is_ws(*byte) || *byte == b',')
}

/// Whether this punctuation may precede CLOSE.
pub(crate) fn may_trail(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b'>' | b'/')
}
