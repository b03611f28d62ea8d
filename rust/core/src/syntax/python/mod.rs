//! Python's literals and the arguments of a call, as lexemes of JSON: `(a=1, b='x', c=[True, None], d={'k': (1, 2)})`.
//!
//! The outermost brackets are parentheses with keyword arguments, which are read as an object. Tuples are read as lists.

mod strings;

use std::borrow::Cow;
use std::mem::take;

use super::json::{JsonLexeme, TokenSet, push_char, push_str, respelled};
use super::literals::LiteralLexer;
use super::quoting::{Alternation, Quote, leaves_open};
use super::scan::{is_ws, ws_run};
use super::word_quotes::stray_quote;
use crate::error::Repair;
use strings::quotes;

pub(crate) use strings::StringQuotes;

/// Digits of a number in another base. More of them are not a number that a tool expects.
const BASED_DIGITS: usize = 30;

/// The most whitespace between the bracket of a list and the closing marker, if a parenthesis is missing.
const BLANKS: usize = 64;

/// What a bracket holds so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Nothing,
    /// A value without a comma: in parentheses, the value alone.
    Value,
    Comma,
}

#[derive(Debug, Default)]
pub(crate) struct PythonLexer {
    /// The brackets that are open, and what they hold.
    open: Vec<(u8, Holds)>,
    /// The string that is open.
    string: Option<StringQuotes>,
    /// Bytes of a held word that were scanned.
    word: usize,
    /// After an error: the number of open brackets, which need not match any more, and the quotes.
    skipped: Option<(usize, Alternation)>,
    /// The repair of the last lexeme, until it is asked for.
    odd: Option<Repair>,
    /// The current key of an argument is in quotes.
    quoted_key: bool,
    /// The call is in a list.
    in_list: bool,
    /// The arguments are in one dictionary in the parentheses: `f({…})` or `f(**{…})`.
    dictionary: bool,
}

impl PythonLexer {
    /// For a call in a list.
    pub(crate) fn in_list(list: bool) -> Self {
        PythonLexer { in_list: list, ..PythonLexer::default() }
    }

    /// For text after an error in which so many brackets are open.
    pub(crate) fn lost(depth: usize) -> Self {
        PythonLexer { skipped: Some((depth, Alternation::START)), ..PythonLexer::default() }
    }

    /// Passes over text up to the bracket that closes the outermost one that is open. Returns whether it was found; then `*at` is
    /// after it.
    pub(crate) fn skip(&mut self, window: &str, at: &mut usize) -> bool {
        let inside = |string: StringQuotes| Alternation::inside(Quote::Plain(string.quote()));
        let (mut depth, mut quotes) = self
            .skipped
            .unwrap_or_else(|| (self.open.len(), self.string.map_or(Alternation::at_error(window, *at), inside)));
        (self.open, self.string) = (Vec::new(), None);
        while depth > 0
            && let Some(&byte) = window.as_bytes().get(*at)
        {
            quotes.step(byte);
            *at += 1;
            match byte {
                _ if quotes.open().is_some() => {}
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                _ => {}
            }
        }
        self.skipped = Some((depth, quotes));
        depth == 0
    }

    /// A lexeme as it is written.
    fn token<'w>(&mut self, window: &'w str, at: &mut usize) -> JsonLexeme<'w> {
        if let Some(string) = self.string {
            let lexeme = string.content(window, at);
            if lexeme == JsonLexeme::StringEnd {
                self.string = None;
            }
            return lexeme;
        }
        *at = ws_run(window, *at);
        let rest = &window[*at..];
        let Some(&byte) = rest.as_bytes().first() else { return JsonLexeme::Need };
        if is_punctuation(byte) {
            *at += 1;
            return JsonLexeme::Punct(byte);
        }
        let mut end = self.word;
        while let Some(&byte) = rest.as_bytes().get(end) {
            if matches!(byte, b'"' | b'\'')
                && let Some(raw) = strings::prefix(&rest[..end])
            {
                let Some((string, length)) = quotes(&rest[end..], raw) else {
                    self.word = end;
                    return JsonLexeme::Need;
                };
                let formatted = rest[..end].contains(['f', 'F']);
                self.word = 0;
                *at += end + length;
                self.string = Some(string);
                return match formatted {
                    true => JsonLexeme::Bad("an f-string is not a literal"),
                    false => JsonLexeme::StringStart,
                };
            }
            if is_punctuation(byte) || is_ws(byte) {
                self.word = 0;
                // What is quoted may end in it, so it is read again after the error.
                if leaves_open(&rest[..end]) {
                    return JsonLexeme::Bad("strings need quotes of Python");
                }
                *at += end;
                return JsonLexeme::Word(&rest[..end]);
            }
            end += 1;
        }
        self.word = end;
        JsonLexeme::Need
    }

    /// What a token means in JSON.
    fn meaning<'w>(&mut self, lexeme: JsonLexeme<'w>) -> JsonLexeme<'w> {
        let depth = self.open.len();
        let JsonLexeme::Punct(byte) = lexeme else {
            if matches!(lexeme, JsonLexeme::StringStart | JsonLexeme::Word(_)) {
                self.value();
            }
            return lexeme;
        };
        match byte {
            b'(' | b'[' | b'{' => {
                self.value();
                self.open.push((byte, Holds::Nothing));
                JsonLexeme::Punct(if byte == b'(' && depth > 0 {
                    b'['
                } else if depth == 0 {
                    b'{'
                } else {
                    byte
                })
            }
            b')' | b']' | b'}' => {
                let closed = match (self.open.pop(), byte) {
                    (Some((b'(', _)), b')') if depth == 1 => b'}',
                    (Some((b'(', Holds::Value)), b')') => {
                        return JsonLexeme::Bad("a tuple with one item needs a comma");
                    }
                    (Some((b'(', _)), b')') | (Some((b'[', _)), b']') => b']',
                    (Some((b'{', _)), b'}') => b'}',
                    _ => return JsonLexeme::Bad("brackets do not match"),
                };
                JsonLexeme::Punct(closed)
            }
            b',' => {
                if let Some((_, inside)) = self.open.last_mut() {
                    *inside = Holds::Comma;
                }
                JsonLexeme::Punct(b',')
            }
            b'=' | b':' if depth == 1 => {
                let odd = take(&mut self.quoted_key) || byte == b':';
                self.odd = self.odd.or(odd.then_some(Repair::RelaxedJson));
                JsonLexeme::Punct(b':')
            }
            b':' => JsonLexeme::Punct(b':'),
            _ => JsonLexeme::Bad("an argument must be written as key=value"),
        }
    }

    /// A value begins.
    fn value(&mut self) {
        if let Some((_, inside @ Holds::Nothing)) = self.open.last_mut() {
            *inside = Holds::Value;
        }
    }
}

impl LiteralLexer for PythonLexer {
    const STRICT_COMMAS: bool = false;
    const BARE_STRINGS: bool = false;

    fn next<'w>(
        &mut self,
        window: &'w str,
        at: &mut usize,
        tokens: TokenSet,
        declared: &dyn Fn(&str) -> bool,
    ) -> JsonLexeme<'w> {
        loop {
            let inside = self.string.is_some();
            let start = if inside { *at } else { ws_run(window, *at) };
            let lexeme = self.token(window, at);
            // Quoted text may begin in a word.
            if let JsonLexeme::Word(word) = lexeme
                && tokens != TokenSet::Punctuation
                && let Some(quote) = stray_quote(word)
            {
                self.string = Some(StringQuotes::of(word.as_bytes()[quote]));
                *at = start + quote + 1;
                return JsonLexeme::Bad("a quote must not be inside a word");
            }
            // At the level of the arguments.
            let outer = !inside && self.open.len() == 1;
            match (&lexeme, tokens) {
                (JsonLexeme::Word("**"), TokenSet::Key) if outer => self.odd = Some(Repair::CallStyle),
                (JsonLexeme::Punct(b'{'), TokenSet::Key) if outer && !self.dictionary => {
                    (self.dictionary, self.odd) = (true, Some(Repair::CallStyle));
                    self.open.push((b'{', Holds::Nothing));
                }
                (JsonLexeme::Punct(b'}'), _) if self.dictionary && self.open.len() == 2 => {
                    self.open.pop();
                }
                (JsonLexeme::StringStart, TokenSet::Key) if outer => {
                    self.quoted_key = true;
                    return self.meaning(lexeme);
                }
                // A comma is missing before the word.
                (JsonLexeme::Word(word), TokenSet::Punctuation) if outer && declared(word) => {
                    (*at, self.odd) = (start, Some(Repair::RelaxedJson));
                    return self.meaning(JsonLexeme::Punct(b','));
                }
                // A parenthesis is missing before the bracket, if the marker follows.
                (JsonLexeme::Punct(b']'), TokenSet::Punctuation) if outer && self.in_list => {
                    let next = ws_run(window, *at);
                    match window.as_bytes().get(next) {
                        None if next - *at < BLANKS => {
                            *at = start;
                            return JsonLexeme::Need;
                        }
                        Some(b'<') => {}
                        _ => return self.meaning(lexeme),
                    }
                    (*at, self.odd) = (start, Some(Repair::UnbalancedBrackets));
                    return self.meaning(JsonLexeme::Punct(b')'));
                }
                _ => return self.meaning(lexeme),
            }
        }
    }

    fn odd(&mut self) -> Option<Repair> {
        self.odd.take()
    }

    fn is_digits(&self, word: &str) -> bool {
        word.len() > 1 && word.starts_with('0') && word.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn literal<'w>(&self, word: &'w str) -> Option<Cow<'w, str>> {
        match word {
            "True" | "true" => Some("true".into()),
            "False" | "false" => Some("false".into()),
            "None" | "null" => Some("null".into()),
            _ => number(word),
        }
    }

    fn key<'w>(&self, word: &'w str) -> Option<Cow<'w, str>> {
        // In a dictionary, keys are literals.
        if self.open.len() == 1 { is_name(word).then_some(Cow::Borrowed(word)) } else { self.literal(word) }
    }

    fn push_inside(&self, text: &str, json: &mut String) -> bool {
        self.string.is_some_and(|string| string.push_inside(text, json))
    }

    fn usage(&self) -> Cow<'static, str> {
        "Write arguments as key=value, with strings in quotes and commas between the arguments.".into()
    }
}

/// The JSON of a list or a dictionary that is the whole text, if it is one. What it writes may still be wrong in JSON, as a tuple
/// with a comma at its end is.
pub(crate) fn container(text: &str) -> Option<String> {
    // Not at the outermost level, where keyword arguments are.
    let mut lexer = PythonLexer { open: vec![(b'[', Holds::Nothing)], ..PythonLexer::default() };
    let (mut json, mut at) = (String::with_capacity(text.len()), 0);
    loop {
        match lexer.next(text, &mut at, TokenSet::Value, &|_| false) {
            JsonLexeme::Punct(byte) => json.push(byte as char),
            JsonLexeme::StringStart | JsonLexeme::StringEnd => json.push('"'),
            JsonLexeme::Plain(text) => push_str(&mut json, text),
            JsonLexeme::Char(c) => push_char(&mut json, c),
            JsonLexeme::Word(word) => json.push_str(&lexer.literal(word)?),
            JsonLexeme::Need => {
                return (lexer.open.len() == 1 && lexer.string.is_none() && at == text.len()).then_some(json);
            }
            JsonLexeme::Bad(_) | JsonLexeme::Lax(_) => return None,
        }
    }
}

fn is_punctuation(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b':' | b'=')
}

/// Whether a tool's name or a keyword can be written so. Hyphens and dots are allowed, because names of tools have them.
pub(crate) fn is_name(text: &str) -> bool {
    let first = |c: char| c.is_alphabetic() || c == '_';
    text.starts_with(first) && text.chars().all(is_name_char)
}

pub(crate) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The JSON of a number as Python writes it, with all its digits.
fn number(word: &str) -> Option<Cow<'_, str>> {
    if !word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
        return None;
    }
    // An underscore must be between digits.
    let bytes = word.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_hexdigit);
    let between = |(at, _): (usize, &str)| digit(at.checked_sub(1)) && digit(Some(at + 1));
    let plain: Cow<'_, str> = match word.contains('_') {
        false => word.into(),
        true if word.match_indices('_').all(between) => word.replace('_', "").into(),
        true => return None,
    };
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let base = match digits.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0o" | "0O") => 8,
        Some("0b" | "0B") => 2,
        _ => return respelled(&plain, false).map(|json| if json == word { word.into() } else { json.into() }),
    };
    let digits = &digits[2..];
    let value = u128::from_str_radix(digits, base).ok().filter(|_| digits.len() <= BASED_DIGITS)?;
    (!digits.starts_with('+')).then(|| format!("{sign}{value}").into())
}
