//! The most common kind of line: `key: value`, with plain text or with quoted text without escapes.

use super::lexeme::Surroundings;
use crate::syntax::json;
use crate::syntax::scan::Scan;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair<'w> {
    pub key: &'w str,
    pub value: &'w str,
    pub quoted: bool,
}

/// Reads a pair after a line break, and returns its length. The next line, a key or the end, proves that the pair is
/// complete. `None`: the text is not in this form, or not complete yet.
pub(super) fn pair<'w>(text: &'w str, ends: &dyn Surroundings) -> Option<(Pair<'w>, usize)> {
    let line = text.strip_prefix('\n')?;
    let colon = key(line)?;
    let value = line[colon + 1..].strip_prefix(' ')?;
    let quoted = value.starts_with('"');
    let length = if quoted { json::plain_string(value)?.1 } else { plain(value.as_bytes())? };
    let next = value[length..].strip_prefix('\n')?;
    if ends.close(next, true, false) != Scan::Match(()) {
        let colon = key(next)?;
        next.as_bytes().get(colon + 1).filter(|byte| matches!(byte, b' ' | b'\n'))?;
    }
    let text = if quoted { &value[1..length - 1] } else { &value[..length] };
    Some((Pair { key: &line[..colon], value: text, quoted }, 1 + colon + 2 + length))
}

/// The place of the colon after a key of one word.
fn key(line: &str) -> Option<usize> {
    let length = line.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')?;
    (length > 0 && line.as_bytes()[length] == b':').then_some(length)
}

/// The length of plain text that ends with its line.
fn plain(text: &[u8]) -> Option<usize> {
    let begins = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._~$(".contains(byte) || *byte >= 0x80;
    let first = text.first().filter(|byte| **byte != b'-').or(text.get(1));
    first.filter(|byte| begins(byte))?;
    let mut before = b' ';
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'\n' => return (!matches!(before, b' ' | b':')).then_some(at),
            b' ' if before == b':' => return None,
            b'#' if before == b' ' => return None,
            b'<' | 0..0x20 => return None,
            _ => before = byte,
        }
    }
    None
}
