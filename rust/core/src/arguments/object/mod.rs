//! Reads a JSON value as it arrives, and writes typed compact JSON. Strings that their type admits are passed on in parts.

mod complete;
mod literals;
mod near_misses;
mod quotes;
mod values;

use std::mem::take;

use super::{Context, Flow, Input, Progress, ReadError, Report, coercion, messages};
use crate::error::{ErrorKind, Repair};
use crate::schema::NodeId;
use crate::syntax::json::{Expect, JsonLexeme, JsonLexer, TokenSet, plain_end, plain_string, push_char, verbatim_end};
use crate::syntax::quoting::{Kept, Outside, Quote, is_apostrophe, outside_quotes};
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Scan, find_mark, ws_run};

pub(crate) use complete::equal_literal;
pub(crate) use literals::Literals;
pub(crate) use quotes::Quotes;
pub(crate) use values::Values;

const INNER_QUOTE: &str = "a quote in a string must be written as \\\"";

/// What the string that is being read is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StringUse {
    /// It is a key.
    #[default]
    Key,
    /// Passed on as it arrives; plain parts need no escapes.
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
pub(crate) struct Object {
    lexer: JsonLexer,
    expect: Expect,
    text: StringUse,
    /// The part of the string that is not passed on.
    collected: String,
    values: Values,
    /// How unescaped quotes in strings are read, if they are allowed.
    quotes: Option<Quotes>,
    notation: Notation,
    /// The quote of the string in which the value has failed, if it is one that opens no string.
    lost: Option<Quote>,
}

impl Object {
    /// For a value of type `node` at `path`, `above` levels deep in the arguments.
    pub(crate) fn new(cx: &Context<'_>, node: NodeId, path: String, above: usize) -> Self {
        Object {
            lexer: JsonLexer::new(!cx.strict).in_calls(),
            values: Values::new(node, path, above),
            ..Object::default()
        }
    }

    /// For the whole of the arguments.
    pub(crate) fn arguments(cx: &Context<'_>) -> Self {
        Object::new(cx, cx.schema.root, String::new(), 0)
    }

    /// For the whole of the arguments as Python writes them: `(key=value, …)`.
    pub(crate) fn keywords(cx: &Context<'_>) -> Self {
        Object { notation: Notation::Keywords, ..Object::arguments(cx).in_parentheses() }
    }

    /// The same in a native format.
    pub(crate) fn in_native(self) -> Self {
        Object { lexer: self.lexer.in_native(), ..self }
    }

    /// The same for a value in parentheses.
    pub(crate) fn in_parentheses(self) -> Self {
        Object { lexer: JsonLexer::new(true).in_calls().with_parentheses(), notation: Notation::Tuples, ..self }
    }

    /// Starts over with the whole of the arguments, and keeps the allocations.
    pub(crate) fn renew(&mut self, lexer: JsonLexer, node: NodeId, quotes: Option<Quotes>) {
        (self.lexer, self.expect, self.quotes, self.notation) = (lexer, Expect::Value, quotes, Notation::Json);
        self.lost = None;
        self.collected.clear();
        self.values.renew(node);
    }

    /// How to recover if the call fails here.
    pub(crate) fn recovery(&self) -> Recovery {
        match (self.brackets(), self.notation) {
            (0, _) if self.expect == Expect::Value => Recovery::ValueStart,
            (0, _) => Recovery::AFTER,
            (depth, Notation::Json) => Recovery::in_brackets(depth, self.open_quote()),
            _ => self.open_quote().map_or(Recovery::TokenStart, Recovery::in_quotes),
        }
    }

    /// Brackets that are open.
    pub(crate) fn brackets(&self) -> usize {
        self.values.brackets()
    }

    /// The quote of the string that is open.
    pub(crate) fn open_quote(&self) -> Option<Quote> {
        self.lost.or(self.lexer.quote.map(Quote::Plain))
    }

    /// The fast path: consumes a text that lies entirely inside a string that is passed on. Returns whether its JSON is the
    /// same text. `None`: the text could end the string, and nothing was consumed.
    #[inline]
    pub(crate) fn feed_plain(&mut self, report: &mut Report, text: &str) -> Option<bool> {
        let quote = self.lexer.quote?;
        let kept = self.quotes.as_ref().is_some_and(|quotes| quotes.kept.is_some());
        let plain = !kept && self.text == StringUse::Live && plain_end(text.as_bytes(), 0, quote) == text.len();
        plain.then(|| {
            report.args.json.push_str(text);
            true
        })
    }

    /// Reads the value from `input.at`, up to its end.
    pub(crate) fn feed(&mut self, input: &mut Input<'_>) -> Flow {
        let Err((kind, message)) = self.read(input) else {
            return if self.expect == Expect::Nothing { Ok(()) } else { Err(Progress::Incomplete) };
        };
        let recovery = match (self.brackets(), self.notation, self.open_quote()) {
            (0, ..) => self.recovery(),
            (depth, Notation::Json, quote) => Recovery::in_brackets_at(depth, quote, input.window, input.at),
            (_, _, None) if !Outside::at_error(input.window, input.at).opens() => Recovery::Key(Outside::WORD),
            _ => self.recovery(),
        };
        Err(Progress::failed(kind, message, recovery))
    }

    /// Reads a complete text. Returns what follows the value; `None` if the value is not complete.
    pub(crate) fn read_all<'t>(
        &mut self,
        cx: &Context<'_>,
        report: &mut Report,
        text: &'t str,
    ) -> Result<Option<&'t str>, ReadError> {
        let mut input = Input { cx: *cx, report, window: text, at: 0, last: true };
        match self.feed(&mut input) {
            Ok(()) => Ok(Some(&text[input.at..])),
            Err(Progress::Failed(failure)) => Err((failure.kind, failure.message)),
            Err(_) => Ok(None),
        }
    }

    fn read(&mut self, input: &mut Input<'_>) -> Result<(), ReadError> {
        let Input { cx, window, .. } = *input;
        while self.expect != Expect::Nothing {
            let place = self.expect.tokens();
            let quote = self.lexer.quote;
            if place != TokenSet::Punctuation && quote.is_none() && !self.lexer.in_comment() {
                input.at = ws_run(window, input.at);
                if self.plain(input)? {
                    continue;
                }
            }
            if let Some(quote) = quote {
                self.verbatim(input, quote);
            }
            if self.expect == Expect::Comma && self.quotes.is_some() && self.lexer.relaxed() {
                match self.comma_missing(input) {
                    Scan::Match(()) => {
                        self.lax(&cx, input.report, "a comma is missing after a value")?;
                        self.expect = Expect::Key { first: false };
                        continue;
                    }
                    Scan::Incomplete => return Ok(()),
                    Scan::NoMatch => {}
                }
            }
            let before = input.at;
            // Its last bracket ends it, never the end of the message.
            let lexeme = self.lexer.next(window, &mut input.at, false, place);
            match lexeme {
                JsonLexeme::Need => return Ok(()),
                JsonLexeme::StringEnd if self.text != StringUse::Key => {
                    let quote = quote.unwrap_or(b'"');
                    match self.ends(&cx, input.rest(), input.last) {
                        Some(true) => self.agrees()?,
                        Some(false) => {
                            let rest = &input.window[input.at..];
                            self.keep(&cx, input.report, quote, rest)?;
                            continue;
                        }
                        None => {
                            input.at = before;
                            self.lexer.quote = Some(quote);
                            return Ok(());
                        }
                    }
                }
                JsonLexeme::Plain(part) => self.follow(|kept| kept.run(part)),
                JsonLexeme::Char(_) => match &window[before..input.at] {
                    escape if escape.starts_with('\\') => self.follow(|kept| kept.escape(escape)),
                    raw => self.follow(|kept| kept.run(raw)),
                },
                // Nobody writes a delimiter as a value.
                JsonLexeme::Word(word) if self.quotes.is_some() => {
                    if let Some(found) = find_mark(word, &cx.delimiters.close) {
                        input.at -= word.len() - outside_quotes(word, found);
                        return Err(self.invalid(ErrorKind::InvalidJson, "it is not complete"));
                    }
                }
                _ => {}
            }
            if self.lexer.repaired && self.notation != Notation::Keywords {
                input.report.repair(Repair::RelaxedJson);
            }
            let lexeme = if self.notation == Notation::Json { lexeme } else { self.as_json(lexeme) };
            let punct = matches!(lexeme, JsonLexeme::Punct(_));
            if let Err(bad) = self.lexeme(&cx, input.report, lexeme) {
                // Brackets and commas that were not expected count during recovery; a value's last bracket was counted already.
                if punct && bad.0 != ErrorKind::DuplicateArgument {
                    input.at = (input.at - 1).max(before);
                }
                return Err(bad);
            }
        }
        Ok(())
    }

    /// Passes on what is the same in a string that is sent as it arrives.
    fn verbatim(&mut self, input: &mut Input<'_>, quote: u8) {
        let kept = self.quotes.as_ref().is_some_and(|quotes| quotes.kept.is_some());
        if self.text == StringUse::Live && !kept {
            let end = verbatim_end(input.window.as_bytes(), input.at, quote);
            input.report.args.json.push_str(&input.window[input.at..end]);
            input.at = end;
        }
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

    /// Reads a string in one step. False: it is not complete or not plain, and nothing was read.
    fn plain(&mut self, input: &mut Input<'_>) -> Result<bool, ReadError> {
        let Some((text, length)) = plain_string(input.rest()) else { return Ok(false) };
        let is_key = matches!(self.expect, Expect::Key { .. });
        if !is_key && self.ends(&input.cx, &input.rest()[length..], input.last) != Some(true) {
            return Ok(false);
        }
        input.at += length;
        if is_key {
            self.key(&input.cx, input.report, text)?;
            return Ok(true);
        }
        let all = if self.values.string(&input.cx, input.report) {
            input.report.args.json.extend([text, "\""]);
            self.values.end(input.report)?
        } else {
            self.values.scalar(&input.cx, input.report, text, true)?
        };
        self.behind(all);
        Ok(true)
    }

    /// Whether the quote before this text ends its string. `None`: more text is needed to decide.
    fn ends(&self, cx: &Context<'_>, rest: &str, last: bool) -> Option<bool> {
        let Some(quotes) = &self.quotes else { return Some(true) };
        quotes.ends(cx, rest, last, self.brackets(), |at| self.values.bracket(at))
    }

    fn lexeme(&mut self, cx: &Context<'_>, report: &mut Report, lexeme: JsonLexeme<'_>) -> Result<(), ReadError> {
        match (lexeme, self.expect) {
            (JsonLexeme::Bad(_), Expect::Colon) if self.values.last_key().is_some_and(|key| key.ends_with('=')) => {
                return Err(self.invalid(ErrorKind::InvalidJson, "a key must be followed by a colon, not by ="));
            }
            (JsonLexeme::Bad(what), _) => return Err(self.invalid(ErrorKind::InvalidJson, what)),
            (JsonLexeme::Lax(what), _) => return Err(self.invalid(ErrorKind::Strict(Repair::RelaxedJson), what)),
            (JsonLexeme::Plain(part), _) if self.text == StringUse::Live => report.args.json.push_str(part),
            (JsonLexeme::Plain(part), _) => self.collected.push_str(part),
            (JsonLexeme::Char(c), _) => self.push(report, c),
            (JsonLexeme::StringEnd, _) => return self.string_end(cx, report),
            (JsonLexeme::StringStart, Expect::Key { .. }) => self.text = StringUse::Key,
            (JsonLexeme::Word(word), Expect::Key { .. }) if !word.is_empty() => {
                self.lax(cx, report, "keys need double quotes")?;
                return self.key(cx, report, word);
            }
            (JsonLexeme::Punct(b'}'), Expect::Key { first }) | (JsonLexeme::Punct(b']'), Expect::Item { first }) => {
                if !first {
                    let bracket = if self.values.in_object() { '}' } else { ']' };
                    self.lax(cx, report, &format!("a comma must not precede {bracket}"))?;
                }
                return self.close(cx, report);
            }
            (JsonLexeme::Punct(bracket @ (b'}' | b']')), Expect::Comma)
                if self.values.in_object() == (bracket == b'}') =>
            {
                return self.close(cx, report);
            }
            (JsonLexeme::Punct(b','), Expect::Comma) => self.expect = Expect::after_comma(self.values.in_object()),
            (JsonLexeme::Punct(b':'), Expect::Colon) => self.expect = Expect::Value,
            (JsonLexeme::StringStart, Expect::Value | Expect::Item { .. }) => {
                self.text = if self.values.string(cx, report) { StringUse::Live } else { StringUse::Collect };
                if let Some(quotes) = &mut self.quotes {
                    quotes.start = report.args.json.len();
                }
            }
            (JsonLexeme::Punct(bracket @ (b'{' | b'[')), Expect::Value | Expect::Item { .. }) => {
                self.values.open(cx, report, bracket)?;
                self.expect = Expect::opened(bracket);
            }
            (JsonLexeme::Word(word), Expect::Value | Expect::Item { .. }) if !word.is_empty() => {
                return self.word(cx, report, word);
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

    fn lax(&mut self, cx: &Context<'_>, report: &mut Report, what: &str) -> Result<(), ReadError> {
        if self.notation == Notation::Keywords {
            return Ok(());
        }
        cx.repair(report, Repair::RelaxedJson).map_err(|kind| self.invalid(kind, what))
    }

    fn invalid(&self, kind: ErrorKind, what: &str) -> ReadError {
        if self.notation == Notation::Keywords && kind == ErrorKind::InvalidJson {
            return (ErrorKind::MalformedCall, messages::NO_KEYWORDS.to_owned());
        }
        (kind, messages::invalid_json(&self.values.path(), what))
    }

    fn key(&mut self, cx: &Context<'_>, report: &mut Report, key: &str) -> Result<(), ReadError> {
        self.values.key(cx, report, key)?;
        self.expect = Expect::Colon;
        Ok(())
    }

    /// After a value: the outermost one, or one inside it.
    fn behind(&mut self, all: bool) {
        self.expect = if all { Expect::Nothing } else { Expect::Comma };
    }

    /// Closes the innermost bracket.
    pub(crate) fn close(&mut self, cx: &Context<'_>, report: &mut Report) -> Result<(), ReadError> {
        let all = self.values.close(cx, report)?;
        self.behind(all);
        Ok(())
    }

    fn word(&mut self, cx: &Context<'_>, report: &mut Report, word: &str) -> Result<(), ReadError> {
        let python = coercion::python(word);
        let literal = python.unwrap_or(word);
        let json = coercion::is_json_scalar(literal);
        if self.lexer.native && matches!(word.trim_start_matches(['-', '+']), "NaN" | "Infinity") {
            return Err(self.invalid(ErrorKind::InvalidJson, "NaN and Infinity are not JSON"));
        }
        if !json || python.is_some() {
            self.lax(cx, report, "strings need double quotes")?;
        }
        let all = self.values.word(cx, report, literal, !json)?;
        self.behind(all);
        Ok(())
    }

    /// What was read of the string, if its quotes need not be escaped.
    fn so_far<'a>(&'a self, report: &'a Report) -> &'a str {
        match &self.quotes {
            Some(quotes) if self.text == StringUse::Live => &report.args.json[quotes.start..],
            _ => &self.collected,
        }
    }

    /// One character of the string.
    fn push(&mut self, report: &mut Report, c: char) {
        match self.text {
            StringUse::Live => push_char(&mut report.args.json, c),
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
    fn agrees(&mut self) -> Result<(), ReadError> {
        let open = self.quotes.as_ref().and_then(|quotes| quotes.kept?.opened());
        let Some(open) = open else { return Ok(()) };
        self.lost = Some(open);
        Err(self.invalid(ErrorKind::UnterminatedValue, INNER_QUOTE))
    }

    /// The quote that ended the string is part of its content.
    fn keep(&mut self, cx: &Context<'_>, report: &mut Report, quote: u8, rest: &str) -> Result<(), ReadError> {
        cx.repair(report, Repair::InnerQuotes).map_err(|kind| self.invalid(kind, INNER_QUOTE))?;
        if self.is_ambiguous(cx, report, quote, rest) {
            return Err(self.invalid(ErrorKind::UnterminatedValue, INNER_QUOTE));
        }
        self.lexer.quote = Some(quote);
        let apostrophe = is_apostrophe(quote, self.so_far(report), rest);
        if let Some(Quotes { kept, .. }) = &mut self.quotes {
            kept.get_or_insert_with(|| Kept::new(quote)).keep(apostrophe);
        }
        self.push(report, quote as char);
        Ok(())
    }

    /// Whether the string could also have ended earlier: at a first quote that is followed by another, as in `"""`; or at a
    /// kept quote that begins a known key, which this quote ends.
    fn is_ambiguous(&self, cx: &Context<'_>, report: &Report, quote: u8, rest: &str) -> bool {
        let Some(Quotes { kept, keys, .. }) = &self.quotes else { return false };
        let text = self.so_far(report);
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

    fn string_end(&mut self, cx: &Context<'_>, report: &mut Report) -> Result<(), ReadError> {
        if let Some(quotes) = &mut self.quotes
            && take(&mut quotes.kept).is_some()
        {
            let text = self.so_far(report);
            // It may have ended anywhere.
            if [&cx.delimiters.open, &cx.delimiters.close].iter().any(|mark| text.contains(mark.as_str())) {
                let what = "where a string with quotes and a delimiter in it ends cannot be told; \
                            a quote in a string must be written as \\\"";
                return Err(self.invalid(ErrorKind::UnterminatedValue, what));
            }
        }
        let mut text = take(&mut self.collected);
        let read = match self.text {
            StringUse::Key => self.key(cx, report, &text),
            StringUse::Live => {
                report.args.json.push('"');
                self.values.end(report).map(|all| self.behind(all))
            }
            StringUse::Collect => self.values.scalar(cx, report, &text, true).map(|all| self.behind(all)),
        };
        text.clear();
        self.collected = text;
        read
    }
}
