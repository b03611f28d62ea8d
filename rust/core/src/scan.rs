//! Markers in a stream: found whole, or held back while the end of what is known could be their beginning.

use crate::json::is_plain;

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

/// The first two bytes of everything that can begin in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// The first bytes, repeated to fill the array, and their number; if there are more, bytes are looked up one by one.
    few: [u8; 6],
    count: usize,
    /// For each byte, the bit of its place among the first bytes, or none; all bytes beyond the last place share its bit.
    first: [u8; 256],
    /// For each byte, the bits of the first bytes that it may follow.
    second: [u8; 256],
}

/// A shorter text is scanned byte by byte.
const SHORT_BYTES: usize = 16;
const CHUNK_BYTES: usize = 128;
const BLOCK_BYTES: usize = 32;

impl Candidates {
    pub fn none() -> Self {
        Candidates { few: [0; 6], count: 0, first: [0; 256], second: [0; 256] }
    }

    /// Together with what begins with the first byte and one of the second ones.
    pub fn with(mut self, first: u8, seconds: impl IntoIterator<Item = u8>) -> Self {
        if self.first[first as usize] == 0 {
            self.first[first as usize] = 1 << self.count.min(7);
            self.few.iter_mut().skip(self.count).for_each(|place| *place = first);
            self.count += 1;
        }
        for second in seconds {
            self.second[second as usize] |= self.first[first as usize];
        }
        self
    }

    /// Together with whatever begins with this byte.
    pub fn with_byte(self, first: u8) -> Self {
        self.with(first, 0..=u8::MAX)
    }

    /// Together with this text, ASCII case aside.
    pub fn with_text(self, text: &str) -> Self {
        match *text.as_bytes() {
            [] => self,
            [first] => self.with_byte(first),
            [first, second, ..] => self.with(first, [second.to_ascii_lowercase(), second.to_ascii_uppercase()]),
        }
    }

    /// Together with these others.
    pub fn and(self, other: &Candidates) -> Self {
        let firsts = (0..=u8::MAX).filter(|first| other.first[*first as usize] != 0);
        firsts.fold(self, |all, first| {
            let bit = other.first[first as usize];
            all.with(first, (0..=u8::MAX).filter(|second| other.second[*second as usize] & bit != 0))
        })
    }

    /// Whether one of them may begin here. For the last byte this is not known.
    #[inline]
    pub fn may_begin(&self, bytes: &[u8]) -> bool {
        match *bytes {
            [] => false,
            [first] => self.first[first as usize] != 0,
            [first, second, ..] => self.first[first as usize] & self.second[second as usize] != 0,
        }
    }

    /// Where the first of them stands.
    #[inline]
    pub fn find(&self, bytes: &[u8]) -> Option<usize> {
        let mut from = 0;
        loop {
            let at = from + self.find_first(&bytes[from..])?;
            if self.may_begin(&bytes[at..]) {
                return Some(at);
            }
            from = at + 1;
        }
    }

    /// Whether a chunk has none. Most have none, and are short.
    #[inline]
    pub fn are_missing(&self, bytes: &[u8]) -> bool {
        let none = match bytes.len() {
            0..SHORT_BYTES => bytes.iter().all(|byte| self.first[*byte as usize] == 0),
            SHORT_BYTES..=CHUNK_BYTES => self.count <= 6 && !self.has_first(bytes),
            _ => false,
        };
        none || self.find(bytes).is_none()
    }

    /// Whether one of the few first bytes is there. Without a branch for each byte, many bytes are checked at once.
    #[inline]
    fn has_first(&self, bytes: &[u8]) -> bool {
        let [a, b, c, d, e, f] = self.few;
        let is_first = |byte: u8| (byte == a) | (byte == b) | (byte == c) | (byte == d) | (byte == e) | (byte == f);
        bytes.iter().fold(false, |has, byte| has | is_first(*byte))
    }

    #[inline]
    fn find_first(&self, bytes: &[u8]) -> Option<usize> {
        let one_by_one = |bytes: &[u8]| bytes.iter().position(|byte| self.first[*byte as usize] != 0);
        if bytes.len() < SHORT_BYTES {
            return one_by_one(bytes);
        }
        let [a, b, c, ..] = self.few;
        match self.count {
            1 => memchr::memchr(a, bytes),
            2 => memchr::memchr2(a, b, bytes),
            3 => memchr::memchr3(a, b, c, bytes),
            4..=6 => {
                let mut blocks = bytes.chunks(BLOCK_BYTES).enumerate();
                let (number, block) = blocks.find(|(_, block)| self.has_first(block))?;
                one_by_one(block).map(|at| number * BLOCK_BYTES + at)
            }
            _ => one_by_one(bytes),
        }
    }
}

/// Puts a backslash behind the first character of each mark, all of which begin with one of the candidates.
///
/// The output contains no mark, and a text that already has the backslash is left alone.
pub fn neutralise_marks(text: &str, candidates: &Candidates, is_mark: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let mut next = 0;
    // Most texts have no mark at all, and a mark begins with a character's first byte.
    while let Some(offset) = candidates.find(&text.as_bytes()[next..]) {
        let at = next + offset;
        next = at + 1;
        if text.is_char_boundary(at) && is_mark(&text[at..]) {
            let behind = at + text[at..].chars().next().map_or(1, char::len_utf8);
            out.push_str(&text[from..behind]);
            out.push('\\');
            from = behind;
        }
    }
    out.push_str(&text[from..]);
    out
}

/// Does the text start with the tag, case aside?
pub fn starts_ignoring_case(text: &str, tag: &str) -> bool {
    text.as_bytes().get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
}

/// Could this delimiter be part of a result's tags, or arise where its content touches one of them?
fn meets_result_tags(mark: &str) -> bool {
    let touches = |tag: &&str| {
        let begins = |(at, _): (usize, char)| tag.starts_with(&mark[at..]);
        mark.contains(tag) || tag.contains(mark) || mark.char_indices().any(begins)
    };
    mark.starts_with('>') || RESULT_TAGS.iter().any(touches)
}

/// Spaces and tabs before the last character of a closing tag.
const CLOSE_SPACES: usize = 8;

/// What ends a call that was opened in a way that no reader accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Closers {
    /// CLOSE.
    #[default]
    Own,
    /// The first of these, case aside.
    Spelled(&'static [&'static str]),
    /// The closing tag of that name, ignoring case; with `slash`, the opening tag is not complete, and `/>` ends it, too.
    Tag { name: String, slash: bool },
}

/// What ends a call that has failed.
#[derive(Clone, Copy, Debug)]
pub enum Closer<'a> {
    Own(&'a Delimiters),
    /// This text alone.
    Text(&'a str),
    Other(&'a Closers),
}

impl Closer<'_> {
    #[inline]
    pub fn may_begin(&self, byte: u8) -> bool {
        match self {
            Closer::Own(delimiters) => delimiters.close.as_bytes()[0] == byte,
            Closer::Text(text) => text.as_bytes()[0] == byte,
            Closer::Other(Closers::Spelled(texts)) => texts.iter().any(|text| text.as_bytes()[0] == byte),
            Closer::Other(Closers::Own | Closers::Tag { .. }) => matches!(byte, b'<' | b'/'),
        }
    }

    /// Whether one is at the start of the text, and its number of bytes.
    pub fn look(&self, text: &str, last: bool) -> (Mark, usize) {
        let mut found = (Mark::No, 0);
        let mut add = |close: &str| match (starts_as(text, close, last), found.0) {
            (Mark::Yes, Mark::No | Mark::Partial) => found = (Mark::Yes, close.len()),
            (Mark::Partial, Mark::No) => found.0 = Mark::Partial,
            _ => {}
        };
        match self {
            Closer::Own(delimiters) => return delimiters.closes(text, last),
            Closer::Text(close) => return (starts(text, close, last), close.len()),
            Closer::Other(Closers::Spelled(texts)) => texts.iter().for_each(|text| add(text)),
            Closer::Other(Closers::Tag { name, slash }) => {
                if *slash {
                    add("/>");
                }
                add(&format!("</{name}>"));
            }
            Closer::Other(Closers::Own) => {}
        }
        found
    }
}

/// [`starts`], ASCII case aside.
pub fn starts_as(text: &str, marker: &str, last: bool) -> Mark {
    let known = text.len().min(marker.len());
    match text.as_bytes()[..known].eq_ignore_ascii_case(&marker.as_bytes()[..known]) {
        false => Mark::No,
        true if known == marker.len() => Mark::Yes,
        true if last => Mark::No,
        true => Mark::Partial,
    }
}

/// The markers around a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delimiters {
    pub open: String,
    pub close: String,
    /// What each ASCII character may be.
    classes: [u8; 128],
    /// Which bytes are themselves in JSON, and begin no delimiter.
    plain: [bool; 256],
}

/// A delimiter begins with it.
const FIRST: u8 = 1;
/// It ends a run of characters in a bare value, for a closer look.
const STOP: u8 = 2;
/// It may stand in a bare segment of a key.
const KEY: u8 = 4;
/// The encoder writes it in a bare value.
const BARE: u8 = 8;
/// It ends a tool's name.
const NAME_END: u8 = 16;

impl Default for Delimiters {
    fn default() -> Self {
        Delimiters::of("<call>", "</call>")
    }
}

impl Delimiters {
    /// The delimiters, or a sentence that says what is wrong with them.
    pub fn new(open: &str, close: &str) -> Result<Self, String> {
        for mark in [open, close] {
            // Of one character alone, nothing is left of OPEN to be neutralised in a result.
            if mark.chars().count() < 2 {
                return Err(format!("the delimiter {mark:?} needs two characters or more"));
            }
            if let Some(bad) =
                mark.chars().find(|c| c.is_ascii_whitespace() || c.is_control() || "\"'=[]{}\\,".contains(*c))
            {
                return Err(format!("the delimiter {mark:?} may not contain {bad:?}"));
            }
            if mark.chars().all(char::is_alphanumeric) {
                return Err(format!("the delimiter {mark:?} needs a character that is no letter or digit"));
            }
            if mark.chars().all(|c| "0123456789eE+-.".contains(c)) {
                return Err(format!("the delimiter {mark:?} could be part of a number"));
            }
            if meets_result_tags(mark) {
                return Err(format!("the delimiter {mark:?} could be part of a <tool-result> tag"));
            }
        }
        if open.starts_with(close) || close.starts_with(open) {
            return Err(format!("the delimiter {open:?} or {close:?} is the beginning of the other"));
        }
        Ok(Delimiters::of(open, close))
    }

    /// Any two markers that are not empty, for protocols whose calls do not depend on what is in them.
    pub fn of(open: &str, close: &str) -> Self {
        let mut classes = [0; 128];
        for (byte, class) in (0..128).zip(&mut classes) {
            let first = [b'<', open.as_bytes()[0], close.as_bytes()[0]].contains(&byte);
            let key = !(byte.is_ascii_control() || first || b" =.[]{}\"'<,`".contains(&byte));
            let bare = !(byte.is_ascii_control() || first || b" \"'=<>\\".contains(&byte));
            *class = if first { FIRST } else { 0 }
                | if first || is_ws(byte) || b",\"'".contains(&byte) { STOP } else { 0 }
                | if key { KEY } else { 0 }
                | if bare { BARE } else { 0 }
                | if first || is_ws(byte) || b"<{\"'=".contains(&byte) { NAME_END } else { 0 };
        }
        let begins = |byte: u8| byte == open.as_bytes()[0] || byte == close.as_bytes()[0];
        let plain = std::array::from_fn(|byte| is_plain(byte as u8) && !begins(byte as u8));
        Delimiters { open: open.into(), close: close.into(), classes, plain }
    }

    /// Whether CLOSE is at the start of the text, and its number of bytes. Spaces may precede its `>`.
    #[inline]
    pub fn closes(&self, text: &str, last: bool) -> (Mark, usize) {
        // Usually not even its first character is there.
        if text.as_bytes().first().is_some_and(|first| *first != self.close.as_bytes()[0]) {
            return (Mark::No, 0);
        }
        match starts(text, &self.close, last) {
            Mark::Yes => (Mark::Yes, self.close.len()),
            Mark::Partial => (Mark::Partial, 0),
            Mark::No if text.starts_with(self.close_stem()) => self.closes_with_spaces(text, last),
            Mark::No => (Mark::No, 0),
        }
    }

    #[cold]
    fn closes_with_spaces(&self, text: &str, last: bool) -> (Mark, usize) {
        let stem = self.close_stem().len();
        let spaces = text.as_bytes()[stem..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        match text.as_bytes().get(stem + spaces) {
            _ if stem == self.close.len() || spaces > CLOSE_SPACES => (Mark::No, 0),
            Some(b'>') => (Mark::Yes, stem + spaces + 1),
            None if !last => (Mark::Partial, 0),
            _ => (Mark::No, 0),
        }
    }

    /// CLOSE as far as it is the same in every spelling: without a `>` at its end.
    pub fn close_stem(&self) -> &str {
        self.close.strip_suffix('>').unwrap_or(&self.close)
    }

    /// Is the byte itself in a JSON string, and begins no delimiter?
    #[inline]
    pub fn is_plain(&self, byte: u8) -> bool {
        self.plain[byte as usize]
    }

    /// Does a delimiter begin with it? No bare word, name or key of the encoder may contain it.
    #[inline]
    pub fn is_first(&self, c: char) -> bool {
        match self.classes.get(c as usize) {
            Some(class) => class & FIRST != 0,
            None => self.open.starts_with(c) || self.close.starts_with(c),
        }
    }

    /// May the character stand in a bare segment of a key?
    #[inline]
    fn is_key(&self, c: char) -> bool {
        match self.classes.get(c as usize) {
            Some(class) => class & KEY != 0,
            None => !(c.is_control() || self.is_first(c)),
        }
    }

    /// Does the encoder write all these characters in a bare value?
    pub fn are_bare(&self, text: &str) -> bool {
        let is_bare = |c: char| match self.classes.get(c as usize) {
            Some(class) => class & BARE != 0,
            None => !(c.is_control() || self.is_first(c)),
        };
        // Most often a blank, early on, is what decides.
        let ascii = |byte: &u8| self.classes.get(*byte as usize).is_some_and(|class| class & BARE != 0);
        match text.as_bytes().iter().position(|byte| !ascii(byte)) {
            None => true,
            Some(at) => !text.as_bytes()[at].is_ascii() && text[at..].chars().all(is_bare),
        }
    }

    /// Bytes of the run that a bare segment of a key can take.
    #[inline]
    pub fn key_run(&self, text: &str) -> usize {
        let ends = |byte: &u8| self.classes.get(*byte as usize).is_none_or(|class| class & KEY == 0);
        match text.as_bytes().iter().position(ends) {
            Some(at) if !text.as_bytes()[at].is_ascii() => {
                at + text[at..].find(|c| !self.is_key(c)).unwrap_or(text.len() - at)
            }
            other => other.unwrap_or(text.len()),
        }
    }

    /// Bytes of a tool's name.
    #[inline]
    pub fn name_run(&self, text: &str) -> usize {
        let (open, close) = (self.open.as_bytes()[0], self.close.as_bytes()[0]);
        let ends = |at: &usize| match self.classes.get(text.as_bytes()[*at] as usize) {
            Some(class) => class & NAME_END != 0,
            // The first byte of a delimiter may also occur in other characters.
            None => {
                let byte = text.as_bytes()[*at];
                (byte == open || byte == close) && text[*at..].chars().next().is_some_and(|c| self.is_first(c))
            }
        };
        (0..text.len()).find(ends).unwrap_or(text.len())
    }

    /// Bytes of the run that a bare value can take without a closer look: to whitespace, a delimiter's first character, a quote
    /// or a comma.
    #[inline]
    pub fn bare_run(&self, text: &str) -> usize {
        let (open, close) = (self.open.as_bytes()[0], self.close.as_bytes()[0]);
        let stops = |byte: &u8| match self.classes.get(*byte as usize) {
            Some(class) => class & STOP != 0,
            None => *byte == open || *byte == close,
        };
        text.as_bytes().iter().position(stops).unwrap_or(text.len())
    }
}
