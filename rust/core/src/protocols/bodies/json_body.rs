//! The body of a call as one JSON object, perhaps in a wrapper that models put around it.

use crate::arguments::{Context, Failure, Flow, Found, Io, Object, Step, messages};
use crate::error::{ErrorKind, Repair};
use crate::protocols::body::{Body, Wrapper, read_close};
use crate::syntax::json::JsonLexer;
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Scan, has_line_break, starts, ws_run};

#[derive(Debug)]
pub struct JsonBody {
    /// What was opened around the object and is not closed yet.
    wrapper: Option<Wrapper>,
    object: Object,
    /// The object is read. The whitespace after it: whether there was any, and a line break in it.
    tail: Option<(bool, bool)>,
}

impl Body for JsonBody {
    fn feed(&mut self, io: &mut Io<'_>) -> Step {
        let step = self.run(io).err().unwrap_or(Step::Done);
        read_close(io, step)
    }

    fn skip(&self) -> Skip {
        if self.tail.is_some() { Skip::After } else { self.object.skip() }
    }

    fn skip_all(&self) -> Skip {
        Skip::TokenStart
    }

    fn closable(&self, _: &Found) -> bool {
        self.tail.is_some()
    }

    fn unterminated(&self) -> bool {
        self.tail.is_none()
    }
}

impl JsonBody {
    pub fn new(cx: &Context<'_>, wrapper: Option<Wrapper>) -> Self {
        JsonBody { wrapper, object: Object::arguments(cx), tail: None }
    }

    /// Starts over, and keeps the allocations.
    pub fn renew(&mut self, cx: &Context<'_>, wrapper: Option<Wrapper>) {
        self.object.renew(JsonLexer::new(!cx.strict).in_calls(), cx.schema.root, None);
        (self.wrapper, self.tail) = (wrapper, None);
    }

    /// Keyword arguments in parentheses, as Python writes them.
    pub fn keywords(cx: &Context<'_>) -> Self {
        JsonBody { wrapper: None, object: Object::keywords(cx), tail: None }
    }

    /// Reads up to what ends the call.
    fn run(&mut self, io: &mut Io<'_>) -> Flow {
        if self.wrapper.is_some() && !io.found.used(Repair::JsonWrapper) {
            repair(io, Repair::JsonWrapper, "Nothing may surround the JSON object.")?;
        }
        if self.tail.is_none() {
            self.object.feed(io)?;
        }
        let (blank, line) = self.tail.get_or_insert_default();
        loop {
            let token = ws_run(io.window, io.at);
            *blank |= token > io.at;
            *line |= has_line_break(&io.window[io.at..token]);
            io.at = token;
            let (rest, last) = (io.rest(), io.last);
            if rest.is_empty() {
                return Err(Step::Need);
            }
            let wrapper = self.wrapper.map_or(Scan::NoMatch, |wrapper| starts(rest, wrapper.close(), last));
            let close = io.cx.delimiters.closes(rest, last).void();
            if close.is_match() {
                return Ok(());
            }
            if wrapper.is_match() {
                io.at += self.wrapper.take().map_or(0, |wrapper| wrapper.close().len());
                (*line, *blank) = (false, false);
                continue;
            }
            let open = starts(rest, &io.cx.delimiters.open, last);
            if open.is_match() && *line {
                repair(io, Repair::MissingClose, messages::UNCLOSED)?;
                return Ok(());
            }
            if [close, wrapper, open].contains(&Scan::Incomplete) {
                return Err(Step::Need);
            }
            let message = "The call must be closed after the JSON object.".to_owned();
            let skip = if *blank { Skip::TokenStart } else { Skip::After };
            return Err(Step::Failed(Failure { kind: ErrorKind::MalformedCall, message, skip }));
        }
    }
}

fn repair(io: &mut Io<'_>, repair: Repair, message: &str) -> Flow {
    let failed = |(kind, message)| Step::Failed(Failure { kind, message, skip: Skip::TokenStart });
    io.repair(repair, message).map_err(failed)
}
