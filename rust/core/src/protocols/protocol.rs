//! A protocol is how calls stand in text: what begins one, what its body is, how calls, results and the manual are written.
//!
//! Protocols are stateless; what changes while a message is read lives in the parser and the body.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use super::body::{Body, Opening};
use super::examples::Examples;
use crate::arguments::{CallWriter, Context};
use crate::error::Repair;
use crate::schema::Schema;
use crate::syntax::json::Member;
use crate::syntax::misspelled::Spellings;
use crate::syntax::scan::{Candidates, Closers, Delimiters, Scan, neutralise_marks};
use crate::tools::{Lookup, Tool};
use crate::toolset::Toolset;

/// The mark of results in the formats that models were trained on.
pub(crate) static TOOL_RESPONSE: [Cow<'static, str>; 1] = [Cow::Borrowed("<tool_response")];

/// What stands at a place where a call could begin. Byte offsets count from that place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Cannot be told yet.
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
        /// The tool's name, unless it stands in the body.
        name: Option<(Range<usize>, Lookup)>,
        /// Where the body starts.
        body: usize,
        opening: Opening,
        style: Style,
    },
}

/// How the opening of a call differs from the usual one. By default it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Style {
    pub repairs: Vec<Repair>,
    /// The delimiters in another spelling, which the call then has to its end.
    pub delimiters: Option<Arc<Delimiters>>,
}

impl Style {
    /// What ends a call in this style that has failed.
    pub fn closers(&self) -> Closers {
        match self.delimiters {
            Some(_) => Closers::Spelled(&["</call>"]),
            None => Closers::Own,
        }
    }
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
}

/// One way to write calls into text.
pub trait Protocol: CallWriter + Send + Sync + Debug {
    /// What opens and closes a call, or a sentence that says what is wrong with the ones given.
    fn delimiters(&self, given: Option<(&str, &str)>) -> Result<Delimiters, String>;

    /// How calls and results begin: `attempt` is asked where one of them may.
    fn candidates(&self, delimiters: &Delimiters) -> Candidates {
        Candidates::none().with_byte(delimiters.open.as_bytes()[0]).with_byte(b'<')
    }

    /// What begins a result; outside a call only the host writes it.
    fn result_marks(&self) -> &[Cow<'static, str>];

    /// What is wrong with a tool's name, if calls cannot be written with it.
    fn bad_name(&self, name: &str, delimiters: &Delimiters) -> Option<&'static str>;

    /// Why the calls of a tool are written as JSON objects, whatever the rest is written as.
    fn complexity(&self, schema: &Schema) -> Option<&'static str>;

    /// Are near misses in JSON repaired that are none of JSON's own, as they are in elements and lines?
    fn near_misses(&self) -> bool {
        true
    }

    /// The name of the form in which calls are written that are no JSON objects.
    fn encoding(&self) -> &'static str;

    /// Looks at the text where a call could begin: at one of the candidates, or where the message begins. With `last` there is
    /// no more to come.
    fn attempt(&self, tools: &Toolset, text: &str, last: bool) -> Attempt;

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

    /// A result. Its content is already neutralised, except for the example of an error; the name is not.
    fn wrap_result(&self, tools: &Toolset, name: &str, content: &str, error: bool, number: Option<u64>) -> String;

    /// Could a call begin in front of this text, or a result begin or end? For text that others write.
    fn is_mark(&self, tools: &Toolset, text: &str) -> bool;

    /// The text with a visible backslash in whatever could be taken for a mark.
    fn neutralise(&self, tools: &Toolset, text: &str) -> String {
        neutralise_marks(text, &tools.candidates, |rest| self.is_mark(tools, rest))
    }

    /// What the manual begins with: how calls are written, and example calls.
    fn header(&self, tools: &Toolset, examples: &Examples<'_>) -> String;

    /// The arguments of the example in the manual, if it shows more than the example of an error, whose arguments are given.
    fn shown_arguments(&self, _schema: &Schema, _members: &[Member<'static>]) -> Option<Vec<Member<'static>>> {
        None
    }

    /// What it is told of one tool.
    fn signature(&self, tools: &Toolset, tool: &Tool) -> String;
}

/// What can only be meant as a call of this tool, and is written in a way that no reader takes.
pub fn bad(tools: &Toolset, open: usize, tool: usize, closers: Closers) -> Attempt {
    let message = format!("The call of {} is not in the expected format.", tools.tool(tool).name);
    Attempt::Bad(Box::new(Bad { open, tool: Some(tool), message, closers }))
}

/// Looks at what could open a call in another spelling: what goes on like a call of a declared tool is an error.
pub fn misspelled(tools: &Toolset, spellings: &Spellings, text: &str, last: bool) -> Attempt {
    let step = Attempt::Text(text.chars().next().map_or(1, char::len_utf8));
    let lookup = |name: &str| tools.lookup(name).tool();
    match spellings.look(text, last, &tools.delimiters, &lookup) {
        Scan::Incomplete => Attempt::Need,
        Scan::NoMatch => step,
        Scan::Match((length, tool, closers)) => bad(tools, length, tool, Closers::Spelled(closers)),
    }
}
