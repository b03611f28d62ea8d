//! A call's body: text in, JSON arguments out, as they come.
//!
//! [`Pairs`] and [`Object`] read the two bodies of the wire format; [`Skip`] reads on after an error. Each is fed windows:
//! the text that is not consumed yet. A window starts where the last one was consumed to.

mod args;
mod elements;
mod envelope;
mod fields;
mod functions;
mod mapping;
mod messages;
mod object;
mod own;
mod pairs;
mod place;
mod quotes;
mod skip;
mod tree;
mod validate;
mod whole;
mod work;
mod write;

use crate::error::{ErrorKind, ProblemKind, Repair};
use crate::event::Problem;
use crate::functions::Opened;
use crate::limits::Limits;
use crate::protocol::Protocol;
use crate::protocol::tags::Form;
use crate::scan::{Delimiters, Mark, starts};
use crate::schema::{NodeId, Schema};
use crate::toolset::{Syntax, Toolset};

pub use args::Args;
pub use elements::{ElementWriter, Elements, Ends, is_field, is_nestable};
pub use envelope::Envelope;
pub use fields::{Fields, Slot};
pub use functions::Functions;
pub use mapping::Mapping;
pub use messages::{example_members, nameless, pairs_example, too_large, unknown_tool};
pub use object::Object;
pub use own::Own;
pub use pairs::Pairs;
pub use place::{is_declared, is_misnamed};
pub use skip::Skip;
pub use tree::{Lists, is_repeated, push_text, write_tree};
pub use validate::Validator;
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

impl Context<'_> {
    /// A repair in lenient mode, an error of its name in strict mode.
    fn repair(&self, found: &mut Found, repair: Repair) -> Result<(), ErrorKind> {
        if self.strict {
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
    /// One JSON object with the tool's name and its arguments, or a list of them, at its opening bracket.
    Envelope(Option<Wrapper>),
    /// The same, without markers: its last bracket ends it.
    Bare,
    Elements(Ends),
    /// Parameters in tags.
    Functions(Opened),
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
            BodyKind::Pairs | BodyKind::Object(_) => Skip::TokenStart,
            BodyKind::Own | BodyKind::Envelope(_) | BodyKind::Bare => Skip::Body,
            BodyKind::Elements(_) => Skip::Body,
            BodyKind::Functions(_) => Skip::Body,
            BodyKind::Mapping { .. } => Skip::Body,
        }
    }
}

/// The body of a call, by its kind.
#[derive(Debug)]
pub enum Body {
    Pairs(Pairs),
    Whole(Whole),
    Own(Own),
    Envelope(Box<Envelope>),
    Elements(Box<Elements>),
    Functions(Box<Functions>),
    Mapping(Box<Mapping>),
}

impl Default for Body {
    fn default() -> Self {
        Body::Pairs(Pairs::default())
    }
}

impl Body {
    /// `name`: that of the tool, as it is written.
    pub fn new(cx: &Context<'_>, kind: BodyKind, name: &str) -> Self {
        match kind {
            BodyKind::Pairs => Body::Pairs(Pairs::default()),
            BodyKind::Object(wrapper) => Body::Whole(Whole::new(cx, wrapper)),
            BodyKind::Own => Body::Own(Own::default()),
            BodyKind::Envelope(wrapper) => Body::Envelope(Box::new(Envelope::new(cx, wrapper))),
            BodyKind::Bare => Body::Envelope(Box::new(Envelope::bare(cx))),
            BodyKind::Mapping { form, json } => Body::Mapping(Box::new(Mapping::new(name, form, json))),
            BodyKind::Elements(ends) => Body::Elements(Box::new(Elements::new(name, ends))),
            BodyKind::Functions(opened) => Body::Functions(Box::new(Functions::new(opened))),
        }
    }

    pub fn feed(&mut self, io: &mut Io<'_>) -> Step {
        let step = match self {
            Body::Pairs(pairs) => pairs.feed(io),
            Body::Whole(whole) => whole.feed(io),
            Body::Own(own) => return own.feed(io),
            Body::Envelope(envelope) => return envelope.feed(io),
            Body::Elements(elements) => return elements.feed(io),
            Body::Functions(functions) => return functions.feed(io),
            Body::Mapping(mapping) => return mapping.feed(io),
        };
        // CLOSE is next, or the call ends without it.
        let close = &io.cx.delimiters.close;
        if matches!(step, Step::Done) && starts(io.rest(), close, true) == Mark::Yes {
            io.at += close.len();
        }
        step
    }

    /// The body of the call that follows this one without another opening, which [`Step::Next`] announced.
    pub fn next(&mut self) -> Body {
        match self {
            Body::Pairs(_) | Body::Whole(_) | Body::Own(_) | Body::Elements(_) | Body::Mapping(_) => Body::default(),
            Body::Envelope(envelope) => Body::Envelope(Box::new(envelope.next())),
            Body::Functions(functions) => Body::Functions(Box::new(functions.next())),
        }
    }

    /// Reads on after a failure that left that to the body: to the end of the call, without repairs, writing nothing.
    pub fn read_on(&mut self, io: &mut Io<'_>) -> Step {
        match self {
            // Their failures say themselves how to read on.
            Body::Pairs(_) | Body::Whole(_) => Step::Done,
            Body::Own(own) => own.read_on(io),
            Body::Envelope(envelope) => envelope.read_on(io),
            Body::Elements(elements) => elements.read_on(io),
            Body::Functions(functions) => functions.read_on(io),
            Body::Mapping(mapping) => mapping.read_on(io),
        }
    }

    /// Takes text that is inside a string which is passed on, all of it, and cannot end it: is it in JSON what it was? `None`:
    /// nothing was done.
    #[inline]
    pub fn feed_plain(&mut self, found: &mut Found, text: &str, delimiters: &Delimiters) -> Option<bool> {
        match self {
            Body::Pairs(pairs) => pairs.feed_plain(found, text, delimiters),
            Body::Whole(_) | Body::Own(_) => None,
            Body::Envelope(envelope) => envelope.feed_plain(found, text),
            Body::Elements(elements) => elements.feed_plain(found, text),
            Body::Functions(functions) => functions.feed_plain(found, text),
            Body::Mapping(mapping) => mapping.feed_plain(found, text),
        }
    }

    /// How to read on when the call is given up here.
    pub fn skip(&self) -> Skip {
        match self {
            Body::Pairs(pairs) => pairs.skip(),
            Body::Whole(whole) => whole.skip(),
            Body::Own(_) => Skip::Body,
            Body::Envelope(_) => Skip::Body,
            Body::Elements(_) => Skip::Body,
            Body::Functions(_) => Skip::Body,
            Body::Mapping(_) => Skip::Body,
        }
    }

    /// The message has ended, and nothing is left of it: may the call be taken as closed here?
    pub fn closable(&self, found: &Found) -> bool {
        match self {
            Body::Pairs(pairs) => pairs.closable(found),
            Body::Whole(whole) => whole.closable(),
            Body::Own(_) => false,
            Body::Envelope(envelope) => envelope.closable(),
            // They have looked at the end themselves.
            Body::Elements(_) | Body::Mapping(_) => false,
            // They end themselves where the message does.
            Body::Functions(_) => false,
        }
    }

    /// Is the call complete, but for what may still belong to it? Then no message ends inside it.
    pub fn is_complete(&self) -> bool {
        match self {
            Body::Pairs(_) | Body::Whole(_) | Body::Own(_) => false,
            Body::Envelope(_) | Body::Elements(_) | Body::Mapping(_) => false,
            Body::Functions(functions) => functions.is_complete(),
        }
    }

    /// Is a quote or a bracket open?
    pub fn unterminated(&self) -> bool {
        match self {
            Body::Pairs(pairs) => pairs.unterminated(),
            Body::Whole(whole) => !whole.closable(),
            Body::Own(_) => false,
            Body::Envelope(envelope) => !envelope.closable(),
            Body::Elements(elements) => elements.unterminated(),
            Body::Functions(functions) => functions.unterminated(),
            Body::Mapping(mapping) => mapping.unterminated(),
        }
    }

    /// The call is closed: puts pieces into their places, and adds what can be said only now.
    pub fn finish(&self, cx: &Context<'_>, found: &mut Found) {
        match self {
            Body::Pairs(_) => {
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
            Body::Whole(_) | Body::Own(_) | Body::Envelope(_) => found.args.release(),
            Body::Elements(elements) => elements.finish(found),
            Body::Functions(functions) => functions.finish(found),
            Body::Mapping(mapping) => mapping.finish(found),
        }
    }
}
