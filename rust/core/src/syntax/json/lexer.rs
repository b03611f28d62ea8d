//! The JSON lexer. It is fed windows of a text, remembers how far it has scanned, and returns lexemes.
//!
//! A window starts where the previous one was consumed to. Only words and escapes are held back; strings come in parts.
//! The reader knows the grammar: it passes the [`TokenSet`] that may come next.

use std::ops::Range;

use super::number::is_number;
use super::write::plain_end;
use crate::syntax::quoting::{Outside, begins_other, leaves_open, may_quote};
use crate::syntax::scan::{Scan, is_ws, starts, ws_run};

/// The tokens that may come next. It decides what a word may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenSet {
    /// A value, or punctuation.
    Value,
    /// The key of a member.
    Key,
    /// After a value or a key: punctuation only.
    Punctuation,
}

/// What may come next in a JSON text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Expect {
    /// The value of the text or of a member.
    #[default]
    Value,
    /// An item or the end of the array. After a comma, the array may end only in relaxed JSON.
    Item {
        first: bool,
    },
    Key {
        first: bool,
    },
    Colon,
    Comma,
    /// Nothing: the value of the text is complete.
    Nothing,
}

impl Expect {
    pub(crate) fn tokens(self) -> TokenSet {
        match self {
            Expect::Key { .. } => TokenSet::Key,
            Expect::Colon | Expect::Comma | Expect::Nothing => TokenSet::Punctuation,
            Expect::Value | Expect::Item { .. } => TokenSet::Value,
        }
    }

    /// After an opening bracket.
    pub(crate) fn opened(bracket: u8) -> Self {
        if bracket == b'{' { Expect::Key { first: true } } else { Expect::Item { first: true } }
    }

    pub(crate) fn after_comma(in_object: bool) -> Self {
        if in_object { Expect::Key { first: false } } else { Expect::Item { first: false } }
    }
}

/// One lexeme. `Plain` and `Char` are the content of the open string.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum JsonLexeme<'w> {
    /// One of `{ } [ ] , :`, or one of `( ) =`.
    Punct(u8),
    StringStart,
    /// Content that is unchanged from the source. When written, it may need escapes.
    Plain(&'w str),
    Char(char),
    StringEnd,
    Word(&'w str),
    /// The window ends here. There is no error so far.
    Need,
    /// Not JSON, not even relaxed JSON.
    Bad(&'static str),
    /// Relaxed JSON, where strict JSON is required.
    Lax(&'static str),
}

/// A comment that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comment {
    Line,
    Block,
}

/// Lexer state between windows.
#[derive(Debug, Default)]
pub(crate) struct JsonLexer {
    pub(super) relaxed: bool,
    comments: bool,
    in_calls: bool,
    /// In a native format.
    pub(crate) native: bool,
    parentheses: bool,
    /// The quote of the open string. Set after the end of a string, it makes its last quote part of its content.
    pub quote: Option<u8>,
    comment: Option<Comment>,
    /// Bytes of a held word that were scanned already, and whether one of them was a slash.
    word: usize,
    slash: bool,
    /// Set by a lexeme that is not strict JSON.
    pub repaired: bool,
}

impl JsonLexer {
    pub(crate) fn new(relaxed: bool) -> Self {
        JsonLexer { relaxed, ..JsonLexer::default() }
    }

    /// A new lexer with the same options.
    pub(crate) fn fresh(&self) -> Self {
        let JsonLexer { relaxed, comments, in_calls, native, parentheses, .. } = *self;
        JsonLexer { relaxed, comments, in_calls, native, parentheses, ..JsonLexer::default() }
    }

    /// Words end at a quote that may open a quoted text. Otherwise, text inside the quotes could end the call.
    pub(crate) fn in_calls(self) -> Self {
        JsonLexer { in_calls: true, ..self }
    }

    /// Words end at `<`, with which markers begin, and at double quotes, between which markers are text. `NaN` and `Infinity` are
    /// not taken for strings.
    pub(crate) fn in_native(self) -> Self {
        JsonLexer { native: true, ..self }
    }

    /// Reads parentheses as brackets, and `=` after a key as punctuation.
    pub(crate) fn with_parentheses(self) -> Self {
        JsonLexer { parentheses: true, ..self }
    }

    /// Reads comments, `//` and `/* */`: as whitespace in relaxed JSON, as `Lax` in strict JSON. They begin where a
    /// token may begin, and directly after a number or literal.
    pub(crate) fn with_comments(self) -> Self {
        JsonLexer { comments: true, ..self }
    }

    /// Whether near misses of JSON are read.
    pub(crate) fn relaxed(&self) -> bool {
        self.relaxed
    }

    /// Whether a comment is open.
    pub(crate) fn in_comment(&self) -> bool {
        self.comment.is_some()
    }

    /// Whether a comment is open that does not end with its line.
    pub(crate) fn in_block_comment(&self) -> bool {
        self.comment == Some(Comment::Block)
    }

    /// The next lexeme of `window` from byte `*at`, which moves past it. After `Need`, the next window must start at
    /// `*at`.
    #[inline]
    pub(crate) fn next<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, tokens: TokenSet) -> JsonLexeme<'w> {
        if let Some(quote) = self.quote {
            return self.content(window, at, last, quote);
        }
        if self.comments {
            return self.commented(window, at, last, tokens);
        }
        *at = ws_run(window, *at);
        let Some(&byte) = window.as_bytes().get(*at) else { return JsonLexeme::Need };
        self.token(window, at, last, tokens, byte)
    }

    #[inline(always)]
    fn token<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, tokens: TokenSet, byte: u8) -> JsonLexeme<'w> {
        match byte {
            _ if self.is_punctuation(byte, tokens) => {
                *at += 1;
                JsonLexeme::Punct(byte)
            }
            _ if tokens == TokenSet::Punctuation => JsonLexeme::Bad("a comma, a colon or a closing bracket is missing"),
            b'\'' if !self.relaxed => JsonLexeme::Lax("strings need double quotes"),
            b'"' | b'\'' => {
                *at += 1;
                self.repaired |= byte == b'\'';
                self.quote = Some(byte);
                JsonLexeme::StringStart
            }
            _ if self.in_calls && may_quote(byte) && begins_other(&window[*at..]) => {
                JsonLexeme::Bad("strings need double quotes")
            }
            _ => self.word(window, at, last, tokens),
        }
    }

    #[inline(always)]
    fn is_punctuation(&self, byte: u8, tokens: TokenSet) -> bool {
        match byte {
            b'{' | b'}' | b'[' | b']' | b',' => true,
            b'(' | b')' => self.parentheses,
            b'=' => self.parentheses && tokens != TokenSet::Value,
            b':' => tokens != TokenSet::Value,
            _ => false,
        }
    }

    /// The next token after whitespace and comments.
    fn commented<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, tokens: TokenSet) -> JsonLexeme<'w> {
        let bytes = window.as_bytes();
        loop {
            let rest = &bytes[*at..];
            let end = match self.comment {
                None => Some(0),
                Some(Comment::Line) => memchr::memchr2(b'\n', b'\r', rest),
                Some(Comment::Block) => memchr::memmem::find(rest, b"*/").map(|end| end + 2),
            };
            let Some(end) = end else {
                // An asterisk may be the first half of the end.
                *at = bytes.len() - usize::from(self.in_block_comment() && rest.last() == Some(&b'*'));
                return JsonLexeme::Need;
            };
            *at = ws_run(window, *at + end);
            self.comment = None;
            self.comment = match &bytes[*at..] {
                [] => return JsonLexeme::Need,
                [b'/'] if !last => return JsonLexeme::Need,
                [b'/', b'/' | b'*', ..] if !self.relaxed => return JsonLexeme::Lax("JSON has no comments"),
                [b'/', b'/', ..] => Some(Comment::Line),
                [b'/', b'*', ..] => Some(Comment::Block),
                [byte, ..] => return self.token(window, at, last, tokens, *byte),
            };
            self.repaired = true;
            *at += 2;
        }
    }

    fn word<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, tokens: TokenSet) -> JsonLexeme<'w> {
        let bytes = window.as_bytes();
        let start = *at;
        let mut end = start + self.word;
        while end < bytes.len() {
            let byte = bytes[end];
            let stop = match byte {
                b'"' if self.native => true,
                b'"' | b'\'' => {
                    tokens == TokenSet::Key
                        || (self.in_calls && end > start && Outside::after(&window[start..end]).opens())
                }
                b'/' if self.comments && !self.slash => match bytes.get(end + 1) {
                    None if !last => break,
                    Some(b'/' | b'*') if is_literal(&window[start..end]) => true,
                    _ => {
                        self.slash = true;
                        false
                    }
                },
                b'<' if self.native => true,
                _ => is_ws(byte) || self.is_punctuation(byte, tokens),
            };
            if stop {
                break;
            }
            end += 1;
        }
        if !last && (end == bytes.len() || (end + 1 == bytes.len() && bytes[end] == b'/')) {
            self.word = end - start;
            return JsonLexeme::Need;
        }
        self.word = 0;
        self.slash = false;
        if self.in_calls && leaves_open(&window[start..end]) {
            return JsonLexeme::Bad("strings need double quotes");
        }
        *at = end;
        JsonLexeme::Word(&window[start..end])
    }

    /// Content of the open string: a run of plain bytes, one decoded character, or the end.
    fn content<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, quote: u8) -> JsonLexeme<'w> {
        let bytes = window.as_bytes();
        let start = *at;
        let end = plain_end(bytes, start, quote);
        if end > start {
            *at = end;
            return JsonLexeme::Plain(&window[start..end]);
        }
        let Some(&byte) = bytes.get(end) else { return JsonLexeme::Need };
        if byte == quote {
            *at += 1;
            self.quote = None;
            return JsonLexeme::StringEnd;
        }
        if byte != b'\\' {
            if byte != b'"' {
                // An unescaped control character.
                if !self.relaxed {
                    return JsonLexeme::Lax(
                        "line breaks and control characters in strings must be written as \\n, \\u0000",
                    );
                }
                self.repaired = true;
            }
            *at += 1;
            return JsonLexeme::Char(byte as char);
        }
        let Some(&escape) = bytes.get(end + 1) else {
            return if last { JsonLexeme::Bad("a string ends with a backslash") } else { JsonLexeme::Need };
        };
        let decoded = match escape {
            b'"' | b'\\' | b'/' => escape as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => match unicode_escape(&window[end..], last) {
                Scan::Match((c, length)) => {
                    *at += length;
                    return JsonLexeme::Char(c);
                }
                Scan::Incomplete => return JsonLexeme::Need,
                Scan::NoMatch => return self.lone_backslash(at),
            },
            b'\'' if self.relaxed => {
                self.repaired = true;
                '\''
            }
            _ => return self.lone_backslash(at),
        };
        *at += 2;
        JsonLexeme::Char(decoded)
    }

    /// A backslash that begins no escape. Relaxed JSON keeps it.
    fn lone_backslash<'w>(&mut self, at: &mut usize) -> JsonLexeme<'w> {
        if !self.relaxed {
            return JsonLexeme::Lax("a backslash in a string must be written as \\\\");
        }
        self.repaired = true;
        *at += 1;
        JsonLexeme::Char('\\')
    }
}

/// Whether the word is a complete JSON value, or a literal of Python.
pub(crate) fn is_literal(word: &str) -> bool {
    matches!(word, "true" | "false" | "null" | "True" | "False" | "None") || is_number(word)
}

/// Reads `\uXXXX`, or two of them that form a surrogate pair, in any kind of quotes. Returns the character and the
/// bytes of its escape. A lone surrogate becomes U+FFFD.
pub(crate) fn unicode_escape(text: &str, last: bool) -> Scan<(char, usize)> {
    let unit = |from: usize| hex_digits(text, from..from + 4, last);
    let char = |code: u32| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    unit(2).and_then(|first| {
        if !(0xD800..0xDC00).contains(&first) {
            return Scan::Match((char(first), 6));
        }
        match starts(&text[6..], "\\u", last).and_then(|()| unit(8)) {
            Scan::Incomplete => Scan::Incomplete,
            Scan::Match(second) if (0xDC00..0xE000).contains(&second) => {
                Scan::Match((char(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)), 12))
            }
            _ => Scan::Match((char(first), 6)),
        }
    })
}

/// The number that these bytes of a text are in hexadecimal.
pub(crate) fn hex_digits(text: &str, mut places: Range<usize>, last: bool) -> Scan<u32> {
    let digits = places.try_fold(0, |value, at| match text.as_bytes().get(at) {
        Some(byte) => (*byte as char).to_digit(16).map(|digit| value * 16 + digit).ok_or(Scan::NoMatch),
        None => Err(Scan::at_end(last)),
    });
    digits.map_or_else(|scan| scan, Scan::Match)
}

/// A complete string in double quotes without escapes: its text, and its number of bytes with the quotes.
#[inline]
pub(crate) fn plain_string(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix('"')?;
    let end = plain_end(rest.as_bytes(), 0, b'"');
    (rest.as_bytes().get(end) == Some(&b'"')).then(|| (&rest[..end], end + 2))
}
