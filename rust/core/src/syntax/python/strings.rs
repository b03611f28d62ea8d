//! Python's strings: two kinds of quotes, alone or tripled, prefixes, and escapes.

use crate::syntax::json::{JsonLexeme, hex_digits, push_char, push_str, unicode_escape};
use crate::syntax::scan::Scan;

/// How the open string is quoted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StringQuotes {
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
pub(super) fn quotes(text: &str, raw: bool) -> Option<(StringQuotes, usize)> {
    let bytes = text.as_bytes();
    let &quote = bytes.first()?;
    let triple = match bytes.get(1..) {
        Some([second, third, ..]) => *second == quote && *third == quote,
        Some([second]) if *second != quote => false,
        _ => return None,
    };
    Some((StringQuotes { quote, triple, raw }, if triple { 3 } else { 1 }))
}

impl StringQuotes {
    /// One quote on each side, and escapes.
    pub(crate) fn of(quote: u8) -> Self {
        StringQuotes { quote, triple: false, raw: false }
    }

    pub(crate) fn quote(self) -> u8 {
        self.quote
    }

    /// Appends a text in which nothing ends the string, and whose escapes are complete and short, as JSON. Otherwise it does
    /// nothing. The result says which.
    pub(super) fn push_inside(self, text: &str, json: &mut String) -> bool {
        let (length, mut rest) = (json.len(), text);
        while let Some(end) = memchr::memchr2(self.quote, b'\\', rest.as_bytes()) {
            let escaped = match rest.as_bytes().get(end..end + 2) {
                Some([b'\\', escape]) if !self.raw => short_escape(*escape),
                _ => None,
            };
            let Some(c) = escaped else {
                json.truncate(length);
                return false;
            };
            push_str(json, &rest[..end]);
            push_char(json, c);
            rest = &rest[end + 2..];
        }
        push_str(json, rest);
        true
    }

    /// The next part of the string: text, a character, or its end.
    pub(crate) fn content<'w>(self, window: &'w str, at: &mut usize) -> JsonLexeme<'w> {
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
            b'x' => hex(2),
            b'U' => hex(8),
            b'u' => unicode_escape(rest, false),
            b'0'..=b'7' => octal(rest),
            _ => Scan::some(short_escape(escape).map(|c| (c, 2))),
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

/// What a backslash and one character are.
fn short_escape(escape: u8) -> Option<char> {
    Some(match escape {
        b'\\' | b'\'' | b'"' => escape as char,
        b'a' => '\u{7}',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'v' => '\u{b}',
        _ => return None,
    })
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
