//! What reads the body of a call: text in, JSON arguments out, as they come.

use std::any::Any;
use std::fmt::Debug;

use crate::arguments::{Context, Failure, Found, Io, Step};
use crate::error::Repair;
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Delimiters, Scan};
use crate::syntax::tags::OpenTag;

/// How the opening of a call with the tool's name is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// `<name>`
    #[default]
    Open,
    /// `<name/>`
    Empty,
    /// `<name`, and on the next line the body, which `/>` ends.
    Broken,
    /// `name` alone on a line, without a tag.
    Line,
}

/// What is around a JSON object.
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

/// What marks the end of an envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Markers {
    /// CLOSE.
    #[default]
    Close,
    /// The end of a fence. `wrapped`: the list is a member of an object.
    Fence { wrapped: bool },
    /// Its last bracket.
    Bracket { wrapped: bool },
}

/// What the opening of a call said about its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// The protocol's own body. `json`: it starts with the bracket of a JSON object.
    Own { form: Form, json: bool },
    /// One JSON object with the arguments, at its opening bracket.
    Object(Option<Wrapper>),
    /// Arguments in parentheses, as Python writes them, at the opening one.
    Keywords,
    /// One JSON object with the tool's name and its arguments, or a list of them, at its opening bracket.
    Envelope(Option<Wrapper>, Markers),
    /// Parameters as raw text in tags.
    Params(OpenTag),
}

impl Opening {
    /// The usual form of the protocol's own body.
    pub const OWN: Opening = Opening::Own { form: Form::Open, json: false };
}

/// Reads the body of one call. Each is fed windows: the text that is not consumed yet. A window starts where the last one was
/// consumed to.
pub trait Body: Any + Debug + Send + Sync {
    fn feed(&mut self, io: &mut Io<'_>) -> Step;

    /// Reads on after a failure that left that to the body: to the end of the call, without repairs, writing nothing.
    fn read_on(&mut self, _io: &mut Io<'_>) -> Step {
        Step::Done
    }

    /// Takes text that is inside a string which is passed on, all of it, and cannot end it: is it in JSON what it was? `None`:
    /// nothing was done.
    fn feed_plain(&mut self, _found: &mut Found, _text: &str, _delimiters: &Delimiters) -> Option<bool> {
        None
    }

    /// The body of the call that follows this one without another opening, which [`Step::Next`] announced.
    fn next(&mut self) -> Option<Box<dyn Body>> {
        None
    }

    /// How to read on if the call fails here.
    fn skip(&self) -> Skip {
        Skip::Body
    }

    /// How to read on if the call is given up before anything of the body is read.
    fn skip_all(&self) -> Skip {
        Skip::Body
    }

    /// The message has ended, and nothing is left of it: may the call be taken as closed here? Most bodies have looked at the end
    /// themselves.
    fn closable(&self, _found: &Found) -> bool {
        false
    }

    /// True once only trailing whitespace or a closing tag can follow. Then no message ends inside the call.
    fn is_complete(&self) -> bool {
        false
    }

    /// Whether a value can lack a closing mark, so that one that touches the end of the message may be incomplete.
    fn ends_bare(&self) -> bool {
        false
    }

    /// Whether a quote, a bracket or a tag is open.
    fn unterminated(&self) -> bool {
        false
    }

    /// The call is closed: puts pieces into their places, and adds what can be said only now.
    fn finish(&self, _cx: &Context<'_>, _found: &mut Found) {}
}

/// The body of a call that has none yet.
#[derive(Debug)]
pub struct NoBody;

impl Body for NoBody {
    fn feed(&mut self, _io: &mut Io<'_>) -> Step {
        Step::Done
    }
}

/// A body of this type: the recycled one as new, if it is such a one, else a new one.
pub fn recycle<B: Body>(recycled: Box<dyn Body>, renew: impl FnOnce(&mut B), new: impl FnOnce() -> B) -> Box<dyn Body> {
    let any: Box<dyn Any> = recycled;
    match any.downcast::<B>() {
        Ok(mut body) => {
            renew(&mut body);
            body
        }
        Err(_) => Box::new(new()),
    }
}

/// Reads CLOSE behind a body that is done; where there is none, the call ends without it.
pub fn read_close(io: &mut Io<'_>, step: Step) -> Step {
    if matches!(step, Step::Done)
        && let Scan::Match(length) = io.cx.delimiters.closes(io.rest(), true)
    {
        let close = &io.cx.delimiters.close;
        if length != close.len()
            && let Err(kind) = io.cx.repair(io.found, Repair::TagStyle)
        {
            let message = format!("Close the call with {close}, without spaces in it.");
            return Step::Failed(Failure { kind, message, skip: Skip::TokenStart });
        }
        io.at += length;
    }
    step
}
