//! What a protocol is: how calls are found in text, and how calls, results and the manual are written.
//!
//! Protocols have no state. The state of a message is in the parser and in the body of a call.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use super::body::{Body, Opening};
use super::prompt::{Examples, Prompt};
use crate::arguments::{CallWriter, Context};
use crate::error::Repair;
use crate::limits::Limits;
use crate::schema::{Descriptions, Schema};
use crate::syntax::json::Member;
use crate::syntax::misspelled::{Misspelled, Spellings};
use crate::syntax::scan::{Candidates, Closers, Delimiters, Scan, neutralise_marks};
use crate::tools::{Lookup, Tool, Tools};

/// What is at a place where a call could begin. Byte offsets count from that place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// More text is needed.
    Incomplete,
    /// At least this many bytes of text; at least one.
    Text(usize),
    /// An error, unless another protocol reads a call there.
    Bad(Box<BadCall>),
    Call {
        /// Bytes of text before the call.
        lead: usize,
        /// The end of what opened the call.
        open: usize,
        /// The tool's name, unless the body contains it.
        name: Option<(Range<usize>, Lookup)>,
        /// Where the body starts.
        body: usize,
        opening: Opening,
        /// How the opening differs from the usual one.
        style: Option<Box<Style>>,
    },
}

impl Attempt {
    /// The first character is text.
    pub fn text(text: &str) -> Self {
        Attempt::Text(text.chars().next().map_or(1, char::len_utf8))
    }

    /// A call in the usual style with the name in its body, which starts at byte `body`.
    pub fn call(open: usize, body: usize, opening: Opening) -> Self {
        Attempt::Call { lead: 0, open, name: None, body, opening, style: None }
    }

    /// The same with the name in its opening.
    pub fn named(open: usize, name: (Range<usize>, Lookup), body: usize, opening: Opening) -> Self {
        Attempt::Call { lead: 0, open, name: Some(name), body, opening, style: None }
    }
}

/// How the opening of a call differs from the usual one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Style {
    pub repairs: Vec<Repair>,
    /// The delimiters of the call, if they are spelled differently.
    pub delimiters: Option<Arc<Delimiters>>,
}

/// Text that can only be meant as a call, but cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCall {
    /// The end of what opens it.
    pub open: usize,
    /// The position of the tool, if it is known.
    pub tool: Option<usize>,
    pub message: String,
    /// What ends the call.
    pub closers: Closers,
    /// The opening tag is incomplete. `/>` in it ends the call.
    pub in_tag: bool,
}

/// The fixed properties of a protocol.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What opens and closes a call, unless the host chooses.
    pub delimiters: (Cow<'static, str>, Cow<'static, str>),
    /// Why the host cannot choose delimiters, if it cannot.
    pub fixed: Option<&'static str>,
    /// The name of the form of calls that are not JSON objects.
    pub encoding: &'static str,
    /// Near misses are repaired in JSON as they are in elements and lines.
    pub near_misses: bool,
    /// What begins a result. Outside calls, only the host writes it.
    pub result_marks: Cow<'static, [Cow<'static, str>]>,
}

impl Facts {
    /// The properties of a protocol with these delimiters and with results in `<tool_response>`.
    pub fn new(open: &'static str, close: &'static str, encoding: &'static str) -> Self {
        Facts {
            delimiters: (Cow::Borrowed(open), Cow::Borrowed(close)),
            fixed: None,
            encoding,
            near_misses: true,
            result_marks: Cow::Borrowed(&TOOL_RESPONSE),
        }
    }

    /// The same, if the host cannot choose delimiters.
    pub fn fixed(self, why: &'static str) -> Self {
        Facts { fixed: Some(why), ..self }
    }
}

static TOOL_RESPONSE: [Cow<'static, str>; 1] = [Cow::Borrowed("<tool_response")];

/// How calls are to be read and written in a protocol.
#[derive(Clone, Debug)]
pub struct Settings {
    pub facts: Facts,
    pub delimiters: Delimiters,
    /// Where calls and results may begin in any of the protocols.
    pub candidates: Candidates,
    pub strict: bool,
    /// Strict, except for how values and keys are written.
    pub any_style: bool,
    pub descriptions: Descriptions,
    /// Whether signatures show bounds, patterns, formats and examples.
    pub constraints: bool,
    pub limits: Limits,
}

impl Settings {
    /// What a body needs to know about a call with this name. `at` is the position of its tool.
    pub fn context<'a>(
        &'a self,
        writer: &'a dyn CallWriter,
        tools: &'a Tools,
        at: Option<usize>,
        name: &'a str,
    ) -> Context<'a> {
        Context {
            writer,
            tools: Some(tools),
            schema: tools.schema(at),
            syntax: at.map(|at| tools.at(at).syntax),
            strict: self.strict,
            any_style: self.any_style,
            near_misses: self.facts.near_misses,
            result_marks: &self.facts.result_marks,
            delimiters: &self.delimiters,
            limits: &self.limits,
            tool: name,
        }
    }
}

/// A way to write calls in text.
pub trait Protocol: CallWriter + Send + Sync + Debug {
    fn facts(&self) -> Facts;

    /// The delimiters that the host chooses, or a sentence that says what is wrong with them.
    fn delimiters(&self, open: &str, close: &str) -> Result<Delimiters, String> {
        Ok(Delimiters::of(open, close))
    }

    /// How calls and results begin. `attempt` is called at each candidate.
    fn candidates(&self, delimiters: &Delimiters) -> Candidates {
        Candidates::none().with_byte(delimiters.open.as_bytes()[0]).with_byte(b'<')
    }

    /// What is wrong with a tool's name, if calls cannot be written with it.
    fn bad_name(&self, name: &str, delimiters: &Delimiters) -> Option<&'static str>;

    /// Why the calls of a tool must be written as JSON objects.
    fn complexity(&self, _schema: &Schema) -> Option<&'static str> {
        None
    }

    /// Scans the text where a call could begin: at a candidate, or at the start of the message. With `last`, nothing follows the
    /// text.
    fn attempt(&self, tools: &Tools, settings: &Settings, text: &str, last: bool) -> Attempt;

    /// If several protocols are read: whether a possible call at the start of the text looks like one of this protocol.
    fn fits(&self, _text: &str) -> Scan {
        Scan::Match(())
    }

    /// Whether a call that ends reasoning begins at the start of this text, which is inside reasoning.
    fn ends_reasoning(&self, _text: &str) -> Scan {
        Scan::NoMatch
    }

    /// The body of a call with this opening. `name` is the tool's name as written in the opening, or empty; `recycled` is the body of
    /// an earlier call, for its allocations.
    fn body(&self, cx: &Context<'_>, opening: Opening, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body>;

    /// The text of a result.
    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String;

    /// Whether a call could begin, or a result begin or end, at the start of this text. Used for untrusted text.
    fn is_mark(&self, tools: &Tools, settings: &Settings, text: &str) -> bool;

    /// The text with a visible backslash in everything that could be read as a mark.
    fn neutralise(&self, tools: &Tools, settings: &Settings, text: &str) -> String {
        neutralise_marks(text, &settings.candidates, |rest| self.is_mark(tools, settings, rest))
    }

    /// The start of the manual: how calls are written, with example calls.
    fn header(&self, prompt: &Prompt<'_>, examples: &Examples<'_>) -> String;

    /// The arguments of the example in the manual, if they differ from those of the example in an error, which are `members`.
    fn shown_arguments(&self, _schema: &Schema, _members: &[Member<'static>]) -> Option<Vec<Member<'static>>> {
        None
    }

    /// The line of one tool in the manual.
    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String;

    /// The sentences about a call's body, and the line above the tools, for the manual of a custom protocol over this one.
    fn rules(&self, _tools: &Tools) -> (String, &'static str) {
        (String::new(), LISTED)
    }
}

/// The line above the list of tools in the manual.
pub const LISTED: &str = "Tools (? optional, string by default):";

/// A tool's result. Its content is already neutralised, except for the example of an error. Its name is not.
#[derive(Clone, Copy)]
pub struct CallResult<'a> {
    pub name: &'a str,
    pub content: &'a str,
    pub error: bool,
    pub number: Option<u64>,
}

/// Text that can only be meant as a call of this tool, but that no reader accepts.
pub fn bad(tools: &Tools, open: usize, tool: usize, closers: Closers, in_tag: bool) -> Attempt {
    let message = format!("The call of {} is not in the expected format.", tools.at(tool).name);
    Attempt::Bad(Box::new(BadCall { open, tool: Some(tool), message, closers, in_tag }))
}

/// Scans a possible opening in another spelling. If it continues like a call of a declared tool, it is an error.
pub fn misspelled(tools: &Tools, settings: &Settings, spellings: &Spellings, text: &str, last: bool) -> Attempt {
    match spellings.look(text, last, &settings.delimiters, &|name| tools.find(name)) {
        Scan::Incomplete => Attempt::Incomplete,
        Scan::NoMatch => Attempt::text(text),
        Scan::Match(Misspelled { length, tool, closers, in_tag }) => {
            bad(tools, length, tool, Closers::Spelled(closers), in_tag)
        }
    }
}
