//! What a protocol is: how calls are found in text, and how calls, results and the manual are written.
//!
//! Protocols have no state. The state of a message is in the parser and in the body of a call.
//! Here is also what they write with: the [`Prompt`], example calls, and results in the form that models were trained on.

use std::cell::RefCell;
use std::fmt::Debug;

use super::attempt::Attempt;
use super::body::{Body, Form};
use super::call::{PastCall, Separators};
use super::layout::Layout;
use super::marks::MarkSet;
use super::settings::{FormatInfo, Settings};
use crate::arguments::{CallWriter, Context};
use crate::error::EncodeError;
use crate::grammar::CallGrammarWriter;
use crate::schema::{Descriptions, Schema, Shown, one_line, signature};
use crate::syntax::json::Member;
use crate::syntax::scan::{Candidates, Delimiters, Scan, neutralise_marks, starts_ignoring_case};
use crate::tools::{Tool, Tools};

/// A way to write calls in text.
pub(crate) trait Protocol: CallWriter + Send + Sync + Debug {
    fn facts(&self) -> FormatInfo;

    /// The delimiters that the host chooses, or a sentence that says what is wrong with them.
    fn delimiters(&self, open: &str, close: &str) -> Result<Delimiters, String> {
        Ok(Delimiters::of(open, close))
    }

    /// How calls and results begin. `attempt` is called at each candidate.
    fn candidates(&self, delimiters: &Delimiters) -> Candidates {
        Candidates::none().with_byte(delimiters.open.as_bytes()[0]).with_byte(b'<')
    }

    /// How a message is divided around calls.
    fn layout(&self) -> &Layout {
        &Layout::PROMPTED
    }

    /// Calls may be in a list that is one unit.
    fn has_lists(&self) -> bool {
        false
    }

    /// A call may be the whole message: `attempt` is also called at its start, whatever it begins with.
    fn begins_message(&self) -> bool {
        false
    }

    /// Messages are divided into parts, or a call may be a whole message.
    fn whole_messages(&self) -> bool {
        self.layout().parts.is_some() || self.begins_message()
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

    /// The length of a marker inside calls at the start of the text, if what follows it shows that a call without an opener is meant.
    fn orphan(&self, _tools: &Tools, _text: &str, _last: bool) -> Scan<usize> {
        Scan::NoMatch
    }

    /// If several protocols are read: whether a possible call at the start of the text looks like one of this protocol.
    fn fits(&self, _text: &str) -> Scan {
        Scan::Match(())
    }

    /// Whether a call that ends reasoning begins at the start of this text, which is inside reasoning.
    fn ends_reasoning(&self, _text: &str) -> Scan {
        Scan::NoMatch
    }

    /// The body of a call with [`Opening::Own`], which gives the `form` and `json`. `name` is the tool's name as written in the
    /// opening, or empty; `recycled` is the body of an earlier call, for its allocations.
    fn body(&self, _form: Form, _json: bool, _name: &str, _recycled: Box<dyn Body>) -> Box<dyn Body> {
        Box::default()
    }

    /// The same with [`Opening::Native`], for native formats.
    fn native_body(&self, _cx: &Context<'_>, _name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycled
    }

    /// Appends one call of a past message, without what surrounds the calls.
    ///
    /// # Errors
    ///
    /// Why the format cannot hold the call.
    fn write_past_call(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        self.write_call(cx, call.arguments, out);
        Ok(())
    }

    /// Appends a call that the format cannot hold in another form, as one JSON object for example, if the format reads that.
    fn write_as_object(&self, _cx: &Context<'_>, _call: &PastCall<'_>, _out: &mut String) -> bool {
        false
    }

    /// Appends a past message. The calls are those of `write_past_call`.
    fn write_message(&self, reasoning: Option<&str>, content: &str, calls: &[String], out: &mut String) {
        if let Some(reasoning) = reasoning {
            self.layout().write_reasoning(reasoning, out);
        }
        self.separators().write(content, calls, out);
    }

    /// What is written around the calls of a past message.
    fn separators(&self) -> Separators {
        Separators::LINES
    }

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

    /// The markers, besides the delimiters.
    fn marks(&self) -> MarkSet {
        MarkSet::default()
    }

    /// The host writes the calls, so nothing can be found out about their form.
    fn is_hosted(&self) -> bool {
        false
    }

    /// What describes the calls for grammars, if they are not described by how they are written.
    fn grammar(&self) -> Option<&dyn CallGrammarWriter> {
        None
    }

    /// The sentences about a call's body, and the line above the tools, for the manual of a custom protocol over this one.
    fn rules(&self, _tools: &Tools) -> (String, &'static str) {
        (String::new(), LISTED)
    }
}

/// The line above the list of tools in the manual.
pub(crate) const LISTED: &str = "Tools (? optional, string by default):";

/// A tool's result. Its content is already neutralised, except for the example of an error. Its name is not.
#[derive(Clone, Copy)]
pub(crate) struct CallResult<'a> {
    pub name: &'a str,
    pub content: &'a str,
    pub error: bool,
    pub number: Option<u64>,
    /// Which call it is the result of.
    pub call: PastCall<'a>,
}

/// Puts a visible backslash into everything that could be read as a mark in any of the protocols.
pub(crate) trait Neutralise {
    fn neutralise(&self, text: &str) -> String;
}

/// The tools and the settings for showing them.
#[derive(Clone, Copy)]
pub(crate) struct Prompt<'a> {
    pub tools: &'a Tools,
    pub settings: &'a Settings,
    pub marks: &'a dyn Neutralise,
}

impl Prompt<'_> {
    pub(crate) fn neutralise(&self, text: &str) -> String {
        self.marks.neutralise(text)
    }

    /// The parameters of a tool for its line of the manual, as fields or as one object, after a space.
    pub(crate) fn parameters(&self, tool: &Tool, json: bool) -> String {
        let is_safe = |text: &str| {
            let breaks = |c: char| c.is_control() || matches!(c, '<' | '\u{2028}' | '\u{2029}');
            !text.contains(breaks) && !self.may_hold_mark(text)
        };
        let Settings { constraints, descriptions, delimiters, .. } = self.settings;
        let constraints = constraints.then_some(&is_safe as &dyn Fn(&str) -> bool);
        signature(&tool.schema, delimiters, Shown { descriptions: *descriptions, constraints }, json)
    }

    /// The same as one object; empty if there are no parameters.
    pub(crate) fn shape(&self, tool: &Tool) -> String {
        let shape = self.parameters(tool, true);
        // Braces alone mean that any parameters are allowed.
        if shape == " {…}" && !tool.schema.is_open() { String::new() } else { shape }
    }

    /// The description of a tool for its line of the manual, after a dash.
    pub(crate) fn description(&self, tool: &Tool) -> String {
        let description = tool.description.as_deref().filter(|_| self.settings.descriptions != Descriptions::None);
        match description.map(|text| one_line(text, &self.settings.delimiters)) {
            Some(line) if !line.is_empty() => format!(" - {line}"),
            _ => String::new(),
        }
    }

    /// Whether this text could open or close a call or a result in any format, even one that is not read. It may return true too often.
    pub(crate) fn may_hold_mark(&self, text: &str) -> bool {
        let tag = |rest: &str| {
            let rest = rest.trim_start();
            !rest.is_empty() && !rest.starts_with(|c: char| c.is_ascii_digit() || "=<>-".contains(c))
        };
        let lower = text.to_ascii_lowercase();
        text.match_indices('<').any(|(at, _)| tag(&text[at + 1..]))
            || ["&lt;", "&#", "```", "[call", "[/call", "[tool_", "[/tool_"].iter().any(|mark| lower.contains(mark))
            || ["name", "tool", "function"].iter().any(|key| text.contains('{') && lower.contains(key))
            || text.contains(&self.settings.delimiters.open)
            || text.contains(&self.settings.delimiters.close)
            || self.neutralise(text) != text
    }
}

/// Maximum bytes of an example, since it is sent with every request. A longer one is shown only if there is no other.
const SHORT: usize = 400;
/// Maximum number of tools for which an example is made.
const TRIED: usize = 64;
/// The name in an example without a declared tool.
pub(crate) const ANY_NAME: &str = "tool_name";

/// Makes the examples for a header, and records them.
pub(crate) struct Examples<'a> {
    prompt: &'a Prompt<'a>,
    /// The example call of the tool at this position; `None` if none can be made.
    make: &'a dyn Fn(usize) -> Option<String>,
    given: RefCell<Vec<String>>,
}

impl<'a> Examples<'a> {
    pub(crate) fn new(prompt: &'a Prompt<'a>, make: &'a dyn Fn(usize) -> Option<String>) -> Self {
        Examples { prompt, make, given: RefCell::default() }
    }

    /// The example of the first of these tools for which one can be made. Tools with parameters come first, because their
    /// examples show more.
    pub(crate) fn of(&self, which: impl Fn(&Tool) -> bool) -> Option<String> {
        self.first(1, which).pop()
    }

    /// The example of any tool, or of an undeclared one.
    pub(crate) fn any(&self, protocol: &dyn Protocol) -> String {
        self.several(protocol, 1)
    }

    /// The examples of up to `count` tools, one on each line, or the example of an undeclared tool.
    pub(crate) fn several(&self, protocol: &dyn Protocol, count: usize) -> String {
        let mut calls = self.first(count, |_| true);
        if calls.is_empty() {
            let Prompt { tools, settings, .. } = self.prompt;
            calls.push(protocol.example(&settings.context(protocol, tools, None, ANY_NAME)));
            self.given.borrow_mut().extend_from_slice(&calls);
        }
        calls.join("\n")
    }

    /// The examples that the header contains.
    pub(crate) fn given(self) -> Vec<String> {
        self.given.into_inner()
    }

    fn first(&self, count: usize, which: impl Fn(&Tool) -> bool) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for parameters in [true, false] {
            let has = |tool: &Tool| tool.schema.declares_properties(tool.schema.root) == parameters;
            let wanted = self.prompt.tools.iter().enumerate().filter(|(_, tool)| which(tool) && has(tool));
            let (mut long, before) = (None, out.len());
            for (at, _) in wanted.take(TRIED) {
                if out.len() == count {
                    break;
                }
                match (self.make)(at) {
                    Some(call) if call.len() <= SHORT => out.push(call),
                    call => long = long.or(call),
                }
            }
            if out.len() == before && before < count {
                out.extend(long);
            }
        }
        self.given.borrow_mut().extend_from_slice(&out);
        out
    }
}

/// What begins and ends a result.
pub(crate) const RESULT_TAGS: [&str; 2] = ["<tool_response", "</tool_response"];

/// Whether the text begins with the tag of a result.
pub(crate) fn is_result_tag(text: &str) -> bool {
    RESULT_TAGS.iter().any(|tag| starts_ignoring_case(text, tag))
}
