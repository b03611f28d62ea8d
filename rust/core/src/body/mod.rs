//! A call's body: text in, JSON arguments out, as they come.
//!
//! [`Pairs`] and [`Object`] read the two bodies of the wire format; [`Skip`] reads on after an error. Each is fed windows:
//! the text that is not consumed yet. A window starts where the last one was consumed to.

mod args;
mod beyond;
mod elements;
mod envelope;
mod example;
mod fields;
mod mapping;
pub mod messages;
mod object;
mod own;
mod pairs;
mod params;
mod place;
mod tree;
mod whole;
mod write;

use crate::error::{ErrorKind, Problem, ProblemKind, Repair};
use crate::limits::Limits;
use crate::protocol::Protocol;
use crate::protocol::tags::Form;
use crate::schema::{NodeId, Schema};
use crate::syntax::scan::{Delimiters, Scan};
use crate::syntax::tags::OpenTag;
use crate::toolset::{Syntax, Toolset};

pub use crate::syntax::recovery::Skip;
pub use args::Args;
pub use beyond::{beyond_float, may_be_beyond_float};
pub use elements::{ElementWriter, Elements, Ends, is_field, is_nestable};
pub use envelope::Envelope;
pub use example::{Given, example, example_members};
pub use fields::{Fields, Slot};
pub use mapping::Mapping;
pub use messages::{too_large, unknown_tool};
pub use object::Object;
pub use own::Own;
pub use pairs::Pairs;
pub use params::{Params, holds, reads_as};
pub use place::{is_declared, is_misnamed};
pub use tree::{Lists, push_text, write_tree};
pub use whole::{Whole, Wrapper};
pub use write::write_pairs;

/// What a body needs to know; the same for the whole call.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub protocol: &'a dyn Protocol,
    /// None of a document without tools.
    pub tools: Option<&'a Toolset>,
    pub schema: &'a Schema,
    /// How the tool's calls are written; `None` for one that nothing is known of.
    pub syntax: Option<Syntax>,
    pub strict: bool,
    /// Strict, but for how values and keys are written.
    pub any_style: bool,
    pub delimiters: &'a Delimiters,
    pub limits: &'a Limits,
    /// The tool's name, for messages.
    pub tool: &'a str,
}

/// Problems listed of one call: more would help no model, and hostile calls have many.
const MAX_PROBLEMS: usize = 32;
/// Bytes of a problem's field, and of its message: each names a path, and a key in JSON may be as long as the call.
const MAX_PROBLEM_BYTES: usize = 4096;

/// A window, and what reading it may change.
pub struct Io<'a> {
    pub cx: Context<'a>,
    pub found: &'a mut Found,
    pub window: &'a str,
    /// Bytes of the window that are consumed.
    pub at: usize,
    /// There is no more to come.
    pub last: bool,
}

impl<'a> Io<'a> {
    fn rest(&self) -> &'a str {
        &self.window[self.at..]
    }
}

/// What a body has found so far.
#[derive(Debug, Default)]
pub struct Found {
    pub args: Args,
    pub repairs: Vec<Repair>,
    pub problems: Vec<Problem>,
}

/// A call that cannot be handed over: why, and how to read on.
#[derive(Debug)]
pub struct Failure {
    pub kind: ErrorKind,
    pub message: String,
    pub skip: Skip,
}

/// Why a part of a call cannot be read, and a sentence for the model.
pub type Bad = (ErrorKind, String);

/// What came of a window; `Io::at` says how much was consumed.
#[derive(Debug)]
pub enum Step {
    /// More text is needed.
    Need,
    /// The call is complete, up to `Io::at`.
    Done,
    /// The call is complete, and the body reads another one from there on.
    Next,
    /// The tool is called so, which decides the types of what follows.
    Named(String),
    Failed(Failure),
}

impl Found {
    /// As new, with its memory.
    pub fn reset(&mut self) {
        self.args.reset();
        self.repairs.clear();
        self.problems.clear();
    }

    pub fn repair(&mut self, repair: Repair) {
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
    }

    pub fn used(&self, repair: Repair) -> bool {
        self.repairs.contains(&repair)
    }

    /// Are there as many problems as are listed?
    fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    /// Lists a problem, once.
    fn problem(&mut self, kind: ProblemKind, mut field: String, mut message: String) {
        if self.is_full() {
            return;
        }
        for text in [&mut field, &mut message] {
            text.truncate(messages::cut(text).len());
        }
        if self.problems.iter().any(|told| told.kind == kind && told.field == field) {
            return;
        }
        self.problems.push(Problem { kind, field, message });
    }

    /// Reports the fields that an object of type `id` requires and does not have.
    fn missing(&mut self, cx: &Context<'_>, id: NodeId, path: &dyn Fn() -> String, has: impl Fn(&Args, &str) -> bool) {
        let Some(object) = &cx.schema.node(id).object else { return };
        let room = MAX_PROBLEMS - self.problems.len();
        let missing: Vec<&String> = object.required.iter().filter(|name| !has(&self.args, name)).take(room).collect();
        for name in missing {
            let field = messages::join(&path(), name);
            let message = messages::missing(cx, id, &field, name);
            self.problem(ProblemKind::MissingRequired, field, message);
        }
    }
}

impl<'a> Context<'a> {
    /// The same for a call whose delimiters are spelled otherwise.
    pub fn spelled(self, delimiters: Option<&'a Delimiters>) -> Self {
        Context { delimiters: delimiters.unwrap_or(self.delimiters), ..self }
    }

    /// A repair in lenient mode, an error of its name in strict mode.
    pub(crate) fn repair(&self, found: &mut Found, repair: Repair) -> Result<(), ErrorKind> {
        if self.strict && !(self.any_style && matches!(repair, Repair::Coerced | Repair::KeyStyle)) {
            return Err(ErrorKind::Strict(repair));
        }
        found.repair(repair);
        Ok(())
    }
}

/// Which body a call has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    Pairs,
    /// One JSON object, at its opening bracket.
    Object(Option<Wrapper>),
    /// The host reads it.
    Own,
    /// Arguments in parentheses, as Python writes them, at the opening one.
    Keywords,
    /// One JSON object with the tool's name and its arguments, or a list of them, at its opening bracket.
    Envelope(Option<Wrapper>),
    /// The same, without markers: in a fence, or its last bracket ends it; `wrapped`: that of the object around the list.
    Bare {
        fenced: bool,
        wrapped: bool,
    },
    Elements(Ends),
    /// Parameters as raw text in tags.
    Params(OpenTag),
    /// Lines of YAML, or, at its opening bracket, one JSON object.
    Mapping {
        form: Form,
        json: bool,
    },
}

impl BodyKind {
    /// How to read on when the call is given up behind its name.
    pub fn skip(self) -> Skip {
        match self {
            BodyKind::Pairs | BodyKind::Object(_) | BodyKind::Keywords => Skip::TokenStart,
            _ => Skip::Body,
        }
    }
}

/// A body that is read by other rules than wire's.
pub trait Format: std::fmt::Debug + Send + Sync {
    /// As a new one of that kind, with its memory; `false` if that is another's.
    fn renew(&mut self, _cx: &Context<'_>, _kind: BodyKind, _name: &str) -> bool {
        false
    }

    fn feed(&mut self, io: &mut Io<'_>) -> Step;

    /// Reads on after a failure: to the end of the call, without repairs, writing nothing.
    fn read_on(&mut self, io: &mut Io<'_>) -> Step;

    /// See [`Body::feed_plain`].
    fn feed_plain(&mut self, _found: &mut Found, _text: &str) -> Option<bool> {
        None
    }

    /// The body of the call that follows this one without another opening, which [`Step::Next`] announced.
    fn next(&mut self) -> Option<Box<dyn Format>> {
        None
    }

    /// See [`Body::closable`]. Most have looked at the end themselves.
    fn closable(&self) -> bool {
        false
    }

    /// See [`Body::is_complete`].
    fn is_complete(&self) -> bool {
        false
    }

    /// Whether a value can lack a closing mark, so that one that touches the end of the message may be incomplete.
    fn ends_bare(&self) -> bool {
        false
    }

    /// Is a quote, a bracket or a tag open?
    fn unterminated(&self) -> bool {
        false
    }

    /// The call is closed: ends what `feed` could not.
    fn finish(&self, found: &mut Found);
}

/// The body of a call: one of wire's two, or another.
#[derive(Debug)]
pub enum Body {
    Pairs(Pairs),
    Whole(Whole),
    Other(Box<dyn Format>),
}

impl Default for Body {
    fn default() -> Self {
        Body::Pairs(Pairs::default())
    }
}

impl Body {
    /// For a new call. `name`: that of the tool, as it is written.
    pub fn renew(&mut self, cx: &Context<'_>, kind: BodyKind, name: &str) {
        if let Body::Other(other) = self
            && other.renew(cx, kind, name)
        {
            return;
        }
        *self = match kind {
            BodyKind::Pairs => Body::Pairs(Pairs::default()),
            BodyKind::Object(wrapper) => Body::Whole(Whole::new(cx, wrapper)),
            BodyKind::Keywords => Body::Whole(Whole::keywords(cx)),
            BodyKind::Own => Body::Other(Box::new(Own::default())),
            BodyKind::Envelope(wrapper) => Body::Other(Box::new(Envelope::new(cx, wrapper))),
            BodyKind::Bare { fenced, wrapped } => Body::Other(Box::new(Envelope::bare(cx, fenced, wrapped))),
            BodyKind::Mapping { form, json } => Body::Other(Box::new(Mapping::new(name, form, json))),
            BodyKind::Elements(ends) => Body::Other(Box::new(Elements::new(name, ends))),
            BodyKind::Params(opened) => Body::Other(Box::new(Params::new(opened, name))),
        };
    }

    pub fn feed(&mut self, io: &mut Io<'_>) -> Step {
        let step = match self {
            Body::Pairs(pairs) => pairs.feed(io),
            Body::Whole(whole) => whole.feed(io),
            Body::Other(other) => return other.feed(io),
        };
        // CLOSE is next, or the call ends without it.
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

    /// The body of the call that follows this one without another opening, which [`Step::Next`] announced.
    pub fn next(&mut self) -> Body {
        match self {
            Body::Pairs(_) | Body::Whole(_) => Body::default(),
            Body::Other(other) => other.next().map_or_else(Body::default, Body::Other),
        }
    }

    /// Reads on after a failure that left that to the body.
    pub fn read_on(&mut self, io: &mut Io<'_>) -> Step {
        match self {
            // Their failures say themselves how to read on.
            Body::Pairs(_) | Body::Whole(_) => Step::Done,
            Body::Other(other) => other.read_on(io),
        }
    }

    /// Takes text that is inside a string which is passed on, all of it, and cannot end it: is it in JSON what it was? `None`:
    /// nothing was done.
    #[inline]
    pub fn feed_plain(&mut self, found: &mut Found, text: &str, delimiters: &Delimiters) -> Option<bool> {
        match self {
            Body::Pairs(pairs) => pairs.feed_plain(found, text, delimiters),
            Body::Whole(_) => None,
            Body::Other(other) => other.feed_plain(found, text),
        }
    }

    /// How to skip the rest if the call fails here.
    pub fn skip(&self) -> Skip {
        match self {
            Body::Pairs(pairs) => pairs.skip(),
            Body::Whole(whole) => whole.skip(),
            Body::Other(_) => Skip::Body,
        }
    }

    /// The message has ended, and nothing is left of it: may the call be taken as closed here?
    pub fn closable(&self, found: &Found) -> bool {
        match self {
            Body::Pairs(pairs) => pairs.closable(found),
            Body::Whole(whole) => whole.closable(),
            Body::Other(other) => other.closable(),
        }
    }

    /// Is the call complete, but for what may still belong to it? Then no message ends inside it.
    pub fn is_complete(&self) -> bool {
        match self {
            Body::Pairs(_) | Body::Whole(_) => false,
            Body::Other(other) => other.is_complete(),
        }
    }

    /// See [`Format::ends_bare`]. Pairs check the end of a value themselves.
    pub fn ends_bare(&self) -> bool {
        match self {
            Body::Pairs(_) | Body::Whole(_) => false,
            Body::Other(other) => other.ends_bare(),
        }
    }

    /// Is a quote or a bracket open?
    pub fn unterminated(&self) -> bool {
        match self {
            Body::Pairs(pairs) => pairs.unterminated(),
            Body::Whole(whole) => !whole.closable(),
            Body::Other(other) => other.unterminated(),
        }
    }

    /// The call is closed: puts pieces into their places, and adds what can be said only now.
    pub fn finish(&self, cx: &Context<'_>, found: &mut Found) {
        match self {
            Body::Pairs(_) => finish_pairs(cx, found),
            Body::Whole(_) => found.args.release(),
            Body::Other(other) => other.finish(found),
        }
    }
}

fn finish_pairs(cx: &Context<'_>, found: &mut Found) {
    let mut missing: Vec<(String, String)> = Vec::new();
    found.args.write_pieces(&mut |id, path, has| {
        let Some(object) = &cx.schema.node(id).object else { return };
        let room = MAX_PROBLEMS - missing.len();
        for name in object.required.iter().filter(|name| !has(name)).take(room) {
            let field = messages::join(path, name);
            let message = messages::missing(cx, id, &field, name);
            missing.push((field, message));
        }
    });
    for (field, message) in missing {
        found.problem(ProblemKind::MissingRequired, field, message);
    }
    found.missing(cx, cx.schema.root, &String::new, |args, name| args.has_root_key(name));
    found.args.close();
}
