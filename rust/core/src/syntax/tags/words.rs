//! The words of tags, and closing tags.

use crate::syntax::scan::{Scan, first_chars, is_ws, starts, starts_as, ws_run};

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

/// Characters of a tag.
const TAG_CHARS: usize = 64;

/// The length of the tag that the text starts with. Where nothing follows, the beginning of one is enough.
pub(crate) fn tag(text: &str, last: bool) -> Scan<usize> {
    let Some(name) = text.strip_prefix('<') else { return Scan::NoMatch };
    let ends = |c: char| c.is_whitespace() || "<>{}[]\"'".contains(c);
    let window = &name[..first_chars(name, TAG_CHARS)];
    match window.char_indices().find(|(_, c)| ends(*c)) {
        Some((at, '>')) if at > 0 => Scan::Match(1 + at + 1),
        None if window.len() == name.len() && last => Scan::Match(text.len()),
        None if window.len() == name.len() => Scan::Incomplete,
        _ => Scan::NoMatch,
    }
}
