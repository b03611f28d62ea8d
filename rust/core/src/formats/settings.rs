//! What is fixed in a protocol, and how a toolset reads and writes it.

use std::borrow::Cow;

use super::marks::MarkSet;
use crate::arguments::{CallWriter, Context};
use crate::limits::Limits;
use crate::schema::Descriptions;
use crate::syntax::scan::{Candidates, Delimiters};
use crate::tools::Tools;

/// The fixed properties of a protocol.
#[derive(Clone, Debug)]
pub(crate) struct FormatInfo {
    /// What opens and closes a call, unless the host chooses.
    pub delimiters: (Cow<'static, str>, Cow<'static, str>),
    /// Why the host cannot choose delimiters, if it cannot.
    pub fixed: Option<&'static str>,
    /// The name of the form of calls that are not JSON objects.
    pub encoding: &'static str,
    /// Near misses are repaired in JSON as they are in elements and lines.
    pub near_misses: bool,
    /// Calls may be in a list that is one unit.
    pub lists: bool,
    /// A call may be the whole message: an opening is also looked for at its start, whatever it begins with.
    pub begins_message: bool,
    /// The host writes the calls, so nothing can be found out about their form.
    pub hosted: bool,
    /// What begins a result. Outside calls, only the host writes it.
    pub result_marks: Cow<'static, [Cow<'static, str>]>,
}

impl FormatInfo {
    /// The properties of a protocol with these delimiters and with results in `<tool_response>`.
    pub(crate) fn new(open: &'static str, close: &'static str, encoding: &'static str) -> Self {
        FormatInfo {
            delimiters: (Cow::Borrowed(open), Cow::Borrowed(close)),
            fixed: None,
            encoding,
            near_misses: true,
            lists: false,
            begins_message: false,
            hosted: false,
            result_marks: Cow::Borrowed(&TOOL_RESPONSE),
        }
    }

    /// The same, if the host cannot choose delimiters.
    pub(crate) fn fixed(self, why: &'static str) -> Self {
        FormatInfo { fixed: Some(why), ..self }
    }
}

static TOOL_RESPONSE: [Cow<'static, str>; 1] = [Cow::Borrowed("<tool_response")];

/// How calls are to be read and written in a protocol.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub info: FormatInfo,
    pub delimiters: Delimiters,
    /// Where calls and results may begin in any of the protocols.
    pub candidates: Candidates,
    pub marks: MarkSet,
    pub strict: bool,
    /// Strict, except for how values and keys are written.
    pub any_style: bool,
    /// Calls of undeclared tools are calls, although there are tools.
    pub forwards_unknown: bool,
    pub descriptions: Descriptions,
    /// Whether signatures show bounds, patterns, formats and examples.
    pub constraints: bool,
    pub limits: Limits,
}

impl Settings {
    /// What a body needs to know about a call with this name. `at` is the position of its tool.
    pub(crate) fn context<'a>(
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
            near_misses: self.info.near_misses,
            result_marks: &self.info.result_marks,
            delimiters: &self.delimiters,
            limits: &self.limits,
            tool: name,
        }
    }
}
