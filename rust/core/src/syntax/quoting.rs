//! Quotes, judged only by the characters around them: which quote opens a quoted text, and which one ends it.
//!
//! Models write many kinds of quotes; [`Quote`] has them all. [`Outside`] says where one opens a text, [`Inside`] where that text ends.
//! Both read bytes, and need no lookahead.
//!
//! A reader that keeps a quote as content may be wrong: if that quote had ended the value, every later quote would have
//! the opposite role. [`Kept`] tracks that second reading, so that a value never ends at a quote that opens another
//! text. [`Alternation`] tracks the quotes in text that is not itself quoted.

use crate::syntax::scan::is_ws;

/// A kind of quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quote {
    /// `"`, `'` or `` ` ``. The next one that no backslash precedes ends the text.
    Plain(u8),
    /// The same after a backslash. The next one that a backslash precedes ends the text.
    Escaped(u8),
    /// The position in [`PAIRS`].
    Pair(u8),
}

/// Other quotes: what opens a text, and what ends it. At most eight bytes each.
#[rustfmt::skip]
const PAIRS: [(&str, &[&str]); 24] = [
    ("“", &["”"]), ("„", &["“", "”"]), ("‟", &["”"]), ("‘", &["’"]), ("‚", &["‘", "’"]), ("‛", &["’"]), ("«", &["»"]), ("»", &["«"]), ("‹", &["›"]), ("›", &["‹"]),
    ("「", &["」"]), ("『", &["』"]), ("〝", &["〞", "〟"]), ("＂", &["＂"]), ("＇", &["＇"]), ("｢", &["｣"]),
    ("&quot;", &["&quot;"]), ("&#34;", &["&#34;"]), ("&apos;", &["&apos;"]), ("&#39;", &["&#39;"]), ("&ldquo;", &["&rdquo;"]), ("&lsquo;", &["&rsquo;"]), ("&laquo;", &["&raquo;"]), ("&bdquo;", &["&ldquo;"]),
];

/// The characters of [`PAIRS`] that open a text alone.
pub(crate) fn openers() -> impl Iterator<Item = char> {
    PAIRS.iter().filter(|(open, _)| !open.starts_with('&')).filter_map(|(open, _)| open.chars().next())
}

/// Whether this character alone opens a text, and is not ASCII.
pub(crate) fn is_opener(c: char) -> bool {
    openers().any(|opener| opener == c)
}

/// Spaces beyond ASCII, and characters that are not visible.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{AD}')
}

/// Whether a quote after this byte opens a quoted text. After a letter or digit, it is an apostrophe or an inch mark.
#[inline]
pub(crate) fn opens_after(byte: u8) -> bool {
    is_ws(byte) || matches!(byte, b'=' | b':' | b',' | b'(' | b'[' | b'{' | b'>')
}

#[inline]
pub(crate) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

/// Whether the text begins with a quote other than `"` and `'`, or may begin with one.
pub(crate) fn begins_other(text: &str) -> bool {
    text.starts_with('`') || PAIRS.iter().any(|(open, _)| text.starts_with(open))
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

/// Up to eight bytes as a number.
fn code(text: &str) -> u64 {
    text.bytes().fold(0, |code, byte| code << 8 | u64::from(byte))
}

/// The number of bytes in a code.
fn code_bytes(code: u64) -> usize {
    8 - code.leading_zeros() as usize / 8
}

/// What precedes a place outside quoted texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A quote opens a text.
    Opens,
    /// The same, after a backslash.
    Backslash,
    /// The same, after so many letters that may be the prefix of a string, as in `r"…"`.
    Prefix(u8),
    /// A quote is an apostrophe, or an inch mark.
    Word,
}

/// Letters before the quotes of a string, as in `rb"…"`.
fn is_prefix(byte: u8) -> bool {
    matches!(byte | 0x20, b'r' | b'b' | b'f' | b'u')
}

/// The longest prefix of a string.
const PREFIX_BYTES: u8 = 2;

/// A place outside quoted texts, and what a quote is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outside {
    place: Place,
    /// The bytes of a character, or of an entity, that are read so far.
    pending: u64,
}

impl Outside {
    /// A quote opens a text.
    pub(crate) const OPENS: Self = Outside { place: Place::Opens, pending: 0 };
    /// A quote opens no text.
    pub(crate) const WORD: Self = Outside { place: Place::Word, pending: 0 };

    /// At the end of this text. At its start, a quote would open a text.
    pub(crate) fn after(text: &str) -> Self {
        let near = text.char_indices().rev().nth(usize::from(PREFIX_BYTES)).map_or(0, |(at, _)| at);
        let mut outside = if near == 0 { Outside::OPENS } else { Outside::WORD };
        for byte in text[near..].bytes() {
            outside.step(byte);
        }
        outside
    }

    /// At an error at byte `at` of a window: a quote opens a text, unless a word ends there.
    pub(crate) fn at_error(window: &str, at: usize) -> Self {
        let near = window[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '\\');
        // A word is in one window; what precedes it may not be.
        let divides = |c: char| c.is_whitespace() || "{}[](),:=".contains(c);
        let word = window[..at].trim_end_matches(|c| !divides(c)).len();
        if near { Outside::after(&window[word..at]) } else { Outside::OPENS }
    }

    /// Whether a quote opens a text here.
    #[inline]
    pub(crate) fn opens(self) -> bool {
        self.place != Place::Word
    }

    /// Reads a byte. Returns the quote that it completes, if that opens a text.
    #[inline]
    pub(crate) fn step(&mut self, byte: u8) -> Option<Quote> {
        if !byte.is_ascii() || self.pending != 0 {
            return self.long(byte);
        }
        self.ascii(byte)
    }

    #[inline]
    fn ascii(&mut self, byte: u8) -> Option<Quote> {
        self.place = match (byte, self.place) {
            (b'"' | b'\'' | b'`', Place::Backslash) => return Some(Quote::Escaped(byte)),
            (b'"' | b'\'' | b'`', Place::Opens | Place::Prefix(_)) => return Some(Quote::Plain(byte)),
            (b'&', place) if place != Place::Word => {
                self.pending = u64::from(byte);
                place
            }
            (b'\\', Place::Opens) => Place::Backslash,
            (b'\\', Place::Backslash) => Place::Opens,
            (byte, Place::Opens) if is_prefix(byte) => Place::Prefix(1),
            (byte, Place::Prefix(n)) if n < PREFIX_BYTES && is_prefix(byte) => Place::Prefix(n + 1),
            _ if opens_after(byte) => Place::Opens,
            _ => Place::Word,
        };
        None
    }

    /// A byte of a character beyond ASCII, or of an entity.
    #[cold]
    fn long(&mut self, byte: u8) -> Option<Quote> {
        self.pending = self.pending << 8 | u64::from(byte);
        let length = code_bytes(self.pending);
        let first = (self.pending >> (8 * (length - 1))) as u8;
        let complete = match first {
            b'&' if byte == b';' => true,
            b'&' if (byte.is_ascii_alphanumeric() || byte == b'#') && length < 8 => false,
            b'&' => {
                *self = Outside::WORD;
                return self.step(byte);
            }
            0xF0.. => length == 4,
            0xE0.. => length == 3,
            _ => length == 2,
        };
        if !complete {
            return None;
        }
        let code = std::mem::take(&mut self.pending);
        if self.opens()
            && let Some(pair) = PAIRS.iter().position(|(open, _)| self::code(open) == code)
        {
            return Some(Quote::Pair(pair as u8));
        }
        let bytes = code.to_be_bytes();
        let blank = std::str::from_utf8(&bytes[8 - length..]).is_ok_and(|text| text.chars().all(is_blank));
        self.place = if blank { Place::Opens } else { Place::Word };
        None
    }
}

/// A place in a quoted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inside {
    quote: Quote,
    /// The last byte was a backslash that no other one precedes.
    escape: bool,
    /// Bytes of the text, as far as they may be what ends an empty one.
    read: u8,
    /// The last bytes.
    tail: u64,
    /// In a pair: a text in double quotes is open in it.
    inner: bool,
}

impl Inside {
    /// Directly after the quote that opened the text.
    pub(crate) fn opened_by(quote: Quote) -> Self {
        Inside { quote, escape: false, read: 0, tail: 0, inner: false }
    }

    /// In a text that is not empty.
    pub(crate) fn of(quote: Quote) -> Self {
        Inside { read: u8::MAX, ..Inside::opened_by(quote) }
    }

    /// Reads a byte. Returns the place after the text, if it ends. After an empty one a quote opens a text: `""` may be the
    /// beginning of `"""`. Three backticks are a fence, which is no quote.
    #[inline]
    pub(crate) fn step(&mut self, byte: u8) -> Option<Outside> {
        self.read = self.read.saturating_add(1);
        let escape = self.escape;
        self.escape = byte == b'\\' && !escape;
        let length = match self.quote {
            Quote::Plain(quote) => (byte == quote && !escape).then_some(1),
            Quote::Escaped(quote) => (byte == quote && escape).then_some(2),
            Quote::Pair(pair) => {
                self.tail = self.tail << 8 | u64::from(byte);
                self.inner ^= byte == b'"';
                let (_, ends) = PAIRS[usize::from(pair)];
                let ended = |end: &&&str| self.tail & (u64::MAX >> (64 - 8 * end.len())) == code(end);
                ends.iter().filter(|_| !self.inner).find(ended).map(|end| end.len())
            }
        };
        let again = |length: usize| usize::from(self.read) == length && self.quote != Quote::Plain(b'`');
        length.map(|length| if again(length) { Outside::OPENS } else { Outside::WORD })
    }
}

/// Which quoted text is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alternation {
    Outside(Outside),
    Inside(Inside),
}

impl Default for Alternation {
    fn default() -> Self {
        Alternation::START
    }
}

/// Whether a byte may be a part of what opens a quoted text.
#[inline]
pub(crate) fn may_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'&') || !byte.is_ascii()
}

/// Bytes that are looked at one by one, and then together: what a search reads beyond its result is bounded.
const NEAR_BYTES: usize = 24;
const TOGETHER_BYTES: usize = 256;

/// The first of these bytes with which a quote may begin.
#[inline]
pub(crate) fn find_quote(bytes: &[u8]) -> Option<usize> {
    let near = bytes.len().min(NEAR_BYTES);
    let found = bytes[..near].iter().position(|byte| may_quote(*byte));
    if found.is_some() || near == bytes.len() { found } else { find_far_quote(bytes, near) }
}

fn find_far_quote(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    for part in bytes[from..].chunks(TOGETHER_BYTES) {
        let quote = memchr::memchr3(b'"', b'\'', b'`', part).unwrap_or(part.len());
        let near = memchr::memchr(b'&', &part[..quote]).unwrap_or(quote);
        if !part[..near].is_ascii() {
            return part.iter().position(|byte| may_quote(*byte)).map(|found| at + found);
        }
        if near < part.len() {
            return Some(at + near);
        }
        at += part.len();
    }
    None
}

/// Whether a quote in a word opens a text that is not closed in it.
pub(crate) fn leaves_open(word: &str) -> bool {
    find_quote(word.as_bytes()).is_some() && {
        let mut quotes = Alternation::START;
        quotes.run(word);
        quotes.open().is_some()
    }
}

/// The byte of the word where an error in it is found: there, or at its start, if a quote is open there.
pub(crate) fn outside_quotes(word: &str, at: usize) -> usize {
    if leaves_open(&word[..at]) { 0 } else { at }
}

impl Alternation {
    /// Outside quotes, where a quote would open a text.
    pub(crate) const START: Self = Alternation::Outside(Outside::OPENS);

    /// After the closing quote of a text that is not empty.
    pub(crate) const CLOSED: Self = Alternation::Outside(Outside::WORD);

    /// In a text in these quotes, which is not empty.
    pub(crate) fn inside(quote: Quote) -> Self {
        Alternation::Inside(Inside::of(quote))
    }

    /// At an error at byte `at` of a window.
    pub(crate) fn at_error(window: &str, at: usize) -> Self {
        Alternation::Outside(Outside::at_error(window, at))
    }

    /// The quote that opened the current text.
    #[inline]
    pub(crate) fn open(self) -> Option<Quote> {
        match self {
            Alternation::Inside(inside) => Some(inside.quote),
            Alternation::Outside(_) => None,
        }
    }

    #[inline]
    pub(crate) fn step(&mut self, byte: u8) {
        match self {
            Alternation::Inside(inside) => {
                if let Some(outside) = inside.step(byte) {
                    *self = Alternation::Outside(outside);
                }
            }
            Alternation::Outside(outside) => {
                if let Some(quote) = outside.step(byte) {
                    *self = Alternation::Inside(Inside::opened_by(quote));
                }
            }
        }
    }

    /// The same where backticks mark code.
    #[inline]
    pub(crate) fn step_over_code(&mut self, byte: u8) {
        self.step(if byte == b'`' { b'x' } else { byte });
    }

    /// Fast path for a text that has no byte with which a quote may begin.
    #[inline]
    pub(crate) fn pass(&mut self, text: &str) -> bool {
        let outside = matches!(self, Alternation::Outside(Outside { pending: 0, .. }));
        if outside {
            self.plain(text.as_bytes());
        }
        outside || text.is_empty()
    }

    /// Outside quotes, bytes with which no quote begins. Only the last of them matter.
    #[inline]
    fn plain(&mut self, bytes: &[u8]) {
        match bytes.last() {
            Some(last) if *last != b'\\' && !is_prefix(*last) => {
                *self = if opens_after(*last) { Alternation::START } else { Alternation::CLOSED };
            }
            _ => self.prefix(bytes),
        }
    }

    /// Such bytes that end with what may be the prefix of a string, or with a backslash.
    #[inline(never)]
    fn prefix(&mut self, bytes: &[u8]) {
        let solid = bytes.iter().rposition(|byte| *byte != b'\\').unwrap_or(0);
        let near = solid.saturating_sub(usize::from(PREFIX_BYTES));
        if near > 0 {
            *self = Alternation::CLOSED;
        }
        bytes[near..].iter().for_each(|byte| self.step(*byte));
    }

    /// Advances over a text. Outside quotes, only the characters before a quote or at the end matter.
    pub(crate) fn run(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if let Alternation::Outside(Outside { pending: 0, .. }) = self {
                let next = find_quote(&bytes[at..]).map_or(bytes.len(), |run| at + run);
                self.plain(&bytes[at..next]);
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeptState {
    /// In a text in the same kind of quotes as the value.
    Own,
    Outside(Outside),
    /// In a text in another kind of quotes.
    Other(Inside),
}

impl Kept {
    /// Before the first kept quote.
    pub(crate) fn new(quote: u8) -> Self {
        Kept { quote, state: KeptState::Own }
    }

    /// A quote of the value's kind is kept as content. An apostrophe has no effect.
    pub(crate) fn keep(&mut self, apostrophe: bool) {
        if apostrophe {
            return self.escape("");
        }
        self.state = match self.state {
            KeptState::Own => KeptState::Outside(Outside::OPENS),
            KeptState::Outside(_) => KeptState::Own,
            KeptState::Other(inside) => KeptState::Other(Inside::of(inside.quote)),
        };
    }

    /// Reads content that contains no quote of the value's kind.
    pub(crate) fn run(&mut self, text: &str) {
        if self.state != KeptState::Own {
            text.bytes().for_each(|byte| self.step(byte));
        }
    }

    fn step(&mut self, byte: u8) {
        match &mut self.state {
            KeptState::Other(inside) => {
                if let Some(outside) = inside.step(byte) {
                    self.state = KeptState::Outside(outside);
                }
            }
            KeptState::Outside(outside) => {
                if let Some(quote) = outside.step(byte) {
                    self.state = KeptState::Other(Inside::opened_by(quote));
                }
            }
            KeptState::Own => {}
        }
    }

    /// An escape in the value: a quote with its backslash, or a character that opens nothing.
    pub(crate) fn escape(&mut self, text: &str) {
        match &mut self.state {
            KeptState::Outside(_) | KeptState::Other(_) if text.ends_with(['"', '\'']) => self.run(text),
            KeptState::Outside(outside) => *outside = Outside::WORD,
            KeptState::Other(inside) => *inside = Inside::of(inside.quote),
            KeptState::Own => {}
        }
    }

    /// Whether a text in another kind of quotes is open.
    pub(crate) fn is_elsewhere(self) -> bool {
        matches!(self.state, KeptState::Other(_))
    }

    /// The quote of the text that would be open if the value ended at the next quote of its kind.
    pub(crate) fn opened(self) -> Option<Quote> {
        match self.state {
            KeptState::Outside(outside) if outside.opens() => Some(Quote::Plain(self.quote)),
            KeptState::Other(inside) => Some(inside.quote),
            KeptState::Outside(_) | KeptState::Own => None,
        }
    }
}
