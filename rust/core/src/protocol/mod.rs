//! A protocol is how calls stand in text: what begins one, what its body is, how calls, results and the manual are written.
//!
//! Protocols are stateless; what changes while a message is read lives in the parser and the body.

pub mod bare;
mod custom;
mod examples;
mod hermes;
mod qwen3coder;
mod results;
pub mod tags;
mod wire;
mod xml;
mod yaml;

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use crate::body::{BodyKind, Context, Given, example_members};
use crate::error::Repair;
use crate::schema::Schema;
use crate::syntax::json::Member;
use crate::syntax::misspelled::Spellings;
use crate::syntax::scan::{Candidates, Closers, Delimiters, Scan, neutralise_marks};
use crate::toolset::{Lookup, Tool, Toolset};

pub use bare::Bare;
pub use custom::{Custom, Host, Own, Reading};
pub use examples::Examples;
pub use hermes::Hermes;
pub use qwen3coder::Qwen3Coder;
pub use results::{write_error, write_result};
pub use wire::Wire;
pub use xml::Xml;
pub use yaml::Yaml;

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
        kind: BodyKind,
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
pub trait Protocol: Send + Sync + Debug {
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

    /// What a host that reads the bodies of its calls itself says of one.
    fn read(&self, _body: &str) -> Reading {
        Reading::More
    }

    /// Appends one call in its canonical form.
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String);

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

    /// A whole call with the tool's required fields, or its first ones.
    fn example(&self, cx: &Context<'_>) -> String {
        let mut out = String::new();
        self.write_call(cx, &example_members(cx.schema, Given::None).unwrap_or_default(), &mut out);
        out
    }

    /// A field with a value, of which the JSON is given, as the model would write it.
    fn field_example(&self, field: &str, value: &str) -> String;
}

/// What can only be meant as a call of this tool, and is written in a way that no reader takes.
fn bad(tools: &Toolset, open: usize, tool: usize, closers: Closers) -> Attempt {
    let message = format!("The call of {} is not in the expected format.", tools.tool(tool).name);
    Attempt::Bad(Box::new(Bad { open, tool: Some(tool), message, closers }))
}

/// Looks at what could open a call in another spelling: what goes on like a call of a declared tool is an error.
fn misspelled(tools: &Toolset, spellings: &Spellings, text: &str, last: bool) -> Attempt {
    let step = Attempt::Text(text.chars().next().map_or(1, char::len_utf8));
    let lookup = |name: &str| tools.lookup(name).tool();
    match spellings.look(text, last, &tools.delimiters, &lookup) {
        Scan::Incomplete => Attempt::Need,
        Scan::NoMatch => step,
        Scan::Match((length, tool, closers)) => bad(tools, length, tool, Closers::Spelled(closers)),
    }
}

type Make = fn() -> Arc<dyn Protocol>;

/// A protocol, the others in which calls are read, and when.
pub type Protocols = (Arc<dyn Protocol>, Vec<Arc<dyn Protocol>>, Reads);

/// In which protocols calls are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// In its own alone.
    Own,
    /// In that of the message's first call.
    First,
    /// In the others as repairs, until there was a call in its own.
    Recovers,
}

/// The protocols, by name.
const PROTOCOLS: &[(&str, Make)] = &[
    ("wire", || Arc::new(Wire)),
    ("hermes", || Arc::new(Hermes::tags())),
    ("gemma", || Arc::new(Hermes::fence())),
    ("xml", || Arc::new(Xml)),
    ("yaml", || Arc::new(Yaml)),
    // Reads a tool's own tag as well, so it stands last.
    ("qwen3coder", || Arc::new(Qwen3Coder)),
];

/// Other names of theirs.
const ALIASES: &[(&str, &str)] = &[("json", "hermes"), ("morph-xml", "xml"), ("yaml-xml", "yaml")];

/// The names, without aliases.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROTOCOLS.iter().map(|(name, _)| *name)
}

/// The protocol of that name, and the others in which calls are read; or a sentence that lists the names.
pub fn named(name: &str, recovers: bool) -> Result<Protocols, String> {
    let canonical = match name {
        // What is written is wire.
        "auto" => PROTOCOLS[0].0,
        _ => ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name),
    };
    let (_, own) = PROTOCOLS.iter().find(|(own, _)| *own == canonical).ok_or_else(|| {
        format!("there is no protocol {name:?}; available: {}, auto", names().collect::<Vec<_>>().join(", "))
    })?;
    let reads = match name {
        "auto" => Reads::First,
        _ if recovers => Reads::Recovers,
        _ => return Ok((own(), Vec::new(), Reads::Own)),
    };
    let mut others: Vec<_> =
        PROTOCOLS.iter().filter(|(other, _)| *other != canonical).map(|(_, make)| make()).collect();
    if reads == Reads::Recovers {
        others.push(Arc::new(Bare));
    }
    Ok((own(), others, reads))
}
