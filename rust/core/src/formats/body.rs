//! The reader of a call's body, which turns text into JSON arguments as it arrives, and what the opening of a call says about it.

use std::any::Any;
use std::fmt::Debug;

use crate::arguments::{Context, Flow, Input, Object, Progress, Report};
use crate::error::{ErrorKind, Repair};
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Closer, Delimiters, Scan, starts, ws_run};
use crate::syntax::tags::OpenTag;

/// How the opening tag with the tool's name is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// `<name>`
    #[default]
    Open,
    /// `<name/>`
    Empty,
    /// `<name` with the body on the next line. `/>` ends the call.
    Broken,
    /// `name` alone on a line, without a tag.
    Line,
}

/// What models write around a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapper {
    Json,
    Fence,
    Parentheses,
}

impl Wrapper {
    pub(crate) fn close(self) -> &'static str {
        match self {
            Wrapper::Json => "</json>",
            Wrapper::Fence => "```",
            Wrapper::Parentheses => ")",
        }
    }
}

/// What ends an envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Markers {
    /// CLOSE.
    #[default]
    Close,
    /// The end of a fence. `wrapped`: the list is a member of an object.
    Fence { wrapped: bool },
    /// Its last bracket.
    Bracket { wrapped: bool },
}

/// What the opening of a call says about its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// The protocol's own body. With `json`, which only elements and lines have, it starts at the opening bracket of a JSON object.
    Own { form: Form, json: bool },
    /// One JSON object with the arguments, at its opening bracket.
    Object(Option<Wrapper>),
    /// Keyword arguments as in Python, at the opening parenthesis.
    Keywords,
    /// One JSON object with the tool's name and the arguments, or a list of such objects, at its opening bracket.
    Envelope(Option<Wrapper>, Markers),
    /// Parameters as raw text in tags.
    Params(OpenTag),
}

impl Opening {
    /// The usual form of the protocol's own body.
    pub(crate) const OWN: Opening = Opening::Own { form: Form::Open, json: false };
}

/// Reads the body of one call. It is fed windows of the text that is not consumed yet. A window begins where consumption of the
/// last one ended.
pub(crate) trait Body: Any + Debug + Send + Sync {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress;

    /// After a failure, reads to the end of the call without repairs or output.
    fn recover(&mut self, _io: &mut Input<'_>) -> Progress {
        Progress::CallEnd
    }

    /// Takes text that is inside a streamed string and cannot end it. Returns whether the text is the same in JSON, or `None` if
    /// nothing was read.
    fn feed_plain(&mut self, _found: &mut Report, _text: &str, _delimiters: &Delimiters) -> Option<bool> {
        None
    }

    /// The body of the call that follows without another opening, after [`Progress::NextCall`].
    fn next(&mut self) -> Option<Box<dyn Body>> {
        None
    }

    /// Whether the call is part of a list that is one unit: the ends of its calls are reported when the list ends, which is the
    /// body's [`Progress::CallEnd`]. If the list is cut, none of its calls is complete.
    fn waits(&self) -> bool {
        false
    }

    /// Whether it is not decided yet that this is a call. At the end of the message it is text.
    fn may_be_text(&self) -> bool {
        false
    }

    /// How to find the end of the call if it fails here.
    fn recovery(&self) -> Recovery {
        Recovery::Body
    }

    /// How to find the end of the call if it fails before the body is read.
    fn recovery_at_start(&self) -> Recovery {
        Recovery::Body
    }

    /// Whether the call may be taken as closed at the end of the message. Most bodies handle the end of the message themselves.
    fn closable(&self, _found: &Report) -> bool {
        false
    }

    /// True once only trailing whitespace or a closing tag can follow.
    fn is_complete(&self) -> bool {
        false
    }

    /// Whether values may have no closing mark, so that a value at the end of the message may be incomplete.
    fn ends_bare(&self) -> bool {
        false
    }

    /// Whether a quote, a bracket or a tag is open.
    fn unterminated(&self) -> bool {
        false
    }

    /// Completes the arguments of a closed call.
    fn finish(&self, _cx: &Context<'_>, report: &mut Report) {
        report.args.release();
    }
}

/// The body of a call that does not have one yet.
#[derive(Debug)]
struct NoBody;

impl Body for NoBody {
    fn feed(&mut self, _io: &mut Input<'_>) -> Progress {
        Progress::CallEnd
    }
}

impl Default for Box<dyn Body> {
    fn default() -> Self {
        Box::new(NoBody)
    }
}

/// A body of this type, `reset` for a call: the recycled body, if it has this type, or a new one.
pub(crate) fn recycle<B: Body>(
    recycled: Box<dyn Body>,
    new: impl FnOnce() -> B,
    reset: impl FnOnce(&mut B),
) -> Box<dyn Body> {
    let any: Box<dyn Any> = recycled;
    let mut body = any.downcast::<B>().unwrap_or_else(|_| Box::new(new()));
    reset(&mut body);
    body
}

/// Reads CLOSE after a complete body. Without one, the call ends there.
pub(crate) fn read_close(input: &mut Input<'_>, step: Progress) -> Progress {
    if matches!(step, Progress::CallEnd)
        && let Scan::Match(length) = input.cx.delimiters.closes(input.rest(), true)
    {
        let close = &input.cx.delimiters.close;
        if length != close.len()
            && let Err(kind) = input.cx.repair(input.report, Repair::TagStyle)
        {
            let message = format!("Close the call with {close}, without spaces in it.");
            return Progress::failed(kind, message, Recovery::TokenStart);
        }
        input.at += length;
    }
    step
}

/// A JSON object at byte `at`, in a wrapper or not; with `lists`, also a list that begins with one.
pub(crate) fn json_start(
    text: &str,
    at: usize,
    last: bool,
    fences: bool,
    lists: bool,
) -> Scan<(usize, Option<Wrapper>)> {
    let bytes = text.as_bytes();
    let bracket = |at: usize| match bytes.get(at) {
        None => Scan::at_end(last),
        Some(b'{') => Scan::Match(at),
        Some(b'[') if lists => match bytes.get(ws_run(text, at + 1)) {
            None => Scan::at_end(last),
            Some(b'{') => Scan::Match(at),
            Some(_) => Scan::NoMatch,
        },
        Some(_) => Scan::NoMatch,
    };
    if !matches!(bytes.get(at), Some(b'<' | b'`')) {
        return bracket(at).map(|at| (at, None));
    }
    let rest = &text[at..];
    let fence = || {
        let language = rest.bytes().skip(3).take_while(u8::is_ascii_alphanumeric).count();
        let fence = if fences { starts(rest, "```", last) } else { Scan::NoMatch };
        fence.map(|()| (3 + language, Wrapper::Fence))
    };
    let wrapper = starts(rest, "<json>", last).map(|()| (6, Wrapper::Json)).or(fence);
    wrapper.and_then(|(length, wrapper)| bracket(ws_run(text, at + length)).map(|at| (at, Some(wrapper))))
}

/// A JSON object where elements, lines or parameters are expected: `<name>{…}</name>`.
#[derive(Debug)]
pub(crate) enum ObjectInTag {
    Reading(Box<Object>),
    /// Its last bracket is read.
    Complete,
    /// The call has failed. Its rest is read by quotes and brackets alone.
    Failed(Recovery),
}

impl ObjectInTag {
    pub(crate) fn new(cx: &Context<'_>) -> Self {
        ObjectInTag::Reading(Box::new(Object::arguments(cx)))
    }

    /// Reads the object, up to its end.
    pub(crate) fn feed(&mut self, input: &mut Input<'_>) -> Flow {
        let ObjectInTag::Reading(object) = self else { return Err(Progress::CallEnd) };
        match object.feed(input) {
            Err(Progress::Failed(failure)) => {
                *self = ObjectInTag::Failed(failure.recovery);
                Err((failure.kind, failure.message).into())
            }
            read => {
                if read.is_ok() {
                    *self = ObjectInTag::Complete;
                }
                read
            }
        }
    }

    /// The failure of a call in which something other than the closing tag follows the object.
    pub(crate) fn not_closed(&mut self, name: &str) -> Progress {
        *self = ObjectInTag::Failed(Recovery::AFTER);
        (ErrorKind::MalformedCall, format!("Only </{name}> may follow the JSON object.")).into()
    }

    /// How the rest is read once the call has failed.
    pub(crate) fn recovery(&self) -> Recovery {
        match self {
            ObjectInTag::Reading(object) => object.recovery(),
            ObjectInTag::Complete => Recovery::AFTER,
            ObjectInTag::Failed(recovery) => *recovery,
        }
    }

    /// Reads a call that has failed to its closing tag.
    pub(crate) fn recover(&mut self, input: &mut Input<'_>, name: &str, form: Form) -> Progress {
        let close = if form == Form::Broken { "/>".to_owned() } else { format!("</{name}>") };
        let mut recovery = self.recovery();
        let closed = recovery.read(input.window, &mut input.at, input.last, &Closer::Text(&close));
        *self = ObjectInTag::Failed(recovery);
        input.at += closed.unwrap_or(0);
        if closed.is_some() { Progress::CallEnd } else { Progress::Incomplete }
    }
}
