//! Reads a whole JSON text: strict, relaxed, tolerant of any error, or as much as is certain of a truncated text.
//!
//! There is no recursion: open objects and arrays are on a stack, and each lexeme is handled in one state. If a lexeme
//! is not allowed in a state, `fault` ends the reading; a tolerant reader lists the fault and continues.

use std::borrow::Cow;

use super::lexer::{Expect, JsonLexeme, JsonLexer, TokenSet, plain_string};
use super::number::is_number;
use super::options::{Duplicates, LoadOptions};
use super::value::Value;
use crate::error::SyntaxError;
use crate::keymap::KeyMap;
use crate::limits::{RECURSION, WARNINGS};
use crate::syntax::position::Position;
use crate::syntax::scan::{is_ws, ws_run};

/// The value of a JSON text; null if a truncated text contains no value yet. With `warnings`, errors are listed there,
/// and only nesting beyond [`RECURSION`] fails; without, the first error does.
pub fn loads<'t>(
    text: &'t str,
    options: &LoadOptions,
    warnings: Option<&mut Vec<SyntaxError>>,
) -> Result<Value<'t>, SyntaxError> {
    let reader = JsonReader { tolerant: warnings.is_some(), ..JsonReader::new(text, options, Cow::Borrowed) };
    let (value, faults) = reader.read()?;
    if let Some(warnings) = warnings {
        warnings.extend(faults);
    }
    Ok(value)
}

/// Reads strict JSON with numbers of any size, at most `depth` and at most [`RECURSION`] levels deep. Fails with the first error.
pub fn parse(text: &str, depth: usize) -> Result<Value<'static>, SyntaxError> {
    parse_with(text, depth, Duplicates::Error)
}

/// The same, with a choice of what happens to repeated keys.
pub(crate) fn parse_with(text: &str, depth: usize, duplicates: Duplicates) -> Result<Value<'static>, SyntaxError> {
    let options = LoadOptions { duplicates, ..LoadOptions::STRICT };
    let owned = |text: &str| Cow::Owned(text.to_owned());
    let (lexer, depth) = (JsonLexer::new(false), depth.min(RECURSION));
    let reader = JsonReader { depth, exact: true, lexer, ..JsonReader::new(text, &options, owned) };
    Ok(reader.read()?.0)
}

/// A byte offset, and what is wrong there.
type LocatedFault = (usize, Cow<'static, str>);

/// The last of the reader's faults ends the reading.
struct Failed;

fn located(text: &str, mut faults: Vec<LocatedFault>) -> Vec<SyntaxError> {
    // An unterminated string is reported after the faults inside it, but begins before them.
    faults.sort_by_key(|(at, _)| *at);
    let (mut position, mut from) = (Position::START, 0);
    let locate = |(at, message): LocatedFault| {
        position = position.after(&text[from..at]);
        from = at;
        position.error(message)
    };
    faults.into_iter().map(locate).collect()
}

/// A key, and its position if the object has it already.
type PendingKey<'v> = (Cow<'v, str>, Option<usize>);

#[derive(Debug)]
enum OpenValue<'v> {
    Array(Vec<Value<'v>>),
    /// `key`: the key of the next value. A value without a key is dropped.
    Object {
        members: KeyMap<Value<'v>, Cow<'v, str>>,
        key: Option<PendingKey<'v>>,
    },
}

struct JsonReader<'t, 'o, 'v, K> {
    text: &'t str,
    /// Borrows or copies a part of the text.
    keep: K,
    at: usize,
    lexer: JsonLexer,
    options: &'o LoadOptions,
    tolerant: bool,
    depth: usize,
    /// Numbers may have any size, and messages name no options.
    exact: bool,
    faults: Vec<LocatedFault>,
    frames: Vec<OpenValue<'v>>,
    /// How many of the open values are objects.
    objects: usize,
    expect: Expect,
    found: Option<Value<'v>>,
}

impl<'t, 'o, 'v, K: Fn(&'t str) -> Cow<'v, str>> JsonReader<'t, 'o, 'v, K> {
    fn new(text: &'t str, options: &'o LoadOptions, keep: K) -> Self {
        JsonReader {
            text,
            keep,
            at: 0,
            lexer: JsonLexer::new(options.relaxed).with_comments(),
            options,
            tolerant: false,
            depth: RECURSION,
            exact: false,
            faults: Vec::new(),
            frames: Vec::new(),
            objects: 0,
            expect: Expect::Value,
            found: None,
        }
    }

    /// The value, and what is wrong with the text.
    fn read(mut self) -> Result<(Value<'v>, Vec<SyntaxError>), SyntaxError> {
        match self.lexemes().err().and_then(|Failed| self.faults.pop()) {
            None => Ok((self.found.unwrap_or(Value::Null), located(self.text, self.faults))),
            Some(fault) => Err(located(self.text, vec![fault]).remove(0)),
        }
    }

    fn lexemes(&mut self) -> Result<(), Failed> {
        if self.text.starts_with('\u{FEFF}') {
            self.lax(0, "JSON has no byte order mark")?;
            self.at = '\u{FEFF}'.len_utf8();
        }
        loop {
            if let Some((start, text)) = self.plain_string() {
                let text = (self.keep)(text);
                match self.expect {
                    Expect::Key { .. } => self.key(start, text)?,
                    _ => self.value(Value::String(text)),
                }
                continue;
            }
            match self.next(self.expect.tokens())? {
                JsonLexeme::Need => return self.end(),
                lexeme if self.expect == Expect::Nothing => {
                    let start = self.at - usize::from(matches!(lexeme, JsonLexeme::Punct(_)));
                    return self.fault(start, "there is text after the value; only one value is allowed");
                }
                lexeme => self.lexeme(lexeme)?,
            }
        }
    }

    /// Fast path: a complete string without escapes, and where it begins. A tolerant reader may continue it after its end.
    #[inline]
    fn plain_string(&mut self) -> Option<(usize, &'t str)> {
        if self.tolerant || self.expect.tokens() == TokenSet::Punctuation {
            return None;
        }
        let start = ws_run(self.text, self.at);
        let (text, length) = plain_string(&self.text[start..])?;
        self.at = start + length;
        Some((start, text))
    }

    /// Reports a fault: an error, or a warning of a tolerant reader.
    #[cold]
    fn fault(&mut self, at: usize, what: impl Into<Cow<'static, str>>) -> Result<(), Failed> {
        match self.faults.len() {
            ..WARNINGS => self.faults.push((at, what.into())),
            WARNINGS => self.faults.push((at, "there are more faults, which are not listed".into())),
            _ => {}
        }
        if self.tolerant { Ok(()) } else { Err(Failed) }
    }

    /// Reports what only relaxed JSON allows.
    fn lax(&mut self, at: usize, what: &'static str) -> Result<(), Failed> {
        if self.options.relaxed {
            return Ok(());
        }
        self.fault(at, format!("{what}{}", if self.exact { "" } else { " (relaxed JSON accepts it)" }))
    }

    #[inline]
    fn next(&mut self, tokens: TokenSet) -> Result<JsonLexeme<'t>, Failed> {
        // At the end of a text that may be truncated, a word or an escape may be incomplete.
        let last = !self.options.partial;
        match self.lexer.next(self.text, &mut self.at, last, tokens) {
            JsonLexeme::Lax(what) => {
                self.lax(self.at, what)?;
                self.lexer.relaxed = true;
                let lexeme = self.lexer.next(self.text, &mut self.at, last, tokens);
                self.lexer.relaxed = false;
                Ok(lexeme)
            }
            lexeme => Ok(lexeme),
        }
    }

    fn lexeme(&mut self, lexeme: JsonLexeme<'t>) -> Result<(), Failed> {
        // Brackets, quotes, commas and colons are one byte. `Bad` consumes nothing.
        let before = self.at.saturating_sub(1);
        match (lexeme, self.expect) {
            (JsonLexeme::StringStart, Expect::Key { .. }) => {
                if let (key, true) = self.string(before, false)? {
                    self.key(before, key)?;
                }
            }
            (JsonLexeme::StringStart, _) => {
                let (text, _) = self.string(before, self.tolerant)?;
                self.value(Value::String(text));
            }
            (JsonLexeme::Word(word), Expect::Key { .. }) => {
                let start = self.at - word.len();
                self.lax(start, "keys need double quotes")?;
                self.key(start, (self.keep)(word))?;
            }
            (JsonLexeme::Word(word), _) => {
                let value = self.word(word)?;
                self.value(value);
            }
            (JsonLexeme::Punct(b','), expect) => self.comma(before, expect)?,
            (JsonLexeme::Punct(b':'), Expect::Colon) => self.expect = Expect::Value,
            (JsonLexeme::Punct(b':'), Expect::Key { .. }) => {
                self.expect = Expect::Value;
                self.fault(before, "a key is missing before the colon")?;
            }
            (JsonLexeme::Punct(b':'), _) => {
                self.fault(before, "a comma or a closing bracket is expected, not a colon")?
            }
            (JsonLexeme::Punct(bracket @ (b'{' | b'[')), expect) => {
                match expect {
                    Expect::Key { .. } => self.fault(before, "a key is expected")?,
                    Expect::Colon => self.fault(before, NO_COLON)?,
                    Expect::Comma => self.fault(before, NO_COMMA)?,
                    Expect::Value | Expect::Item { .. } | Expect::Nothing => {}
                }
                self.open(before, bracket)?;
            }
            (JsonLexeme::Punct(bracket), expect) => self.close(before, bracket, expect)?,
            (JsonLexeme::Bad(_), Expect::Colon) => {
                self.expect = Expect::Value;
                self.fault(self.at, NO_COLON)?;
            }
            (JsonLexeme::Bad(_), _) => {
                self.expect = self.after_comma();
                self.fault(self.at, NO_COMMA)?;
            }
            // `string` reads the parts of strings; `next` and `lexemes` handle the others.
            _ => {}
        }
        Ok(())
    }

    fn comma(&mut self, at: usize, expect: Expect) -> Result<(), Failed> {
        let missing = matches!(expect, Expect::Colon | Expect::Value) && !self.frames.is_empty();
        if !missing && expect != Expect::Comma {
            return self.fault(at, "an extra comma");
        }
        if let Some(OpenValue::Object { key, .. }) = self.frames.last_mut() {
            *key = None;
        }
        self.expect = self.after_comma();
        if missing { self.fault(at, NO_VALUE) } else { Ok(()) }
    }

    fn after_comma(&self) -> Expect {
        Expect::after_comma(matches!(self.frames.last(), Some(OpenValue::Object { .. })))
    }

    fn open(&mut self, at: usize, bracket: u8) -> Result<(), Failed> {
        if self.frames.len() >= self.depth {
            // This limit is an error in a tolerant reading, too.
            self.faults.push((at, format!("the value is nested more than {} levels deep", self.depth).into()));
            return Err(Failed);
        }
        self.expect = Expect::opened(bracket);
        if bracket == b'[' {
            self.frames.push(OpenValue::Array(Vec::new()));
        } else {
            self.frames.push(OpenValue::Object { members: KeyMap::default(), key: None });
            self.objects += 1;
        }
        Ok(())
    }

    fn close(&mut self, at: usize, bracket: u8, expect: Expect) -> Result<(), Failed> {
        let is_own = |frame: &OpenValue<'_>| matches!(frame, OpenValue::Object { .. }) == (bracket == b'}');
        let open = if bracket == b'}' { self.objects } else { self.frames.len() - self.objects };
        if open == 0 {
            return self.fault(at, format!("there is no open bracket for {} to close", bracket as char));
        }
        match expect {
            Expect::Colon | Expect::Value => self.fault(at, NO_VALUE)?,
            Expect::Item { first: false } | Expect::Key { first: false } => {
                self.lax(at, "a closing bracket must not follow a comma")?;
            }
            _ => {}
        }
        if !self.frames.last().is_some_and(is_own) {
            let missing = if bracket == b'}' { ']' } else { '}' };
            self.fault(at, format!("a {missing} is missing before {}", bracket as char))?;
        }
        while let Some(frame) = self.frames.pop() {
            let ends = is_own(&frame);
            self.closed(frame);
            if ends {
                break;
            }
        }
        Ok(())
    }

    fn closed(&mut self, frame: OpenValue<'v>) {
        let value = match frame {
            OpenValue::Array(items) => Value::Array(items),
            OpenValue::Object { members, .. } => {
                self.objects -= 1;
                Value::Object(members.into_entries())
            }
        };
        self.value(value);
    }

    /// Puts a complete value into the innermost open one.
    fn value(&mut self, value: Value<'v>) {
        self.expect = Expect::Comma;
        match self.frames.last_mut() {
            None => {
                self.found = Some(value);
                self.expect = Expect::Nothing;
            }
            Some(OpenValue::Array(items)) => items.push(value),
            Some(OpenValue::Object { members, key }) => match key.take() {
                None => {}
                Some((key, None)) => members.push(key, value),
                Some(_) if self.options.duplicates == Duplicates::First => {}
                Some((_, Some(position))) => *members.value_mut(position) = value,
            },
        }
    }

    fn key(&mut self, at: usize, text: Cow<'v, str>) -> Result<(), Failed> {
        self.expect = Expect::Colon;
        let Some(OpenValue::Object { members, key }) = self.frames.last_mut() else { return Ok(()) };
        let position = members.position(&text);
        *key = Some((text, position));
        if position.is_none() || self.options.duplicates != Duplicates::Error {
            return Ok(());
        }
        let hint = if self.exact { "" } else { "; remove one, or set duplicates to first or last" };
        self.fault(at, format!("the key occurs twice in one object{hint}"))
    }

    fn word(&mut self, word: &'t str) -> Result<Value<'v>, Failed> {
        let start = self.at - word.len();
        let value = match word {
            "null" => return Ok(Value::Null),
            "true" => return Ok(Value::Bool(true)),
            "false" => return Ok(Value::Bool(false)),
            _ if is_number(word) => return self.number(word),
            "None" => Value::Null,
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            _ => Value::String((self.keep)(word)),
        };
        self.lax(start, "this is not a number, true, false or null, and strings need double quotes")?;
        Ok(value)
    }

    fn number(&mut self, word: &'t str) -> Result<Value<'v>, Failed> {
        if self.exact {
            return Ok(Value::Number((self.keep)(word)));
        }
        let digits = word.len() - usize::from(word.starts_with('-'));
        let fault = match word.contains(['.', 'e', 'E']) {
            true if word.parse().is_ok_and(f64::is_infinite) => {
                "the number is beyond the range of a float; write it as a string".to_owned()
            }
            false if digits > self.options.digits => {
                let most = self.options.digits;
                format!("the integer has {digits} digits, and {most} are allowed; write it as a string")
            }
            _ => return Ok(Value::Number((self.keep)(word))),
        };
        self.fault(self.at - word.len(), fault)?;
        // The digits are kept as a string.
        Ok(Value::String((self.keep)(word)))
    }

    /// The content of the string that starts at a byte, and whether it ends. `guess`: a quote without a backslash may
    /// be content.
    fn string(&mut self, start: usize, guess: bool) -> Result<(Cow<'v, str>, bool), Failed> {
        let quote = self.text.as_bytes()[start];
        let mut content = Cow::Borrowed("");
        loop {
            match self.next(TokenSet::Value)? {
                JsonLexeme::Plain(part) if content.is_empty() => content = (self.keep)(part),
                JsonLexeme::Plain(part) => content.to_mut().push_str(part),
                JsonLexeme::Char(c) => content.to_mut().push(c),
                JsonLexeme::StringEnd if guess && self.goes_on(quote) => {
                    self.fault(self.at - 1, "a quote in a string must have a backslash before it")?;
                    content.to_mut().push(quote as char);
                    self.lexer.quote = Some(quote);
                }
                JsonLexeme::StringEnd => return Ok((content, true)),
                JsonLexeme::Bad(what) => {
                    self.fault(self.at, what)?;
                    self.at = self.text.len();
                }
                _ => break,
            }
        }
        if !self.options.partial {
            self.fault(start, "the string that begins here does not end")?;
        }
        Ok((content, false))
    }

    /// Whether a string continues after this quote. It does if no JSON could follow: the rest of the line begins with
    /// neither punctuation nor another string. If another quote follows directly, that one may be the better end.
    fn goes_on(&self, quote: u8) -> bool {
        let rest_of_line = |from: usize| {
            let rest = &self.text.as_bytes()[from..];
            let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            &rest[blanks..]
        };
        if self.text.as_bytes().get(self.at) == Some(&quote) {
            return matches!(rest_of_line(self.at + 1), [b',' | b':' | b'}' | b']', ..]);
        }
        match rest_of_line(self.at) {
            [] | [b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"' | b'\'', ..] | [b'/', b'/' | b'*', ..] => false,
            [byte, ..] => !is_ws(*byte),
        }
    }

    /// At the end of the text.
    fn end(&mut self) -> Result<(), Failed> {
        let at = self.text.len();
        if !self.options.partial {
            if self.lexer.in_block_comment() {
                self.fault(at, "the text ends in a comment: a */ is missing")?;
            }
            match self.frames.last() {
                // An unterminated string was reported where it begins.
                _ if self.lexer.quote.is_some() => {}
                Some(OpenValue::Array(_)) => {
                    self.fault(at, "the text ends in an array: it was cut, or a ] is missing")?
                }
                Some(OpenValue::Object { .. }) => {
                    self.fault(at, "the text ends in an object: it was cut, or a } is missing")?;
                }
                None if self.found.is_none() => self.fault(at, "the text has no value")?,
                None => {}
            }
        }
        while let Some(frame) = self.frames.pop() {
            self.closed(frame);
        }
        Ok(())
    }
}

const NO_COLON: &str = "a colon is missing";
const NO_COMMA: &str = "a comma or a closing bracket is missing";
const NO_VALUE: &str = "a value is missing";
