//! Where a call in elements ends.

use super::{Elements, Progress, State, note};
use crate::arguments::is_field;
use crate::arguments::{Io, Step};
use crate::error::{ErrorKind, Repair};
use crate::limits::ATTEMPT_CHARS;
use crate::protocols::body::Form;
use crate::protocols::named_tags::closes;
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Scan, first_chars, starts, ws_run};
use crate::syntax::xml::name_length;

impl Elements {
    /// Everything is read: what has waited is written.
    pub(super) fn close(&mut self, io: &mut Io<'_>) -> Progress {
        self.state = State::Closed;
        if self.styled {
            note(io, Repair::Markup, "The closing tag must have the name of the opening tag.")?;
        }
        if self.stray && !self.any {
            return Err((ErrorKind::MalformedCall, "A call must contain fields, not plain text.".into()));
        }
        if !self.json {
            self.fields.finish(&io.cx, io.found)?;
        }
        Ok(Some(Step::Done))
    }

    /// The message has ended where the call could be closed. With text that is no field, it may have ended anywhere.
    pub(super) fn close_at_end(&mut self, io: &mut Io<'_>) -> Progress {
        if !io.last || self.stray || !(self.any || self.json) {
            return Ok(Some(Step::Need));
        }
        note(io, Repair::MissingClose, "The call is not closed.")?;
        self.close(io)
    }

    /// Is this the call's closing tag, and how long is it?
    fn closing(&mut self, rest: &str, last: bool) -> (Scan, usize) {
        let (mark, length, styled) = closes(rest, &self.name, last);
        self.styled |= styled && mark == Scan::Match(());
        (mark, length)
    }

    /// Does the call end here? A tool's name may have characters that no element's has, so this comes first.
    pub(super) fn end_mark(&mut self, io: &mut Io<'_>) -> Scan {
        if self.lexer.is_inside() {
            return Scan::NoMatch;
        }
        let at = if self.form == Form::Broken { ws_run(io.window, io.at) } else { io.at };
        let rest = &io.window[at..];
        let (mark, length) = match rest.as_bytes().first() {
            Some(b'<') => self.closing(rest, io.last),
            Some(b'/') if self.form == Form::Broken => (starts(rest, "/>", io.last), 2),
            _ => (Scan::NoMatch, 0),
        };
        if mark == Scan::Match(()) {
            io.at = at + length;
        }
        mark
    }

    /// Behind a field of a call without an opening tag: a closing tag, another field, or the end of the call, which is behind the
    /// field then.
    pub(super) fn behind_line(&mut self, io: &mut Io<'_>) -> Progress {
        let window = &io.rest()[..first_chars(io.rest(), ATTEMPT_CHARS)];
        let last = io.last || window.len() < io.rest().len();
        let blanks = ws_run(window, 0);
        let rest = &window[blanks..];
        let need = |step: &mut Self, io: &mut Io<'_>| if last { step.close(io) } else { Ok(Some(Step::Need)) };
        if rest.is_empty() {
            return if io.last && window.len() == io.rest().len() { self.close_at_end(io) } else { need(self, io) };
        }
        if !rest.starts_with('<') {
            return self.close(io);
        }
        match self.closing(rest, last) {
            (Scan::Match(()), length) => {
                io.at += blanks + length;
                return self.close(io);
            }
            (Scan::Incomplete, _) => return need(self, io),
            (Scan::NoMatch, _) => {}
        }
        let length = name_length(&rest[1..]);
        if 1 + length == rest.len() && !last {
            return need(self, io);
        }
        if !is_field(io.cx.schema, &rest[1..1 + length]) {
            return self.close(io);
        }
        io.at += blanks;
        Ok(None)
    }

    /// Behind a JSON object.
    pub(super) fn behind(&mut self, io: &mut Io<'_>) -> Progress {
        io.at = ws_run(io.window, io.at);
        if io.rest().is_empty() {
            return self.close_at_end(io);
        }
        match self.end_mark(io) {
            Scan::Match(()) => self.close(io),
            Scan::Incomplete => Ok(Some(Step::Need)),
            Scan::NoMatch => {
                self.state = State::InJson(Skip::After);
                Err((ErrorKind::MalformedCall, format!("Only </{}> may follow the JSON object.", self.name)))
            }
        }
    }
}
