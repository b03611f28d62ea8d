//! A protocol is how calls stand in text: what begins one, what its body is, how calls, results and the manual are written.
//!
//! Protocols are stateless; what changes while a message is read lives in the parser and the body.

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
    Need,
    /// Text, at least so many bytes of it, and at least one.
    Text(usize),
    /// An error, unless another protocol reads a call there.
    Bad(Box<Bad>),
    Call {
        /// Bytes of text in front of the call.
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

    /// A call in the usual style, whose name is in its body, which starts at byte `body`.
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
    /// The delimiters in another spelling, which the call then has to its end.
    pub delimiters: Option<Arc<Delimiters>>,
}

/// What can only be meant as a call, and cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// The end of what opens it.
    pub open: usize,
    /// If it is known.
    pub tool: Option<usize>,
    pub message: String,
    /// What ends it.
    pub closers: Closers,
    /// It is in its opening tag, in which `/>` would end it.
    pub in_tag: bool,
}

/// What is fixed of a protocol.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What opens and closes a call, unless a host chooses.
    pub delimiters: (Cow<'static, str>, Cow<'static, str>),
    /// Why a host cannot choose delimiters, if it cannot.
    pub fixed: Option<&'static str>,
    /// The name of the form in which calls are written that are not JSON objects.
    pub encoding: &'static str,
    /// Near misses are repaired that are not JSON's own, as they are in elements and lines.
    pub near_misses: bool,
    /// What begins a result; outside a call only the host writes it.
    pub result_marks: Cow<'static, [Cow<'static, str>]>,
}

impl Facts {
    /// Of a protocol with these delimiters, whose results begin as in the formats that models were trained on.
    pub fn new(open: &'static str, close: &'static str, encoding: &'static str) -> Self {
        Facts {
            delimiters: (Cow::Borrowed(open), Cow::Borrowed(close)),
            fixed: None,
            encoding,
            near_misses: true,
            result_marks: Cow::Borrowed(&TOOL_RESPONSE),
        }
    }

    /// The same, where a host cannot choose delimiters.
    pub fn fixed(self, why: &'static str) -> Self {
        Facts { fixed: Some(why), ..self }
    }
}

static TOOL_RESPONSE: [Cow<'static, str>; 1] = [Cow::Borrowed("<tool_response")];

/// What a protocol is told about how calls are to be read and written.
#[derive(Clone, Debug)]
pub struct Settings {
    pub facts: Facts,
    pub delimiters: Delimiters,
    /// Where calls and results may begin, in whichever protocol.
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
    /// What a body needs to know of a call with this name, whose tool is `at`.
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

/// One way to write calls into text.
pub trait Protocol: CallWriter + Send + Sync + Debug {
    fn facts(&self) -> Facts;

    /// What opens and closes a call, if a host chooses these, or a sentence that says what is wrong with them.
    fn delimiters(&self, open: &str, close: &str) -> Result<Delimiters, String> {
        Ok(Delimiters::of(open, close))
    }

    /// How calls and results begin: `attempt` is asked where one of them may.
    fn candidates(&self, delimiters: &Delimiters) -> Candidates {
        Candidates::none().with_byte(delimiters.open.as_bytes()[0]).with_byte(b'<')
    }

    /// What is wrong with a tool's name, if calls cannot be written with it.
    fn bad_name(&self, name: &str, delimiters: &Delimiters) -> Option<&'static str>;

    /// Why the calls of a tool are written as JSON objects, whatever the rest is written as.
    fn complexity(&self, _schema: &Schema) -> Option<&'static str> {
        None
    }

    /// Looks at the text where a call could begin: at one of the candidates, or where the message begins. With `last` there is
    /// no more to come.
    fn attempt(&self, tools: &Tools, settings: &Settings, text: &str, last: bool) -> Attempt;

    /// Where several protocols are read: does what begins here, and may be a call, look like one of this protocol?
    fn fits(&self, _text: &str) -> Scan {
        Scan::Match(())
    }

    /// Whether a call begins before this text, inside reasoning, that ends the reasoning.
    fn ends_reasoning(&self, _text: &str) -> Scan {
        Scan::NoMatch
    }

    /// The body of a call that was opened so, whose tool is that of `cx`. `name`: as it is written, if it was in the opening;
    /// `recycled`: the last call's body, for its memory.
    fn body(&self, cx: &Context<'_>, opening: Opening, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body>;

    /// The text of a result.
    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String;

    /// Could a call begin in front of this text, or a result begin or end? For text that others write.
    fn is_mark(&self, tools: &Tools, settings: &Settings, text: &str) -> bool;

    /// The text with a visible backslash in whatever could be taken for a mark.
    fn neutralise(&self, tools: &Tools, settings: &Settings, text: &str) -> String {
        neutralise_marks(text, &settings.candidates, |rest| self.is_mark(tools, settings, rest))
    }

    /// What the manual begins with: how calls are written, and example calls.
    fn header(&self, prompt: &Prompt<'_>, examples: &Examples<'_>) -> String;

    /// The arguments of the example in the manual, if it shows more than the example of an error, whose arguments are given.
    fn shown_arguments(&self, _schema: &Schema, _members: &[Member<'static>]) -> Option<Vec<Member<'static>>> {
        None
    }

    /// What it is told of one tool.
    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String;

    /// What the manual says of a call's body, and above the list of the tools, where a host puts its own marks around calls.
    fn rules(&self, _tools: &Tools) -> (String, &'static str) {
        (String::new(), LISTED)
    }
}

/// What the manual says above the list of the tools.
pub const LISTED: &str = "Tools (? optional, string by default):";

/// A tool's result. The content is already neutralised, except for the example of an error; the name is not.
#[derive(Clone, Copy)]
pub struct CallResult<'a> {
    pub name: &'a str,
    pub content: &'a str,
    pub error: bool,
    pub number: Option<u64>,
}

/// What can only be meant as a call of this tool, and is written in a way that no reader accepts.
pub fn bad(tools: &Tools, open: usize, tool: usize, closers: Closers, in_tag: bool) -> Attempt {
    let message = format!("The call of {} is not in the expected format.", tools.at(tool).name);
    Attempt::Bad(Box::new(Bad { open, tool: Some(tool), message, closers, in_tag }))
}

/// Looks at what could open a call in another spelling: what goes on like a call of a declared tool is an error.
pub fn misspelled(tools: &Tools, settings: &Settings, spellings: &Spellings, text: &str, last: bool) -> Attempt {
    match spellings.look(text, last, &settings.delimiters, &|name| tools.find(name)) {
        Scan::Incomplete => Attempt::Need,
        Scan::NoMatch => Attempt::text(text),
        Scan::Match(Misspelled { length, tool, closers, in_tag }) => {
            bad(tools, length, tool, Closers::Spelled(closers), in_tag)
        }
    }
}
