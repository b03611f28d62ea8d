//! The content of a quoted value or key. It has few escapes; any other backslash is content.

use crate::syntax::json::{plain_end, unicode_escape};
use crate::syntax::scan::{Delimiters, Scan};

/// A part of quoted content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum QuotedPart<'w> {
    /// Content without quotes, backslashes or control characters.
    Plain(&'w str),
    Char(char),
    /// An unescaped quote of the opening kind. It is not consumed, because the reader decides whether it closes the
    /// text.
    Quote,
    /// The window ends. An incomplete escape is not consumed.
    Need,
}

/// A quoted text being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted {
    pub quote: u8,
}

impl Quoted {
    pub(crate) fn new(quote: u8) -> Self {
        Quoted { quote }
    }

    /// Whether all of the text is content without escapes, in which no delimiter begins.
    #[inline]
    pub(crate) fn is_plain(&self, text: &str, delimiters: &Delimiters) -> bool {
        text.bytes().all(|byte| delimiters.is_plain(byte) && byte != self.quote)
    }

    /// Whether all of the text is content, whatever follows: it contains no closing quote and no incomplete or long
    /// escape.
    #[inline]
    pub(crate) fn is_inside(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] == self.quote {
                return false;
            }
            if bytes[at] == b'\\' {
                match bytes.get(at + 1) {
                    None | Some(b'u') => return false,
                    Some(b'"' | b'\'' | b'\\') => at += 1,
                    Some(_) => {}
                }
            }
            at += 1;
        }
        true
    }

    /// The next part of `window` from `*at`, which moves past it.
    // Read for every delta of a quoted text, so it is inlined into each loop.
    #[inline(always)]
    pub(crate) fn next<'w>(&self, window: &'w str, at: &mut usize, last: bool) -> QuotedPart<'w> {
        let bytes = window.as_bytes();
        let start = *at;
        let end = plain_end(bytes, start, self.quote);
        if end > start {
            *at = end;
            return QuotedPart::Plain(&window[start..end]);
        }
        let Some(&byte) = bytes.get(end) else { return QuotedPart::Need };
        if byte == self.quote {
            return QuotedPart::Quote;
        }
        if byte != b'\\' {
            *at += 1;
            return QuotedPart::Char(byte as char);
        }
        let decoded = match bytes.get(end + 1) {
            None if last => '\\',
            None => return QuotedPart::Need,
            Some(&escape @ (b'"' | b'\'' | b'\\')) => escape as char,
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => match unicode_escape(&window[end..], last) {
                Scan::Match((c, length)) => {
                    *at += length;
                    return QuotedPart::Char(c);
                }
                Scan::Incomplete => return QuotedPart::Need,
                Scan::NoMatch => '\\',
            },
            Some(_) => '\\',
        };
        let escaped = decoded != '\\' || bytes.get(end + 1) == Some(&b'\\');
        *at += if escaped { 2 } else { 1 };
        QuotedPart::Char(decoded)
    }
}
