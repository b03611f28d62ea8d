//! How one call of a native format is written: its opening, the body that reads it, and its text.

use std::any::Any;
use std::fmt::Debug;

use super::attempt::Attempt;
use super::body::Body;
use super::marks::MarkSet;
use super::settings::Settings;
use super::template::{Divided, divided};
use crate::arguments::Context;
use crate::error::EncodeError;
use crate::syntax::json::{Member, json_string};
use crate::syntax::pairs::{Segment, segments};
use crate::syntax::scan::Scan;
use crate::tools::Tools;

/// A past call, as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PastCall<'a> {
    pub arguments: &'a [Member<'a>],
    /// The host's id of the call.
    pub id: Option<&'a str>,
    /// The calls before it in the message.
    pub index: usize,
    /// The calls before it in the conversation.
    pub before: usize,
}

impl PastCall<'static> {
    /// A call of which nothing is known.
    pub(crate) const NONE: PastCall<'static> = PastCall { arguments: &[], id: None, index: 0, before: 0 };
}

/// What is written around the calls of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Separators {
    /// Before the first call, and after the last.
    pub begin: &'static str,
    pub end: &'static str,
    pub between: &'static str,
    /// Between content and calls.
    pub after_content: &'static str,
    /// The calls are written before the content, with nothing between.
    pub calls_first: bool,
}

impl Separators {
    /// Everything on a line of its own.
    pub(crate) const LINES: Separators = Separators::of("{content|\n}{calls|\n}");

    /// From a template: `{content|TEXT}`, with the text between content and calls, and `{calls|TEXT}`, with the text between two
    /// calls. Content without a text between is left out, unless it follows the calls.
    pub(crate) const fn of(message: &'static str) -> Separators {
        let (after_content, rest) = match divided(message, "content") {
            Some(found) if found.before.is_empty() => (found.text, found.after),
            _ => ("", message),
        };
        let (calls_first, rest) = match divided(rest, "content") {
            Some(found) if found.after.is_empty() => (true, found.before),
            _ => (false, rest),
        };
        let Divided { before: begin, text: between, after: end } = match divided(rest, "calls") {
            Some(found) => found,
            None => Divided { before: rest, text: "", after: "" },
        };
        Separators { begin, end, between, after_content, calls_first }
    }

    /// Appends the content and the calls.
    pub(crate) fn write(&self, content: &str, calls: &[String], out: &mut String) {
        if !self.calls_first {
            out.push_str(content);
        }
        if !calls.is_empty() {
            if !self.calls_first && !content.is_empty() {
                out.push_str(self.after_content);
            }
            self.write_calls(calls, out);
        }
        if self.calls_first {
            out.push_str(content);
        }
    }

    fn write_calls(&self, calls: &[String], out: &mut String) {
        out.push_str(self.begin);
        for (at, call) in calls.iter().enumerate() {
            if at > 0 {
                out.push_str(self.between);
            }
            out.push_str(call);
        }
        out.push_str(self.end);
    }
}

/// How one call is written. A row chooses one and gives it its markers.
pub(crate) trait CallFormat: Any + Send + Sync + Debug {
    /// What may open a call. The parser calls `attempt` where the first two bytes of one occur.
    fn openers(&self) -> &'static [&'static str];

    /// What ends a call.
    fn close(&self) -> &'static str;

    /// What else separates the parts of a call or of a result, so that untrusted text must not contain it.
    fn mark(&self, _marks: &mut MarkSet) {}

    /// The name of the form of calls, for plans.
    fn encoding(&self) -> &'static str {
        "json"
    }

    /// Why calls of a tool with this name cannot be written.
    fn bad_name(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// Calls may be in a list that is one unit: see [`Body::waits`](crate::formats::body::Body::waits).
    fn has_lists(&self) -> bool {
        false
    }

    /// A call may only be a whole message: `attempt` is also called at the start of the message.
    fn begins_message(&self) -> bool {
        false
    }

    /// Scans the text where one of the openers may begin. With `last`, nothing follows. In a section, text between calls is
    /// dropped, so [`Attempt::Text`] skips there.
    fn attempt(&self, tools: &Tools, settings: &Settings, text: &str, last: bool) -> Attempt;

    /// The length of a marker inside calls at the start of the text, if what follows it shows that a call without an opener is meant.
    fn orphan(&self, _tools: &Tools, _text: &str, _last: bool) -> Scan<usize> {
        Scan::NoMatch
    }

    /// Whether a call that ends reasoning begins at the start of this text, which is inside reasoning.
    fn ends_reasoning(&self, _text: &str) -> Scan {
        Scan::NoMatch
    }

    /// The body of a call that `attempt` has found. `name` is the tool's name as written, or empty; `recycled` is the body of an
    /// earlier call, for its allocations.
    fn body(&self, cx: &Context<'_>, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body>;

    /// Appends one call, with its markers, as the official template writes it.
    ///
    /// # Errors
    ///
    /// Why the format cannot hold the call.
    fn write(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError>;

    /// Appends a call that the template cannot write, in another form that is read back. Returns whether there is one.
    fn write_otherwise(&self, _cx: &Context<'_>, _call: &PastCall<'_>, _out: &mut String) -> bool {
        false
    }

    /// The id that is written for a call with this name and in its result, if the format has ids.
    fn id(&self, _name: &str, _call: &PastCall<'_>) -> Option<String> {
        None
    }

    /// A parameter with a value, given as JSON, for sentences about a bad call.
    fn field_example(&self, field: &str, value: &str) -> String;
}

/// A member with a value, given as JSON, as a part of an object.
pub(crate) fn json_field_example(field: &str, value: &str) -> String {
    let mut out = value.to_owned();
    let path = segments(field);
    for (at, segment) in path.iter().enumerate().rev() {
        let key = match segment {
            Segment::Index(_) => {
                out = format!("[{out}]");
                continue;
            }
            Segment::Bare(name) => json_string(name),
            Segment::Quoted(name) | Segment::Bracketed(name) => json_string(name),
        };
        out = if at == 0 { format!("{key}:{out}") } else { format!("{{{key}:{out}}}") };
    }
    out
}
