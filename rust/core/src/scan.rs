//! Markers in a stream: found whole, or held back while the end of what is known could be their beginning.

/// How a text stands to a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Yes,
    No,
    /// The text ended while it still was a beginning of the marker.
    Partial,
}

/// Does `text` start with `marker`? With `last` there is no more to come, so nothing is partial.
#[inline]
pub fn starts(text: &str, marker: &str, last: bool) -> Mark {
    let (text, marker) = (text.as_bytes(), marker.as_bytes());
    let shared = text.len().min(marker.len());
    if text[..shared] != marker[..shared] {
        Mark::No
    } else if shared == marker.len() {
        Mark::Yes
    } else if last {
        Mark::No
    } else {
        Mark::Partial
    }
}

/// ASCII blanks only: NBSP and friends are content.
#[inline]
pub fn is_ws(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Bytes of the run of [`is_ws`] that `text` starts with, from byte `from` on.
#[inline]
pub fn ws_run(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() && is_ws(bytes[at]) {
        at += 1;
    }
    at
}

/// Does the text hold a line break?
pub fn has_line_break(text: &str) -> bool {
    memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some()
}

/// The markers around a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delimiters {
    pub open: String,
    pub close: String,
}

impl Default for Delimiters {
    fn default() -> Self {
        Delimiters { open: "<call>".into(), close: "</call>".into() }
    }
}

impl Delimiters {
    /// The delimiters, or a sentence that says what is wrong with them.
    pub fn new(open: &str, close: &str) -> Result<Self, String> {
        for mark in [open, close] {
            if mark.is_empty() {
                return Err("a delimiter is empty".into());
            }
            if let Some(bad) =
                mark.chars().find(|c| c.is_ascii_whitespace() || c.is_control() || "\"'=[]{}\\".contains(*c))
            {
                return Err(format!("the delimiter {mark:?} may not contain {bad:?}"));
            }
            if mark.chars().all(char::is_alphanumeric) {
                return Err(format!("the delimiter {mark:?} needs a character that is no letter or digit"));
            }
        }
        if open.starts_with(close) || close.starts_with(open) {
            return Err(format!("the delimiter {open:?} or {close:?} is the beginning of the other"));
        }
        Ok(Delimiters { open: open.into(), close: close.into() })
    }

    /// Characters that no bare word, name or key of the encoder may contain.
    pub fn is_first(&self, c: char) -> bool {
        c == '<' || self.open.starts_with(c) || self.close.starts_with(c)
    }
}
