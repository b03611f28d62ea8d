//! The places in a text where a marker may begin, found by two bytes.

/// The first two bytes of each marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidates {
    /// The first bytes, repeated to fill the array, and their number. If there are more, bytes are looked up one by
    /// one.
    few: [u8; 6],
    count: usize,
    /// For each byte, a bit for its index among the first bytes, or 0. All bytes after the last index share its bit.
    first: [u8; 256],
    /// For each byte, the bits of the first bytes that it may follow.
    second: [u8; 256],
}

/// Shorter texts are scanned byte by byte.
const SHORT_BYTES: usize = 16;
const CHUNK_BYTES: usize = 128;
const BLOCK_BYTES: usize = 32;

impl Candidates {
    pub(crate) fn none() -> Self {
        Candidates { few: [0; 6], count: 0, first: [0; 256], second: [0; 256] }
    }

    /// Adds markers with this first byte and one of these second bytes.
    pub(crate) fn with(mut self, first: u8, seconds: impl IntoIterator<Item = u8>) -> Self {
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

    /// Adds all markers with this first byte.
    pub(crate) fn with_byte(self, first: u8) -> Self {
        self.with(first, 0..=u8::MAX)
    }

    /// Adds a marker, ignoring ASCII case.
    pub(crate) fn with_text(self, text: &str) -> Self {
        match *text.as_bytes() {
            [] => self,
            [first] => self.with_byte(first),
            [first, second, ..] => self.with(first, [second.to_ascii_lowercase(), second.to_ascii_uppercase()]),
        }
    }

    /// Adds the markers of another set.
    pub(crate) fn and(self, other: &Candidates) -> Self {
        let firsts = (0..=u8::MAX).filter(|first| other.first[*first as usize] != 0);
        firsts.fold(self, |all, first| {
            let bit = other.first[first as usize];
            all.with(first, (0..=u8::MAX).filter(|second| other.second[*second as usize] & bit != 0))
        })
    }

    /// Whether a marker may begin here. The last byte of a text counts if it may begin one.
    #[inline]
    pub(crate) fn may_begin(&self, bytes: &[u8]) -> bool {
        match *bytes {
            [] => false,
            [first] => self.first[first as usize] != 0,
            [first, second, ..] => self.first[first as usize] & self.second[second as usize] != 0,
        }
    }

    /// Where the first marker may begin.
    #[inline]
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<usize> {
        let mut from = 0;
        loop {
            let at = from + self.find_first(&bytes[from..])?;
            if self.may_begin(&bytes[at..]) {
                return Some(at);
            }
            from = at + 1;
        }
    }

    #[inline]
    fn find_first(&self, bytes: &[u8]) -> Option<usize> {
        let [a, b, c, ..] = self.few;
        match self.count {
            _ if bytes.len() < SHORT_BYTES => self.find_one_by_one(bytes),
            1 => memchr::memchr(a, bytes),
            2 => memchr::memchr2(a, b, bytes),
            3 => memchr::memchr3(a, b, c, bytes),
            4..=6 => {
                let (blocks, _) = bytes.as_chunks::<BLOCK_BYTES>();
                let clear = blocks.iter().take_while(|block| !self.has_first(*block)).count() * BLOCK_BYTES;
                self.find_one_by_one(&bytes[clear..]).map(|at| clear + at)
            }
            _ => self.find_one_by_one(bytes),
        }
    }

    #[inline]
    fn find_one_by_one(&self, bytes: &[u8]) -> Option<usize> {
        bytes.iter().position(|byte| self.first[*byte as usize] != 0)
    }

    /// Whether a chunk has no place where a marker may begin. Most chunks have none and are short.
    #[inline]
    pub(crate) fn are_missing(&self, bytes: &[u8]) -> bool {
        let none = match bytes.len() {
            0..SHORT_BYTES => self.find_one_by_one(bytes).is_none(),
            SHORT_BYTES..=CHUNK_BYTES => self.count <= 6 && !self.has_first(bytes),
            _ => false,
        };
        none || self.find(bytes).is_none()
    }

    /// Whether one of the few first bytes occurs. Without a branch for each byte, many bytes are compared at once.
    #[inline]
    fn has_first(&self, bytes: &[u8]) -> bool {
        let [a, b, c, d, e, f] = self.few;
        let is_first = |byte: u8| (byte == a) | (byte == b) | (byte == c) | (byte == d) | (byte == e) | (byte == f);
        bytes.iter().fold(false, |has, byte| has | is_first(*byte))
    }
}

/// Puts a backslash after the first character of each mark. Every mark begins with one of the candidates.
///
/// The output contains no mark, and a text that already has the backslash is unchanged.
pub(crate) fn neutralise_marks(text: &str, candidates: &Candidates, is_mark: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let mut next = 0;
    // Most texts have no mark, and a mark begins with the first byte of a character.
    while let Some(offset) = candidates.find(&text.as_bytes()[next..]) {
        let at = next + offset;
        next = at + 1;
        if text.is_char_boundary(at) && is_mark(&text[at..]) {
            let end = at + text[at..].chars().next().map_or(1, char::len_utf8);
            out.push_str(&text[from..end]);
            out.push('\\');
            from = end;
        }
    }
    out.push_str(&text[from..]);
    out
}
