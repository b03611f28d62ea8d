//! The contents of an opening tag after its word: a name and attributes.

use std::ops::Range;

use crate::syntax::quoting::leaves_open;
use crate::syntax::scan::{Scan, is_ws, ws_run};

/// Maximum bytes of an attribute up to its quoted value.
const KEY_BYTES: usize = 1024;

/// What comes next in an opening tag, after whitespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attribute {
    /// More text is needed. Inside a quoted value: where the search for its end continues.
    Need(Option<usize>),
    /// `key=value`, which ends at `end`. The value excludes its quotes.
    Pair { key: Range<usize>, value: Range<usize>, end: usize },
    /// The end of the tag.
    End { end: usize, empty: bool },
    /// Anything else, at this byte.
    Junk(usize),
}

/// Scans the text from byte `from` on. Bytes of a quoted value before `looked` were scanned already.
pub(crate) fn attribute(text: &str, from: usize, looked: usize) -> Attribute {
    let next = ws_run(text, from);
    let limit = text.len().min(next + KEY_BYTES);
    let bytes = &text.as_bytes()[..limit];
    let need = if limit < text.len() { Attribute::Junk(next) } else { Attribute::Need(None) };
    match (bytes.get(next), bytes.get(next + 1)) {
        (Some(b'>'), _) => return Attribute::End { end: next + 1, empty: false },
        (Some(b'/'), Some(b'>')) => return Attribute::End { end: next + 2, empty: true },
        (None, _) | (Some(b'/'), None) => return need,
        _ => {}
    }
    let key = next..word_end(bytes, next);
    let equals = ws_run(bytes, key.end);
    match bytes.get(equals) {
        Some(b'=') if !key.is_empty() => {}
        None => return need,
        Some(_) => return Attribute::Junk(next),
    }
    let start = ws_run(bytes, equals + 1);
    match bytes.get(start) {
        None => need,
        Some(&quote @ (b'"' | b'\'')) => {
            let from = looked.max(start + 1);
            match memchr::memchr(quote, &text.as_bytes()[from..]) {
                // If a backslash precedes the quote, one reading ends the value here and another does not.
                Some(length) if ends_in_backslash(&text.as_bytes()[start + 1..from + length]) => Attribute::Junk(next),
                Some(length) => Attribute::Pair { key, value: start + 1..from + length, end: from + length + 1 },
                None => Attribute::Need(Some(text.len())),
            }
        }
        Some(_) => match unquoted(bytes, start) {
            // What is quoted may go on after it.
            Some(end) if leaves_open(&text[start..end]) => Attribute::Junk(next),
            Some(end) if end > start => Attribute::Pair { key, value: start..end, end },
            Some(_) => Attribute::Junk(next),
            None => need,
        },
    }
}

/// Whether the bytes end in a backslash that is not itself escaped.
fn ends_in_backslash(bytes: &[u8]) -> bool {
    bytes.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Where a word ends: at whitespace or at a special character of tags.
pub(crate) fn word_end(bytes: &[u8], from: usize) -> usize {
    let ends = |byte: &u8| is_ws(*byte) || matches!(byte, b'<' | b'>' | b'=' | b'/' | b'"' | b'\'');
    bytes[from..].iter().position(ends).map_or(bytes.len(), |length| from + length)
}

/// Where a value without quotes ends, if that is known.
fn unquoted(bytes: &[u8], from: usize) -> Option<usize> {
    let ends = |byte: &u8| is_ws(*byte) || matches!(byte, b'<' | b'>' | b'"' | b'\'');
    let length = bytes[from..].iter().position(ends)?;
    let end = from + length;
    let empty = bytes[end] == b'>' && length > 1 && bytes[end - 1] == b'/';
    Some(end - usize::from(empty))
}

/// A tag after its word.
#[derive(Debug, Default)]
pub(crate) struct TagHead {
    /// The name: after `=`, or the value of the attribute `name`.
    pub name: Option<Range<usize>>,
    /// The name is the value of an attribute.
    pub by_attribute: bool,
    /// Spaces precede its `=`.
    pub spaced: bool,
    /// Where the attributes begin.
    pub from: usize,
    /// It has attributes other than the name and the type of a parameter.
    pub more: bool,
    pub empty: bool,
    /// Where the tag ends. `None`: after the scanned text, or after something that is not an attribute.
    pub end: Option<usize>,
    /// It continues after the text, inside a quoted value.
    pub cut: bool,
}

/// Attributes of a parameter that give the type of its value, as the schema does.
pub(crate) const TYPES: [&str; 2] = ["type", "string"];

/// The kind of a tag. It decides what the attributes mean.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// An attribute names the tool.
    Call,
    /// An attribute names the field, and others may give its type.
    Parameter,
    /// The word of the tag is the name. All attributes have the same meaning.
    Name,
}

/// Scans a tag after its word.
pub(super) fn head(text: &str, from: usize, last: bool, of: Of) -> Scan<TagHead> {
    let named = of != Of::Name;
    let equals = ws_run(text, from);
    let name = match text.as_bytes().get(equals) {
        Some(b'=') if named => after_equals(text, equals + 1, last).map(|(name, end)| (Some(name), end)),
        _ => Scan::Match((None, from)),
    };
    name.and_then(|(name, from)| attributes(text, last, of, TagHead { name, from, ..TagHead::default() }))
        .map(|found| TagHead { spaced: equals > from && found.name.is_some() && !found.by_attribute, ..found })
}

/// Scans the attributes of a tag up to its end.
fn attributes(text: &str, last: bool, of: Of, mut found: TagHead) -> Scan<TagHead> {
    let named = of != Of::Name;
    let mut at = found.from;
    loop {
        match attribute(text, at, 0) {
            Attribute::Need(None) => return Scan::at_end(last),
            Attribute::Need(Some(_)) if !last => return Scan::Incomplete,
            Attribute::Need(Some(_)) => {
                (found.more, found.cut) = (true, true);
                return Scan::Match(found);
            }
            Attribute::End { end, empty } => {
                (found.end, found.empty) = (Some(end), empty);
                return Scan::Match(found);
            }
            Attribute::Pair { key, value, end } => {
                let key = &text[key];
                if named && found.name.is_none() && key.eq_ignore_ascii_case("name") {
                    (found.name, found.by_attribute) = (Some(value), true);
                } else {
                    found.more |= of != Of::Parameter || !TYPES.contains(&key);
                }
                at = end;
            }
            // This is prose, unless a quoted value follows in the tag: text in quotes is never searched for calls.
            Attribute::Junk(at) => {
                let rest = &text.as_bytes()[at..];
                let special = rest.iter().position(|byte| matches!(byte, b'<' | b'>' | b'"' | b'\''));
                let Some(length) = special else { return Scan::at_end(last) };
                found.more = true;
                let value = matches!(rest[length], b'"' | b'\'') && rest[..length].trim_ascii().ends_with(b"=");
                return Scan::some(value.then_some(found));
            }
        }
    }
}

/// Scans a tag after its word. An attribute must name the tool.
pub(crate) fn named_tag(text: &str, from: usize, last: bool) -> Scan<TagHead> {
    head(text, from, last, Of::Call).filter(|head| head.by_attribute)
}

/// A name after `=`, in quotes or not, and where it ends.
pub(crate) fn after_equals(text: &str, from: usize, last: bool) -> Scan<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let start = ws_run(text, from);
    match bytes.get(start) {
        None => Scan::at_end(last),
        Some(&quote @ (b'"' | b'\'')) => match memchr::memchr(quote, &bytes[start + 1..]) {
            Some(length) => Scan::Match((start + 1..start + 1 + length, start + length + 2)),
            None => Scan::at_end(last),
        },
        Some(_) => match unquoted(bytes, start) {
            Some(end) if end > start => Scan::Match((start..end, end)),
            Some(_) => Scan::NoMatch,
            None => Scan::at_end(last),
        },
    }
}
