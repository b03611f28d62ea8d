//! Entities, decoded once: numbers and the five that XML names. Everything else that begins with `&` is text.

use std::borrow::Cow;

/// The five names, and what they stand for.
const NAMED: [(&str, char); 5] = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&apos;", '\'')];

/// Digits of a number: enough for any character with zeros in front, and so much is held back at most.
const DIGITS: usize = 16;

/// What an `&` begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A character, and the bytes of its entity.
    Char(char, usize),
    /// Nothing: it is text.
    Text,
    /// Cannot be told yet.
    Need,
}

/// Looks at a text that starts with `&`. With `last` there is no more to come.
pub fn entity(text: &str, last: bool) -> Entity {
    let bytes = text.as_bytes();
    let need = if last { Entity::Text } else { Entity::Need };
    match bytes.get(1) {
        None => need,
        Some(b'#') => number(bytes, need),
        Some(_) => {
            let mut partial = false;
            for (name, c) in NAMED {
                let known = bytes.len().min(name.len());
                if bytes[..known] == name.as_bytes()[..known] {
                    if known == name.len() {
                        return Entity::Char(c, known);
                    }
                    partial = true;
                }
            }
            if partial { need } else { Entity::Text }
        }
    }
}

fn number(bytes: &[u8], need: Entity) -> Entity {
    let hex = matches!(bytes.get(2), Some(b'x' | b'X'));
    let (start, radix) = if hex { (3, 16) } else { (2, 10) };
    let mut code: u64 = 0;
    for at in start..=start + DIGITS {
        let Some(&byte) = bytes.get(at) else { return need };
        if byte == b';' && at > start {
            let c = u32::try_from(code).ok().and_then(char::from_u32);
            return c.map_or(Entity::Text, |c| Entity::Char(c, at + 1));
        }
        let digit = char::from(byte).to_digit(radix).filter(|_| at < start + DIGITS);
        let Some(digit) = digit else { break };
        code = code * u64::from(radix) + u64::from(digit);
    }
    Entity::Text
}

/// Passes decoded parts of `text` on. Returns the bytes that were read: with `last` all, else all in front of an entity
/// that may be cut.
pub fn decode_part(text: &str, last: bool, sink: &mut dyn FnMut(&str)) -> usize {
    let (mut from, mut at) = (0, 0);
    while let Some(offset) = memchr::memchr(b'&', &text.as_bytes()[at..]) {
        at += offset;
        match entity(&text[at..], last) {
            Entity::Text => at += 1,
            Entity::Need => {
                sink(&text[from..at]);
                return at;
            }
            Entity::Char(c, length) => {
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
pub fn decode(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    decode_part(text, true, &mut |part| out.push_str(part));
    Cow::Owned(out)
}

/// Who has to understand the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// Our reader, and a model, which pays for each escape.
    Us,
    /// Any XML parser: these forbid `]]>`, and take a carriage return for a line break.
    Anyone,
}

/// Appends text as it must stand between tags.
pub fn escape(text: &str, whom: For, out: &mut String) {
    let mut from = 0;
    let bytes = text.as_bytes();
    // Most texts have neither.
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
