//! What ends an envelope: punctuation behind its values, the brackets, and what stands behind the last one.

use std::mem::take;

use super::{Envelope, State};
use crate::arguments::{Bad, Io, Step};
use crate::error::{ErrorKind, Repair};
use crate::syntax::json::{JsonLexeme, TokenSet};
use crate::syntax::scan::{Scan, first_chars, starts, ws_run};

impl Envelope {
    /// Behind a value.
    pub(super) fn comma(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        match self.punct(io)? {
            Punct::Need => return Ok(Some(Step::Need)),
            Punct::Close => {
                self.missing_bracket(io)?;
                return self.end(io);
            }
            Punct::Is(b',') => self.state = State::Key { first: false },
            Punct::Is(b'}') => return self.end(io),
            Punct::Is(byte) => return Err(self.misplaced(io, JsonLexeme::Punct(byte), "a comma or } is expected")),
        }
        Ok(None)
    }

    /// Punctuation behind a value, or CLOSE, which stays.
    fn punct(&mut self, io: &mut Io<'_>) -> Result<Punct, Bad> {
        let lexeme = self.next_lexeme(io, TokenSet::Punctuation);
        if lexeme.is_err() {
            match starts(io.rest(), &io.cx.delimiters.close, io.last) {
                Scan::Match(()) => return Ok(Punct::Close),
                Scan::Incomplete => return Ok(Punct::Need),
                Scan::NoMatch => {}
            }
        }
        Ok(match lexeme? {
            Some(JsonLexeme::Punct(byte)) => Punct::Is(byte),
            _ => Punct::Need,
        })
    }

    fn missing_bracket(&self, io: &mut Io<'_>) -> Result<(), Bad> {
        self.repair(io, Repair::UnbalancedBrackets, "a bracket is missing at its end")
    }

    /// The object's last bracket is read.
    pub(super) fn end(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        if take(&mut self.inner) {
            self.state = State::Comma;
            return Ok(None);
        }
        self.state = if self.list { State::Between { comma: false } } else { State::Tail };
        if self.name.is_empty() {
            return Err(self.bad(ErrorKind::MalformedCall, "it has no \"name\""));
        }
        if !self.given {
            self.arguments(io, "{}")?;
        }
        Ok(None)
    }

    /// Behind an object of a list.
    pub(super) fn between(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        let State::Between { comma } = self.state else { return Ok(None) };
        match self.punct(io)? {
            Punct::Need => return Ok(Some(Step::Need)),
            Punct::Close => {
                self.missing_bracket(io)?;
                self.state = State::Tail;
            }
            Punct::Is(b',') if !comma => self.state = State::Between { comma: true },
            Punct::Is(b'{') => {
                io.at -= 1;
                if !comma {
                    self.repair(io, Repair::RelaxedJson, "a comma must separate the objects of a list")?;
                }
                return Ok(Some(Step::Next));
            }
            Punct::Is(b']') => {
                if comma {
                    self.repair(io, Repair::RelaxedJson, "a comma must not precede ]")?;
                }
                self.state = State::Tail;
            }
            Punct::Is(byte) => return Err(self.misplaced(io, JsonLexeme::Punct(byte), "a comma or ] is expected")),
        }
        Ok(None)
    }

    /// Behind the last bracket.
    pub(super) fn tail(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        if self.wrapped {
            match self.punct(io)? {
                Punct::Need => return Ok(Some(Step::Need)),
                Punct::Is(b'}') => self.wrapped = false,
                Punct::Is(_) | Punct::Close => {
                    return Err(self.bad(ErrorKind::MalformedCall, "} is expected after the list"));
                }
            }
        }
        if self.bare {
            return Ok(Some(Step::Done));
        }
        io.at = ws_run(io.window, io.at);
        let rest = io.rest();
        let Some(byte) = rest.bytes().next() else { return Ok(Some(Step::Need)) };
        match starts(rest, &io.cx.delimiters.close, io.last) {
            Scan::Match(()) => {
                io.at += io.cx.delimiters.close.len();
                return Ok(Some(Step::Done));
            }
            Scan::Incomplete => return Ok(Some(Step::Need)),
            Scan::NoMatch => {}
        }
        let results = io.cx.result_marks.iter().map(|mark| &**mark);
        let marks = results.chain([io.cx.delimiters.open.as_str()]).map(|mark| starts(rest, mark, io.last));
        match marks.reduce(|a, b| if a == Scan::Match(()) || b == Scan::NoMatch { a } else { b }) {
            Some(Scan::Match(())) => {
                self.repair(io, Repair::MissingClose, "it is not closed")?;
                return Ok(Some(Step::Done));
            }
            Some(Scan::Incomplete) => return Ok(Some(Step::Need)),
            Some(Scan::NoMatch) | None => {}
        }
        if let Some(wrapper) = self.wrapper {
            match starts(rest, wrapper.close(), io.last) {
                Scan::Match(()) => {
                    io.at += wrapper.close().len();
                    self.wrapper = None;
                    return Ok(None);
                }
                Scan::Incomplete => return Ok(Some(Step::Need)),
                Scan::NoMatch => {}
            }
        }
        match (byte, tag(rest, io.last)) {
            (b'}' | b']', _) => {
                self.repair(io, Repair::UnbalancedBrackets, "there is one bracket too many at its end")?;
                io.at += 1;
                Ok(None)
            }
            (b'{', _) if !self.list => {
                self.repair(io, Repair::MissingClose, "it is not closed")?;
                Ok(Some(Step::Next))
            }
            (_, Tag::Need) => Ok(Some(Step::Need)),
            (_, Tag::Yes(length)) => {
                self.repair(io, Repair::StrayTag, "a tag must not follow the JSON object")?;
                io.at += length;
                Ok(None)
            }
            (_, Tag::No) => {
                let what = format!("only {} may follow the JSON", io.cx.delimiters.close);
                Err(self.bad(ErrorKind::MalformedCall, &what))
            }
        }
    }
}

/// What stands behind a value.
enum Punct {
    Need,
    Is(u8),
    Close,
}

enum Tag {
    Need,
    No,
    Yes(usize),
}

/// Characters of a tag.
const TAG_CHARS: usize = 64;

/// Does the text start with a tag, or with the beginning of one, where nothing follows?
fn tag(text: &str, last: bool) -> Tag {
    let Some(name) = text.strip_prefix('<') else { return Tag::No };
    let ends = |c: char| c.is_whitespace() || "<>{}[]\"'".contains(c);
    let window = &name[..first_chars(name, TAG_CHARS)];
    match window.char_indices().find(|(_, c)| ends(*c)) {
        Some((0, _)) => Tag::No,
        Some((at, '>')) => Tag::Yes(1 + at + 1),
        Some(_) => Tag::No,
        None if window.len() < name.len() => Tag::No,
        None if last => Tag::Yes(text.len()),
        None => Tag::Need,
    }
}
