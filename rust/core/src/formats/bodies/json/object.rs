//! The body of a call as one JSON object, perhaps in a wrapper that models put around it.

use crate::arguments::{Context, Flow, Input, Object, Progress, Report, messages};
use crate::error::{ErrorKind, Repair};
use crate::formats::body::{Body, Wrapper, read_close};
use crate::syntax::json::JsonLexer;
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Scan, has_line_break, starts, ws_run};

#[derive(Debug, Default)]
pub(crate) struct JsonBody {
    /// What was opened around the object and is not closed yet.
    wrapper: Option<Wrapper>,
    object: Object,
    /// The object is read. The whitespace after it: whether there was any, and a line break in it.
    tail: Option<(bool, bool)>,
}

impl Body for JsonBody {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        let step = self.run(input).err().unwrap_or(Progress::CallEnd);
        read_close(input, step)
    }

    fn recovery(&self) -> Recovery {
        if self.tail.is_some() { Recovery::AFTER } else { self.object.recovery() }
    }

    fn recovery_at_start(&self) -> Recovery {
        Recovery::TokenStart
    }

    fn closable(&self, _: &Report) -> bool {
        self.tail.is_some()
    }

    fn unterminated(&self) -> bool {
        self.tail.is_none()
    }
}

impl JsonBody {
    /// Starts over, and keeps the allocations.
    pub(crate) fn reset(&mut self, cx: &Context<'_>, wrapper: Option<Wrapper>) {
        self.object.renew(JsonLexer::new(!cx.strict).in_calls(), cx.schema.root, None);
        (self.wrapper, self.tail) = (wrapper, None);
    }

    /// Keyword arguments in parentheses, as Python writes them.
    pub(crate) fn keywords(cx: &Context<'_>) -> Self {
        JsonBody { object: Object::keywords(cx), ..JsonBody::default() }
    }

    /// Reads up to what ends the call.
    fn run(&mut self, input: &mut Input<'_>) -> Flow {
        if self.wrapper.is_some() && !input.report.used(Repair::JsonWrapper) {
            repair(input, Repair::JsonWrapper, "Nothing may surround the JSON object.")?;
        }
        if self.tail.is_none() {
            self.object.feed(input)?;
        }
        let (blank, line) = self.tail.get_or_insert_default();
        loop {
            let token = ws_run(input.window, input.at);
            *blank |= token > input.at;
            *line |= has_line_break(&input.window[input.at..token]);
            input.at = token;
            let (rest, last) = (input.rest(), input.last);
            if rest.is_empty() {
                return Err(Progress::Incomplete);
            }
            let wrapper = self.wrapper.map_or(Scan::NoMatch, |wrapper| starts(rest, wrapper.close(), last));
            let close = input.cx.delimiters.closes(rest, last).void();
            if close.is_match() {
                return Ok(());
            }
            if wrapper.is_match() {
                input.at += self.wrapper.take().map_or(0, |wrapper| wrapper.close().len());
                (*line, *blank) = (false, false);
                continue;
            }
            let open = starts(rest, &input.cx.delimiters.open, last);
            if open.is_match() && *line {
                repair(input, Repair::MissingClose, messages::UNCLOSED)?;
                return Ok(());
            }
            if [close, wrapper, open].contains(&Scan::Incomplete) {
                return Err(Progress::Incomplete);
            }
            let message = "The call must be closed after the JSON object.".to_owned();
            let recovery = if *blank { Recovery::TokenStart } else { Recovery::AFTER };
            return Err(Progress::failed(ErrorKind::MalformedCall, message, recovery));
        }
    }
}

fn repair(input: &mut Input<'_>, repair: Repair, message: &str) -> Flow {
    let failed = |(kind, message)| Progress::failed(kind, message, Recovery::TokenStart);
    input.repair(repair, message).map_err(failed)
}
