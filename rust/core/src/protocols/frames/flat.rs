//! The frame of native formats in which calls stand in the content, each with its own markers or in a section: a layout, a format
//! of calls, and how past calls and results are written. All of it is data of a family.

use std::borrow::Cow;

use crate::arguments::{CallWriter, Context};
use crate::error::EncodeError;
use crate::limits::NAME_CHARS;
use crate::protocols::body::{Body, Form};
use crate::protocols::format::{CallFormat, Joints, PastCall};
use crate::protocols::frames::envelope;
use crate::protocols::layout::Layout;
use crate::protocols::protocol::{Attempt, CallResult, Examples, Facts, Prompt, Protocol, Settings};
use crate::syntax::json::{Member, push_string};
use crate::syntax::scan::{Candidates, Delimiters, first_chars};
use crate::tools::{Tool, Tools};

/// A native format.
#[derive(Debug)]
pub(crate) struct FlatFamily {
    pub layout: Layout,
    pub call: &'static dyn CallFormat,
    pub writing: Writing,
}

/// How the official template writes past calls and results.
#[derive(Debug)]
pub(crate) struct Writing {
    /// Before the first call of a message, and after the last.
    pub begin: &'static str,
    pub end: &'static str,
    pub between: &'static str,
    /// Between content and the first call.
    pub after_content: &'static str,
    /// A result, with `{name}`, `{content}`, `{json}` (the content as a JSON string), `{id}` and `{index}` (of the call in its
    /// message, from 1) in it.
    pub result: &'static str,
    /// What begins results, if a message of the model never contains it.
    pub result_mark: Option<&'static str>,
}

impl CallWriter for FlatFamily {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        let mut call = String::new();
        let written = self.call.write(cx, &PastCall { arguments, ..PastCall::NONE }, &mut call);
        // Only examples are written here, of values that a schema gives.
        if written.is_ok() {
            self.joints().write("", &[call], out);
        }
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        self.call.field_example(field, value)
    }
}

impl Protocol for FlatFamily {
    fn facts(&self) -> Facts {
        let open = self.call.openers().first().copied().unwrap_or_default();
        let marks = self.writing.result_mark.map(Cow::Borrowed).into_iter().collect::<Vec<_>>();
        Facts {
            result_marks: Cow::Owned(marks),
            near_misses: false,
            ..Facts::new(open, self.call.close(), self.call.encoding())
        }
        .fixed("the markers of a native format are fixed, so it has no delimiters")
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begins_message(&self) -> bool {
        self.call.begins_message()
    }

    fn candidates(&self, _: &Delimiters) -> Candidates {
        let opens = self.call.openers().iter();
        let section = self.layout.section.iter().flat_map(|section| section.begin.iter().chain(section.end));
        let reasoning = self.layout.reasoning.iter().flat_map(|marks| marks.pairs).flat_map(|(a, b)| [a, b]);
        let all = opens.chain(section).chain(reasoning).chain(&self.writing.result_mark);
        // Untrusted text is searched for these, too.
        let all = all.chain(self.layout.stops).copied().chain(self.call.marks());
        all.fold(Candidates::none(), |all, mark| all.with_text(mark))
    }

    fn bad_name(&self, name: &str, _: &Delimiters) -> Option<&'static str> {
        let length = name.is_empty() || first_chars(name, NAME_CHARS) < name.len();
        length.then_some("it must have 1 to 128 characters").or_else(|| self.call.bad_name(name))
    }

    fn attempt(&self, tools: &Tools, settings: &Settings, text: &str, last: bool) -> Attempt {
        self.call.attempt(tools, settings, text, last)
    }

    fn native_body(&self, cx: &Context<'_>, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        self.call.body(cx, name, recycled)
    }

    fn body(&self, _: Form, _: bool, _: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycled
    }

    fn write_past_call(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        self.call.write(cx, call, out)
    }

    fn write_as_object(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> bool {
        self.call.write_otherwise(cx, call, out)
    }

    fn write_message(&self, reasoning: Option<&str>, content: &str, calls: &[String], out: &mut String) {
        match self.layout.parts {
            Some(frame) => frame.write(reasoning, content, calls, &self.joints(), out),
            None => {
                if let Some(reasoning) = reasoning {
                    self.layout.write_reasoning(reasoning, out);
                }
                self.joints().write(content, calls, out);
            }
        }
    }

    fn joints(&self) -> Joints {
        let Writing { begin, end, between, after_content, .. } = self.writing;
        Joints { begin, end, between, after_content, calls_first: self.layout.calls_first }
    }

    fn wrap_result(&self, _: &Prompt<'_>, result: &CallResult<'_>) -> String {
        let mut out = String::new();
        let mut rest = self.writing.result;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            rest = after;
            match after.split_once('}') {
                Some(("name", after)) => {
                    out.push_str(result.name);
                    rest = after;
                }
                Some(("content", after)) => {
                    out.push_str(result.content);
                    rest = after;
                }
                Some(("json", after)) => {
                    push_string(&mut out, result.content);
                    rest = after;
                }
                Some(("id", after)) => {
                    let id = self.call.id(result.name, &result.call);
                    out.push_str(id.as_deref().or(result.call.id).unwrap_or_default());
                    rest = after;
                }
                Some(("index", after)) => {
                    out.push_str(&(result.call.index + 1).to_string());
                    rest = after;
                }
                _ => out.push('{'),
            }
        }
        out.push_str(rest);
        out
    }

    fn is_mark(&self, tools: &Tools, settings: &Settings, text: &str) -> bool {
        let Layout { section, reasoning, stops, .. } = &self.layout;
        let section = section.iter().flat_map(|section| section.begin.iter().chain(section.end));
        let reasoning = reasoning.iter().flat_map(|marks| marks.pairs).flat_map(|(a, b)| [a, b]);
        // A bracket alone is no marker.
        let openers = self.call.openers().iter().filter(|open| open.len() > 1);
        let mut marks = section.chain(reasoning).chain(*stops).chain(&self.writing.result_mark).chain(openers);
        marks.any(|mark| text.starts_with(mark))
            || matches!(self.attempt(tools, settings, text, true), Attempt::Call { .. } | Attempt::Bad(_))
            || self.call.marks().iter().any(|mark| text.starts_with(mark))
    }

    fn header(&self, _: &Prompt<'_>, examples: &Examples<'_>) -> String {
        envelope::header(self, false, examples)
    }

    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String {
        envelope::signature(prompt, tool)
    }
}
