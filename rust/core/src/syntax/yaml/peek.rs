//! Lookahead: is a key, a document mark or a block scalar next? Nothing is consumed. `seen` counts the bytes that were
//! scanned already.

use super::block::BlockScalar;
use super::lexeme::Surroundings;
use super::window::{is_blank, is_flow_mark, is_line_break, separates};
use crate::syntax::scan::{Scan, starts};

/// Maximum number of spaces before the colon of a quoted key.
const KEY_BLANKS: usize = 64;

/// The length of a key, and where its colon ends.
pub(super) type KeyBounds = (usize, usize);

/// Whether `rest`, at the start of a line, begins with `---` or `...`.
pub(crate) fn document_mark(rest: &str, last: bool) -> Scan {
    let mark = if rest.starts_with('-') { "---" } else { "..." };
    starts(rest, mark, last).and_then(|()| separates(rest.as_bytes(), 3, last))
}

/// A plain key at the start of `rest`.
pub(crate) fn plain_key(rest: &str, last: bool, ends: &dyn Surroundings, seen: &mut usize) -> Scan<KeyBounds> {
    let bytes = rest.as_bytes();
    let mut at = std::mem::take(seen);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' | b'\r' => return Scan::NoMatch,
            b'#' if at > 0 && is_blank(bytes[at - 1]) => return Scan::NoMatch,
            b':' => match separates(bytes, at + 1, last) {
                Scan::Incomplete => break,
                Scan::Match(()) => return Scan::Match((at, at + 1)),
                Scan::NoMatch => {}
            },
            b'<' => match ends.close(&rest[at..], false, last) {
                Scan::Match(()) => return Scan::NoMatch,
                Scan::Incomplete => break,
                Scan::NoMatch => {}
            },
            _ => {}
        }
        at += 1;
    }
    if at == bytes.len() && last {
        return Scan::NoMatch;
    }
    *seen = at;
    Scan::Incomplete
}

/// A quoted key at the start of `rest`.
pub(crate) fn quoted_key(rest: &str, last: bool, seen: &mut usize) -> Scan<KeyBounds> {
    let bytes = rest.as_bytes();
    let quote = bytes[0];
    let mut at = std::mem::take(seen).max(1);
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        match byte {
            b'\n' | b'\r' => return Scan::NoMatch,
            b'\\' if quote == b'"' => match next {
                None => break,
                Some(b'\n' | b'\r') => return Scan::NoMatch,
                Some(_) => at += 1,
            },
            _ if byte != quote => {}
            _ if quote == b'\'' && next.is_none() && !last => break,
            _ if quote == b'\'' && next == Some(&b'\'') => at += 1,
            _ => {
                let blanks = bytes[at + 1..].iter().take(KEY_BLANKS + 1).take_while(|byte| is_blank(**byte)).count();
                let colon = at + 1 + blanks;
                match starts(&rest[colon..], ":", last).and_then(|()| separates(bytes, colon + 1, last)) {
                    Scan::Incomplete => break,
                    found => return found.map(|()| (at, colon + 1)),
                }
            }
        }
        at += 1;
    }
    if last {
        return Scan::NoMatch;
    }
    *seen = at;
    Scan::Incomplete
}

/// Whether `rest` begins with an anchor, an alias or a tag, and not with similar text.
pub(super) fn property(rest: &str, last: bool, seen: &mut usize) -> Scan {
    let bytes = rest.as_bytes();
    let tag = bytes[0] == b'!';
    let mut at = std::mem::take(seen).max(1);
    while let Some(&byte) = bytes.get(at) {
        let named = byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'-')
            || (tag && matches!(byte, b'!' | b':' | b'/' | b'.' | b','));
        if !named {
            return separates(bytes, at, last).filter(|()| at > 1);
        }
        at += 1;
    }
    if last {
        return Scan::some((at > 1).then_some(()));
    }
    *seen = at;
    Scan::Incomplete
}

/// The first line of a block scalar, and the length of its marks.
pub(super) fn block_head(rest: &str, last: bool, seen: &mut usize) -> Scan<(BlockScalar, usize)> {
    let bytes = rest.as_bytes();
    let marks = bytes[1..].iter().take(3).take_while(|byte| matches!(byte, b'-' | b'+' | b'1'..=b'9')).count();
    let mut at = std::mem::take(seen).max(1 + marks);
    while bytes.get(at).is_some_and(|byte| is_blank(*byte)) {
        at += 1;
    }
    let fits = match bytes.get(at) {
        None if last => true,
        None => {
            // Some of the marks may be missing yet.
            *seen = if at > 1 + marks { at } else { 0 };
            return Scan::Incomplete;
        }
        Some(b'#') => at > 1 + marks,
        Some(byte) => is_line_break(*byte),
    };
    let block = BlockScalar::new(&bytes[..1 + marks]).filter(|_| fits);
    Scan::some(block).map(|block| (block, 1 + marks))
}

/// Where a comment begins in a line of plain text.
pub(super) fn comment(line: &str) -> Option<usize> {
    let begins = |at: &usize| line.as_bytes()[..*at].last().is_none_or(|byte| is_blank(*byte) || *byte == b'\n');
    memchr::memchr_iter(b'#', line.as_bytes()).find(begins)
}

/// Whether the colon at `at` ends a key.
pub(super) fn ends_key(bytes: &[u8], at: usize, last: bool, flow: bool) -> Scan {
    match bytes.get(at + 1) {
        Some(byte) if flow && is_flow_mark(*byte) => Scan::Match(()),
        _ => separates(bytes, at + 1, last),
    }
}
