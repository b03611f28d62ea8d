//! What is at a place of a text that may continue.

use crate::syntax::scan::{Scan, is_ws, ws_run};

/// Maximum number of spaces in a closing tag.
const CLOSE_BLANKS: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look<T> {
    Need,
    No,
    Yes(T),
}

impl<T> Look<T> {
    /// The other one, where this one is not there.
    pub fn or(self, other: impl FnOnce() -> Look<T>) -> Look<T> {
        match self {
            Look::Yes(_) => self,
            Look::No => other(),
            Look::Need => match other() {
                Look::Yes(found) => Look::Yes(found),
                Look::No | Look::Need => Look::Need,
            },
        }
    }

    pub fn and_then<U>(self, made: impl FnOnce(T) -> Look<U>) -> Look<U> {
        match self {
            Look::Yes(found) => made(found),
            Look::No => Look::No,
            Look::Need => Look::Need,
        }
    }

    pub fn map<U>(self, made: impl FnOnce(T) -> U) -> Look<U> {
        self.and_then(|found| Look::Yes(made(found)))
    }
}

/// The text has ended: with `last`, nothing follows.
pub fn need<T>(last: bool) -> Look<T> {
    if last { Look::No } else { Look::Need }
}

/// Whether the text begins with that marker.
pub fn begins_with(text: &str, marker: &str, last: bool) -> Look<()> {
    match crate::syntax::scan::starts(text, marker, last) {
        Scan::Yes => Look::Yes(()),
        Scan::Partial => Look::Need,
        Scan::No => Look::No,
    }
}

/// The place of the boundary after that word, ignoring case, if the text starts with the word and a tag's boundary.
pub fn begins(text: &str, word: &str, last: bool) -> Look<usize> {
    let known = text.len().min(word.len());
    if !text.as_bytes()[..known].eq_ignore_ascii_case(&word.as_bytes()[..known]) {
        return Look::No;
    }
    match text.as_bytes().get(word.len()) {
        Some(byte) if is_ws(*byte) || matches!(byte, b'>' | b'/' | b'=') => Look::Yes(word.len()),
        Some(_) => Look::No,
        None => need(last),
    }
}

/// The first of the words that the text starts with.
pub fn one_of(text: &str, words: &[&'static str], last: bool) -> Look<&'static str> {
    let mut found = Look::No;
    for word in words {
        found = found.or(|| begins(text, word, last).map(|_| *word));
    }
    found
}

/// The number of bytes of the closing tag of that name, if this is one.
pub fn closes(text: &str, name: &str, last: bool) -> Look<usize> {
    let bytes = text.as_bytes();
    // The most frequent form.
    if let Some(rest) = text.strip_prefix("</")
        && rest.as_bytes().get(name.len()) == Some(&b'>')
        && rest.starts_with(name)
    {
        return Look::Yes(name.len() + 3);
    }
    match (bytes.first(), bytes.get(1)) {
        (Some(b'<'), Some(b'/')) => {}
        (None, _) | (Some(b'<'), None) => return need(last),
        _ => return Look::No,
    }
    begins(&text[2..], name, last).and_then(|length| {
        let end = ws_run(text, 2 + length);
        match bytes.get(end) {
            _ if end - (2 + length) > CLOSE_BLANKS => Look::No,
            Some(b'>') => Look::Yes(end + 1),
            Some(_) => Look::No,
            None => need(last),
        }
    })
}

/// The closing tag of one of the words.
pub fn closes_one_of(text: &str, words: &[&'static str], last: bool) -> Look<usize> {
    let mut found = Look::No;
    for word in words {
        found = found.or(|| closes(text, word, last));
    }
    found
}
