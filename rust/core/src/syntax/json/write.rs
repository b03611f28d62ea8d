//! The compact writer: whole JSON strings, and the text between their quotes.

/// Whether a JSON string can contain this byte unescaped. Bytes of UTF-8 sequences can.
const fn plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

static PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut at = 0;
    while at < 256 {
        table[at] = plain(at as u8);
        at += 1;
    }
    table
};

/// Whether this byte can be copied into a JSON string.
#[inline]
pub(crate) fn is_plain(byte: u8) -> bool {
    PLAIN[byte as usize]
}

/// Appends text with the escapes that a JSON string needs.
#[inline]
pub(crate) fn push_str(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if !is_plain(byte) {
            out.push_str(&text[start..at]);
            push_escape(out, byte);
            start = at + 1;
        }
    }
    out.push_str(&text[start..]);
}

/// Appends one character, escaped if a JSON string needs it.
#[inline]
pub(crate) fn push_char(out: &mut String, c: char) {
    if (c as u32) < 0x80 && !is_plain(c as u8) { push_escape(out, c as u8) } else { out.push(c) }
}

#[cold]
fn push_escape(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' => '"',
        b'\\' => '\\',
        b'\n' => 'n',
        b'\r' => 'r',
        b'\t' => 't',
        0x08 => 'b',
        0x0c => 'f',
        _ => {
            out.push_str("\\u00");
            out.push(HEX[(byte >> 4) as usize] as char);
            out.push(HEX[(byte & 15) as usize] as char);
            return;
        }
    };
    out.push('\\');
    out.push(short);
}

/// Appends a whole JSON string with its quotes.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    push_str(out, text);
    out.push('"');
}

/// A text as a JSON string.
pub(crate) fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}
