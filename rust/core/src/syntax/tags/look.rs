//! What is at a place of a text that may continue.

use crate::syntax::scan::{Scan, is_ws, ws_run};

/// Maximum number of spaces in a closing tag.
const CLOSE_BLANKS: usize = 16;

/// The place of the boundary after that word, ignoring case, if the text starts with the word and a tag's boundary.
pub fn begins(text: &str, word: &str, last: bool) -> Scan<usize> {
    let known = text.len().min(word.len());
    if !text.as_bytes()[..known].eq_ignore_ascii_case(&word.as_bytes()[..known]) {
        return Scan::NoMatch;
    }
    match text.as_bytes().get(word.len()) {
        Some(byte) if is_ws(*byte) || matches!(byte, b'>' | b'/' | b'=') => Scan::Match(word.len()),
        Some(_) => Scan::NoMatch,
        None => Scan::at_end(last),
    }
}

/// The first of the words that the text starts with.
pub fn one_of(text: &str, words: &[&'static str], last: bool) -> Scan<&'static str> {
    let mut found = Scan::NoMatch;
    for word in words {
        found = found.or(|| begins(text, word, last).map(|_| *word));
    }
    found
}

/// The number of bytes of the closing tag of that name, if this is one.
pub fn closes(text: &str, name: &str, last: bool) -> Scan<usize> {
    let bytes = text.as_bytes();
    // The most frequent form.
    if let Some(rest) = text.strip_prefix("</")
        && rest.as_bytes().get(name.len()) == Some(&b'>')
        && rest.starts_with(name)
    {
        return Scan::Match(name.len() + 3);
    }
    match (bytes.first(), bytes.get(1)) {
        (Some(b'<'), Some(b'/')) => {}
        (None, _) | (Some(b'<'), None) => return Scan::at_end(last),
        _ => return Scan::NoMatch,
    }
    begins(&text[2..], name, last).and_then(|length| {
        let end = ws_run(text, 2 + length);
        match bytes.get(end) {
            _ if end - (2 + length) > CLOSE_BLANKS => Scan::NoMatch,
            Some(b'>') => Scan::Match(end + 1),
            Some(_) => Scan::NoMatch,
            None => Scan::at_end(last),
        }
    })
}

/// The closing tag of one of the words.
pub fn closes_one_of(text: &str, words: &[&'static str], last: bool) -> Scan<usize> {
    let mut found = Scan::NoMatch;
    for word in words {
        found = found.or(|| closes(text, word, last));
    }
    found
}
