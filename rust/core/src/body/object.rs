//! A JSON value in, typed compact JSON out, as it comes. Strings that their type takes are passed on part by part.

use std::ops::Range;
use std::sync::Arc;

use super::quotes::Quotes;
use super::{Bad, Context, Failure, Found, Io, Skip, messages};
use crate::coerce::{self, Outcome};
use crate::error::{ErrorKind, Repair};
use crate::json::{Lexeme, Lexer, Place, is_number, is_plain, parse, plain_key, push_char, push_string};
use crate::keymap::KeyMap;
use crate::scan::{find_mark, ws_run};
use crate::schema::{Choice, Literal, NodeId, UNKNOWN};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Value,
    /// A value, or the end of an array: behind `[`, and in relaxed JSON behind a comma.
    Item {
        first: bool,
    },
    Key {
        first: bool,
    },
    Colon,
    Comma,
}

/// The string that is being read.
#[derive(Debug)]
enum Text {
    None,
    Key(String),
    /// Passed on as it comes; plain parts need no escapes.
    Live,
    /// Typed at its end.
    Collect(String),
}

#[derive(Debug)]
enum Shape {
    Object {
        keys: KeyMap<Range<usize>>,
        key: Arc<str>,
        start: usize,
        again: Option<Again>,
    },
    Array {
        count: usize,
    },
    /// An array around a lone value; it has no brackets in the source.
    Lone,
}

/// The key was there before: its first value, and whether this one holds back what is written.
#[derive(Debug)]
struct Again {
    first: Range<usize>,
    holds: bool,
}

#[derive(Debug)]
struct Frame {
    node: NodeId,
    shape: Shape,
    /// The type has literals that are such containers: where this one starts, and whether it holds back what is written.
    literal: Option<(usize, bool)>,
}

/// The reader of one JSON value.
#[derive(Debug)]
pub struct Object {
    lexer: Lexer,
    frames: Vec<Frame>,
    /// The frames that have brackets in the source.
    brackets: usize,
    expect: Expect,
    text: Text,
    /// The type of the value that comes next.
    node: NodeId,
    /// Where the value stands in the arguments.
    path: String,
    /// Levels of the arguments that it stands in; with none it is the whole of them, and its last bracket goes out with the
    /// call's end only.
    above: usize,
    /// Quotes in strings need not be escaped: how.
    quotes: Option<Quotes>,
}

impl Object {
    pub fn new(cx: &Context<'_>, node: NodeId, path: String, above: usize) -> Self {
        Object {
            lexer: Lexer::new(!cx.strict),
            frames: Vec::new(),
            brackets: 0,
            expect: Expect::Value,
            text: Text::None,
            node,
            path,
            above,
            quotes: None,
        }
    }

    /// Takes comments for blanks.
    pub fn with_comments(mut self) -> Self {
        self.lexer = self.lexer.with_comments();
        self
    }

    /// Takes quotes in strings that cannot end them for content. The value stands in so many brackets, the innermost of which
    /// are those of an object that may have these keys.
    pub fn with_quotes(mut self, around: usize, keys: &'static [&'static str]) -> Self {
        self.quotes = Some(Quotes::new(around, keys));
        self
    }

    /// How to read on when the call has failed here.
    pub fn skip(&self) -> Skip {
        match self.brackets {
            0 if self.expect == Expect::Value => Skip::ValueStart,
            0 => Skip::After,
            depth => Skip::in_brackets(depth, self.lexer.open_quote()),
        }
    }

    /// Brackets that are open.
    pub fn brackets(&self) -> usize {
        self.brackets
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
        let plain = matches!(self.text, Text::Live) && text.bytes().all(|byte| is_plain(byte) && byte != quote);
        plain.then(|| {
            found.args.json.push_str(text);
            true
        })
    }

    /// Reads the value from `io.at`. True: it is complete; false: more text is needed.
    pub fn feed(&mut self, io: &mut Io<'_>) -> Result<bool, Failure> {
        let Io { cx, window, .. } = *io;
        loop {
            let place = match (&self.text, self.expect) {
                (Text::None, Expect::Key { .. }) => Place::Key,
                (Text::None, Expect::Colon | Expect::Comma) => Place::Punctuation,
                _ => Place::Value,
            };
            if place == Place::Key && !self.lexer.in_comment() {
                io.at = ws_run(window, io.at);
                if let Some((key, length)) = plain_key(io.rest()) {
                    io.at += length;
                    if let Err((kind, message)) = self.key(&cx, io.found, key) {
                        return Err(Failure { kind, message, skip: self.skip() });
                    }
                    continue;
                }
            }
            let before = io.at;
            let quote = self.lexer.open_quote();
            // Its last bracket ends it, never the end of the message.
            let lexeme = self.lexer.next(window, &mut io.at, false, place);
            match lexeme {
                Lexeme::Need => return Ok(false),
                Lexeme::StringEnd if self.quotes.is_some() && !matches!(self.text, Text::Key(_)) => {
                    match self.ends(&cx, io.rest(), io.last) {
                        Some(true) => {}
                        Some(false) => {
                            let quote = quote.unwrap_or(b'"');
                            if let Err((kind, message)) = self.keep(&cx, io.found, quote) {
                                return Err(Failure { kind, message, skip: self.skip() });
                            }
                            continue;
                        }
                        None => {
                            io.at = before;
                            self.lexer.reopen(quote.unwrap_or(b'"'));
                            return Ok(false);
                        }
                    }
                }
                Lexeme::Word(word) if self.quotes.is_some() => {
                    // Nobody writes a delimiter as a value.
                    if let Some(found) = find_mark(word, &cx.delimiters.close) {
                        io.at = io.at - word.len() + found;
                        let (kind, message) = self.invalid(ErrorKind::InvalidJson, "it is not complete");
                        return Err(Failure { kind, message, skip: self.skip() });
                    }
                }
                _ => {}
            }
            if self.lexer.repaired {
                io.found.repair(Repair::RelaxedJson);
            }
            let punct = matches!(lexeme, Lexeme::Punct(_));
            match self.lexeme(&cx, io.found, lexeme) {
                Ok(false) => {}
                Ok(true) => return Ok(true),
                Err((kind, message)) => {
                    // Brackets and commas that were not expected count when reading on; a value's last bracket has done so.
                    if punct && kind != ErrorKind::DuplicateArgument {
                        io.at = (io.at - 1).max(before);
                    }
                    return Err(Failure { kind, message, skip: self.skip() });
                }
            }
        }
    }

    fn lexeme(&mut self, cx: &Context<'_>, found: &mut Found, lexeme: Lexeme<'_>) -> Result<bool, Bad> {
        match (lexeme, self.expect) {
            (Lexeme::Bad(what), _) => Err(self.invalid(ErrorKind::InvalidJson, what)),
            (Lexeme::Lax(what), _) => Err(self.invalid(ErrorKind::Strict(Repair::RelaxedJson), what)),
            (Lexeme::Plain(part), _) => {
                match &mut self.text {
                    Text::Live => found.args.json.push_str(part),
                    Text::Key(text) | Text::Collect(text) => text.push_str(part),
                    Text::None => {}
                }
                Ok(false)
            }
            (Lexeme::Char(c), _) => {
                match &mut self.text {
                    Text::Live => push_char(&mut found.args.json, c),
                    Text::Key(text) | Text::Collect(text) => text.push(c),
                    Text::None => {}
                }
                Ok(false)
            }
            (Lexeme::StringEnd, _) => self.string_end(cx, found),
            (Lexeme::StringStart, Expect::Key { .. }) => {
                self.text = Text::Key(String::new());
                Ok(false)
            }
            (Lexeme::Word(word), Expect::Key { .. }) if !word.is_empty() => {
                self.lax(cx, found, "keys stand in double quotes")?;
                self.key(cx, found, word)?;
                Ok(false)
            }
            (Lexeme::Punct(b'}'), Expect::Key { first }) => {
                if !first {
                    self.lax(cx, found, "a comma stands in front of }")?;
                }
                self.close(cx, found)
            }
            (Lexeme::Punct(b'}'), Expect::Comma) if self.in_object() => self.close(cx, found),
            (Lexeme::Punct(b']'), Expect::Item { first }) => {
                if !first {
                    self.lax(cx, found, "a comma stands in front of ]")?;
                }
                self.close(cx, found)
            }
            (Lexeme::Punct(b']'), Expect::Comma) if !self.in_object() => self.close(cx, found),
            (Lexeme::Punct(b','), Expect::Comma) => {
                self.expect =
                    if self.in_object() { Expect::Key { first: false } } else { Expect::Item { first: false } };
                Ok(false)
            }
            (Lexeme::Punct(b':'), Expect::Colon) => {
                self.expect = Expect::Value;
                Ok(false)
            }
            (Lexeme::StringStart, Expect::Value | Expect::Item { .. }) => {
                self.prefix(cx, found);
                let node = cx.schema.node(self.node);
                self.text = if node.is_unknown() || node.has(&Choice::String) {
                    found.args.json.push('"');
                    if let Some(quotes) = &mut self.quotes {
                        quotes.start = found.args.json.len();
                    }
                    Text::Live
                } else {
                    Text::Collect(String::new())
                };
                Ok(false)
            }
            (Lexeme::Punct(bracket @ (b'{' | b'[')), Expect::Value | Expect::Item { .. }) => {
                self.open(cx, found, bracket)
            }
            (Lexeme::Word(word), Expect::Value | Expect::Item { .. }) if !word.is_empty() => self.word(cx, found, word),
            (_, Expect::Key { .. }) => Err(self.invalid(ErrorKind::InvalidJson, "a key is expected")),
            (_, Expect::Colon) => Err(self.invalid(ErrorKind::InvalidJson, "a colon is expected behind a key")),
            (_, Expect::Comma) => Err(self.invalid(ErrorKind::InvalidJson, "brackets do not match")),
            (_, Expect::Value | Expect::Item { .. }) => {
                Err(self.invalid(ErrorKind::InvalidJson, "a value is expected"))
            }
        }
    }

    fn lax(&mut self, cx: &Context<'_>, found: &mut Found, what: &str) -> Result<(), Bad> {
        cx.repair(found, Repair::RelaxedJson).map_err(|kind| self.invalid(kind, what))
    }

    fn invalid(&self, kind: ErrorKind, what: &str) -> Bad {
        (kind, messages::invalid_json(&self.path(), what))
    }

    fn in_object(&self) -> bool {
        matches!(self.frames.last(), Some(Frame { shape: Shape::Object { .. }, .. }))
    }

    /// The path of the value that comes next or was just read.
    fn path(&self) -> String {
        self.path_of(&self.frames)
    }

    fn path_of(&self, frames: &[Frame]) -> String {
        let mut path = self.path.clone();
        for frame in frames {
            match &frame.shape {
                Shape::Object { key, .. } => path = messages::join(&path, key),
                Shape::Array { count } => path.push_str(&format!("[{count}]")),
                Shape::Lone => path.push_str("[0]"),
            }
        }
        path
    }

    /// In an array: the comma, and the type of the item.
    fn prefix(&mut self, cx: &Context<'_>, found: &mut Found) {
        if let Some(Frame { node, shape: Shape::Array { count }, .. }) = self.frames.last() {
            if *count > 0 {
                found.args.json.push(',');
            }
            self.node = cx.schema.item(*node, *count);
        }
    }

    fn key(&mut self, cx: &Context<'_>, found: &mut Found, written: &str) -> Result<(), Bad> {
        let Some(id) = self.frames.last().map(|frame| frame.node) else { return Ok(()) };
        let object = cx.schema.node(id).object.as_ref();
        let name = match object.and_then(|object| object.properties.entry(written)) {
            Some((name, node)) => {
                self.node = *node;
                name.clone()
            }
            None => {
                let folded = object.filter(|object| object.member(written).is_none());
                let name = match folded.and_then(|object| object.folded(written)) {
                    Some((declared, node)) => {
                        cx.repair(found, Repair::KeyStyle)
                            .map_err(|kind| (kind, messages::misnamed(cx, node, written, declared)))?;
                        declared.clone()
                    }
                    None => Arc::from(written),
                };
                let parents = &self.frames[..self.frames.len() - 1];
                self.node = super::place::member(cx, found, id, &name, &|| self.path_of(parents));
                name
            }
        };
        let Some(Frame { shape: Shape::Object { keys, key, start, again }, .. }) = self.frames.last_mut() else {
            return Ok(());
        };
        match keys.get(&name) {
            Some(first) => *again = Some(Again { first: first.clone(), holds: found.args.hold() }),
            None => {
                if !keys.is_empty() {
                    found.args.json.push(',');
                }
                push_string(&mut found.args.json, &name);
                found.args.json.push(':');
            }
        }
        *key = name;
        *start = found.args.json.len();
        self.expect = Expect::Colon;
        Ok(())
    }

    /// Does the quote in front of this text end its string? `None`: that cannot be told yet.
    fn ends(&self, cx: &Context<'_>, rest: &str, last: bool) -> Option<bool> {
        let frame = |at: usize| {
            let mut brackets = self.frames.iter().rev().filter(|frame| !matches!(frame.shape, Shape::Lone));
            brackets.nth(at).map(|frame| (matches!(frame.shape, Shape::Object { .. }), frame.node))
        };
        self.quotes.as_ref()?.ends(cx, rest, last, self.brackets, frame)
    }

    /// The quote that ended the string is content of it.
    fn keep(&mut self, cx: &Context<'_>, found: &mut Found, quote: u8) -> Result<(), Bad> {
        cx.repair(found, Repair::InnerQuotes)
            .map_err(|kind| self.invalid(kind, "a quote in a string is written \\\""))?;
        self.lexer.reopen(quote);
        if let Some(quotes) = &mut self.quotes {
            quotes.kept = true;
        }
        match &mut self.text {
            Text::Live => push_char(&mut found.args.json, quote as char),
            Text::Collect(text) => text.push(quote as char),
            Text::Key(_) | Text::None => {}
        }
        Ok(())
    }

    /// A string that has kept quotes may have ended anywhere: it holds no delimiter.
    fn kept(&mut self, cx: &Context<'_>, text: &str) -> Result<(), Bad> {
        let kept = self.quotes.as_mut().is_some_and(|quotes| std::mem::take(&mut quotes.kept));
        if kept && [&cx.delimiters.open, &cx.delimiters.close].iter().any(|mark| text.contains(mark.as_str())) {
            return Err(self.invalid(
                ErrorKind::UnterminatedValue,
                "where a string with quotes and a delimiter in it ends cannot be told; a quote in a string is written \\\"",
            ));
        }
        Ok(())
    }

    fn string_end(&mut self, cx: &Context<'_>, found: &mut Found) -> Result<bool, Bad> {
        if let Some(quotes) = &self.quotes
            && quotes.kept
        {
            match &self.text {
                Text::Live => self.kept(cx, &found.args.json[quotes.start..])?,
                Text::Collect(text) => self.kept(cx, &text.clone())?,
                Text::Key(_) | Text::None => {}
            }
        }
        match std::mem::replace(&mut self.text, Text::None) {
            Text::Key(key) => {
                self.key(cx, found, &key)?;
                Ok(false)
            }
            Text::Live => {
                found.args.json.push('"');
                self.value_done(found)
            }
            Text::Collect(text) => self.scalar(cx, found, &text, true),
            Text::None => Ok(false),
        }
    }

    fn word(&mut self, cx: &Context<'_>, found: &mut Found, word: &str) -> Result<bool, Bad> {
        let literal = match word {
            "True" => "true",
            "False" => "false",
            "None" => "null",
            _ => word,
        };
        let json = matches!(literal, "true" | "false" | "null") || is_number(literal);
        if !json || literal != word {
            self.lax(cx, found, "strings stand in double quotes")?;
        }
        self.prefix(cx, found);
        if literal != "null" {
            return self.scalar(cx, found, literal, !json);
        }
        let node = cx.schema.node(self.node);
        found.args.json.push_str("null");
        let null = |choice: &Choice| match choice {
            Choice::Null => true,
            Choice::Literal(literal) => literal.json == "null",
            _ => false,
        };
        if !node.is_unknown() && !node.choices.iter().any(null) {
            self.violation(cx, found, "null");
        }
        self.value_done(found)
    }

    fn scalar(&mut self, cx: &Context<'_>, found: &mut Found, text: &str, quoted: bool) -> Result<bool, Bad> {
        let Outcome { converted, problem } = coerce::scalar(cx.schema, self.node, text, quoted, &mut found.args.json);
        if converted {
            cx.repair(found, Repair::Coerced).map_err(|kind| {
                let path = self.path();
                (
                    kind,
                    format!(
                        "{path}: {} must be {}.",
                        messages::shorten(text),
                        messages::expected(cx.schema, self.node)
                    ),
                )
            })?;
        }
        if problem.is_some() {
            self.violation(cx, found, text);
        }
        self.value_done(found)
    }

    fn violation(&self, cx: &Context<'_>, found: &mut Found, value: &str) {
        if found.is_full() {
            return;
        }
        let field = self.path();
        let kind = coerce::violation(cx.schema.node(self.node));
        let message = messages::violation(cx, self.node, kind, &field, value);
        found.problem(kind, field, message);
    }

    fn open(&mut self, cx: &Context<'_>, found: &mut Found, bracket: u8) -> Result<bool, Bad> {
        if self.brackets + self.above >= cx.limits.depth {
            return Err((ErrorKind::TooDeep, messages::too_deep(cx.limits)));
        }
        self.prefix(cx, found);
        let node = cx.schema.node(self.node);
        let takes = |id: NodeId| cx.schema.node(id).takes(bracket);
        if bracket == b'{' && !takes(self.node) && node.collects() && takes(cx.schema.item(self.node, 0)) {
            cx.repair(found, Repair::Coerced)
                .map_err(|kind| (kind, format!("{}: a list is expected: [{{…}}].", self.path())))?;
            found.args.json.push('[');
            self.frames.push(Frame { node: self.node, shape: Shape::Lone, literal: None });
            self.node = cx.schema.item(self.node, 0);
        } else if !takes(self.node) {
            let kind = if bracket == b'{' { "{…}" } else { "[…]" };
            self.violation(cx, found, kind);
            self.node = UNKNOWN;
        }
        let nested = self.above > 0 || self.brackets > 0;
        let literal = (nested && cx.schema.node(self.node).literals(bracket).next().is_some())
            .then(|| (found.args.json.len(), found.args.hold()));
        found.args.json.push(bracket as char);
        let shape = if bracket == b'{' {
            self.expect = Expect::Key { first: true };
            Shape::Object { keys: KeyMap::default(), key: Arc::default(), start: 0, again: None }
        } else {
            self.expect = Expect::Item { first: true };
            Shape::Array { count: 0 }
        };
        self.frames.push(Frame { node: self.node, shape, literal });
        self.brackets += 1;
        Ok(false)
    }

    fn close(&mut self, cx: &Context<'_>, found: &mut Found) -> Result<bool, Bad> {
        let Some(frame) = self.frames.pop() else { return Ok(true) };
        self.brackets -= 1;
        if let Shape::Object { keys, .. } = &frame.shape {
            found.missing(cx, frame.node, &|| self.path(), |_, name| keys.position(name).is_some());
        }
        if self.above == 0 && self.frames.is_empty() {
            found.args.hold();
        }
        found.args.json.push(if matches!(frame.shape, Shape::Object { .. }) { '}' } else { ']' });
        if let Some((start, holds)) = frame.literal {
            let bracket = found.args.json.as_bytes()[start];
            if !equal_literal(cx, found, frame.node, start) {
                self.node = frame.node;
                self.violation(cx, found, if bracket == b'{' { "{…}" } else { "[…]" });
            }
            if holds {
                found.args.release();
            }
        }
        self.value_done(found)
    }

    /// A value is written: account for it in what it is part of.
    fn value_done(&mut self, found: &mut Found) -> Result<bool, Bad> {
        self.expect = Expect::Comma;
        while let Some(Frame { shape: Shape::Lone, .. }) = self.frames.last() {
            found.args.json.push(']');
            self.frames.pop();
        }
        match self.frames.last_mut() {
            None => return Ok(true),
            Some(Frame { shape: Shape::Array { count }, .. }) => *count += 1,
            Some(Frame { shape: Shape::Object { keys, key, start, again }, .. }) => match again.take() {
                None => keys.push(key.clone(), *start..found.args.json.len()),
                Some(Again { first, holds }) => {
                    if found.args.json[first] != found.args.json[*start..] {
                        let path = self.path();
                        let message = format!("{path} is given twice, with different values. Give it once.");
                        return Err((ErrorKind::DuplicateArgument, message));
                    }
                    found.args.json.truncate(*start);
                    if holds {
                        found.args.release();
                    }
                }
            },
            Some(Frame { shape: Shape::Lone, .. }) => {}
        }
        Ok(false)
    }
}

/// A container of type `id` is written from `start` on: equal to a literal of its type, it becomes that one. False: it can
/// only be a literal, and is none.
pub(super) fn equal_literal(cx: &Context<'_>, found: &mut Found, id: NodeId, start: usize) -> bool {
    let written = &found.args.json[start..];
    let node = cx.schema.node(id);
    let bracket = written.as_bytes()[0];
    if node.literals(bracket).next().is_none() {
        return true;
    }
    let Ok(value) = parse(written, cx.limits.depth) else { return true };
    let digest = value.digest();
    // Literals may be many and large, and values many: few of them are worth a closer look.
    let same = |literal: &&Literal| {
        literal.digest == digest && parse(&literal.json, cx.limits.depth).is_ok_and(|own| own.equals(&value))
    };
    if let Some(literal) = node.literals(bracket).find(same) {
        found.args.json.truncate(start);
        found.args.json.push_str(&literal.json);
        return true;
    }
    node.has(if bracket == b'{' { &Choice::Object } else { &Choice::Array })
}
