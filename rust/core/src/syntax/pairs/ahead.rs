//! What stands behind a value: never more than blanks, a comma, a key, blanks and one character.

use super::key::lex_key;
use crate::syntax::scan::{Delimiters, Scan, has_line_break, is_ws, starts, ws_run};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Need,
    Close,
    End,
    /// `line`: the blanks in front of it hold a line break.
    Open {
        line: bool,
    },
    /// A key of `length` bytes at `at`, and `=` behind it, directly or not.
    Pair {
        at: usize,
        length: usize,
        direct: bool,
    },
    /// This many bytes of punctuation directly after the value, and then CLOSE.
    Trailing {
        length: usize,
    },
    Other,
}

/// How far was looked already: blanks may be many, and come one at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    /// Directly after a value, where punctuation may precede CLOSE.
    after_value: bool,
    blanks: usize,
    /// End of the key, and of the blanks behind it that are known.
    behind: Option<(usize, usize)>,
}

impl Ahead {
    /// In front of a key of so many bytes, which was seen already.
    pub fn at_key(length: usize) -> Self {
        Ahead { behind: Some((length, length)), ..Ahead::default() }
    }

    /// Directly after a value.
    pub fn after_value() -> Self {
        Ahead { after_value: true, ..Ahead::default() }
    }

    /// Looks at `text`, which starts directly behind the value. It must be the same text, grown, until it answers.
    pub fn look(&mut self, text: &str, last: bool, delimiters: &Delimiters) -> Next {
        let bytes = text.as_bytes();
        let comma = bytes.first() == Some(&b',');
        let punctuation = match bytes {
            [b',', ..] => 1,
            [b';' | b'>', ..] if self.after_value => 1,
            [b'/', b'>', ..] if self.after_value => 2,
            [b'/'] if self.after_value && !last => return Next::Need,
            [b'/', ..] if self.after_value => return Next::Other,
            _ => 0,
        };
        self.blanks = ws_run(text, self.blanks.max(punctuation));
        let at = self.blanks;
        let Some(&byte) = bytes.get(at) else {
            return match last {
                true if punctuation > 0 => Next::Other,
                true => Next::End,
                false => Next::Need,
            };
        };
        let rest = &text[at..];
        match delimiters.closes(rest, last) {
            Scan::Match(_) if punctuation > 0 => return Next::Trailing { length: punctuation },
            Scan::Match(_) => return Next::Close,
            Scan::Incomplete => return Next::Need,
            Scan::NoMatch => {}
        }
        if punctuation > 0 && !comma {
            return Next::Other;
        }
        if !comma {
            match starts(rest, &delimiters.open, last) {
                Scan::Match(()) => return Next::Open { line: has_line_break(&text[..at]) },
                Scan::Incomplete => return Next::Need,
                Scan::NoMatch => {}
            }
        }
        if byte == b',' {
            return Next::Other;
        }
        let (end, from) = match self.behind {
            Some(known) => known,
            None => match lex_key(rest, last, delimiters) {
                Scan::Incomplete => return Next::Need,
                Scan::NoMatch => return Next::Other,
                Scan::Match(length) => (at + length, at + length),
            },
        };
        let stop = ws_run(text, from);
        self.behind = Some((end, stop));
        match bytes.get(stop) {
            Some(b'=') => Next::Pair { at, length: end - at, direct: stop == end },
            None if !last => Next::Need,
            _ => Next::Other,
        }
    }
}

/// Is there a separator in front: blanks, or a comma?
pub fn separated(text: &str) -> bool {
    text.as_bytes().first().is_some_and(|byte| is_ws(*byte) || *byte == b',')
}

/// Whether punctuation is allowed first, after which the call is closed.
pub fn may_trail(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b'>' | b'/')
}
