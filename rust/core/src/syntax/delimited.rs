//! A notation with bare keys, and strings between delimiters that have no escapes: `{key:<|"|>text<|"|>,list:[1,true]}`.
//!
//! The next delimiter always ends a string. Between strings, every character has one meaning, so that only a delimiter that is cut
//! off and words are held back.

use std::borrow::Cow;

use super::json::{JsonLexeme, TokenSet, is_number, push_str};
use super::literals::LiteralLexer;
use super::python::StringQuotes;
use super::quoting::{Alternation, Quote, leaves_open};
use super::scan::{Scan, partial_end, starts, trim, ws_run};
use super::word_quotes::{in_quotes, stray_quote};
use crate::error::Repair;
use crate::limits::HEAD_CHARS;

#[derive(Debug)]
pub(crate) struct DelimitedLexer {
    /// What begins and ends a string. It is not empty, and begins with `<`.
    quote: &'static str,
    /// The marker at the end of a call.
    close: &'static str,
    /// Single and double quotes also delimit strings.
    relaxed: bool,
    in_string: bool,
    /// The open string, if it is in single or double quotes.
    plain: Option<StringQuotes>,
    /// The repair of the last lexeme, until it is asked for.
    odd: Option<Repair>,
    /// The outermost brackets are parentheses.
    parentheses: bool,
    /// The number of open brackets.
    depth: usize,
    /// A bracket was inside another one, so a missing one could be any of them.
    nested: bool,
    /// Of a held word: bytes and characters that were scanned, and whether one of them was `=`.
    word: (usize, usize, bool),
    /// After an error: other quotes.
    quotes: Alternation,
}

impl DelimitedLexer {
    pub(crate) fn new(quote: &'static str, close: &'static str, relaxed: bool) -> Self {
        let (in_string, plain, odd, parentheses) = (false, None, None, false);
        let (word, quotes, depth, nested) = ((0, 0, false), Alternation::START, 0, false);
        DelimitedLexer { quote, close, relaxed, in_string, plain, odd, parentheses, depth, nested, word, quotes }
    }

    /// The arguments are in parentheses.
    pub(crate) fn in_parentheses(&mut self) {
        (self.parentheses, self.odd) = (true, Some(Repair::CallStyle));
    }

    /// Starts the recovery of a failed call, inside this quote if there is one.
    pub(crate) fn lost(&mut self, quote: Option<Quote>) {
        self.quotes = quote.map_or(Alternation::START, Alternation::inside);
    }

    /// Passes over text up to what closes the call, outside its strings and other quoted text. Returns whether it was found; then `*at` is after it.
    pub(crate) fn skip(&mut self, window: &str, at: &mut usize) -> bool {
        if let Some(string) = self.plain.take() {
            self.quotes = Alternation::inside(Quote::Plain(string.quote()));
        }
        let close = self.close;
        while let Some(&byte) = window.as_bytes().get(*at) {
            let outside = self.quotes.open().is_none();
            if byte == b'<' && (outside || self.in_string) {
                let rest = &window[*at..];
                let quote = starts(rest, self.quote, false);
                let closed = if self.in_string { Scan::NoMatch } else { starts(rest, close, false) };
                match (quote, closed) {
                    (Scan::Match(()), _) => {
                        (self.in_string, self.quotes) = (!self.in_string, Alternation::CLOSED);
                        *at += self.quote.len();
                        continue;
                    }
                    (_, Scan::Match(())) => {
                        *at += close.len();
                        return true;
                    }
                    (Scan::Incomplete, _) | (_, Scan::Incomplete) => return false,
                    (Scan::NoMatch, Scan::NoMatch) => {}
                }
            }
            if !self.in_string {
                self.quotes.step(byte);
            }
            *at += 1;
        }
        false
    }

    fn content<'w>(&mut self, window: &'w str, at: &mut usize) -> JsonLexeme<'w> {
        let rest = &window[*at..];
        let end = match memchr::memmem::find(rest.as_bytes(), self.quote.as_bytes()) {
            Some(0) => {
                self.in_string = false;
                *at += self.quote.len();
                return JsonLexeme::StringEnd;
            }
            Some(end) => end,
            None => partial_end(rest, self.quote),
        };
        *at += end;
        if end == 0 { JsonLexeme::Need } else { JsonLexeme::Plain(&rest[..end]) }
    }

    /// True if the call is closed here although its only bracket is still open.
    fn missing_bracket(&self, rest: &str, tokens: TokenSet) -> Scan {
        match tokens == TokenSet::Punctuation && self.depth == 1 && !self.nested {
            true => starts(rest, self.close, false),
            false => Scan::NoMatch,
        }
    }

    /// A key, or a value that is not a string, up to the character that ends it.
    fn word<'w>(
        &mut self,
        window: &'w str,
        at: &mut usize,
        tokens: TokenSet,
        declared: &dyn Fn(&str) -> bool,
    ) -> JsonLexeme<'w> {
        let is_key = tokens == TokenSet::Key;
        let rest = &window[*at..];
        let (mut end, mut chars, mut equals) = self.word;
        while let Some(&byte) = rest.as_bytes().get(end) {
            let ends = match byte {
                b'{' | b'}' | b',' | b'<' => true,
                b')' => self.parentheses,
                b'[' | b']' => !is_key,
                b':' => is_key,
                b'=' if is_key && !equals => {
                    equals = true;
                    declared(trim(&rest[..end]))
                }
                _ => false,
            };
            if ends {
                self.word = (0, 0, false);
                let word = trim(&rest[..end]);
                let quoted = || in_quotes(word).is_some_and(|inner| !inner.contains(['"', '\'']));
                let in_key = is_key && (declared(word) || quoted());
                // Quoted text may begin in the word.
                if leaves_open(word) {
                    return JsonLexeme::Bad("a string needs its delimiters");
                }
                if let Some(quote) = stray_quote(&rest[..end]).filter(|_| !in_key) {
                    self.plain = Some(StringQuotes::of(rest.as_bytes()[quote]));
                    *at += quote + 1;
                    return JsonLexeme::Bad("a string needs its delimiters");
                }
                *at += end;
                return JsonLexeme::Word(match in_quotes(word) {
                    Some(inner) if is_key && !declared(word) && declared(inner) => {
                        self.odd = Some(Repair::RelaxedJson);
                        inner
                    }
                    _ => word,
                });
            }
            chars += usize::from(byte & 0xC0 != 0x80);
            if is_key && chars > HEAD_CHARS {
                return JsonLexeme::Bad("a key must be followed by a colon");
            }
            end += 1;
        }
        self.word = (end, chars, equals);
        JsonLexeme::Need
    }
}

impl LiteralLexer for DelimitedLexer {
    const STRICT_COMMAS: bool = true;
    const BARE_STRINGS: bool = true;

    fn next<'w>(
        &mut self,
        window: &'w str,
        at: &mut usize,
        tokens: TokenSet,
        declared: &dyn Fn(&str) -> bool,
    ) -> JsonLexeme<'w> {
        if self.in_string {
            return self.content(window, at);
        }
        if let Some(string) = self.plain {
            let lexeme = string.content(window, at);
            if lexeme == JsonLexeme::StringEnd {
                self.plain = None;
            }
            return lexeme;
        }
        *at = ws_run(window, *at);
        let Some(&byte) = window.as_bytes().get(*at) else { return JsonLexeme::Need };
        let punct = match byte {
            b'<' => match starts(&window[*at..], self.quote, false) {
                Scan::Match(()) => {
                    *at += self.quote.len();
                    self.in_string = true;
                    return JsonLexeme::StringStart;
                }
                Scan::Incomplete => return JsonLexeme::Need,
                Scan::NoMatch => match self.missing_bracket(&window[*at..], tokens) {
                    Scan::Match(()) => {
                        (self.depth, self.odd) = (0, Some(Repair::UnbalancedBrackets));
                        return JsonLexeme::Punct(b'}');
                    }
                    Scan::Incomplete => return JsonLexeme::Need,
                    Scan::NoMatch => Some(byte),
                },
            },
            b'"' | b'\'' if self.relaxed && tokens == TokenSet::Value => {
                *at += 1;
                (self.plain, self.odd) = (Some(StringQuotes::of(byte)), Some(Repair::RelaxedJson));
                return JsonLexeme::StringStart;
            }
            b'(' if self.parentheses && self.depth == 0 => Some(b'{'),
            b')' if self.parentheses && self.depth == 1 => Some(b'}'),
            b'[' | b']' => (tokens != TokenSet::Key).then_some(byte),
            b'{' | b'}' | b',' | b':' => Some(byte),
            b'=' => (tokens == TokenSet::Punctuation).then_some(byte),
            _ => None,
        };
        if let Some(byte) = punct {
            match byte {
                b'{' | b'[' => (self.nested, self.depth) = (self.depth > 0 || self.nested, self.depth + 1),
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            *at += 1;
            return JsonLexeme::Punct(byte);
        }
        if tokens == TokenSet::Punctuation {
            return JsonLexeme::Bad("a comma, a colon or a closing bracket is missing");
        }
        self.word(window, at, tokens, declared)
    }

    fn odd(&mut self) -> Option<Repair> {
        self.odd.take()
    }

    fn literal<'w>(&self, word: &'w str) -> Option<Cow<'w, str>> {
        match word {
            "true" | "True" => Some("true".into()),
            "false" | "False" => Some("false".into()),
            "null" | "None" => Some("null".into()),
            _ => is_number(word).then_some(Cow::Borrowed(word)),
        }
    }

    fn key<'w>(&self, word: &'w str) -> Option<Cow<'w, str>> {
        (!word.is_empty()).then_some(Cow::Borrowed(word))
    }

    fn push_inside(&self, text: &str, json: &mut String) -> bool {
        let inside = self.in_string && memchr::memchr(b'<', text.as_bytes()).is_none();
        if inside {
            push_str(json, text);
        }
        inside
    }

    fn usage(&self) -> Cow<'static, str> {
        let quote = self.quote;
        format!("Write arguments as {{key:value,…}}, with strings between {quote} and {quote}.").into()
    }
}

/// Whether a key can be written bare. `declared`: whether a key of this name is expected there.
pub(crate) fn is_bare_key(key: &str, declared: &dyn Fn(&str) -> bool) -> bool {
    let held = |key: &str| key.contains([':', '{', '}', ',', '<']);
    let equals = key.split_once('=').is_some_and(|(before, _)| declared(trim(before)));
    !key.is_empty()
        && trim(key) == key
        && !held(key)
        && !equals
        && !leaves_open(key)
        && (!key.contains(['"', '\'']) || declared(key))
        && key.chars().count() <= HEAD_CHARS
}
