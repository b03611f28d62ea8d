//! Reads the arguments of a call in a notation with its own literals, as they arrive, and writes typed compact JSON. The grammar is
//! that of JSON; a lexer says how its tokens are written.

use std::mem::take;

use super::StringUse;
use super::values::Values;
use crate::arguments::{Context, Flow, Input, Progress, ReadError, Report};
use crate::error::{ErrorKind, Repair};
use crate::syntax::json::{Expect, JsonLexeme, is_plain, push_char, push_str};
use crate::syntax::literals::LiteralLexer;
use crate::syntax::shown::shorten;

#[derive(Debug)]
pub(crate) struct Literals<L> {
    lexer: L,
    expect: Expect,
    text: StringUse,
    /// The part of the string that is not passed on.
    collected: String,
    values: Values,
}

impl<L: LiteralLexer> Literals<L> {
    pub(crate) fn new(cx: &Context<'_>, lexer: L) -> Self {
        let values = Values::new(cx.schema.root, String::new(), 0);
        Literals { lexer, expect: Expect::Value, text: StringUse::Key, collected: String::new(), values }
    }

    /// Starts over, and keeps the allocations.
    pub(crate) fn renew(&mut self, cx: &Context<'_>, lexer: L) {
        (self.lexer, self.expect) = (lexer, Expect::Value);
        self.collected.clear();
        self.values.renew(cx.schema.root);
    }

    /// For the next call.
    pub(crate) fn next(&mut self) -> Self
    where
        L: Default,
    {
        let collected = take(&mut self.collected);
        Literals {
            lexer: L::default(),
            expect: Expect::Value,
            text: StringUse::Key,
            collected,
            values: Values::default(),
        }
    }

    /// The lexer, to find the end of a call that has failed.
    pub(crate) fn lexer(&mut self) -> &mut L {
        &mut self.lexer
    }

    /// The fast path: consumes a text that lies entirely inside a string that is passed on. Returns whether its JSON is the
    /// same text. `None`: nothing was consumed.
    #[inline]
    pub(crate) fn feed_plain(&mut self, report: &mut Report, text: &str) -> Option<bool> {
        let read = self.text == StringUse::Live && self.lexer.push_inside(text, &mut report.args.json);
        read.then(|| text.bytes().all(is_plain))
    }

    /// Reads the arguments from `input.at`, up to their last bracket.
    pub(crate) fn feed(&mut self, input: &mut Input<'_>) -> Flow {
        let cx = input.cx;
        while self.expect != Expect::Nothing {
            let object = self.values.bracket(0).map_or(cx.schema.root, |(_, node)| node);
            let declared = |key: &str| cx.schema.declares(object, key);
            let lexeme = self.lexer.next(input.window, &mut input.at, self.expect.tokens(), &declared);
            if lexeme == JsonLexeme::Need {
                return Err(Progress::Incomplete);
            }
            if let Some(repair) = self.lexer.odd() {
                let message = || self.malformed("strict mode reads only the usual form").1;
                cx.repair_or(input.report, repair, message)?;
            }
            self.lexeme(&cx, input.report, lexeme)?;
        }
        Ok(())
    }

    fn lexeme(&mut self, cx: &Context<'_>, report: &mut Report, lexeme: JsonLexeme<'_>) -> Result<(), ReadError> {
        match (lexeme, self.expect) {
            (JsonLexeme::Plain(part), _) if self.text == StringUse::Live => push_str(&mut report.args.json, part),
            (JsonLexeme::Plain(part), _) => self.collected.push_str(part),
            (JsonLexeme::Char(c), _) if self.text == StringUse::Live => push_char(&mut report.args.json, c),
            (JsonLexeme::Char(c), _) => self.collected.push(c),
            (JsonLexeme::StringEnd, _) => return self.string_end(cx, report),
            (JsonLexeme::StringStart, Expect::Key { .. }) => self.text = StringUse::Key,
            (JsonLexeme::StringStart, Expect::Value | Expect::Item { .. }) if self.values.brackets() > 0 => {
                self.text = if self.values.string(cx, report) { StringUse::Live } else { StringUse::Collect };
            }
            (JsonLexeme::Word(word), Expect::Key { .. }) => {
                let key = self.lexer.key(word).ok_or_else(|| self.malformed("a key is expected"))?;
                return self.key(cx, report, &key);
            }
            (JsonLexeme::Word(word), Expect::Value | Expect::Item { .. }) if self.values.brackets() > 0 => {
                return self.word(cx, report, word);
            }
            (JsonLexeme::Punct(b'}'), Expect::Key { first }) | (JsonLexeme::Punct(b']'), Expect::Item { first }) => {
                if !first && L::STRICT_COMMAS {
                    self.lax(cx, report, "a comma must not precede a closing bracket")?;
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
            (JsonLexeme::Punct(b'='), Expect::Colon) => {
                self.lax(cx, report, "a key must be followed by a colon, not by =")?;
                self.expect = Expect::Value;
            }
            (JsonLexeme::Punct(bracket @ (b'{' | b'[')), Expect::Value | Expect::Item { .. }) => {
                self.values.open(cx, report, bracket)?;
                self.expect = Expect::opened(bracket);
            }
            (JsonLexeme::Bad(what) | JsonLexeme::Lax(what), _) => return Err(self.malformed(what)),
            (_, expect) => {
                return Err(self.malformed(match expect {
                    Expect::Key { .. } => "a key is expected",
                    Expect::Colon => "a value is expected after each key",
                    Expect::Comma | Expect::Nothing => "a comma or a closing bracket is expected",
                    Expect::Value | Expect::Item { .. } => "a value is expected",
                }));
            }
        }
        Ok(())
    }

    #[cold]
    fn lax(&self, cx: &Context<'_>, report: &mut Report, what: &str) -> Result<(), ReadError> {
        let Err(kind) = cx.repair(report, Repair::RelaxedJson) else { return Ok(()) };
        Err((kind, self.malformed(what).1))
    }

    #[cold]
    fn malformed(&self, what: &str) -> ReadError {
        let path = self.values.path();
        let place = if path.is_empty() { String::new() } else { format!(" in {}", shorten(&path)) };
        (ErrorKind::MalformedCall, format!("The arguments cannot be read{place}: {what}. {}", self.lexer.usage()))
    }

    fn key(&mut self, cx: &Context<'_>, report: &mut Report, key: &str) -> Result<(), ReadError> {
        self.values.key(cx, report, key)?;
        self.expect = Expect::Colon;
        Ok(())
    }

    /// After a value: the outermost one, or one inside it.
    fn after(&mut self, all: bool) {
        self.expect = if all { Expect::Nothing } else { Expect::Comma };
    }

    fn close(&mut self, cx: &Context<'_>, report: &mut Report) -> Result<(), ReadError> {
        let all = self.values.close(cx, report)?;
        self.after(all);
        Ok(())
    }

    fn word(&mut self, cx: &Context<'_>, report: &mut Report, word: &str) -> Result<(), ReadError> {
        let all = match self.lexer.literal(word) {
            Some(json) => self.values.word(cx, report, &json, false)?,
            None if self.lexer.is_digits(word) => {
                self.lax(cx, report, "a number must not begin with a zero")?;
                self.values.digits(cx, report, word)?
            }
            None if L::BARE_STRINGS && is_bare_string(word) => {
                self.lax(cx, report, "a string needs its delimiters")?;
                self.values.word(cx, report, word, true)?
            }
            None => return Err(self.malformed(&format!("{} is not a value", shorten(word)))),
        };
        self.after(all);
        Ok(())
    }

    fn string_end(&mut self, cx: &Context<'_>, report: &mut Report) -> Result<(), ReadError> {
        let mut text = take(&mut self.collected);
        let read = match take(&mut self.text) {
            StringUse::Key => self.key(cx, report, &text),
            StringUse::Live => {
                report.args.json.push('"');
                self.values.end(report).map(|all| self.after(all))
            }
            StringUse::Collect => self.values.scalar(cx, report, &text, true).map(|all| self.after(all)),
        };
        text.clear();
        self.collected = text;
        read
    }
}

/// Whether a word without delimiters can only be meant as that string.
fn is_bare_string(word: &str) -> bool {
    let is_number = matches!(word.trim_start_matches(['-', '+']), "NaN" | "nan" | "Infinity" | "inf");
    let ends = |c: char| c.is_control() || "\"'`:=()>\\".contains(c);
    !word.is_empty() && !is_number && !word.contains(ends)
}
