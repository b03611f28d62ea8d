//! What stands ahead: is it a key, a block scalar's head? Nothing is consumed; how far was looked is remembered.

use super::block::Head;
use super::bytes::{LineBreak, is_blank, is_flow_mark, line_break, separates};
use super::lexeme::Ends;
use crate::syntax::scan::{Scan, starts};

/// Blanks that may stand between a quoted key and its colon.
const KEY_BLANKS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    Need,
    /// Its bytes, and where its colon ends.
    Key {
        length: usize,
        behind: usize,
    },
    No,
}

/// Does `rest`, at the start of a line, begin with a mark between documents?
pub fn document_mark(rest: &str, last: bool) -> Scan {
    let mark = if rest.starts_with('-') { "---" } else { "..." };
    match starts(rest, mark, last) {
        Scan::Match(()) => match separates(rest.as_bytes(), 3, last) {
            None => Scan::Incomplete,
            Some(true) => Scan::Match(()),
            Some(false) => Scan::NoMatch,
        },
        other => other,
    }
}

/// A plain key at the start of `rest`.
pub fn plain_key(rest: &str, last: bool, ends: &dyn Ends, seen: &mut usize) -> Ahead {
    let bytes = rest.as_bytes();
    let mut at = std::mem::take(seen);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' | b'\r' => return Ahead::No,
            b'#' if at > 0 && is_blank(bytes[at - 1]) => return Ahead::No,
            b':' => match separates(bytes, at + 1, last) {
                None => break,
                Some(true) => return Ahead::Key { length: at, behind: at + 1 },
                Some(false) => {}
            },
            b'<' => match ends.close(&rest[at..], false, last) {
                Scan::Match(()) => return Ahead::No,
                Scan::Incomplete => break,
                Scan::NoMatch => {}
            },
            _ => {}
        }
        at += 1;
    }
    if at == bytes.len() && last {
        return Ahead::No;
    }
    *seen = at;
    Ahead::Need
}

/// A quoted key at the start of `rest`.
pub fn quoted_key(rest: &str, last: bool, seen: &mut usize) -> Ahead {
    let bytes = rest.as_bytes();
    let quote = bytes[0];
    let mut at = std::mem::take(seen).max(1);
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        match byte {
            b'\n' | b'\r' => return Ahead::No,
            b'\\' if quote == b'"' => match next {
                None => break,
                Some(b'\n' | b'\r') => return Ahead::No,
                Some(_) => at += 1,
            },
            _ if byte != quote => {}
            _ if quote == b'\'' && next.is_none() && !last => break,
            _ if quote == b'\'' && next == Some(&b'\'') => at += 1,
            _ => {
                let blanks = bytes[at + 1..].iter().take(KEY_BLANKS + 1).take_while(|byte| is_blank(**byte)).count();
                let colon = at + 1 + blanks;
                let key = match bytes.get(colon) {
                    Some(b':') => separates(bytes, colon + 1, last),
                    None if !last => None,
                    _ => Some(false),
                };
                match key {
                    None => break,
                    Some(true) => return Ahead::Key { length: at, behind: colon + 1 },
                    Some(false) => return Ahead::No,
                }
            }
        }
        at += 1;
    }
    if last {
        return Ahead::No;
    }
    *seen = at;
    Ahead::Need
}

/// Does `rest` begin with an anchor, an alias or a tag, and not with a text that only looks so?
pub fn property(rest: &str, last: bool, seen: &mut usize) -> Scan {
    let bytes = rest.as_bytes();
    let tag = bytes[0] == b'!';
    let mut at = std::mem::take(seen).max(1);
    while let Some(&byte) = bytes.get(at) {
        let named = byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'-')
            || (tag && matches!(byte, b'!' | b':' | b'/' | b'.' | b','));
        if !named {
            return if at > 1 && separates(bytes, at, last) == Some(true) { Scan::Match(()) } else { Scan::NoMatch };
        }
        at += 1;
    }
    if last {
        return if at > 1 { Scan::Match(()) } else { Scan::NoMatch };
    }
    *seen = at;
    Scan::Incomplete
}

/// Is it the first line of a block scalar?
pub fn block_head(rest: &str, last: bool, seen: &mut usize) -> Head {
    let bytes = rest.as_bytes();
    let marks = bytes[1..].iter().take(3).take_while(|byte| matches!(byte, b'-' | b'+' | b'1'..=b'9')).count();
    let mut at = std::mem::take(seen).max(1 + marks);
    while bytes.get(at).is_some_and(|byte| is_blank(*byte)) {
        at += 1;
    }
    let fits = match bytes.get(at) {
        None if last => true,
        None => {
            // Of the marks some may be missing yet.
            *seen = if at > 1 + marks { at } else { 0 };
            return Head::Need;
        }
        Some(b'#') => at > 1 + marks,
        Some(_) => line_break(bytes, at, true) != LineBreak::No,
    };
    match Head::of(&bytes[..1 + marks]) {
        Some(block) if fits => Head::Yes { block, length: 1 + marks },
        _ => Head::No,
    }
}

/// Is the character before which `text` ends the first of a comment? `#` itself stands there.
pub fn is_comment(text: &str) -> bool {
    text.as_bytes().last().is_none_or(|byte| is_blank(*byte) || *byte == b'\n')
}

/// Where a comment begins in a line of plain text.
pub fn comment(line: &str) -> Option<usize> {
    memchr::memchr_iter(b'#', line.as_bytes()).find(|at| is_comment(&line[..*at]))
}

/// Is the colon at `at` the end of a key?
pub fn ends_key(bytes: &[u8], at: usize, last: bool, flow: bool) -> Option<bool> {
    match bytes.get(at + 1) {
        Some(byte) if flow && is_flow_mark(*byte) => Some(true),
        _ => separates(bytes, at + 1, last),
    }
}
