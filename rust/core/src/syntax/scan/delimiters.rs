//! The delimiters of a call, and the roles of bytes between them.

use super::{RESULT_TAGS, Scan, is_ws, starts};
use crate::syntax::json::is_plain;
use crate::syntax::quoting::is_opener;

/// Maximum number of spaces and tabs before the last character of a closing tag.
const CLOSE_SPACES: usize = 8;

/// Whether this delimiter could be part of a result's tags, or arise where its content touches one of them.
fn meets_result_tags(mark: &str) -> bool {
    let touches = |tag: &&str| {
        let begins = |(at, _): (usize, char)| tag.starts_with(&mark[at..]);
        mark.contains(tag) || tag.contains(mark) || mark.char_indices().any(begins)
    };
    mark.starts_with('>') || RESULT_TAGS.iter().any(touches)
}

/// The delimiters of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delimiters {
    pub open: String,
    pub close: String,
    /// The roles of each ASCII character.
    classes: [u8; 128],
    /// The bytes that need no escape in JSON and begin no delimiter.
    plain: [bool; 256],
}

/// One of the two delimiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    Open,
    Close,
}

/// It begins a delimiter.
const FIRST: u8 = 1;
/// It ends a run of characters in a bare value and needs a closer look.
const STOP: u8 = 2;
/// It may be in a bare segment of a key.
const KEY: u8 = 4;
/// The encoder writes it in bare values.
const BARE: u8 = 8;
/// It ends a tool's name.
const NAME_END: u8 = 16;

impl Default for Delimiters {
    fn default() -> Self {
        Delimiters::of("<call>", "</call>")
    }
}

impl Delimiters {
    /// The delimiters, or a sentence that says why they cannot be used.
    pub(crate) fn new(open: &str, close: &str) -> Result<Self, String> {
        for mark in [open, close] {
            // If OPEN were a single character, neutralising it in a result would leave nothing of it.
            if mark.chars().count() < 2 {
                return Err(format!("the delimiter {mark:?} must have at least two characters"));
            }
            if let Some(bad) =
                mark.chars().find(|c| c.is_ascii_whitespace() || c.is_control() || "\"'=[]{}\\,".contains(*c))
            {
                return Err(format!("the delimiter {mark:?} may not contain {bad:?}"));
            }
            if mark.chars().all(char::is_alphanumeric) {
                return Err(format!("the delimiter {mark:?} needs a character other than letters and digits"));
            }
            if mark.chars().all(|c| "0123456789eE+-.".contains(c)) {
                return Err(format!("the delimiter {mark:?} could be part of a number"));
            }
            if meets_result_tags(mark) {
                return Err(format!("the delimiter {mark:?} could be part of a <tool-result> tag"));
            }
        }
        if open.starts_with(close) || close.starts_with(open) {
            return Err(format!("the delimiter {open:?} or {close:?} is the beginning of the other"));
        }
        Ok(Delimiters::of(open, close))
    }

    /// Any two markers that are not empty, for protocols that do not depend on their characters.
    pub(crate) fn of(open: &str, close: &str) -> Self {
        let mut classes = [0; 128];
        for (byte, class) in (0..128).zip(&mut classes) {
            let first = [b'<', open.as_bytes()[0], close.as_bytes()[0]].contains(&byte);
            let key = !(byte.is_ascii_control() || first || b" =.[]{}\"'<,`".contains(&byte));
            let bare = !(byte.is_ascii_control() || first || b" \"'`&=<>\\".contains(&byte));
            *class = if first { FIRST } else { 0 }
                | if first || is_ws(byte) || b",\"'".contains(&byte) { STOP } else { 0 }
                | if key { KEY } else { 0 }
                | if bare { BARE } else { 0 }
                | if first || is_ws(byte) || b"<{\"'=".contains(&byte) { NAME_END } else { 0 };
        }
        let begins = |byte: u8| byte == open.as_bytes()[0] || byte == close.as_bytes()[0];
        let plain = std::array::from_fn(|byte| is_plain(byte as u8) && !begins(byte as u8));
        Delimiters { open: open.into(), close: close.into(), classes, plain }
    }

    /// The number of bytes of CLOSE, if the text starts with it. Spaces may precede its `>`.
    #[inline]
    pub(crate) fn closes(&self, text: &str, last: bool) -> Scan<usize> {
        // Usually not even its first character matches.
        if text.as_bytes().first().is_some_and(|first| *first != self.close.as_bytes()[0]) {
            return Scan::NoMatch;
        }
        match starts(text, &self.close, last) {
            Scan::NoMatch if text.starts_with(self.close_stem()) => self.closes_with_spaces(text, last),
            found => found.map(|()| self.close.len()),
        }
    }

    #[cold]
    fn closes_with_spaces(&self, text: &str, last: bool) -> Scan<usize> {
        let stem = self.close_stem().len();
        let end = stem + text.as_bytes()[stem..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if stem == self.close.len() || end - stem > CLOSE_SPACES {
            return Scan::NoMatch;
        }
        starts(&text[end..], ">", last).map(|()| end + 1)
    }

    /// The delimiter at the start of the text. OPEN is tried first.
    pub(crate) fn either(&self, text: &str, last: bool) -> Scan<Delimiter> {
        match starts(text, &self.open, last) {
            Scan::NoMatch => self.closes(text, last).map(|_| Delimiter::Close),
            found => found.map(|()| Delimiter::Open),
        }
    }

    /// The part of CLOSE that is the same in every spelling: without a `>` at its end.
    pub(crate) fn close_stem(&self) -> &str {
        self.close.strip_suffix('>').unwrap_or(&self.close)
    }

    /// Whether the byte needs no escape in JSON and begins no delimiter.
    #[inline]
    pub(crate) fn is_plain(&self, byte: u8) -> bool {
        self.plain[byte as usize]
    }

    /// Whether a delimiter begins with this character. The encoder writes no bare word, name or key that contains it.
    #[inline]
    pub(crate) fn is_first(&self, c: char) -> bool {
        match self.classes.get(c as usize) {
            Some(class) => class & FIRST != 0,
            None => self.open.starts_with(c) || self.close.starts_with(c),
        }
    }

    /// Whether the character has this role. Beyond ASCII, all do that are not special.
    #[inline]
    fn has_role(&self, c: char, role: u8) -> bool {
        match self.classes.get(c as usize) {
            Some(class) => class & role != 0,
            None => !(c.is_control() || self.is_first(c) || (role == BARE && is_opener(c))),
        }
    }

    /// Whether the encoder writes all these characters in a bare value.
    pub(crate) fn are_bare(&self, text: &str) -> bool {
        // Usually an early space decides.
        let ascii = |byte: &u8| self.classes.get(*byte as usize).is_some_and(|class| class & BARE != 0);
        match text.as_bytes().iter().position(|byte| !ascii(byte)) {
            None => true,
            Some(at) => !text.as_bytes()[at].is_ascii() && text[at..].chars().all(|c| self.has_role(c, BARE)),
        }
    }

    /// The length of the run that may be a bare segment of a key.
    #[inline]
    pub(crate) fn key_run(&self, text: &str) -> usize {
        let ends = |byte: &u8| self.classes.get(*byte as usize).is_none_or(|class| class & KEY == 0);
        match text.as_bytes().iter().position(ends) {
            Some(at) if !text.as_bytes()[at].is_ascii() => {
                at + text[at..].find(|c| !self.has_role(c, KEY)).unwrap_or(text.len() - at)
            }
            other => other.unwrap_or(text.len()),
        }
    }

    /// The length of a tool's name.
    #[inline]
    pub(crate) fn name_run(&self, text: &str) -> usize {
        let (open, close) = (self.open.as_bytes()[0], self.close.as_bytes()[0]);
        let ends = |at: &usize| match self.classes.get(text.as_bytes()[*at] as usize) {
            Some(class) => class & NAME_END != 0,
            // The first byte of a delimiter may also be part of another character.
            None => {
                let byte = text.as_bytes()[*at];
                (byte == open || byte == close) && text[*at..].chars().next().is_some_and(|c| self.is_first(c))
            }
        };
        (0..text.len()).find(ends).unwrap_or(text.len())
    }

    /// The length of the run that a bare value can take without a closer look: up to whitespace, the first character of
    /// a delimiter, a quote or a comma.
    #[inline]
    pub(crate) fn bare_run(&self, text: &str) -> usize {
        let (open, close) = (self.open.as_bytes()[0], self.close.as_bytes()[0]);
        let stops = |byte: &u8| match self.classes.get(*byte as usize) {
            Some(class) => class & STOP != 0,
            None => *byte == open || *byte == close,
        };
        text.as_bytes().iter().position(stops).unwrap_or(text.len())
    }
}
