//! What a protocol is: how calls are found in text and read, and how calls, results and messages are written.
//!
//! Protocols have no state. The state of a message is in the parser and in the body of a call. `teaching.rs` has the manual.

use std::any::Any;
use std::fmt::Debug;

use super::attempt::Attempt;
use super::body::{Body, Form};
use super::call::{PastCall, Separators};
use super::layout::Layout;
use super::marks::MarkSet;
use super::settings::{FormatInfo, Settings};
use super::teaching::{Prompt, Teacher};
use crate::arguments::{CallWriter, Context};
use crate::error::EncodeError;
use crate::grammar::CallGrammarWriter;
use crate::schema::Schema;
use crate::syntax::scan::{Candidates, Delimiters, Scan, neutralise_marks, starts_ignoring_case};
use crate::tools::Tools;

/// A way to write calls in text: what is fixed in it.
pub(crate) trait Protocol: CallReader + MessageWriter + Teacher + Any + Send + Sync + Debug {
    fn info(&self) -> FormatInfo;

    /// How a message is divided around calls.
    fn layout(&self) -> &Layout {
        &Layout::PROMPTED
    }

    /// The delimiters that the host chooses, or a sentence that says what is wrong with them.
    fn delimiters(&self, open: &str, close: &str) -> Result<Delimiters, String> {
        Ok(Delimiters::of(open, close))
    }

    /// How calls and results begin. [`CallReader::attempt`] is called at each candidate.
    fn candidates(&self, delimiters: &Delimiters) -> Candidates {
        Candidates::none().with_byte(delimiters.open.as_bytes()[0]).with_byte(b'<')
    }

    /// The markers, besides the delimiters.
    fn marks(&self) -> MarkSet {
        MarkSet::default()
    }

    /// What is wrong with a tool's name, if calls cannot be written with it.
    fn bad_name(&self, name: &str, delimiters: &Delimiters) -> Option<&'static str>;

    /// Why the calls of a tool must be written as JSON objects.
    fn complexity(&self, _schema: &Schema) -> Option<&'static str> {
        None
    }
}

impl dyn Protocol + '_ {
    /// Messages are divided into parts, or a call may be a whole message.
    pub(crate) fn whole_messages(&self) -> bool {
        self.layout().parts.is_some() || self.info().begins_message
    }

    /// Appends a past message. The calls are those of [`MessageWriter::write_past_call`].
    pub(crate) fn write_message(&self, reasoning: Option<&str>, content: &str, calls: &[String], out: &mut String) {
        let (layout, separators) = (self.layout(), self.separators());
        if let Some(frame) = layout.parts {
            return frame.write(reasoning, content, calls, &separators, out);
        }
        if let Some(reasoning) = reasoning {
            layout.write_reasoning(reasoning, out);
        }
        separators.write(content, calls, out);
    }
}

/// How calls are found in text, and read.
pub(crate) trait CallReader {
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

    /// The body of a call with [`Opening::Own`](super::body::Opening::Own), which gives the `form` and `json`. `name` is the tool's name as written in the
    /// opening, or empty; `recycled` is the body of an earlier call, for its allocations.
    fn body(&self, _cx: &Context<'_>, _form: Form, _json: bool, _name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycled
    }

    /// Whether a call could begin, or a result begin or end, at the start of this text. Used for untrusted text.
    fn is_mark(&self, tools: &Tools, settings: &Settings, text: &str) -> bool;

    /// The text with a visible backslash in everything that could be read as a mark.
    fn neutralise(&self, tools: &Tools, settings: &Settings, text: &str) -> String {
        neutralise_marks(text, &settings.candidates, |rest| self.is_mark(tools, settings, rest))
    }
}

/// How past messages and results are written.
pub(crate) trait MessageWriter: CallWriter {
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

    /// What is written around the calls of a past message.
    fn separators(&self) -> Separators {
        Separators::LINES
    }

    /// The text of a result.
    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String;

    /// What describes the calls for grammars, if they are not described by how they are written.
    fn grammar(&self) -> Option<&dyn CallGrammarWriter> {
        None
    }
}

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

/// What begins and ends a result.
pub(crate) const RESULT_TAGS: [&str; 2] = ["<tool_response", "</tool_response"];

/// Whether the text begins with the tag of a result.
pub(crate) fn is_result_tag(text: &str) -> bool {
    RESULT_TAGS.iter().any(|tag| starts_ignoring_case(text, tag))
}
