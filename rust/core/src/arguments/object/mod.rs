//! A JSON value in, typed compact JSON out, as it comes. Strings that their type takes are passed on part by part.

mod quotes;
mod values;

use std::mem::take;

use super::{Bad, Context, Failure, Flow, Found, Io, Step, messages};
use crate::error::{ErrorKind, Repair};
use crate::schema::NodeId;
use crate::syntax::json::{Expect, JsonLexeme, JsonLexer, TokenSet, is_number, is_plain, plain_string, push_char};
use crate::syntax::quoting::{Kept, is_apostrophe};
use crate::syntax::recovery::{Skip, ends_in_word};
use crate::syntax::scan::{find_mark, ws_run};

pub use quotes::Quotes;
use values::Values;
pub use values::equal_literal;

const INNER_QUOTE: &str = "a quote in a string must be written as \\\"";

/// What the string that is being read is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StringUse {
    /// It is a key.
    #[default]
    Key,
    /// Passed on as it comes; plain parts need no escapes.
    Live,
    /// Typed at its end.
    Collect,
}

/// What is used as brackets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Notation {
    #[default]
    Json,
    /// Parentheses are those of lists, as in Python's tuples.
    Tuples,
    /// The outermost ones contain keyword arguments.
    Keywords,
}

/// The reader of one JSON value.
#[derive(Debug, Default)]
pub struct Object {
    lexer: JsonLexer,
    expect: Expect,
    text: StringUse,
    /// Of the string, what is not passed on.
    collected: String,
    values: Values,
    /// Quotes in strings need not be escaped: how.
    quotes: Option<Quotes>,
    notation: Notation,
}

impl Object {
    /// For a value of type `node` at `path`, `above` levels deep in the arguments.
    pub fn new(cx: &Context<'_>, node: NodeId, path: String, above: usize) -> Self {
        Object {
            lexer: JsonLexer::new(!cx.strict).in_calls(),
            values: Values::new(node, path, above),
            ..Object::default()
        }
    }

    /// For the whole of the arguments.
    pub fn arguments(cx: &Context<'_>) -> Self {
        Object::new(cx, cx.schema.root, String::new(), 0)
    }

    /// For the whole of the arguments as Python writes them: `(key=value, …)`.
    pub fn keywords(cx: &Context<'_>) -> Self {
        Object { notation: Notation::Keywords, ..Object::arguments(cx).in_parentheses() }
    }

    /// The same for a value in parentheses.
    pub fn in_parentheses(self) -> Self {
        Object { lexer: JsonLexer::new(true).in_calls().with_parentheses(), notation: Notation::Tuples, ..self }
    }

    /// Starts over with the whole of the arguments, and keeps the allocations.
    pub fn renew(&mut self, lexer: JsonLexer, node: NodeId, quotes: Option<Quotes>) {
        (self.lexer, self.expect, self.quotes) = (lexer, Expect::Value, quotes);
        self.collected.clear();
        self.values.renew(node);
    }

    /// How to recover if the call fails here.
    pub fn skip(&self) -> Skip {
        match (self.brackets(), self.notation) {
            (0, _) if self.expect == Expect::Value => Skip::ValueStart,
            (0, _) => Skip::After,
            (depth, Notation::Json) => Skip::in_brackets(depth, self.open_quote()),
            _ => self.open_quote().map_or(Skip::TokenStart, Skip::in_quotes),
        }
    }

    /// Brackets that are open.
    pub fn brackets(&self) -> usize {
        self.values.brackets()
    }

    /// The quote of the string that is open.
    pub fn open_quote(&self) -> Option<u8> {
        self.lexer.open_quote()
    }

    /// Takes text that is inside a string which is passed on, all of it, and cannot end it: is it in JSON what it was? `None`:
    /// nothing was done.
    #[inline]
    pub fn feed_plain(&mut self, found: &mut Found, text: &str) -> Option<bool> {
        let quote = self.lexer.open_quote()?;
        let kept = self.quotes.as_ref().is_some_and(|quotes| quotes.kept.is_some());
        let plain = !kept && self.text == StringUse::Live && text.bytes().all(|byte| is_plain(byte) && byte != quote);
        plain.then(|| {
            found.args.json.push_str(text);
            true
        })
    }

    /// Reads the value from `io.at`, up to its end.
    pub fn feed(&mut self, io: &mut Io<'_>) -> Flow {
        let Err((kind, message)) = self.read(io) else {
            return if self.expect == Expect::Nothing { Ok(()) } else { Err(Step::Need) };
        };
        let skip = match (self.brackets(), self.notation, self.open_quote()) {
            (0, ..) => self.skip(),
            (depth, Notation::Json, quote) => Skip::in_brackets_at(depth, quote, io.window, io.at),
            (_, _, None) if ends_in_word(io.window, io.at) => Skip::Key { opens: false },
            _ => self.skip(),
        };
        Err(Step::Failed(Failure { kind, message, skip }))
    }

    fn read(&mut self, io: &mut Io<'_>) -> Result<(), Bad> {
        let Io { cx, window, .. } = *io;
        while self.expect != Expect::Nothing {
            let place = self.expect.tokens();
            let quote = self.lexer.open_quote();
            if place != TokenSet::Punctuation && quote.is_none() && !self.lexer.in_comment() {
                io.at = ws_run(window, io.at);
                if self.plain(io)? {
                    continue;
                }
            }
            let before = io.at;
            // Its last bracket ends it, never the end of the message.
            let lexeme = self.lexer.next(window, &mut io.at, false, place);
            match lexeme {
                JsonLexeme::Need => return Ok(()),
                JsonLexeme::StringEnd if self.text != StringUse::Key => {
                    let quote = quote.unwrap_or(b'"');
                    match self.ends(&cx, io.rest(), io.last) {
                        Some(true) => self.agrees()?,
                        Some(false) => {
                            let rest = &io.window[io.at..];
                            self.keep(&cx, io.found, quote, rest)?;
                            continue;
                        }
                        None => {
                            io.at = before;
                            self.lexer.reopen(quote);
                            return Ok(());
                        }
                    }
                }
                JsonLexeme::Plain(part) => self.follow(|kept| kept.run(part)),
                JsonLexeme::Char(_) => match &window[before..io.at] {
                    escape if escape.starts_with('\\') => self.follow(Kept::escape),
                    raw => self.follow(|kept| kept.run(raw)),
                },
                // Nobody writes a delimiter as a value.
                JsonLexeme::Word(word) if self.quotes.is_some() => {
                    if let Some(found) = find_mark(word, &cx.delimiters.close) {
                        io.at -= word.len() - found;
                        return Err(self.invalid(ErrorKind::InvalidJson, "it is not complete"));
                    }
                }
                _ => {}
            }
            if self.lexer.repaired && self.notation != Notation::Keywords {
                io.found.repair(Repair::RelaxedJson);
            }
            let lexeme = if self.notation == Notation::Json { lexeme } else { self.as_json(lexeme) };
            let punct = matches!(lexeme, JsonLexeme::Punct(_));
            if let Err(bad) = self.lexeme(&cx, io.found, lexeme) {
                // Brackets and commas that were not expected count during recovery; a value's last bracket was counted already.
                if punct && bad.0 != ErrorKind::DuplicateArgument {
                    io.at = (io.at - 1).max(before);
                }
                return Err(bad);
            }
        }
        Ok(())
    }

    /// The lexeme of JSON that has the same meaning.
    fn as_json<'w>(&self, lexeme: JsonLexeme<'w>) -> JsonLexeme<'w> {
        let keywords = self.notation == Notation::Keywords;
        match (lexeme, self.brackets()) {
            (JsonLexeme::Punct(b'('), 0) if keywords => JsonLexeme::Punct(b'{'),
            (JsonLexeme::Punct(b')'), 1) if keywords => JsonLexeme::Punct(b'}'),
            (JsonLexeme::Punct(b'='), 1) if keywords => JsonLexeme::Punct(b':'),
            (JsonLexeme::Punct(b'('), _) => JsonLexeme::Punct(b'['),
            (JsonLexeme::Punct(b')'), _) => JsonLexeme::Punct(b']'),
            (lexeme, _) => lexeme,
        }
    }

    /// Takes a string in one step if it is complete and plain. False: it is not.
    fn plain(&mut self, io: &mut Io<'_>) -> Result<bool, Bad> {
        let Some((text, length)) = plain_string(io.rest()) else { return Ok(false) };
        let is_key = matches!(self.expect, Expect::Key { .. });
        if !is_key && self.ends(&io.cx, &io.rest()[length..], io.last) != Some(true) {
            return Ok(false);
        }
        io.at += length;
        if is_key {
            self.key(&io.cx, io.found, text)?;
            return Ok(true);
        }
        let all = if self.values.string(&io.cx, io.found) {
            io.found.args.json.extend([text, "\""]);
            self.values.end(io.found)?
        } else {
            self.values.scalar(&io.cx, io.found, text, true)?
        };
        self.behind(all);
        Ok(true)
    }

    /// Whether the quote before this text ends its string. `None`: that cannot be told yet.
    fn ends(&self, cx: &Context<'_>, rest: &str, last: bool) -> Option<bool> {
        let Some(quotes) = &self.quotes else { return Some(true) };
        quotes.ends(cx, rest, last, self.brackets(), |at| self.values.bracket(at))
    }

    fn lexeme(&mut self, cx: &Context<'_>, found: &mut Found, lexeme: JsonLexeme<'_>) -> Result<(), Bad> {
        match (lexeme, self.expect) {
            (JsonLexeme::Bad(_), Expect::Colon) if self.values.last_key().is_some_and(|key| key.ends_with('=')) => {
                return Err(self.invalid(ErrorKind::InvalidJson, "a key must be followed by a colon, not by ="));
            }
            (JsonLexeme::Bad(what), _) => return Err(self.invalid(ErrorKind::InvalidJson, what)),
            (JsonLexeme::Lax(what), _) => return Err(self.invalid(ErrorKind::Strict(Repair::RelaxedJson), what)),
            (JsonLexeme::Plain(part), _) if self.text == StringUse::Live => found.args.json.push_str(part),
            (JsonLexeme::Plain(part), _) => self.collected.push_str(part),
            (JsonLexeme::Char(c), _) => self.push(found, c),
            (JsonLexeme::StringEnd, _) => return self.string_end(cx, found),
            (JsonLexeme::StringStart, Expect::Key { .. }) => self.text = StringUse::Key,
            (JsonLexeme::Word(word), Expect::Key { .. }) if !word.is_empty() => {
                self.lax(cx, found, "keys need double quotes")?;
                return self.key(cx, found, word);
            }
            (JsonLexeme::Punct(b'}'), Expect::Key { first }) | (JsonLexeme::Punct(b']'), Expect::Item { first }) => {
                if !first {
                    let bracket = if self.values.in_object() { '}' } else { ']' };
                    self.lax(cx, found, &format!("a comma must not precede {bracket}"))?;
                }
                return self.close(cx, found);
            }
            (JsonLexeme::Punct(bracket @ (b'}' | b']')), Expect::Comma)
                if self.values.in_object() == (bracket == b'}') =>
            {
                return self.close(cx, found);
            }
            (JsonLexeme::Punct(b','), Expect::Comma) => self.expect = Expect::after_comma(self.values.in_object()),
            (JsonLexeme::Punct(b':'), Expect::Colon) => self.expect = Expect::Value,
            (JsonLexeme::StringStart, Expect::Value | Expect::Item { .. }) => {
                self.text = if self.values.string(cx, found) { StringUse::Live } else { StringUse::Collect };
                if let Some(quotes) = &mut self.quotes {
                    quotes.start = found.args.json.len();
                }
            }
            (JsonLexeme::Punct(bracket @ (b'{' | b'[')), Expect::Value | Expect::Item { .. }) => {
                self.values.open(cx, found, bracket)?;
                self.expect = Expect::opened(bracket);
            }
            (JsonLexeme::Word(word), Expect::Value | Expect::Item { .. }) if !word.is_empty() => {
                return self.word(cx, found, word);
            }
            (_, expect) => {
                let what = match expect {
                    Expect::Key { .. } => "a key is expected",
                    Expect::Colon => "a colon is expected after a key",
                    Expect::Comma | Expect::Nothing => "brackets do not match",
                    Expect::Value | Expect::Item { .. } => "a value is expected",
                };
                return Err(self.invalid(ErrorKind::InvalidJson, what));
            }
        }
        Ok(())
    }

    fn lax(&mut self, cx: &Context<'_>, found: &mut Found, what: &str) -> Result<(), Bad> {
        if self.notation == Notation::Keywords {
            return Ok(());
        }
        cx.repair(found, Repair::RelaxedJson).map_err(|kind| self.invalid(kind, what))
    }

    fn invalid(&self, kind: ErrorKind, what: &str) -> Bad {
        if self.notation == Notation::Keywords && kind == ErrorKind::InvalidJson {
            return (ErrorKind::MalformedCall, messages::NO_KEYWORDS.to_owned());
        }
        (kind, messages::invalid_json(&self.values.path(), what))
    }

    fn key(&mut self, cx: &Context<'_>, found: &mut Found, key: &str) -> Result<(), Bad> {
        self.values.key(cx, found, key)?;
        self.expect = Expect::Colon;
        Ok(())
    }

    /// After a value, which was the whole one or not.
    fn behind(&mut self, all: bool) {
        self.expect = if all { Expect::Nothing } else { Expect::Comma };
    }

    fn close(&mut self, cx: &Context<'_>, found: &mut Found) -> Result<(), Bad> {
        let all = self.values.close(cx, found)?;
        self.behind(all);
        Ok(())
    }

    fn word(&mut self, cx: &Context<'_>, found: &mut Found, word: &str) -> Result<(), Bad> {
        let literal = match word {
            "True" => "true",
            "False" => "false",
            "None" => "null",
            _ => word,
        };
        let json = matches!(literal, "true" | "false" | "null") || is_number(literal);
        if !json || literal != word {
            self.lax(cx, found, "strings need double quotes")?;
        }
        let all = self.values.word(cx, found, literal, !json)?;
        self.behind(all);
        Ok(())
    }

    /// What was read of the string, if its quotes need not be escaped.
    fn so_far<'a>(&'a self, found: &'a Found) -> &'a str {
        match &self.quotes {
            Some(quotes) if self.text == StringUse::Live => &found.args.json[quotes.start..],
            _ => &self.collected,
        }
    }

    /// One character of the string.
    fn push(&mut self, found: &mut Found, c: char) {
        match self.text {
            StringUse::Live => push_char(&mut found.args.json, c),
            StringUse::Key | StringUse::Collect => self.collected.push(c),
        }
    }

    /// After a kept quote: the second reading, in which that quote ended the string.
    fn follow(&mut self, step: impl FnOnce(&mut Kept)) {
        if let Some(Quotes { kept: Some(kept), .. }) = &mut self.quotes {
            step(kept);
        }
    }

    /// The quote ends the string. An error if it opens another one in the second reading.
    fn agrees(&mut self) -> Result<(), Bad> {
        let open = self.quotes.as_ref().and_then(|quotes| quotes.kept?.opened());
        let Some(open) = open else { return Ok(()) };
        self.lexer.reopen(open);
        Err(self.invalid(ErrorKind::UnterminatedValue, INNER_QUOTE))
    }

    /// The quote that ended the string is content of it.
    fn keep(&mut self, cx: &Context<'_>, found: &mut Found, quote: u8, rest: &str) -> Result<(), Bad> {
        cx.repair(found, Repair::InnerQuotes).map_err(|kind| self.invalid(kind, INNER_QUOTE))?;
        if self.is_ambiguous(cx, found, quote, rest) {
            return Err(self.invalid(ErrorKind::UnterminatedValue, INNER_QUOTE));
        }
        self.lexer.reopen(quote);
        let apostrophe = is_apostrophe(quote, self.so_far(found), rest);
        if let Some(Quotes { kept, .. }) = &mut self.quotes {
            kept.get_or_insert_with(|| Kept::new(quote)).keep(apostrophe);
        }
        self.push(found, quote as char);
        Ok(())
    }

    /// Whether the string could as well have ended before: at a first quote that another one follows, as in `"""`; or at a kept
    /// quote that begins a known key, of which this one is the end.
    fn is_ambiguous(&self, cx: &Context<'_>, found: &Found, quote: u8, rest: &str) -> bool {
        let Some(Quotes { kept, keys, .. }) = &self.quotes else { return false };
        let text = self.so_far(found);
        let Some(otherwise) = kept else {
            return text.is_empty() && rest.as_bytes().first() == Some(&quote);
        };
        if otherwise.is_elsewhere() {
            return false;
        }
        let key = text.rsplit(char::from(quote)).next().unwrap_or_default();
        let known = match self.values.bracket(0) {
            Some((true, node)) => cx.schema.declares(node, key),
            Some((false, _)) => false,
            None => keys.contains(&key),
        };
        known && rest[ws_run(rest, 0)..].starts_with(':')
    }

    fn string_end(&mut self, cx: &Context<'_>, found: &mut Found) -> Result<(), Bad> {
        if let Some(quotes) = &mut self.quotes
            && take(&mut quotes.kept).is_some()
        {
            let text = self.so_far(found);
            // It may have ended anywhere.
            if [&cx.delimiters.open, &cx.delimiters.close].iter().any(|mark| text.contains(mark.as_str())) {
                let what = "where a string with quotes and a delimiter in it ends cannot be told; \
                            a quote in a string must be written as \\\"";
                return Err(self.invalid(ErrorKind::UnterminatedValue, what));
            }
        }
        let mut text = take(&mut self.collected);
        let read = match self.text {
            StringUse::Key => self.key(cx, found, &text),
            StringUse::Live => {
                found.args.json.push('"');
                self.values.end(found).map(|all| self.behind(all))
            }
            StringUse::Collect => self.values.scalar(cx, found, &text, true).map(|all| self.behind(all)),
        };
        text.clear();
        self.collected = text;
        read
    }
}
