//! Quotes, judged only by the bytes around them: which quote opens a quoted text, and which one ends it.
//!
//! A reader that keeps a quote as content may be wrong: if that quote had ended the value, every later quote would have
//! the opposite role. [`Kept`] tracks that second reading, so that a value never ends at a quote that opens another
//! text. [`Alternation`] tracks the quotes in text that is not itself quoted.

use crate::syntax::scan::is_ws;

/// Whether a quote after this byte opens a quoted text. After a letter or digit, it is an apostrophe or an inch mark.
#[inline]
pub(crate) fn opens_after(byte: u8) -> bool {
    is_ws(byte) || matches!(byte, b'=' | b':' | b',' | b'(' | b'[' | b'{' | b'>')
}

#[inline]
pub(crate) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

/// Whether a quote is an apostrophe. `before` is the text of the value so far, as JSON or as it is, and `after` follows
/// the quote.
pub(crate) fn is_apostrophe(quote: u8, before: &str, after: &str) -> bool {
    let mut back = before.chars().rev();
    let Some(last) = back.next() else { return false };
    // The letter of an escape is not a letter of the text.
    let escaped = back.take_while(|c| *c == '\\').count() % 2 == 1;
    quote == b'\'' && last.is_alphanumeric() && !escaped && after.chars().next().is_some_and(char::is_alphanumeric)
}

/// Most words are not longer.
const SHORT_BYTES: usize = 32;

/// Which quoted text is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alternation {
    state: QuoteState,
    /// The last byte was an unescaped backslash.
    backslash: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuoteState {
    Outside {
        /// A quote would open a text here.
        opens: bool,
    },
    Inside {
        quote: u8,
        /// The opening quote had a backslash, so the closing one must have one, too.
        escaped: bool,
        /// The quoted text is empty so far. `""` before a third quote is the beginning of `"""`.
        empty: bool,
    },
}

impl Default for Alternation {
    fn default() -> Self {
        Alternation::START
    }
}

impl Alternation {
    /// Outside quotes, where a quote would open a text.
    pub(crate) const START: Self = Alternation { state: QuoteState::Outside { opens: true }, backslash: false };

    /// After the closing quote of a text that is not empty.
    pub(crate) const CLOSED: Self = Alternation { state: QuoteState::Outside { opens: false }, backslash: false };

    /// The quote that opened the current text.
    #[inline]
    pub(crate) fn open(self) -> Option<u8> {
        match self.state {
            QuoteState::Inside { quote, .. } => Some(quote),
            QuoteState::Outside { .. } => None,
        }
    }

    /// Fast path for a text without quotes, if only its last byte matters.
    #[inline]
    pub(crate) fn pass(&mut self, text: &str) -> bool {
        match (text.as_bytes().last(), &mut self.state) {
            (None, _) => true,
            (Some(last), QuoteState::Outside { opens }) if *last != b'\\' => {
                *opens = opens_after(*last);
                self.backslash = false;
                true
            }
            _ => false,
        }
    }

    pub(crate) fn step(&mut self, byte: u8) {
        let backslash = std::mem::take(&mut self.backslash);
        match &mut self.state {
            QuoteState::Inside { quote, escaped, empty } if byte == *quote && backslash == *escaped => {
                self.state = QuoteState::Outside { opens: *empty };
            }
            QuoteState::Inside { empty, .. } => {
                self.backslash = byte == b'\\' && !backslash;
                *empty &= self.backslash;
            }
            QuoteState::Outside { opens: true } if is_quote(byte) => {
                self.state = QuoteState::Inside { quote: byte, escaped: backslash, empty: true };
            }
            // A backslash before a quote does not change whether the quote opens.
            QuoteState::Outside { .. } if byte == b'\\' && !backslash => self.backslash = true,
            QuoteState::Outside { opens } => *opens = opens_after(byte),
        }
    }

    /// Advances over a text. Outside quotes, only the byte before a quote or at the end matters.
    pub(crate) fn run(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if bytes.len() <= SHORT_BYTES && !bytes.iter().any(|byte| is_quote(*byte)) && self.pass(text) {
            return;
        }
        let mut at = 0;
        while at < bytes.len() {
            if let QuoteState::Outside { .. } = self.state {
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
}

/// The text of a value that kept a quote, read as if that quote had ended the value.
///
/// If the quotes of a call pair up, an odd number of kept quotes precede a quote that opens a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The quote of the value.
    quote: u8,
    state: KeptState,
    backslash: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeptState {
    /// In a text in the same kind of quotes as the value.
    Inside,
    /// `opens`: a quote would open a text here.
    Outside { opens: bool },
    /// In a text in the other kind of quotes. `empty`: the text is empty so far.
    Elsewhere { quote: u8, empty: bool },
}

impl Kept {
    /// Before the first kept quote.
    pub(crate) fn new(quote: u8) -> Self {
        Kept { quote, state: KeptState::Inside, backslash: false }
    }

    /// A quote of the value's kind is kept as content. An apostrophe has no effect.
    pub(crate) fn keep(&mut self, apostrophe: bool) {
        if apostrophe {
            return self.escape();
        }
        self.state = match self.state {
            KeptState::Inside => KeptState::Outside { opens: true },
            KeptState::Outside { .. } => KeptState::Inside,
            KeptState::Elsewhere { quote, .. } => KeptState::Elsewhere { quote, empty: false },
        };
        self.backslash = false;
    }

    /// Reads content that contains no quote of the value's kind.
    pub(crate) fn run(&mut self, text: &str) {
        if self.state != KeptState::Inside {
            text.bytes().for_each(|byte| self.step(byte));
        }
    }

    fn step(&mut self, byte: u8) {
        let backslash = std::mem::take(&mut self.backslash);
        match &mut self.state {
            KeptState::Elsewhere { quote, empty } if byte == *quote && !backslash => {
                self.state = KeptState::Outside { opens: *empty };
            }
            KeptState::Elsewhere { empty, .. } => {
                (*empty, self.backslash) = (false, byte == b'\\' && !backslash);
            }
            KeptState::Outside { opens: true } if is_quote(byte) => {
                self.state = KeptState::Elsewhere { quote: byte, empty: true };
            }
            KeptState::Outside { opens } => *opens = opens_after(byte),
            KeptState::Inside => {}
        }
    }

    /// An escape in the value: a character that opens nothing.
    pub(crate) fn escape(&mut self) {
        match &mut self.state {
            KeptState::Outside { opens: flag } | KeptState::Elsewhere { empty: flag, .. } => *flag = false,
            KeptState::Inside => {}
        }
    }

    /// Whether a text in the other kind of quotes is open.
    pub(crate) fn is_elsewhere(self) -> bool {
        matches!(self.state, KeptState::Elsewhere { .. })
    }

    /// The quote of the text that would be open if the value ended at the next quote of its kind.
    pub(crate) fn opened(self) -> Option<u8> {
        match self.state {
            KeptState::Outside { opens: true } => Some(self.quote),
            KeptState::Elsewhere { quote, .. } => Some(quote),
            KeptState::Outside { opens: false } | KeptState::Inside => None,
        }
    }
}
