//! A body that the host reads: it is shown what stands in front of each CLOSE, never where chunks ended.

use std::sync::Arc;

use super::{Host, Reading};
use crate::arguments::{Context, Failure, Found, Io, Object, Step, messages};
use crate::error::{ErrorKind, Repair};
use crate::protocols::body::Body;
use crate::syntax::recovery::Skip;

#[derive(Debug)]
pub struct CustomBody {
    host: Arc<dyn Host>,
    /// Bytes of the window in which no CLOSE begins, or one that is not the call's.
    looked: usize,
    /// Bytes that the host was shown.
    shown: usize,
    state: State,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Open,
    /// Behind CLOSE; these are the arguments.
    Read(String),
    Closed,
}

impl Body for CustomBody {
    fn feed(&mut self, io: &mut Io<'_>) -> Step {
        if let State::Read(arguments) = std::mem::replace(&mut self.state, State::Closed) {
            return typed(io.cx, io.found, &arguments);
        }
        self.state = State::Open;
        let close = io.cx.delimiters.close.as_str();
        loop {
            let rest = io.rest();
            let (end, behind) = match memchr::memmem::find(&rest.as_bytes()[self.looked..], close.as_bytes()) {
                Some(found) => (self.looked + found, self.looked + found + close.len()),
                None if io.last => (rest.len(), rest.len()),
                None => {
                    self.looked = rest.len().saturating_sub(close.len() - 1).max(self.looked);
                    return Step::Need;
                }
            };
            let body = &rest[..end];
            self.shown += end;
            if self.shown > io.cx.limits.call_bytes {
                let message = "The call contains too many closing tags. Write less in one call.".to_owned();
                return self.failed(io, behind, ErrorKind::TooLarge, message);
            }
            match self.host.read(body) {
                Reading::More if behind == end => return Step::Need,
                Reading::More => self.looked = end + close.chars().next().map_or(1, char::len_utf8),
                Reading::Bad(message) => return self.failed(io, behind, ErrorKind::MalformedCall, message),
                Reading::Call { name, arguments } => {
                    if behind == end
                        && let Err(kind) = io.cx.repair(io.found, Repair::MissingClose)
                    {
                        let message = "The call is not closed.".to_owned();
                        return self.failed(io, behind, kind, message);
                    }
                    io.at += behind;
                    self.state = State::Read(arguments);
                    return Step::Named(name);
                }
            }
        }
    }

    /// After a failure: to the next CLOSE, unless the call's own was read.
    fn read_on(&mut self, io: &mut Io<'_>) -> Step {
        if !matches!(self.state, State::Open) {
            return Step::Done;
        }
        let close = io.cx.delimiters.close.as_str();
        let rest = io.rest();
        match memchr::memmem::find(rest.as_bytes(), close.as_bytes()) {
            Some(found) => {
                io.at += found + close.len();
                Step::Done
            }
            None => {
                let mut end = rest.len().saturating_sub(close.len() - 1);
                while !rest.is_char_boundary(end) {
                    end -= 1;
                }
                io.at += end;
                Step::Need
            }
        }
    }
}

impl CustomBody {
    pub fn new(host: Arc<dyn Host>) -> Self {
        CustomBody { host, looked: 0, shown: 0, state: State::Open }
    }

    fn failed(&mut self, io: &mut Io<'_>, behind: usize, kind: ErrorKind, message: String) -> Step {
        io.at += behind;
        self.state = State::Closed;
        Step::Failed(Failure { kind, message, skip: Skip::Body })
    }
}

/// The arguments, as the schema has them.
fn typed(cx: Context<'_>, found: &mut Found, arguments: &str) -> Step {
    let mut object = Object::new(&cx, cx.schema.root, String::new(), 0);
    let mut io = Io { cx, found, window: arguments, at: 0, last: true };
    match object.feed(&mut io) {
        Ok(()) => Step::Done,
        Err(Step::Failed(failure)) => Step::Failed(Failure { skip: Skip::Body, ..failure }),
        Err(_) => {
            let (kind, message) = (ErrorKind::MalformedCall, messages::UNCLOSED.to_owned());
            Step::Failed(Failure { kind, message, skip: Skip::Body })
        }
    }
}
