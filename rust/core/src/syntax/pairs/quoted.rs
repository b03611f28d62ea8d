//! The content of a quoted value or key: few escapes, any other backslash is itself.

use crate::syntax::json::{is_plain, unicode_escape};
use crate::syntax::scan::{Delimiters, Scan};

/// A part of quoted content.
#[derive(Debug, PartialEq, Eq)]
pub enum Part<'w> {
    /// Content as it stands, without quotes, backslashes or control characters.
    Plain(&'w str),
    Char(char),
    /// An unescaped quote of the kind that opened; it is not consumed: whether it closes is the reader's business.
    Quote,
    /// The window ends; nothing of an escape is consumed.
    Need,
}

/// A quoted text being read.
#[derive(Clone, Copy, Debug)]
pub struct Quoted {
    pub quote: u8,
}

impl Quoted {
    pub fn new(quote: u8) -> Self {
        Quoted { quote }
    }

    /// Is all of the text content that needs no escape, and no delimiter begins in it?
    #[inline]
    pub fn is_plain(&self, text: &str, delimiters: &Delimiters) -> bool {
        text.bytes().all(|byte| delimiters.is_plain(byte) && byte != self.quote)
    }

    /// Is all of the text content, whatever follows it: no quote that ends it, no escape that is cut or long?
    #[inline]
    pub fn is_inside(&self, text: &str) -> bool {
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

    /// The next part of `window` from `*at`, which moves behind it.
    #[inline]
    pub fn next<'w>(&self, window: &'w str, at: &mut usize, last: bool) -> Part<'w> {
        let bytes = window.as_bytes();
        let start = *at;
        let mut end = start;
        while end < bytes.len() && is_plain(bytes[end]) && bytes[end] != self.quote {
            end += 1;
        }
        if end > start {
            *at = end;
            return Part::Plain(&window[start..end]);
        }
        let Some(&byte) = bytes.get(end) else { return Part::Need };
        if byte == self.quote {
            return Part::Quote;
        }
        if byte != b'\\' {
            *at += 1;
            return Part::Char(byte as char);
        }
        let decoded = match bytes.get(end + 1) {
            None if last => '\\',
            None => return Part::Need,
            Some(&escape @ (b'"' | b'\'' | b'\\')) => escape as char,
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => match unicode_escape(&window[end..], last) {
                Scan::Match((c, length)) => {
                    *at += length;
                    return Part::Char(c);
                }
                Scan::Incomplete => return Part::Need,
                Scan::NoMatch => '\\',
            },
            Some(_) => '\\',
        };
        let escaped = decoded != '\\' || bytes.get(end + 1) == Some(&b'\\');
        *at += if escaped { 2 } else { 1 };
        Part::Char(decoded)
    }
}
