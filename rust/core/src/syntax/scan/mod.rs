//! Markers in a stream: found whole, or held back while the end of what is known could be their beginning.

mod candidates;
mod closers;
mod code;
mod delimiters;

pub use candidates::{Candidates, neutralise_marks};
pub use closers::{Closer, Closers};
pub use code::CodeScanner;
pub use delimiters::Delimiters;

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
    // One of the first bytes tells most often, so this is quicker than to compare slices.
    if text.iter().zip(marker).any(|(a, b)| a != b) {
        Mark::No
    } else if text.len() >= marker.len() {
        Mark::Yes
    } else if last {
        Mark::No
    } else {
        Mark::Partial
    }
}

/// Where a marker stands in a word, which most often is shorter.
#[inline]
pub fn find_mark(word: &str, marker: &str) -> Option<usize> {
    if word.len() < marker.len() { None } else { word.find(marker) }
}

/// ASCII blanks only: NBSP and friends are content.
#[inline]
pub fn is_ws(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Without such blanks around it.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii() && is_ws(c as u8))
}

/// Where the run of [`is_ws`] that begins at byte `from` ends.
#[inline]
pub fn ws_run(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() && is_ws(bytes[at]) {
        at += 1;
    }
    at
}

/// Bytes of the first `count` characters of `text`, or of all of it.
#[inline]
pub fn first_chars(text: &str, count: usize) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(..count) {
        None => return bytes.len(),
        Some(start) if start.is_ascii() => return count,
        Some(_) => {}
    }
    // Every byte more is at most one character more, so this closes in from below.
    let (mut end, mut missing) = (0, count);
    while missing > 0 && end < bytes.len() {
        let from = end;
        end = bytes.len().min(from + missing);
        while !text.is_char_boundary(end) {
            end += 1;
        }
        missing -= text[from..end].chars().count();
    }
    end
}

/// Does the text hold a line break?
pub fn has_line_break(text: &str) -> bool {
    memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some()
}

/// What begins a result; outside a call only the host writes it.
pub const RESULT_MARKS: [&str; 2] = ["<tool-result", "<tool-error"];

/// What could open or end a result.
pub const RESULT_TAGS: [&str; 4] = [RESULT_MARKS[0], RESULT_MARKS[1], "</tool-result", "</tool-error"];

/// Does the text start with the tag, case aside?
pub fn starts_ignoring_case(text: &str, tag: &str) -> bool {
    text.as_bytes().get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
}

/// [`starts`], ASCII case aside.
#[inline]
pub fn starts_as(text: &str, marker: &str, last: bool) -> Mark {
    let known = text.len().min(marker.len());
    let (text, begun) = (&text.as_bytes()[..known], &marker.as_bytes()[..known]);
    // Usually the second byte is another one already.
    let differs = matches!((text, begun), ([_, a, ..], [_, b, ..]) if !a.eq_ignore_ascii_case(b));
    match !differs && text.eq_ignore_ascii_case(begun) {
        false => Mark::No,
        true if known == marker.len() => Mark::Yes,
        true if last => Mark::No,
        true => Mark::Partial,
    }
}
