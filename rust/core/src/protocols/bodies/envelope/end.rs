//! What ends an envelope: punctuation after its values, the brackets, and what follows the last one.

use std::mem::take;

use super::{Envelope, EnvelopeState, fail};
use crate::arguments::{Bad, Flow, Io, Step};
use crate::error::{ErrorKind, Repair};
use crate::syntax::json::{JsonLexeme, TokenSet};
use crate::syntax::scan::{Scan, first_chars, starts};

impl Envelope {
    /// After a value.
    pub(super) fn comma(&mut self, io: &mut Io<'_>) -> Flow {
        match self.punct(io)? {
            None => {
                self.missing_bracket(io)?;
                return self.end(io);
            }
            Some(b',') => self.state = EnvelopeState::Key { first: false },
            Some(b'}') => return self.end(io),
            Some(byte) => return self.misplaced(io, JsonLexeme::Punct(byte), "a comma or } is expected"),
        }
        Ok(())
    }

    /// Punctuation after a value. `None`: CLOSE, which is not consumed.
    fn punct(&mut self, io: &mut Io<'_>) -> Flow<Option<u8>> {
        match self.next_lexeme(io, TokenSet::Punctuation) {
            Ok(JsonLexeme::Punct(byte)) => Ok(Some(byte)),
            Err(Step::Failed(failure)) => match starts(io.rest(), &io.cx.delimiters.close, io.last).decided()? {
                Some(()) => Ok(None),
                None => Err(Step::Failed(failure)),
            },
            _ => Err(Step::Need),
        }
    }

    fn missing_bracket(&self, io: &mut Io<'_>) -> Result<(), Bad> {
        self.repair(io, Repair::UnbalancedBrackets, "a bracket is missing at its end")
    }

    /// The object's last bracket is read.
    pub(super) fn end(&mut self, io: &mut Io<'_>) -> Flow {
        if take(&mut self.inner) {
            self.state = EnvelopeState::Comma;
            return Ok(());
        }
        self.state = if self.list { EnvelopeState::Between { comma: false } } else { EnvelopeState::Tail };
        if self.name.is_empty() {
            return fail(ErrorKind::MalformedCall, "it has no \"name\"");
        }
        if self.given { Ok(()) } else { self.arguments(io, "{}") }
    }

    /// After an object of a list.
    pub(super) fn between(&mut self, io: &mut Io<'_>) -> Flow {
        let EnvelopeState::Between { comma } = self.state else { return Ok(()) };
        self.state = match self.punct(io)? {
            None => {
                self.missing_bracket(io)?;
                EnvelopeState::Tail
            }
            Some(b',') if !comma => EnvelopeState::Between { comma: true },
            Some(b'{') => {
                io.at -= 1;
                if !comma {
                    self.repair(io, Repair::RelaxedJson, "a comma must separate the objects of a list")?;
                }
                return Err(Step::Next);
            }
            Some(b']') => {
                if comma {
                    self.repair(io, Repair::RelaxedJson, "a comma must not precede ]")?;
                }
                EnvelopeState::Tail
            }
            Some(byte) => return self.misplaced(io, JsonLexeme::Punct(byte), "a comma or ] is expected"),
        };
        Ok(())
    }

    /// After the last bracket.
    pub(super) fn tail(&mut self, io: &mut Io<'_>) -> Flow {
        if self.wrapped {
            match self.punct(io)? {
                Some(b'}') => self.wrapped = false,
                _ => return fail(ErrorKind::MalformedCall, "} is expected after the list"),
            }
        }
        if self.bare {
            return Err(Step::Done);
        }
        let byte = io.next_byte()?;
        let (cx, rest, last) = (io.cx, io.rest(), io.last);
        if let Some(()) = starts(rest, &cx.delimiters.close, last).decided()? {
            io.at += cx.delimiters.close.len();
            return Err(Step::Done);
        }
        let marks = cx.result_marks.iter().map(|mark| &**mark).chain([cx.delimiters.open.as_str()]);
        if let Some(()) = Scan::first_of(marks.map(|mark| starts(rest, mark, last))).decided()? {
            self.repair(io, Repair::MissingClose, "it is not closed")?;
            return Err(Step::Done);
        }
        if let Some(wrapper) = self.wrapper
            && let Some(()) = starts(rest, wrapper.close(), last).decided()?
        {
            io.at += wrapper.close().len();
            self.wrapper = None;
            return Ok(());
        }
        match byte {
            b'}' | b']' => {
                self.repair(io, Repair::UnbalancedBrackets, "there is one bracket too many at its end")?;
                io.at += 1;
            }
            b'{' if !self.list => {
                self.repair(io, Repair::MissingClose, "it is not closed")?;
                return Err(Step::Next);
            }
            _ => match tag(rest, last).decided()? {
                Some(length) => {
                    self.repair(io, Repair::StrayTag, "a tag must not follow the JSON object")?;
                    io.at += length;
                }
                None => {
                    let what = format!("only {} may follow the JSON", cx.delimiters.close);
                    return fail(ErrorKind::MalformedCall, &what);
                }
            },
        }
        Ok(())
    }
}

/// Characters of a tag.
const TAG_CHARS: usize = 64;

/// The length of the tag that the text starts with. Where nothing follows, the beginning of one is enough.
fn tag(text: &str, last: bool) -> Scan<usize> {
    let Some(name) = text.strip_prefix('<') else { return Scan::NoMatch };
    let ends = |c: char| c.is_whitespace() || "<>{}[]\"'".contains(c);
    let window = &name[..first_chars(name, TAG_CHARS)];
    match window.char_indices().find(|(_, c)| ends(*c)) {
        Some((at, '>')) if at > 0 => Scan::Match(1 + at + 1),
        None if window.len() == name.len() && last => Scan::Match(text.len()),
        None if window.len() == name.len() => Scan::Incomplete,
        _ => Scan::NoMatch,
    }
}
