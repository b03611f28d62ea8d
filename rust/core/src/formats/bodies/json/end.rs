//! What ends an envelope: punctuation after its values, the brackets, and what follows the last one.

use std::mem::take;

use super::near_misses::missing_bracket;
use super::{JsonCall, JsonState, fail};
use crate::arguments::{Flow, Input, Progress, ReadError};
use crate::error::{ErrorKind, Repair};
use crate::limits::ATTEMPT_CHARS;
use crate::syntax::json::{JsonLexeme, TokenSet};
use crate::syntax::scan::{Scan, first_mark, starts, window, ws_run};
use crate::syntax::tags::tag;

impl JsonCall {
    /// After a value.
    pub(super) fn comma(&mut self, input: &mut Input<'_>) -> Flow {
        match self.punct(input)? {
            None => {
                missing_bracket(input)?;
                return self.end(input);
            }
            Some(b',') => self.state = JsonState::Key { first: false },
            Some(b'}') => return self.end(input),
            // In place of the other bracket, or that is missing.
            Some(b']') if self.list && !self.inner => {
                // Whitespace is scanned again with each delta, so only a little is allowed.
                let (head, last) = window(input.rest(), ATTEMPT_CHARS, input.last);
                let next = head.as_bytes().get(ws_run(head, 0));
                input.at -= usize::from(!matches!(next, Some(b',' | b']')));
                if next.is_none() && !last {
                    return Err(Progress::Incomplete);
                }
                missing_bracket(input)?;
                return self.end(input);
            }
            Some(byte) => return self.misplaced(input, JsonLexeme::Punct(byte), "a comma or } is expected"),
        }
        Ok(())
    }

    /// Punctuation after a value. `None`: CLOSE, which is not consumed.
    fn punct(&mut self, input: &mut Input<'_>) -> Flow<Option<u8>> {
        match self.next_lexeme(input, TokenSet::Punctuation) {
            Ok(JsonLexeme::Punct(byte)) => Ok(Some(byte)),
            Err(Progress::Failed(failure)) if self.native.is_some() => match self.closer(input).decided()? {
                Some(_) => Ok(None),
                None => Err(Progress::Failed(failure)),
            },
            Err(Progress::Failed(failure)) => {
                match starts(input.rest(), &input.cx.delimiters.close, input.last).decided()? {
                    Some(()) => Ok(None),
                    None => Err(Progress::Failed(failure)),
                }
            }
            Err(step) => Err(step),
            Ok(_) => Err(Progress::Incomplete),
        }
    }

    /// The object's last bracket is read.
    pub(super) fn end(&mut self, input: &mut Input<'_>) -> Flow {
        if take(&mut self.inner) {
            self.state = JsonState::Comma;
            return Ok(());
        }
        self.state = if self.list { JsonState::Between { comma: false } } else { JsonState::Tail { blanks: 0 } };
        if self.undecided {
            return Err(Progress::Text);
        }
        if self.name.is_empty() {
            return fail(ErrorKind::MalformedCall, "it has no \"name\"");
        }
        if !self.given && self.misplaced {
            return fail(ErrorKind::MalformedCall, "its arguments are under another key");
        }
        if self.given { Ok(()) } else { self.arguments(input, "{}") }
    }

    /// After an object of a list.
    pub(super) fn between(&mut self, input: &mut Input<'_>) -> Flow {
        let JsonState::Between { comma } = self.state else { return Ok(()) };
        self.state = match self.punct(input)? {
            None => {
                missing_bracket(input)?;
                JsonState::Tail { blanks: 0 }
            }
            Some(b',') if !comma => JsonState::Between { comma: true },
            Some(b'{') => {
                input.at -= 1;
                if !comma {
                    self.repair(input, Repair::RelaxedJson, "a comma must separate the objects of a list")?;
                }
                return Err(Progress::NextCall);
            }
            Some(b']') => {
                if comma {
                    self.repair(input, Repair::RelaxedJson, "a comma must not precede ]")?;
                }
                JsonState::Tail { blanks: 0 }
            }
            Some(b'}') if !comma => {
                self.extra_bracket(input)?;
                JsonState::Between { comma }
            }
            Some(byte) => return self.misplaced(input, JsonLexeme::Punct(byte), "a comma or ] is expected"),
        };
        Ok(())
    }

    /// After the last bracket.
    pub(super) fn tail(&mut self, input: &mut Input<'_>, blanks: usize) -> Flow {
        if let Some(ends) = self.ends() {
            return self.named_tail(input, &ends);
        }
        if self.wrapped {
            match self.punct(input)? {
                Some(b'}') => self.wrapped = false,
                _ => return fail(ErrorKind::MalformedCall, "} is expected after the list"),
            }
        }
        if let Some(native) = self.native {
            let at = ws_run(input.window, input.at + blanks);
            let length = match self.before_closer(&input.window[at..], input.last) {
                Scan::NoMatch => return Err(self.native_tail(input, native.close, blanks)),
                Scan::Incomplete => {
                    self.state = JsonState::Tail { blanks: at - input.at };
                    return Err(Progress::Incomplete);
                }
                Scan::Match(length) => length,
            };
            if self.wrapper.take().is_none() {
                self.extra_bracket(input)?;
            }
            input.at = at + length;
            self.state = JsonState::Tail { blanks: 0 };
            return Ok(());
        }
        if self.bare {
            return Err(Progress::CallEnd);
        }
        let byte = input.next_byte()?;
        let (cx, rest, last) = (input.cx, input.rest(), input.last);
        if let Some(()) = starts(rest, &cx.delimiters.close, last).decided()? {
            input.at += cx.delimiters.close.len();
            return Err(Progress::CallEnd);
        }
        let marks = cx.result_marks.iter().map(|mark| &**mark).chain([cx.delimiters.open.as_str()]);
        if let Some(()) = Scan::first_of(marks.map(|mark| starts(rest, mark, last))).decided()? {
            self.repair(input, Repair::MissingClose, "it is not closed")?;
            return Err(Progress::CallEnd);
        }
        if let Some(wrapper) = self.wrapper
            && let Some(()) = starts(rest, wrapper.close(), last).decided()?
        {
            input.at += wrapper.close().len();
            self.wrapper = None;
            return Ok(());
        }
        match byte {
            b'}' | b']' => {
                self.extra_bracket(input)?;
                input.at += 1;
            }
            b'{' if !self.list => {
                self.repair(input, Repair::MissingClose, "it is not closed")?;
                return Err(Progress::NextCall);
            }
            _ => match tag(rest, last).decided()? {
                Some(length) => {
                    self.repair(input, Repair::StrayTag, "a tag must not follow the JSON object")?;
                    input.at += length;
                }
                None => {
                    let what = format!("only {} may follow the JSON", cx.delimiters.close);
                    return fail(ErrorKind::MalformedCall, &what);
                }
            },
        }
        Ok(())
    }

    /// The length of the end of the fence, or of one bracket too many before a closer, if the text begins with it.
    fn before_closer(&self, text: &str, last: bool) -> Scan<usize> {
        if let Some(wrapper) = self.wrapper {
            return starts(text, wrapper.close(), last).map(|()| wrapper.close().len());
        }
        if !text.starts_with(['}', ']']) || self.closers().next().is_none() {
            return Scan::NoMatch;
        }
        let (head, last) = window(&text[1..], ATTEMPT_CHARS, last);
        let head = &head[ws_run(head, 0)..];
        Scan::first_of(self.closers().map(|close| starts(head, close, last).map(|()| 1)))
    }

    pub(super) fn extra_bracket(&self, input: &mut Input<'_>) -> Result<(), ReadError> {
        self.repair(input, Repair::UnbalancedBrackets, "there is one bracket too many at its end")
    }

    /// After the last bracket in a native format, and so many bytes of whitespace.
    pub(super) fn native_tail(&mut self, input: &mut Input<'_>, close: &[&str], blanks: usize) -> Progress {
        if close.is_empty() {
            return Progress::CallEnd;
        }
        let at = ws_run(input.window, input.at + blanks);
        self.state = JsonState::Tail { blanks: at - input.at };
        let rest = &input.window[at..];
        // At the end of the message, half a closer was cut off.
        if input.last && !rest.is_empty() && close.iter().any(|close| close.starts_with(rest)) {
            input.at = input.window.len();
            return Progress::CallEnd;
        }
        match first_mark(rest, close, input.last) {
            Scan::Match(length) => input.at = at + length,
            Scan::Incomplete => return Progress::Incomplete,
            Scan::NoMatch if !self.list && rest.starts_with('{') => {
                input.at = at;
                return Progress::NextCall;
            }
            Scan::NoMatch => {}
        }
        Progress::CallEnd
    }
}
