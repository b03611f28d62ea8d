//! Entities, decoded once: numbers and the five that XML names. Any other `&` is text.

use std::borrow::Cow;

use crate::syntax::scan::{Scan, starts};

/// The five named entities and their characters.
const NAMED: [(&str, char); 5] = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&apos;", '\'')];

/// Digits of a number: enough for any character with leading zeros. At most this much is held back.
const DIGITS: usize = 16;

/// The character of the entity at the start of a text, and the bytes of the entity. Without a match, the `&` is text.
pub(super) fn entity(text: &str, last: bool) -> Scan<(char, usize)> {
    match text.as_bytes().get(1) {
        None => Scan::at_end(last),
        Some(b'#') => number(text.as_bytes(), last),
        Some(_) => Scan::first_of(NAMED.iter().map(|(name, c)| starts(text, name, last).map(|()| (*c, name.len())))),
    }
}

fn number(bytes: &[u8], last: bool) -> Scan<(char, usize)> {
    let hex = matches!(bytes.get(2), Some(b'x' | b'X'));
    let (start, radix) = if hex { (3, 16) } else { (2, 10) };
    let mut code: u64 = 0;
    for at in start..=start + DIGITS {
        let Some(&byte) = bytes.get(at) else { return Scan::at_end(last) };
        if byte == b';' && at > start {
            return Scan::some(u32::try_from(code).ok().and_then(char::from_u32)).map(|c| (c, at + 1));
        }
        let digit = char::from(byte).to_digit(radix).filter(|_| at < start + DIGITS);
        let Some(digit) = digit else { break };
        code = code * u64::from(radix) + u64::from(digit);
    }
    Scan::NoMatch
}

/// Passes decoded parts of `text` on. Returns the number of bytes read: with `last` all of them, otherwise those before
/// an entity that may be incomplete.
pub(super) fn decode_part(text: &str, last: bool, sink: &mut dyn FnMut(&str)) -> usize {
    let (mut from, mut at) = (0, 0);
    while let Some(offset) = memchr::memchr(b'&', &text.as_bytes()[at..]) {
        at += offset;
        match entity(&text[at..], last) {
            Scan::NoMatch => at += 1,
            Scan::Incomplete => {
                sink(&text[from..at]);
                return at;
            }
            Scan::Match((c, length)) => {
                sink(&text[from..at]);
                sink(c.encode_utf8(&mut [0; 4]));
                at += length;
                from = at;
            }
        }
    }
    sink(&text[from..]);
    text.len()
}

/// A whole text, decoded.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    decode_part(text, true, &mut |part| out.push_str(part));
    Cow::Owned(out)
}

/// Who must be able to read the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    /// Our own reader, and a model, for which each escape costs tokens.
    Us,
    /// Any XML parser. These reject `]]>`, and read a carriage return as a line break.
    Anyone,
}

/// Appends text with the escapes that it needs between tags.
pub(crate) fn escape(text: &str, whom: For, out: &mut String) {
    let mut from = 0;
    let bytes = text.as_bytes();
    // Most texts contain neither.
    if whom == For::Us && memchr::memchr2(b'&', b'<', bytes).is_none() {
        return out.push_str(text);
    }
    let others = if whom == For::Anyone { (b'>', b'\r') } else { (b'&', b'<') };
    let special = |byte: &u8| matches!(byte, b'&' | b'<') || *byte == others.0 || *byte == others.1;
    for (at, byte) in bytes.iter().enumerate().filter(|(_, byte)| special(byte)) {
        let escaped = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'\r' => "&#13;",
            _ if text[..at].ends_with("]]") => "&gt;",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(escaped);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}
