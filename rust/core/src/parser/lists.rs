//! Calls of a list, which are complete only when the list ends.

use super::call::too_many_calls;
use super::{Machine, OnEvent, Window};
use crate::arguments::Failure;
use crate::error::{ErrorKind, Repair};
use crate::event::Event;
use crate::parser::state::{Call, WaitingCall};
use crate::syntax::recovery::Recovery;
use crate::toolset::Toolset;

impl Machine {
    /// The call that begins at `window.at`, where another one ends. It gets its body from that one.
    pub(super) fn next_call(
        &mut self,
        tools: &Toolset,
        call: &mut Call,
        window: &mut Window<'_>,
        begin: usize,
    ) -> Box<Call> {
        let mut next = Box::<Call>::default();
        call.waits = call.body.waits();
        if call.waits {
            next.earlier = call.earlier + call.raw.len() + call.cut + window.at - begin;
        }
        (next.start, next.start_byte) = (window.offset(window.at), window.before + window.at);
        if self.other.is_some() && !self.settled {
            next.report.repair(Repair::OtherFormat);
        }
        if call.report.used(Repair::CallStyle) {
            next.report.repair(Repair::CallStyle);
        }
        (next.delimiters, next.closers) = (call.delimiters.clone(), call.closers.clone());
        // The old call needs its body only to finish its arguments.
        if let Some(body) = call.body.next() {
            next.body = body;
        }
        self.calls += 1;
        if self.calls > tools.settings.limits.calls {
            let message = too_many_calls(tools);
            next.failure = Some(Failure { kind: ErrorKind::TooManyCalls, message, recovery: Recovery::Body });
        }
        next
    }

    /// The list has ended, and its calls with it.
    pub(super) fn release(&mut self, on_event: OnEvent<'_>) {
        for waiting in std::mem::take(&mut self.waiting) {
            match waiting {
                WaitingCall::Complete(call, end, end_byte) => self.complete(call, end, end_byte, on_event),
                WaitingCall::Failed(error) => on_event(Event::CallError(error)),
            }
        }
    }

    /// The message has ended inside the list: none of its calls is complete.
    pub(super) fn cut_list(&mut self, tools: &Toolset, on_event: OnEvent<'_>) {
        for waiting in std::mem::take(&mut self.waiting) {
            let error = match waiting {
                WaitingCall::Complete(mut call, end, end_byte) => {
                    let message = "The list of calls was not closed, or was cut off. None of its calls was run: write it \
                                   again in full.";
                    let (kind, message) = (ErrorKind::IncompleteCall, message.to_owned());
                    call.failure = Some(Failure { kind, message, recovery: Recovery::Body });
                    Box::new(self.error(tools, *call, end, end_byte))
                }
                WaitingCall::Failed(error) => error,
            };
            on_event(Event::CallError(error));
        }
    }
}
