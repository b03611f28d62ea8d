//! Calls that have failed: up to what ends them, and their errors.

use super::example::example;
use super::{Machine, OnEvent, Parser, Window};
use crate::arguments::{Input, Progress};
use crate::error::{ErrorKind, Repair};
use crate::event::{CallError, Event, Item};
use crate::parser::state::{Call, Reports, WaitingCall};
use crate::syntax::quoting::Alternation;
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Closer, Closers};
use crate::toolset::Toolset;

/// The maximum length of a closing tag. A name has at most 128 characters.
const MAX_CLOSER_BYTES: usize = 1024;

impl Machine {
    /// The failed call ends at `window.at`.
    pub(super) fn fail(
        &mut self,
        tools: &Toolset,
        mut call: Call,
        window: &mut Window<'_>,
        begin: usize,
        on_event: OnEvent<'_>,
    ) {
        call.add_source(&window.text[begin..window.at], tools.settings.limits.call_bytes);
        self.state = self.outside(tools);
        self.place.quotes = Some(Alternation::START);
        if self.other.is_none() && call.failure.as_ref().is_some_and(|failure| failure.kind == ErrorKind::TooManyCalls)
        {
            self.drop_rest(tools);
        }
        let waits = call.waits;
        let error = Box::new(self.error(tools, call, window.offset(window.at), window.before + window.at));
        if waits {
            self.waiting.push(WaitingCall::Failed(error));
        } else {
            self.release(on_event);
            on_event(Event::CallError(error));
        }
    }

    /// The error of a call that failed, or that was cut off.
    pub(super) fn error(&self, tools: &Toolset, call: Call, end: usize, end_byte: usize) -> CallError {
        let Call { name, tool, index, start, start_byte, raw, cut, failure, arguments, report, body, .. } = call;
        let cut_off = || (ErrorKind::IncompleteCall, "The call was cut off.".to_owned());
        let (kind, sentence) = failure.map_or_else(cut_off, |failure| (failure.kind, failure.message));
        let problems = if kind == ErrorKind::InvalidArguments { report.problems } else { Vec::new() };
        // Frees memory before the source may be read again.
        drop((report.args, body));
        let example =
            if self.reports == Reports::NoExamples { None } else { example(tools, kind, tool, name.as_deref()) };
        let arguments = arguments.or_else(|| match kind {
            ErrorKind::Strict(Repair::Coerced | Repair::KeyStyle) if cut == 0 => {
                completed(tools, name.as_deref(), &raw)
            }
            _ => None,
        });
        let bytes = start_byte..end_byte;
        CallError { index, name, kind, sentence, example, arguments, problems, raw, start, end, bytes }
    }
}

/// Skips the rest of a failed call. The result is `NextCall` if another call begins in its body.
#[cold]
pub(super) fn recover(tools: &Toolset, call: &mut Call, window: &mut Window<'_>, last: bool) -> Progress {
    let Call { name, tool, report, body, failure: Some(failure), closers, in_tag, delimiters, tag, .. } = call else {
        return Progress::CallEnd;
    };
    // In the opening tag `/>` ends the call; in the text after it, it is content.
    if *in_tag {
        let start = window.at;
        let end = failure.recovery.read(window.text, &mut window.at, last, &Closer::Text(">"));
        window.at += end.unwrap_or(0);
        tag.push_str(&window.text[start..window.at]);
        let excess = tag.len().saturating_sub(MAX_CLOSER_BYTES);
        tag.drain(..(excess..).find(|at| tag.is_char_boundary(*at)).unwrap_or(0));
        if end.is_none() {
            return Progress::Incomplete;
        }
        if tag.ends_with("/>") || closers.end(tag) {
            return Progress::CallEnd;
        }
        (*in_tag, failure.recovery) = (false, Recovery::TokenStart);
    }
    let close = match closers {
        Closers::Own => Closer::Own(&tools.settings.delimiters),
        other => Closer::Other(other),
    };
    if failure.recovery != Recovery::Body {
        let Some(length) = failure.recovery.read(window.text, &mut window.at, last, &close) else {
            return Progress::Incomplete;
        };
        window.at += length;
        return Progress::CallEnd;
    }
    let cx = tools.context(*tool, name.as_deref().unwrap_or("")).spelled(delimiters.as_deref());
    let mut input = Input { cx, report, window: window.text, at: window.at, last };
    loop {
        let step = body.recover(&mut input);
        window.at = input.at;
        // This error covers all calls that follow.
        if !matches!(step, Progress::NextCall) || failure.kind != ErrorKind::TooManyCalls {
            return step;
        }
    }
}

/// The arguments of a call that strict mode rejects only because of the style of a value or key. Its source is parsed again
/// with any style allowed.
fn completed(tools: &Toolset, name: Option<&str>, raw: &str) -> Option<String> {
    let any_style = tools.any_style();
    let mut items = Parser::items(&any_style, raw);
    let (read, arguments) = match items.pop()? {
        Item::Call(call) => (Some(call.name), Some(call.arguments)),
        Item::Error(error) => (error.name, error.arguments),
        _ => return None,
    };
    (items.is_empty() && read.as_deref() == name).then_some(arguments).flatten()
}
