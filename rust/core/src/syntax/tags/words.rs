//! The words of tags, and closing tags.

use crate::syntax::scan::{Scan, is_ws, starts, starts_as, ws_run};

/// Maximum number of spaces in a closing tag.
const CLOSE_SPACES: usize = 16;

/// The length of that word, ignoring case, if the text starts with it and the word ends there.
#[inline]
pub(crate) fn begins(text: &str, word: &str, last: bool) -> Scan<usize> {
    starts_as(text, word, last).and_then(|()| match text.as_bytes().get(word.len()) {
        Some(byte) if is_ws(*byte) || matches!(byte, b'>' | b'/' | b'=') => Scan::Match(word.len()),
        Some(_) => Scan::NoMatch,
        None => Scan::at_end(last),
    })
}

/// The word that the text starts with.
#[inline]
pub(crate) fn one_of(text: &str, words: &[&'static str], last: bool) -> Scan<&'static str> {
    Scan::first_of(words.iter().map(|word| begins(text, word, last).map(|_| *word)))
}

/// The number of bytes of the closing tag of that name.
pub(crate) fn closes(text: &str, name: &str, last: bool) -> Scan<usize> {
    // The most common form.
    if let Some(rest) = text.strip_prefix("</")
        && rest.as_bytes().get(name.len()) == Some(&b'>')
        && rest.starts_with(name)
    {
        return Scan::Match(name.len() + 3);
    }
    let word = starts(text, "</", last).and_then(|()| begins(&text[2..], name, last));
    word.and_then(|length| {
        let end = ws_run(text, 2 + length);
        if end - (2 + length) > CLOSE_SPACES {
            return Scan::NoMatch;
        }
        starts(&text[end..], ">", last).map(|()| end + 1)
    })
}

/// The number of bytes of the closing tag of one of the words.
pub(super) fn closes_one_of(text: &str, words: &[&'static str], last: bool) -> Scan<usize> {
    Scan::first_of(words.iter().map(|word| closes(text, word, last)))
}
