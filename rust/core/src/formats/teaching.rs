//! How a protocol is taught: the manual, with what it is written from.

use std::cell::RefCell;

use super::settings::Settings;
use crate::arguments::CallWriter;
use crate::schema::{Descriptions, Schema, Shown, one_line, signature};
use crate::syntax::json::Member;
use crate::tools::{Tool, Tools};

/// How the manual says how calls are written.
pub(crate) trait Teacher {
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
pub(crate) const LISTED: &str = "Tools (? optional, string by default):";

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
    pub(crate) fn any(&self, writer: &dyn CallWriter) -> String {
        self.several(writer, 1)
    }

    /// The examples of up to `count` tools, one on each line, or the example of an undeclared tool.
    pub(crate) fn several(&self, writer: &dyn CallWriter, count: usize) -> String {
        let mut calls = self.first(count, |_| true);
        if calls.is_empty() {
            let Prompt { tools, settings, .. } = self.prompt;
            calls.push(writer.example(&settings.context(writer, tools, None, ANY_NAME)));
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
