//! Where a call in elements ends.

use super::{ElementsBody, ElementsState, malformed};
use crate::arguments::{Flow, Input, Progress, is_field};
use crate::error::Repair;
use crate::formats::body::Form;
use crate::formats::named_tags::closes;
use crate::limits::ATTEMPT_CHARS;
use crate::syntax::scan::{Scan, first_chars, starts, ws_run};
use crate::syntax::xml::name_length;

impl ElementsBody {
    /// Everything is read: what was held back is written.
    pub(super) fn close(&mut self, input: &mut Input<'_>) -> Flow {
        self.state = ElementsState::Closed;
        if self.styled {
            input.repair(Repair::Markup, "The closing tag must have the name of the opening tag.")?;
        }
        if self.stray && !self.any {
            return malformed("A call must contain fields, not plain text.");
        }
        if !self.json {
            self.fields.finish(&input.cx, input.report)?;
        }
        Err(Progress::CallEnd)
    }

    /// The message has ended where the call could be closed. With text that is not a field, it may have ended anywhere.
    pub(super) fn close_at_end(&mut self, input: &mut Input<'_>) -> Flow {
        if !input.last || self.stray || !(self.any || self.json) {
            return Err(Progress::Incomplete);
        }
        input.repair(Repair::MissingClose, "The call is not closed.")?;
        self.close(input)
    }

    /// The length of the call's closing tag, if this is it.
    fn closing(&mut self, rest: &str, last: bool) -> Scan<usize> {
        closes(rest, &self.name, last).map(|(length, styled)| {
            self.styled |= styled;
            length
        })
    }

    /// Whether the call ends here. A tool's name may have characters that no element's has, so this comes first.
    pub(super) fn end_mark(&mut self, input: &mut Input<'_>) -> Scan {
        if self.lexer.is_inside() {
            return Scan::NoMatch;
        }
        let at = if self.form == Form::Broken { ws_run(input.window, input.at) } else { input.at };
        let rest = &input.window[at..];
        let mark = match rest.as_bytes().first() {
            Some(b'<') => self.closing(rest, input.last),
            Some(b'/') if self.form == Form::Broken => starts(rest, "/>", input.last).map(|()| 2),
            _ => Scan::NoMatch,
        };
        mark.map(|length| input.at = at + length)
    }

    /// After a field of a call without an opening tag: a closing tag, another field, or the end of the call, which is after the
    /// field then.
    pub(super) fn behind_line(&mut self, input: &mut Input<'_>) -> Flow {
        let window = &input.rest()[..first_chars(input.rest(), ATTEMPT_CHARS)];
        let last = input.last || window.len() < input.rest().len();
        let blanks = ws_run(window, 0);
        let rest = &window[blanks..];
        if rest.is_empty() && input.last && window.len() == input.rest().len() {
            return self.close_at_end(input);
        }
        let tag = if rest.starts_with('<') { self.closing(rest, last) } else { Scan::NoMatch };
        if let Scan::Match(length) = tag {
            input.at += blanks + length;
            return self.close(input);
        }
        let name = rest.strip_prefix('<').map(|tag| &tag[..name_length(tag)]);
        // More text could make it a closing tag or a field.
        let open = rest.is_empty() || tag == Scan::Incomplete || name.is_some_and(|name| 1 + name.len() == rest.len());
        if open && !last {
            return Err(Progress::Incomplete);
        }
        if tag == Scan::Incomplete || !name.is_some_and(|name| is_field(input.cx.schema, name)) {
            return self.close(input);
        }
        input.at += blanks;
        Ok(())
    }

    /// After a JSON object.
    pub(super) fn behind(&mut self, input: &mut Input<'_>) -> Flow {
        if input.next_byte().is_err() {
            return self.close_at_end(input);
        }
        match (self.end_mark(input).decided()?, &mut self.state) {
            (None, ElementsState::Json(object)) => Err(object.not_closed(&self.name)),
            _ => self.close(input),
        }
    }
}
