//! Keys: segments joined by dots and indexes.

use smallvec::SmallVec;

use super::quoted::{Quoted, QuotedPart};
use crate::limits::{BARE_SEGMENT_CHARS, INDEX_DIGITS, KEY_CHARS};
use crate::syntax::quoting::leaves_open;
use crate::syntax::scan::{Delimiters, Scan, first_chars, is_ws, ws_run};

/// One segment of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment<'k> {
    Bare(&'k str),
    /// Exact: it is never joined, folded or read as an index.
    Quoted(String),
    /// An exact segment in brackets, as other languages write it: `["name"]`.
    Bracketed(String),
    Index(usize),
}

/// The length in bytes of the key at the start of `text`. Whether it counts depends on what follows it.
pub(super) fn lex_key(text: &str, last: bool, delimiters: &Delimiters) -> Scan<usize> {
    // The longest key and one more character, so that the end of a key of that length is seen.
    let mut end = text.len().min(4 * (KEY_CHARS + 1));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    let need = || Scan::at_end(last || is_long(text));
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        match bytes.get(at) {
            None => return need(),
            Some(b'"' | b'\'') => match unquoted(text, at) {
                (_, Some(end)) => at = end,
                (_, None) => return need(),
            },
            Some(_) => {
                let rest = &text[at..];
                let length = delimiters.key_run(rest);
                let segment = &rest[..length];
                let quoting = length < rest.len() && leaves_open(segment);
                if length == 0 || first_chars(segment, BARE_SEGMENT_CHARS) < length || quoting {
                    return Scan::NoMatch;
                }
                at += length;
            }
        }
        while bytes.get(at) == Some(&b'[') {
            if matches!(bytes.get(at + 1), Some(b'"' | b'\'')) {
                let (_, Some(end)) = unquoted(text, at + 1) else { return need() };
                match bytes.get(end) {
                    None => return need(),
                    Some(b']') => at = end + 1,
                    Some(_) => return Scan::NoMatch,
                }
                continue;
            }
            let digits = bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
            match bytes.get(at + 1 + digits) {
                None if digits <= INDEX_DIGITS => return need(),
                Some(b']') if (1..=INDEX_DIGITS).contains(&digits) => at += digits + 2,
                _ => return Scan::NoMatch,
            }
        }
        match bytes.get(at) {
            None if is_long(&text[..at]) => return Scan::NoMatch,
            None if last => return Scan::Match(at),
            None => return need(),
            Some(b'.') => at += 1,
            Some(byte) if *byte == b'=' || is_ws(*byte) => {
                return if is_long(&text[..at]) { Scan::NoMatch } else { Scan::Match(at) };
            }
            Some(_) => return Scan::NoMatch,
        }
    }
}

fn is_long(key: &str) -> bool {
    first_chars(key, KEY_CHARS) < key.len()
}

/// The segments of a key that [`lex_key`] found.
pub(crate) fn segments(key: &str) -> SmallVec<[Segment<'_>; 2]> {
    let bytes = key.as_bytes();
    let mut out = SmallVec::new();
    if !bytes.iter().any(|byte| matches!(byte, b'.' | b'[' | b'"' | b'\'')) {
        out.push(Segment::Bare(key));
        return out;
    }
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'.' => at += 1,
            b'[' if matches!(bytes.get(at + 1), Some(b'"' | b'\'')) => {
                let (text, end) = unquoted(key, at + 1);
                out.push(Segment::Bracketed(text));
                at = end.map_or(key.len(), |end| end + usize::from(bytes.get(end) == Some(&b']')));
            }
            b'[' => {
                let end = key[at..].find(']').map_or(key.len(), |length| at + length);
                out.push(Segment::Index(key[at + 1..end].parse().unwrap_or(usize::MAX)));
                at = end + 1;
            }
            b'"' | b'\'' => {
                let (text, end) = unquoted(key, at);
                out.push(Segment::Quoted(text));
                at = end.unwrap_or(key.len());
            }
            _ => {
                let end = key[at..].find(['.', '[']).map_or(key.len(), |length| at + length);
                out.push(Segment::Bare(&key[at..end]));
                at = end;
            }
        }
    }
    out
}

/// The text between the quote at `at` and its closing quote, and the place after the closing quote.
fn unquoted(key: &str, mut at: usize) -> (String, Option<usize>) {
    let quoted = Quoted::new(key.as_bytes()[at]);
    let mut text = String::new();
    at += 1;
    loop {
        match quoted.next(key, &mut at, true) {
            QuotedPart::Plain(part) => text.push_str(part),
            QuotedPart::Char(c) => text.push(c),
            QuotedPart::Quote => return (text, Some(at + 1)),
            QuotedPart::Need => return (text, None),
        }
    }
}

/// Finds a key with the colon that models write instead of `=`: the length of the key, and where the colon ends.
/// `is_key` says which keys count. The first character after the key must be known.
pub(crate) fn colon_key(
    text: &str,
    last: bool,
    delimiters: &Delimiters,
    is_key: &dyn Fn(&str) -> bool,
) -> Scan<(usize, usize)> {
    let bytes = text.as_bytes();
    let run = match bytes.first() {
        Some(b'"' | b'\'') => unquoted(&text[..first_chars(text, KEY_CHARS)], 0).1.unwrap_or(0),
        _ => first_chars(text, BARE_SEGMENT_CHARS).min(delimiters.key_run(text)),
    };
    let inside = if delimiters.key_run(text) > 0 { run } else { 0 };
    for length in memchr::memchr_iter(b':', &bytes[..inside]).chain([run]) {
        let colon = ws_run(text, length);
        if bytes.get(colon) != Some(&b':') || is_long(&text[..length]) || !is_key(&text[..length]) {
            continue;
        }
        match bytes.get(colon + 1) {
            Some(b'=') => {}
            None if !last => return Scan::Incomplete,
            _ => return Scan::Match((length, colon + 1)),
        }
    }
    Scan::NoMatch
}

/// Appends the name of a property as a segment, in quotes where it would be misread.
pub(crate) fn push_segment(out: &mut String, name: &str, delimiters: &Delimiters) {
    let bare = !name.is_empty()
        && first_chars(name, BARE_SEGMENT_CHARS) == name.len()
        && delimiters.key_run(name) == name.len()
        && !name.bytes().all(|b| b.is_ascii_digit())
        // After a tool's name, it would be read as a Python call.
        && !name.starts_with('(')
        && !leaves_open(name);
    if bare { out.push_str(name) } else { super::push_quoted(out, name) }
}
