//! The one JSON lexer. It is fed windows of a text, remembers how far it has looked, and hands out lexemes.
//!
//! A window starts where the last one was consumed to. Only a word or an escape is ever held back; strings
//! come in parts. Grammar (what may follow what) is the reader's business: it says in which [`Place`] it is.

use super::number::is_number;
use super::write::is_plain;
use crate::syntax::quoting::opens_after;
use crate::syntax::scan::{Scan, is_ws, starts};

/// Where the reader stands; decides what a word may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A string, word or bracket that is a value, or punctuation.
    Value,
    /// A member's key.
    Key,
    /// Behind a value or a key: punctuation only.
    Punctuation,
}

/// What may come next, where values are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expect {
    /// The one value of the text, or a member's.
    #[default]
    Value,
    /// An item or the end of the array; behind a comma only in relaxed JSON the end.
    Item {
        first: bool,
    },
    Key {
        first: bool,
    },
    Colon,
    Comma,
    /// The text's value is complete.
    Nothing,
}

impl Expect {
    pub fn place(self) -> Place {
        match self {
            Expect::Key { .. } => Place::Key,
            Expect::Colon | Expect::Comma | Expect::Nothing => Place::Punctuation,
            Expect::Value | Expect::Item { .. } => Place::Value,
        }
    }

    /// Behind an opening bracket.
    pub fn opened(bracket: u8) -> Self {
        if bracket == b'{' { Expect::Key { first: true } } else { Expect::Item { first: true } }
    }

    pub fn behind_comma(in_object: bool) -> Self {
        if in_object { Expect::Key { first: false } } else { Expect::Item { first: false } }
    }
}

/// One lexeme. `Plain` and `Char` are the content of the open string.
#[derive(Debug, PartialEq, Eq)]
pub enum Lexeme<'w> {
    /// One of `{ } [ ] , :`, or of `( ) =`.
    Punct(u8),
    StringStart,
    /// Content as it stands in the source; it may need escapes when written.
    Plain(&'w str),
    Char(char),
    StringEnd,
    Word(&'w str),
    /// The window ends here; nothing is wrong so far.
    Need,
    /// No JSON, not even relaxed.
    Bad(&'static str),
    /// Relaxed JSON, where strict is asked for.
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
pub struct Lexer {
    relaxed: bool,
    comments: bool,
    in_calls: bool,
    parentheses: bool,
    quote: Option<u8>,
    comment: Option<Comment>,
    /// Bytes of a held word that were looked at already, and whether a slash was among them.
    word: usize,
    slash: bool,
    /// Set when a lexeme was no strict JSON.
    pub repaired: bool,
}

impl Lexer {
    pub fn new(relaxed: bool) -> Self {
        Lexer { relaxed, ..Lexer::default() }
    }

    /// One that has read nothing, and reads alike.
    pub fn fresh(&self) -> Self {
        let Lexer { relaxed, comments, in_calls, parentheses, .. } = *self;
        Lexer { relaxed, comments, in_calls, parentheses, ..Lexer::default() }
    }

    /// Words end at a quote that may open a quoted text. Otherwise text inside it could end the call.
    pub fn in_calls(self) -> Self {
        Lexer { in_calls: true, ..self }
    }

    /// Takes parentheses for brackets, and `=` after a key for what it is.
    pub fn with_parentheses(self) -> Self {
        Lexer { parentheses: true, ..self }
    }

    /// Takes comments, `//` and `/* */`, for what they are: blanks in relaxed JSON, `Lax` in strict. They begin where a token
    /// may, and directly behind a number or literal.
    pub fn with_comments(self) -> Self {
        Lexer { comments: true, ..self }
    }

    /// Strict or relaxed from here on.
    pub fn relax(&mut self, relaxed: bool) {
        self.relaxed = relaxed;
    }

    /// The quote of the string that is open.
    pub fn open_quote(&self) -> Option<u8> {
        self.quote
    }

    /// Is a comment open?
    pub fn in_comment(&self) -> bool {
        self.comment.is_some()
    }

    /// Is a comment open that does not end with its line?
    pub fn in_block_comment(&self) -> bool {
        self.comment == Some(Comment::Block)
    }

    /// The quote that has just ended a string is content of it.
    pub fn reopen(&mut self, quote: u8) {
        self.quote = Some(quote);
    }

    /// The next lexeme of `window` from byte `*at`, which moves behind it. `Need` leaves `*at` where the next
    /// window has to start.
    #[inline]
    pub fn next<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, place: Place) -> Lexeme<'w> {
        let bytes = window.as_bytes();
        if let Some(quote) = self.quote {
            return self.content(window, at, last, quote);
        }
        if self.comments {
            return self.commented(window, at, last, place);
        }
        while *at < bytes.len() && is_ws(bytes[*at]) {
            *at += 1;
        }
        let Some(&byte) = bytes.get(*at) else { return Lexeme::Need };
        self.token(window, at, last, place, byte)
    }

    #[inline(always)]
    fn token<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, place: Place, byte: u8) -> Lexeme<'w> {
        match byte {
            b'{' | b'}' | b'[' | b']' | b',' => {
                *at += 1;
                Lexeme::Punct(byte)
            }
            b'(' | b')' if self.parentheses => {
                *at += 1;
                Lexeme::Punct(byte)
            }
            b'=' if self.parentheses && place != Place::Value => {
                *at += 1;
                Lexeme::Punct(byte)
            }
            b':' if place != Place::Value => {
                *at += 1;
                Lexeme::Punct(byte)
            }
            _ if place == Place::Punctuation => Lexeme::Bad("a comma, a colon or a closing bracket is missing"),
            b'"' => {
                *at += 1;
                self.quote = Some(byte);
                Lexeme::StringStart
            }
            b'\'' => {
                if !self.relaxed {
                    return Lexeme::Lax("strings need double quotes");
                }
                *at += 1;
                self.repaired = true;
                self.quote = Some(byte);
                Lexeme::StringStart
            }
            0xE2 if self.in_calls && window[*at..].starts_with(['“', '‘']) => {
                Lexeme::Bad("strings need double quotes")
            }
            _ => self.word(window, at, last, place),
        }
    }

    /// The next token behind blanks and comments.
    fn commented<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, place: Place) -> Lexeme<'w> {
        let bytes = window.as_bytes();
        loop {
            let rest = &bytes[*at..];
            let end = match self.comment {
                None => Some(0),
                Some(Comment::Line) => memchr::memchr2(b'\n', b'\r', rest),
                Some(Comment::Block) => memchr::memmem::find(rest, b"*/").map(|end| end + 2),
            };
            let Some(end) = end else {
                // An asterisk may be half of the end.
                *at = bytes.len() - usize::from(self.in_block_comment() && rest.last() == Some(&b'*'));
                return Lexeme::Need;
            };
            *at += end;
            self.comment = None;
            while *at < bytes.len() && is_ws(bytes[*at]) {
                *at += 1;
            }
            self.comment = match &bytes[*at..] {
                [] => return Lexeme::Need,
                [b'/'] if !last => return Lexeme::Need,
                [b'/', b'/' | b'*', ..] if !self.relaxed => return Lexeme::Lax("JSON has no comments"),
                [b'/', b'/', ..] => Some(Comment::Line),
                [b'/', b'*', ..] => Some(Comment::Block),
                [byte, ..] => return self.token(window, at, last, place, *byte),
            };
            self.repaired = true;
            *at += 2;
        }
    }

    fn word<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, place: Place) -> Lexeme<'w> {
        let bytes = window.as_bytes();
        let start = *at;
        let mut end = start + self.word;
        while end < bytes.len() {
            let byte = bytes[end];
            let stop = match byte {
                b'{' | b'}' | b'[' | b']' | b',' => true,
                b':' => place == Place::Key,
                b'(' | b')' if self.parentheses => true,
                b'=' if self.parentheses => place == Place::Key,
                b'"' | b'\'' => place == Place::Key || (self.in_calls && end > start && opens_after(bytes[end - 1])),
                b'/' if self.comments && !self.slash => match bytes.get(end + 1) {
                    None if !last => break,
                    Some(b'/' | b'*') if is_literal(&window[start..end]) => true,
                    _ => {
                        self.slash = true;
                        false
                    }
                },
                _ => is_ws(byte),
            };
            if stop {
                break;
            }
            end += 1;
        }
        if !last && (end == bytes.len() || (end + 1 == bytes.len() && bytes[end] == b'/')) {
            self.word = end - start;
            return Lexeme::Need;
        }
        self.word = 0;
        self.slash = false;
        *at = end;
        Lexeme::Word(&window[start..end])
    }

    /// Content of the open string: a run of plain bytes, one decoded character, or the end.
    fn content<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, quote: u8) -> Lexeme<'w> {
        let bytes = window.as_bytes();
        let start = *at;
        let mut end = start;
        while end < bytes.len() && is_plain(bytes[end]) && bytes[end] != quote {
            end += 1;
        }
        if end > start {
            *at = end;
            return Lexeme::Plain(&window[start..end]);
        }
        let Some(&byte) = bytes.get(end) else { return Lexeme::Need };
        if byte == quote {
            *at += 1;
            self.quote = None;
            return Lexeme::StringEnd;
        }
        if byte != b'\\' {
            if byte != b'"' {
                // A raw control character.
                if !self.relaxed {
                    return Lexeme::Lax(
                        "line breaks and control characters in strings must be written as \\n, \\u0000",
                    );
                }
                self.repaired = true;
            }
            *at += 1;
            return Lexeme::Char(byte as char);
        }
        let Some(&escape) = bytes.get(end + 1) else {
            return if last { Lexeme::Bad("a string ends with a backslash") } else { Lexeme::Need };
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
                    return Lexeme::Char(c);
                }
                Scan::Incomplete => return Lexeme::Need,
                Scan::NoMatch => return self.lone_backslash(at),
            },
            b'\'' if self.relaxed => {
                self.repaired = true;
                '\''
            }
            _ => return self.lone_backslash(at),
        };
        *at += 2;
        Lexeme::Char(decoded)
    }

    /// A backslash before a character that is no escape: kept, where that may be.
    fn lone_backslash<'w>(&mut self, at: &mut usize) -> Lexeme<'w> {
        if !self.relaxed {
            return Lexeme::Lax("a backslash in a string must be written as \\\\");
        }
        self.repaired = true;
        *at += 1;
        Lexeme::Char('\\')
    }
}

/// Is the word a whole JSON value, or one as Python writes it?
fn is_literal(word: &str) -> bool {
    matches!(word, "true" | "false" | "null" | "True" | "False" | "None") || is_number(word)
}

/// Reads `\uXXXX`, or two of them that are a surrogate pair, in any kind of quotes: the character and the bytes of its escape. A
/// lone surrogate is U+FFFD.
pub fn unicode_escape(text: &str, last: bool) -> Scan<(char, usize)> {
    let bytes = text.as_bytes();
    let unit = |from: usize| {
        let mut value = 0;
        for at in from..from + 4 {
            match bytes.get(at).map(|byte| (*byte as char).to_digit(16)) {
                Some(Some(digit)) => value = value * 16 + digit,
                Some(None) => return Scan::NoMatch,
                None => return Scan::at_end(last),
            }
        }
        Scan::Match(value)
    };
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

/// A string in double quotes that is all there, and is in JSON what it is: its text, and how many bytes it takes with its quotes.
#[inline]
pub fn plain_string(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix('"')?;
    let end = rest.bytes().position(|byte| !is_plain(byte))?;
    (rest.as_bytes()[end] == b'"').then(|| (&rest[..end], end + 2))
}
