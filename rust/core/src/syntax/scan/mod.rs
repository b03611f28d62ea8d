//! Markers in a stream. A text is held back while its end could be the beginning of a marker.

mod candidates;
mod closers;
mod code;
mod delimiters;

pub(crate) use candidates::{Candidates, neutralise_marks};
pub(crate) use closers::{Closer, Closers, no_opener};
pub(crate) use code::CodeScanner;
pub(crate) use delimiters::{Delimiter, Delimiters};

/// The result of a scan at a place in a text that may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Scan<T = ()> {
    Match(T),
    NoMatch,
    /// More text is needed to decide.
    Incomplete,
}

impl<T> Scan<T> {
    /// The result where the text ends. With `last`, nothing follows.
    #[inline]
    pub(crate) fn at_end(last: bool) -> Self {
        if last { Scan::NoMatch } else { Scan::Incomplete }
    }

    /// A match if there is a value.
    #[inline]
    pub(crate) fn some(found: Option<T>) -> Self {
        found.map_or(Scan::NoMatch, Scan::Match)
    }

    pub(crate) fn is_match(&self) -> bool {
        matches!(self, Scan::Match(_))
    }

    pub(crate) fn is_incomplete(&self) -> bool {
        matches!(self, Scan::Incomplete)
    }

    /// The first match. Incomplete if neither matches and at least one is incomplete.
    #[inline]
    pub(crate) fn or(self, other: impl FnOnce() -> Scan<T>) -> Scan<T> {
        match self {
            Scan::Match(_) => self,
            Scan::NoMatch => other(),
            Scan::Incomplete => match other() {
                Scan::NoMatch => Scan::Incomplete,
                found => found,
            },
        }
    }

    /// The first match of several, as with [`Scan::or`].
    #[inline]
    pub(crate) fn first_of(scans: impl IntoIterator<Item = Scan<T>>) -> Scan<T> {
        let mut found = Scan::NoMatch;
        for scan in scans {
            match scan {
                Scan::Match(_) => return scan,
                Scan::Incomplete => found = scan,
                Scan::NoMatch => {}
            }
        }
        found
    }

    #[inline]
    pub(crate) fn and_then<U>(self, then: impl FnOnce(T) -> Scan<U>) -> Scan<U> {
        match self {
            Scan::Match(found) => then(found),
            Scan::NoMatch => Scan::NoMatch,
            Scan::Incomplete => Scan::Incomplete,
        }
    }

    #[inline]
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Scan<U> {
        self.and_then(|found| Scan::Match(change(found)))
    }

    #[inline]
    pub(crate) fn filter(self, fits: impl FnOnce(&T) -> bool) -> Scan<T> {
        self.and_then(|found| if fits(&found) { Scan::Match(found) } else { Scan::NoMatch })
    }

    /// The result without the value.
    #[inline]
    pub(crate) fn void(self) -> Scan {
        self.map(|_| ())
    }
}

/// Whether `text` starts with `marker`. With `last`, nothing follows, so the result is never incomplete.
#[inline]
pub(crate) fn starts(text: &str, marker: &str, last: bool) -> Scan {
    let (text, marker) = (text.as_bytes(), marker.as_bytes());
    // One of the first bytes usually differs, so this is faster than comparing slices.
    if text.iter().zip(marker).any(|(a, b)| a != b) {
        Scan::NoMatch
    } else if text.len() >= marker.len() {
        Scan::Match(())
    } else {
        Scan::at_end(last)
    }
}

/// The length of the first of these marks at the start of the text.
pub(crate) fn first_mark(text: &str, marks: &[&str], last: bool) -> Scan<usize> {
    Scan::first_of(marks.iter().map(|mark| starts(text, mark, last).map(|()| mark.len())))
}

/// The byte from which the end of `text` could be the start of `marker`.
pub(crate) fn partial_end(text: &str, marker: &str) -> usize {
    let longest = marker.len().saturating_sub(1).min(text.len());
    (text.len() - longest..text.len())
        .find(|at| text.is_char_boundary(*at) && marker.starts_with(&text[*at..]))
        .unwrap_or(text.len())
}

/// Where a word contains a marker. Most words are shorter.
#[inline]
pub(crate) fn find_mark(word: &str, marker: &str) -> Option<usize> {
    if word.len() < marker.len() { None } else { word.find(marker) }
}

/// ASCII whitespace. Other spaces, such as NBSP, are content.
#[inline]
pub(crate) fn is_ws(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The text without ASCII whitespace around it.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii() && is_ws(c as u8))
}

/// Where a part of a text begins in it.
pub(crate) fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The end of the run of [`is_ws`] that begins at byte `from`.
#[inline]
pub(crate) fn ws_run<T: AsRef<[u8]> + ?Sized>(text: &T, from: usize) -> usize {
    let bytes = text.as_ref();
    let mut at = from;
    while at < bytes.len() && is_ws(bytes[at]) {
        at += 1;
    }
    at
}

/// The number of bytes of the first `count` characters, or of the whole text if it has fewer.
#[inline]
pub(crate) fn first_chars(text: &str, count: usize) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(..count) {
        None => return bytes.len(),
        Some(start) if start.is_ascii() => return count,
        Some(_) => {}
    }
    // A byte is at most one character, so each step adds at most what is missing.
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

/// The first `count` characters of a text, and whether it is known what follows them, as it is with `last`.
#[inline]
pub(crate) fn window(text: &str, count: usize, last: bool) -> (&str, bool) {
    let end = first_chars(text, count);
    (&text[..end], last || end < text.len())
}

/// The end of at most this many bytes of the text from `begin` on, at a character boundary.
pub(crate) fn fitting(text: &str, begin: usize, bytes: usize) -> usize {
    let mut end = text.len().min(begin.saturating_add(bytes));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Whether the text contains a line break.
pub(crate) fn has_line_break(text: &str) -> bool {
    memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some()
}

/// What begins a result. Outside a call, only the host writes it.
pub(crate) const RESULT_MARKS: [&str; 2] = ["<tool-result", "<tool-error"];

/// What could open or end a result.
pub(crate) const RESULT_TAGS: [&str; 4] = [RESULT_MARKS[0], RESULT_MARKS[1], "</tool-result", "</tool-error"];

/// Whether the text starts with the tag, ignoring case.
pub(crate) fn starts_ignoring_case(text: &str, tag: &str) -> bool {
    text.as_bytes().get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
}

/// [`starts`], ignoring ASCII case.
#[inline]
pub(crate) fn starts_as(text: &str, marker: &str, last: bool) -> Scan {
    let known = text.len().min(marker.len());
    let (text, begun) = (&text.as_bytes()[..known], &marker.as_bytes()[..known]);
    // Usually the second byte already differs.
    let differs = matches!((text, begun), ([_, a, ..], [_, b, ..]) if !a.eq_ignore_ascii_case(b));
    match !differs && text.eq_ignore_ascii_case(begun) {
        false => Scan::NoMatch,
        true if known == marker.len() => Scan::Match(()),
        true => Scan::at_end(last),
    }
}
