//! Native formats whose calls are in the content, each with its own markers or in a section. A format is data: a layout, one call, and
//! the text of past calls and results.

use std::borrow::Cow;

use crate::arguments::{CallWriter, Context};
use crate::error::EncodeError;
use crate::formats::attempt::Attempt;
use crate::formats::body::{Body, Form};
use crate::formats::call::{CallFormat, PastCall, Separators};
use crate::formats::commitment::{committed, near_opener, unreadable};
use crate::formats::frames::envelope;
use crate::formats::layout::{Layout, Section, TOKEN_BEGINS};
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::parts::Header;
use crate::formats::protocol::{CallReader, CallResult, MessageWriter, Protocol};
use crate::formats::settings::{FormatInfo, Settings};
use crate::formats::teaching::{ANY_NAME, Examples, Prompt, Teacher};
use crate::formats::template::{fill, markers};
use crate::limits::NAME_CHARS;
use crate::syntax::json::{Member, push_string};
use crate::syntax::scan::{Candidates, Delimiters, Scan, first_chars, first_mark, neutralise_marks};
use crate::tools::{Tool, Tools};

/// A native format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlatFormat {
    pub layout: Layout,
    pub call: &'static dyn CallFormat,
    pub past_text: PastText,
}

/// How the official template writes past calls and results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PastText {
    /// What is around the calls of a message. Where calls without markers are a whole message, what follows the content is the marker
    /// of calls after content.
    pub separators: Separators,
    /// A result, with `{name}`, `{content}`, `{json}` (the content as a JSON string), `{id}` and `{index}` (of the call in its
    /// message, from 1) in it.
    pub result: &'static str,
    /// What begins results, if a message of the model never contains it.
    pub result_mark: Option<&'static str>,
}

impl PastText {
    /// From the templates of a message and of a result; see [`Separators::of`].
    pub(crate) const fn of(message: &'static str, result: &'static str) -> PastText {
        PastText { separators: Separators::of(message), result, result_mark: None }
    }

    pub(crate) const fn marked(self, mark: &'static str) -> PastText {
        PastText { result_mark: Some(mark), ..self }
    }

    /// A result of the call with this id, if it has one.
    pub(super) fn result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>, id: Option<&str>) -> String {
        let mut out = String::new();
        fill(self.result, &mut out, |key, out| {
            match key {
                "name" => out.push_str(&prompt.neutralise(result.name)),
                "content" => out.push_str(result.content),
                "json" => push_string(out, result.content),
                "id" => out.push_str(&prompt.neutralise(id.unwrap_or_default())),
                "index" => out.push_str(&(result.call.index + 1).to_string()),
                _ => return false,
            }
            true
        });
        out
    }
}

impl FlatFormat {
    /// Calls are only read in a section, between what is written around them.
    pub(crate) const fn in_section(self) -> FlatFormat {
        FlatFormat { layout: Layout { section: Some(Section::of(self.past_text.separators)), ..self.layout }, ..self }
    }

    /// What closes calls, and lists of them.
    fn ends(&self) -> impl Iterator<Item = &'static str> {
        let sections = self.layout.section.iter().flat_map(Section::ends);
        let named = |mark: &&str| mark.contains(|c: char| c.is_alphabetic());
        [self.call.close()].into_iter().chain(sections).filter(named)
    }
}

impl CallWriter for FlatFormat {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        let mut call = String::new();
        let written = self.write_past_call(cx, &PastCall { arguments, ..PastCall::NONE }, &mut call);
        // Only examples are written here, of values that a schema gives.
        if written.is_ok() {
            self.separators().write("", &[call], out);
        }
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        self.call.field_example(field, value)
    }
}

impl Protocol for FlatFormat {
    fn info(&self) -> FormatInfo {
        // A whole message without markers is one object.
        let mark = |mark: Option<&'static str>, bracket| mark.filter(|mark| !mark.is_empty()).unwrap_or(bracket);
        let open = mark(self.call.openers().first().copied(), "{");
        let close = mark(Some(self.call.close()), "}");
        let marks = self.past_text.result_mark.map(Cow::Borrowed).into_iter().collect::<Vec<_>>();
        FormatInfo {
            result_marks: Cow::Owned(marks),
            near_misses: false,
            lists: self.call.has_lists(),
            begins_message: self.call.begins_message(),
            ..FormatInfo::new(open, close, self.call.encoding())
        }
        .fixed("the markers of a native format are fixed, so it has no delimiters")
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn candidates(&self, _: &Delimiters) -> Candidates {
        // Untrusted text is searched for all of these.
        let marks = self.marks();
        let all = self.call.openers().iter().chain(&marks.untrusted).chain(&TOKEN_BEGINS);
        all.fold(Candidates::none(), |all, mark| all.with_text(mark))
    }

    fn marks(&self) -> MarkSet {
        let mut marks = MarkSet::default();
        marks.extend(MarkRole::Open, self.call.openers().iter().copied());
        marks.push(MarkRole::Close, self.call.close());
        self.call.mark(&mut marks);
        marks.extend(MarkRole::End, self.ends());
        self.layout.mark(&mut marks);
        marks.extend(MarkRole::Result, markers(self.past_text.result).chain(self.past_text.result_mark));
        marks
    }

    fn bad_name(&self, name: &str, _: &Delimiters) -> Option<&'static str> {
        let length = name.is_empty() || first_chars(name, NAME_CHARS) < name.len();
        let parts = || self.layout.parts.and_then(|frame| frame.bad_name(name));
        length.then_some("it must have 1 to 128 characters").or_else(|| self.call.bad_name(name)).or_else(parts)
    }
}

impl CallReader for FlatFormat {
    fn attempt(&self, tools: &Tools, settings: &Settings, text: &str, last: bool) -> Attempt {
        let attempt = self.call.attempt(tools, settings, text, last);
        if !matches!(attempt, Attempt::Text(_)) {
            return attempt;
        }
        match first_mark(text, self.call.openers(), last) {
            Scan::Match(open) if open > 1 => committed(tools, || settings.marks.closers(), text, open, last),
            Scan::NoMatch => match near_opener(tools, self.call.openers(), text, last) {
                Scan::Match((open, tool)) => unreadable(tools, open, Some(tool), settings.marks.closers()),
                Scan::Incomplete => Attempt::Incomplete,
                Scan::NoMatch => attempt,
            },
            Scan::Match(_) | Scan::Incomplete => attempt,
        }
    }

    fn orphan(&self, tools: &Tools, text: &str, last: bool) -> Scan<usize> {
        self.call.orphan(tools, text, last)
    }

    fn ends_reasoning(&self, text: &str) -> Scan {
        self.call.ends_reasoning(text)
    }

    fn body(&self, cx: &Context<'_>, _: Form, _: bool, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        self.call.body(cx, name, recycled)
    }

    fn is_mark(&self, tools: &Tools, settings: &Settings, text: &str) -> bool {
        let begins = |last| matches!(self.attempt(tools, settings, text, last), Attempt::Call { .. } | Attempt::Bad(_));
        settings.marks.untrusted.iter().any(|mark| text.starts_with(mark))
            || self.layout.is_token(text)
            || begins(true)
            || (settings.info.begins_message && begins(false))
            || self.call.orphan(tools, text, true).is_match()
    }

    fn neutralise(&self, tools: &Tools, settings: &Settings, text: &str) -> String {
        let neutral = neutralise_marks(text, &settings.candidates, |rest| self.is_mark(tools, settings, rest));
        let begins = self.layout.parts.is_some_and(|frame| {
            let begin = if frame.skips_whitespace() { neutral.trim_start() } else { &neutral };
            !begin.is_empty() && matches!(frame.header(tools, begin, true, true), Header::Call(_) | Header::Bad(..))
        });
        // The header at the start of a message needs no mark: the prompt may end with it.
        if begins { format!("\\{neutral}") } else { neutral }
    }
}

impl MessageWriter for FlatFormat {
    fn write_past_call(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        if let Some(frame) = self.layout.parts {
            frame.address(cx.tool, out);
        }
        self.call.write(cx, call, out)
    }

    fn write_as_object(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> bool {
        self.call.write_otherwise(cx, call, out)
    }

    fn separators(&self) -> Separators {
        self.past_text.separators
    }

    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
        let id = self.call.id(result.name, &result.call);
        self.past_text.result(prompt, result, id.as_deref().or(result.call.id))
    }
}

impl Teacher for FlatFormat {
    fn header(&self, prompt: &Prompt<'_>, examples: &Examples<'_>) -> String {
        let example = examples.any(self);
        // The result is of the same tool.
        let called = prompt.tools.iter().map(|tool| tool.name.as_str()).find(|name| example.contains(name));
        let name = called.unwrap_or(ANY_NAME);
        format!(
            "To call a tool, write the call as plain text, in this form:\n{example}\n\
             Give every required parameter and no undeclared ones. {}\n{}",
            envelope::results(self, prompt, name),
            envelope::LISTED
        )
    }

    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String {
        envelope::signature(prompt, tool)
    }
}
