//! Quotes read by their place alone, whatever a value makes of them: which opens a text, and which ends it.
//!
//! A reader that keeps a quote as content may be wrong about it: had that quote ended the value, every later one would mean the
//! opposite. [`Alternation`] follows that other reading. A value ends only where both readings agree that nothing quoted is
//! open, so a quoted text is never read as if it stood outside of quotes.

use crate::scan::is_ws;

/// Whether a quote after this byte opens a quoted text. After a letter it is an apostrophe, or inches.
#[inline]
pub fn opens_after(byte: u8) -> bool {
    is_ws(byte) || matches!(byte, b'=' | b':' | b',' | b';' | b'(' | b'[' | b'{' | b'<' | b'>' | b'|')
}

#[inline]
pub fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

/// Which quoted text is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternation {
    state: State,
    /// The last byte was a backslash that counts.
    backslash: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outside {
        /// A quote opens a text here.
        opens: bool,
    },
    Inside {
        quote: u8,
        /// The opening quote had a backslash, so the closing one has one, too.
        escaped: bool,
        /// Nothing has stood in it. `""` in front of a third quote is the beginning of `"""`.
        empty: bool,
    },
}

impl Default for Alternation {
    fn default() -> Self {
        Alternation::START
    }
}

impl Alternation {
    /// Outside of quotes, where a quote would open.
    pub const START: Self = Alternation { state: State::Outside { opens: true }, backslash: false };

    /// After a quote that ends a text with something in it.
    pub const CLOSED: Self = Alternation { state: State::Outside { opens: false }, backslash: false };

    /// The quote of the text that is open.
    #[inline]
    pub fn open(self) -> Option<u8> {
        match self.state {
            State::Inside { quote, .. } => Some(quote),
            State::Outside { .. } => None,
        }
    }

    pub fn step(&mut self, byte: u8) {
        let backslash = std::mem::take(&mut self.backslash);
        match &mut self.state {
            State::Inside { quote, escaped, empty } if byte == *quote && backslash == *escaped => {
                self.state = State::Outside { opens: *empty };
            }
            State::Inside { empty, .. } => {
                self.backslash = byte == b'\\' && !backslash;
                *empty &= self.backslash;
            }
            State::Outside { opens: true } if is_quote(byte) => {
                self.state = State::Inside { quote: byte, escaped: backslash, empty: true };
            }
            // A backslash in front of a quote changes nothing of its place.
            State::Outside { .. } if byte == b'\\' => self.backslash = true,
            State::Outside { opens } => *opens = opens_after(byte),
        }
    }

    /// Follows a text. Outside of quotes, only what stands in front of a quote, or at the end, matters.
    pub fn run(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if let State::Outside { .. } = self.state {
                let next = memchr::memchr2(b'"', b'\'', &bytes[at..]).map_or(bytes.len(), |length| at + length);
                let word = bytes[at..next].iter().rposition(|byte| *byte != b'\\').map_or(at, |last| at + last);
                bytes[word..next].iter().for_each(|byte| self.step(*byte));
                at = next;
            }
            if let Some(byte) = bytes.get(at) {
                self.step(*byte);
                at += 1;
            }
        }
    }

    /// A character was read that stands for itself, whatever it is: an escape.
    pub fn escape(&mut self) {
        self.backslash = false;
        match &mut self.state {
            State::Outside { opens } => *opens = false,
            State::Inside { empty, .. } => *empty = false,
        }
    }
}
