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

/// Where a run of plain bytes without this quote ends, from byte `at` on. Eight bytes are looked at in one step.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // The high bit of each byte that is zero; of later ones, too, once there was one.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*chunk);
        let is = |byte: u8| zero(word ^ (ONES * u64::from(byte)));
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let special = control | is(b'"') | is(b'\\') | is(quote);
        if special != 0 {
            return at + (special.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while at < bytes.len() && is_plain(bytes[at]) && bytes[at] != quote {
        at += 1;
    }
    at
}

/// Where the content of a string ends that is the same in compact JSON: plain bytes, and escapes of one letter that JSON needs.
#[inline]
pub(crate) fn verbatim_end(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    loop {
        at = plain_end(bytes, at, quote);
        match bytes.get(at..at + 2) {
            Some([b'\\', b'n' | b't' | b'r' | b'"' | b'\\' | b'b' | b'f']) => at += 2,
            _ => return at,
        }
    }
}

/// Appends text with the escapes that a JSON string needs.
#[inline]
pub(crate) fn push_str(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut start = 0;
    loop {
        let at = plain_end(bytes, start, b'"');
        out.push_str(&text[start..at]);
        let Some(&byte) = bytes.get(at) else { return };
        push_escape(out, byte);
        start = at + 1;
    }
}

/// Appends one character, escaped if a JSON string needs it.
#[inline]
pub(crate) fn push_char(out: &mut String, c: char) {
    if (c as u32) < 0x80 && !is_plain(c as u8) { push_escape(out, c as u8) } else { out.push(c) }
}

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
