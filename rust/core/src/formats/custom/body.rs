//! A body that the host reads. The host sees the text before each CLOSE, never where chunks ended.

use std::sync::Arc;

use super::{Host, Reading};
use crate::arguments::{Context, Input, Object, Progress, Report, messages};
use crate::error::{ErrorKind, Repair};
use crate::formats::body::Body;
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::fitting;

#[derive(Debug)]
pub(crate) struct CustomBody {
    host: Arc<dyn Host>,
    /// Bytes of the window in which no CLOSE begins, or one that is not the call's.
    looked: usize,
    /// Bytes that the host was shown.
    shown: usize,
    state: CustomState,
}

#[derive(Debug, Default)]
enum CustomState {
    #[default]
    Open,
    /// Behind CLOSE; these are the arguments.
    Read(String),
    Closed,
}

impl Body for CustomBody {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        if let CustomState::Read(arguments) = std::mem::replace(&mut self.state, CustomState::Closed) {
            return typed(input.cx, input.report, &arguments);
        }
        self.state = CustomState::Open;
        let close = input.cx.delimiters.close.as_str();
        loop {
            let rest = input.rest();
            let (end, behind) = match memchr::memmem::find(&rest.as_bytes()[self.looked..], close.as_bytes()) {
                Some(found) => (self.looked + found, self.looked + found + close.len()),
                None if input.last => (rest.len(), rest.len()),
                None => {
                    self.looked = rest.len().saturating_sub(close.len() - 1).max(self.looked);
                    return Progress::Incomplete;
                }
            };
            let body = &rest[..end];
            self.shown += end;
            if self.shown > input.cx.limits.call_bytes {
                let message = "The call contains too many closing tags. Write less in one call.".to_owned();
                return self.failed(input, behind, ErrorKind::TooLarge, message);
            }
            match self.host.read(body) {
                Reading::More if behind == end => return Progress::Incomplete,
                Reading::More => self.looked = end + close.chars().next().map_or(1, char::len_utf8),
                Reading::Bad(message) => return self.failed(input, behind, ErrorKind::MalformedCall, message),
                Reading::Call { name, arguments } => {
                    if behind == end
                        && let Err(kind) = input.cx.repair(input.report, Repair::MissingClose)
                    {
                        let message = "The call is not closed.".to_owned();
                        return self.failed(input, behind, kind, message);
                    }
                    input.at += behind;
                    self.state = CustomState::Read(arguments);
                    return Progress::ToolName(name.into());
                }
            }
        }
    }

    /// After a failure: to the next CLOSE, unless the call's own was read.
    fn recover(&mut self, input: &mut Input<'_>) -> Progress {
        if !matches!(self.state, CustomState::Open) {
            return Progress::CallEnd;
        }
        let close = input.cx.delimiters.close.as_str();
        let rest = input.rest();
        match memchr::memmem::find(rest.as_bytes(), close.as_bytes()) {
            Some(found) => {
                input.at += found + close.len();
                Progress::CallEnd
            }
            None => {
                input.at += fitting(rest, 0, rest.len().saturating_sub(close.len() - 1));
                Progress::Incomplete
            }
        }
    }
}

impl CustomBody {
    pub(crate) fn new(host: Arc<dyn Host>) -> Self {
        CustomBody { host, looked: 0, shown: 0, state: CustomState::Open }
    }

    fn failed(&mut self, input: &mut Input<'_>, behind: usize, kind: ErrorKind, message: String) -> Progress {
        input.at += behind;
        self.state = CustomState::Closed;
        Progress::failed(kind, message, Recovery::Body)
    }
}

/// The arguments, as the schema has them.
fn typed(cx: Context<'_>, report: &mut Report, arguments: &str) -> Progress {
    let read = Object::arguments(&cx).read_all(&cx, report, arguments);
    match read.and_then(|rest| rest.ok_or_else(|| (ErrorKind::MalformedCall, messages::UNCLOSED.to_owned()))) {
        Ok(_) => Progress::CallEnd,
        Err(bad) => bad.into(),
    }
}
