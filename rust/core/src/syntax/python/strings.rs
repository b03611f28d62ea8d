//! Python's strings: two kinds of quotes, alone or tripled, prefixes, and escapes.

use crate::syntax::json::{JsonLexeme, hex_digits, unicode_escape};
use crate::syntax::scan::Scan;

/// How the open string is quoted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quotes {
    quote: u8,
    triple: bool,
    /// Backslashes are text.
    raw: bool,
}

/// Whether a word is the prefix of a string, and then whether it makes the string raw.
pub(super) fn prefix(word: &str) -> Option<bool> {
    if word.is_empty() {
        return Some(false);
    }
    let known = ["r", "u", "b", "f", "br", "rb", "fr", "rf"].iter().any(|prefix| word.eq_ignore_ascii_case(prefix));
    known.then(|| word.contains(['r', 'R']))
}

/// The quotes at the start of the text, and their number of bytes. `None`: more text is needed.
pub(super) fn quotes(text: &str, raw: bool) -> Option<(Quotes, usize)> {
    let bytes = text.as_bytes();
    let &quote = bytes.first()?;
    let triple = match bytes.get(1..) {
        Some([second, third, ..]) => *second == quote && *third == quote,
        Some([second]) if *second != quote => false,
        _ => return None,
    };
    Some((Quotes { quote, triple, raw }, if triple { 3 } else { 1 }))
}

impl Quotes {
    /// Whether nothing in this text ends the string or is an escape.
    pub(super) fn continues(self, text: &str) -> bool {
        memchr::memchr2(self.quote, b'\\', text.as_bytes()).is_none()
    }

    /// The next part of the string: text, a character, or its end.
    pub(super) fn content<'w>(self, window: &'w str, at: &mut usize) -> JsonLexeme<'w> {
        let rest = &window[*at..];
        let end = memchr::memchr2(self.quote, b'\\', rest.as_bytes()).unwrap_or(rest.len());
        if end > 0 {
            *at += end;
            return JsonLexeme::Plain(&rest[..end]);
        }
        match rest.as_bytes() {
            [] => JsonLexeme::Need,
            [b'\\', ..] => self.escape(rest, at),
            _ if !self.triple => {
                *at += 1;
                JsonLexeme::StringEnd
            }
            [a, b, c, ..] if [a, b, c].iter().all(|byte| **byte == self.quote) => {
                *at += 3;
                JsonLexeme::StringEnd
            }
            rest_of if rest_of.len() < 3 && rest_of.iter().all(|byte| *byte == self.quote) => JsonLexeme::Need,
            _ => plain(rest, 1, at),
        }
    }

    fn escape<'w>(self, rest: &'w str, at: &mut usize) -> JsonLexeme<'w> {
        let Some(&escape) = rest.as_bytes().get(1) else { return JsonLexeme::Need };
        if self.raw {
            // A quote after a backslash does not end a raw string, and both are kept.
            let both = escape == self.quote || escape == b'\\';
            return plain(rest, if both { 2 } else { 1 }, at);
        }
        let hex = |digits: usize| {
            hex_digits(rest, 2..2 + digits, false).map(|code| (char::from_u32(code).unwrap_or('\u{fffd}'), 2 + digits))
        };
        let known = match escape {
            b'\n' => {
                *at += 2;
                return JsonLexeme::Plain("");
            }
            b'\\' | b'\'' | b'"' => Scan::Match((escape as char, 2)),
            b'a' => Scan::Match(('\u{7}', 2)),
            b'b' => Scan::Match(('\u{8}', 2)),
            b'f' => Scan::Match(('\u{c}', 2)),
            b'n' => Scan::Match(('\n', 2)),
            b'r' => Scan::Match(('\r', 2)),
            b't' => Scan::Match(('\t', 2)),
            b'v' => Scan::Match(('\u{b}', 2)),
            b'x' => hex(2),
            b'U' => hex(8),
            b'u' => unicode_escape(rest, false),
            b'0'..=b'7' => octal(rest),
            _ => Scan::NoMatch,
        };
        match known {
            Scan::Match((c, length)) => {
                *at += length;
                JsonLexeme::Char(c)
            }
            Scan::Incomplete => JsonLexeme::Need,
            // Python keeps the backslash of an unknown escape.
            Scan::NoMatch => plain(rest, 1, at),
        }
    }
}

fn plain<'w>(rest: &'w str, length: usize, at: &mut usize) -> JsonLexeme<'w> {
    *at += length;
    JsonLexeme::Plain(&rest[..length])
}

/// Up to three octal digits.
fn octal(rest: &str) -> Scan<(char, usize)> {
    let digits = &rest[1..];
    let count = digits.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    if count < 3 && count == digits.len() {
        return Scan::Incomplete;
    }
    let code = u32::from_str_radix(&digits[..count], 8).ok().and_then(char::from_u32);
    Scan::some(code.map(|c| (c, 1 + count)))
}
