//! The body of a call as one JSON object, perhaps in a wrapper that models put around it.

use super::{Context, Failure, Io, Object, Skip, Step, messages};
use crate::error::{ErrorKind, Repair};
use crate::syntax::scan::{Scan, has_line_break, starts, ws_run};

/// What stands around the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapper {
    Json,
    Fence,
    Parentheses,
}

impl Wrapper {
    pub fn close(self) -> &'static str {
        match self {
            Wrapper::Json => "</json>",
            Wrapper::Fence => "```",
            Wrapper::Parentheses => ")",
        }
    }
}

#[derive(Debug)]
enum State {
    Object(Box<Object>),
    /// Behind it. `line`: a line break was among the blanks; `blank`: there were blanks.
    Tail {
        line: bool,
        blank: bool,
    },
}

#[derive(Debug)]
pub struct Whole {
    /// What was opened around the object and is not closed yet.
    wrapper: Option<Wrapper>,
    state: State,
}

impl Whole {
    pub fn new(cx: &Context<'_>, wrapper: Option<Wrapper>) -> Self {
        Whole { wrapper, state: State::Object(Box::new(Object::new(cx, cx.schema.root, String::new(), 0))) }
    }

    /// Keyword arguments in parentheses, as Python writes them.
    pub fn keywords(cx: &Context<'_>) -> Self {
        Whole { wrapper: None, state: State::Object(Box::new(Object::keywords(cx))) }
    }

    pub fn skip(&self) -> Skip {
        match &self.state {
            State::Object(object) => object.skip(),
            State::Tail { .. } => Skip::After,
        }
    }

    pub fn closable(&self) -> bool {
        matches!(self.state, State::Tail { .. })
    }

    pub fn feed(&mut self, io: &mut Io<'_>) -> Step {
        if self.wrapper.is_some()
            && !io.found.used(Repair::JsonWrapper)
            && let Err(kind) = io.cx.repair(io.found, Repair::JsonWrapper)
        {
            let message = "Nothing may surround the JSON object.".to_owned();
            return Step::Failed(Failure { kind, message, skip: Skip::TokenStart });
        }
        if let State::Object(object) = &mut self.state {
            match object.feed(io) {
                Ok(true) => self.state = State::Tail { line: false, blank: false },
                Ok(false) => return Step::Need,
                Err(failure) => return Step::Failed(failure),
            }
        }
        let State::Tail { line, blank } = &mut self.state else { return Step::Need };
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
