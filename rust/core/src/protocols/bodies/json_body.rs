//! The body of a call as one JSON object, perhaps in a wrapper that models put around it.

use crate::arguments::{Context, Failure, Found, Io, Object, Step, messages};
use crate::error::{ErrorKind, Repair};
use crate::protocols::body::{Body, Wrapper, read_close};
use crate::syntax::json::JsonLexer;
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Scan, has_line_break, starts, ws_run};

/// What is read after the object.
#[derive(Clone, Copy, Debug)]
struct Tail {
    /// There was a line break in the whitespace.
    line: bool,
    /// There was whitespace.
    blank: bool,
}

#[derive(Debug)]
pub struct JsonBody {
    /// What was opened around the object and is not closed yet.
    wrapper: Option<Wrapper>,
    object: Object,
    /// The object is read.
    tail: Option<Tail>,
}

impl Body for JsonBody {
    fn feed(&mut self, io: &mut Io<'_>) -> Step {
        let step = self.run(io);
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

    fn finish(&self, _: &Context<'_>, found: &mut Found) {
        found.args.release();
    }
}

impl JsonBody {
    pub fn new(cx: &Context<'_>, wrapper: Option<Wrapper>) -> Self {
        JsonBody { wrapper, object: Object::new(cx, cx.schema.root, String::new(), 0), tail: None }
    }

    /// As new, with its memory.
    pub fn renew(&mut self, cx: &Context<'_>, wrapper: Option<Wrapper>) {
        self.object.renew(JsonLexer::new(!cx.strict).in_calls(), cx.schema.root, None);
        (self.wrapper, self.tail) = (wrapper, None);
    }

    /// Keyword arguments in parentheses, as Python writes them.
    pub fn keywords(cx: &Context<'_>) -> Self {
        JsonBody { wrapper: None, object: Object::keywords(cx), tail: None }
    }

    fn run(&mut self, io: &mut Io<'_>) -> Step {
        if self.wrapper.is_some()
            && !io.found.used(Repair::JsonWrapper)
            && let Err(kind) = io.cx.repair(io.found, Repair::JsonWrapper)
        {
            let message = "Nothing may surround the JSON object.".to_owned();
            return Step::Failed(Failure { kind, message, skip: Skip::TokenStart });
        }
        if self.tail.is_none() {
            match self.object.feed(io) {
                Ok(true) => self.tail = Some(Tail { line: false, blank: false }),
                Ok(false) => return Step::Need,
                Err(failure) => return Step::Failed(failure),
            }
        }
        let Some(Tail { line, blank }) = &mut self.tail else { return Step::Need };
        loop {
            let token = ws_run(io.window, io.at);
            *blank |= token > io.at;
            *line |= has_line_break(&io.window[io.at..token]);
            io.at = token;
            let rest = io.rest();
            let marks = (
                io.cx.delimiters.closes(rest, io.last).void(),
                self.wrapper.map_or(Scan::NoMatch, |wrapper| starts(rest, wrapper.close(), io.last)),
                starts(rest, &io.cx.delimiters.open, io.last),
            );
            if rest.is_empty() {
                return Step::Need;
            }
            match marks {
                (Scan::Match(()), _, _) => return Step::Done,
                (_, Scan::Match(()), _) => {
                    io.at += self.wrapper.take().map_or(0, |wrapper| wrapper.close().len());
                    (*line, *blank) = (false, false);
                }
                (_, _, Scan::Match(())) if *line => {
                    return match io.cx.repair(io.found, Repair::MissingClose) {
                        Ok(()) => Step::Done,
                        Err(kind) => {
                            let message = messages::UNCLOSED.to_owned();
                            Step::Failed(Failure { kind, message, skip: Skip::TokenStart })
                        }
                    };
                }
                (Scan::Incomplete, _, _) | (_, Scan::Incomplete, _) | (_, _, Scan::Incomplete) => return Step::Need,
                (Scan::NoMatch, Scan::NoMatch, _) => {
                    let message = "The call must be closed after the JSON object.".to_owned();
                    let skip = if *blank { Skip::TokenStart } else { Skip::After };
                    return Step::Failed(Failure { kind: ErrorKind::MalformedCall, message, skip });
                }
            }
        }
    }
}
