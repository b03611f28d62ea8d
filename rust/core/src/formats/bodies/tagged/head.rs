//! How much of a text the head of a tag may be.

use super::HEAD_CHARS;
use crate::syntax::scan::{Scan, first_chars, starts, trim};

/// As much of a text as the head of a tag may have.
pub(super) fn head(text: &str) -> &str {
    &text[..first_chars(text, HEAD_CHARS)]
}

/// As much of a text as the head of a tag and what closes it may have, and whether nothing that follows can close it any more.
pub(super) fn head_before<'a>(text: &'a str, close: &str) -> (&'a str, bool) {
    let chars = HEAD_CHARS + close.chars().count();
    let head = &text[..first_chars(text, chars)];
    (head, head.len() < text.len() || head.chars().count() == chars)
}

/// A type between these tags: its number of bytes, and whether it is that of a string. The schema knows other types better.
pub(super) fn kind(text: &str, (open, close): (&str, &str)) -> Scan<(usize, bool)> {
    starts(text, open, false).and_then(|()| {
        let (head, long) = head_before(&text[open.len()..], close);
        match memchr::memmem::find(head.as_bytes(), close.as_bytes()) {
            None => Scan::at_end(long),
            Some(length) => Scan::Match((open.len() + length + close.len(), trim(&head[..length]) == "string")),
        }
    })
}

pub(super) fn is_long(text: &str) -> bool {
    head(text).len() < text.len()
}
