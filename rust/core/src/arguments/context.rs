//! What all readers of arguments use: facts about the call, the window that they read, and what they report.

use std::borrow::Cow;

use super::builder::ArgumentsBuilder;
use super::example::{Given, example_members};
use crate::error::{ErrorKind, Problem, ProblemKind, Repair};
use crate::limits::Limits;
use crate::schema::Schema;
use crate::syntax::json::Member;
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Delimiters, Scan, fitting, ws_run};
use crate::tools::{Syntax, Tools};

/// Writes calls and parts of calls, as a model would.
pub(crate) trait CallWriter {
    /// Appends one call in its canonical form.
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String);

    /// A field with a value, given as JSON.
    fn field_example(&self, field: &str, value: &str) -> String;

    /// A whole call with the tool's required fields, or its first ones.
    fn example(&self, cx: &Context<'_>) -> String {
        let mut out = String::new();
        self.write_call(cx, &example_members(cx.schema, Given::None).unwrap_or_default(), &mut out);
        out
    }
}

/// What a body must know. It does not change during a call.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// Writes the calls that sentences contain.
    pub writer: &'a dyn CallWriter,
    /// `None` for a document without tools.
    pub tools: Option<&'a Tools>,
    pub schema: &'a Schema,
    /// How the tool's calls are written; `None` if the tool is not known.
    pub syntax: Option<Syntax>,
    pub strict: bool,
    /// Strict, except for how values and keys are written.
    pub any_style: bool,
    /// Whether the repairs of elements and lines (of xml and yaml) also apply to JSON.
    pub near_misses: bool,
    /// What begins a result.
    pub result_marks: &'a [Cow<'static, str>],
    pub delimiters: &'a Delimiters,
    pub limits: &'a Limits,
    /// The tool's name, for messages.
    pub tool: &'a str,
}

/// Maximum problems listed for one call: more would not help a model, and hostile calls have many.
pub(crate) const MAX_PROBLEMS: usize = 32;
/// Bytes of a problem's field, and of its message: each names a path, and a key in JSON may be as long as the call.
pub(crate) const MAX_PROBLEM_BYTES: usize = 4096;

/// A window, and what reading it may change.
pub(crate) struct Input<'a> {
    pub cx: Context<'a>,
    pub report: &'a mut Report,
    pub window: &'a str,
    /// Bytes of the window that are consumed.
    pub at: usize,
    /// Nothing follows the window.
    pub last: bool,
}

impl<'a> Input<'a> {
    pub(crate) fn rest(&self) -> &'a str {
        &self.window[self.at..]
    }

    /// Skips whitespace. Returns the position after it.
    pub(crate) fn next_byte(&mut self) -> Flow<u8> {
        self.at = ws_run(self.window, self.at);
        self.rest().bytes().next().ok_or(Progress::Incomplete)
    }

    /// [`Context::repair`] with the sentence that says what strict mode does not accept.
    pub(crate) fn repair(&mut self, repair: Repair, message: impl Into<String>) -> Result<(), ReadError> {
        self.cx.repair_or(self.report, repair, || message.into())
    }
}

/// What a body has found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub args: ArgumentsBuilder,
    pub repairs: Vec<Repair>,
    pub problems: Vec<Problem>,
}

/// A call that cannot be handed over: why, and how to recover.
#[derive(Debug)]
pub(crate) struct Failure {
    pub kind: ErrorKind,
    pub message: String,
    pub recovery: Recovery,
}

/// Why a part of a call cannot be read, and a sentence for the model.
pub(crate) type ReadError = (ErrorKind, String);

/// The result of reading a window; `Input::at` says how much was consumed.
#[derive(Debug)]
pub(crate) enum Progress {
    /// More text is needed.
    Incomplete,
    /// The call is complete, up to `Input::at`.
    CallEnd,
    /// The call is complete, and the body reads another one from there on.
    NextCall,
    /// The tool's name was read, which decides the types of what follows.
    ToolName(Box<str>),
    /// It was no call: everything up to `Input::at` is text. Only before the tool's name was reported.
    Text,
    Failed(Box<Failure>),
}

impl Progress {
    #[cold]
    pub(crate) fn failed(kind: ErrorKind, message: String, recovery: Recovery) -> Self {
        Progress::Failed(Box::new(Failure { kind, message, recovery }))
    }
}

/// How a body continues: with the rest of its window, or by reporting to the parser.
pub(crate) type Flow<T = ()> = Result<T, Progress>;

/// Runs steps until one reports to the parser.
#[inline(always)]
pub(crate) fn steps(mut step: impl FnMut() -> Flow) -> Progress {
    loop {
        if let Err(step) = step() {
            return step;
        }
    }
}

impl From<ReadError> for Progress {
    fn from((kind, message): ReadError) -> Self {
        Progress::failed(kind, message, Recovery::Body)
    }
}

impl<T> Scan<T> {
    /// The value of a match. If more text is needed to decide, the body asks for it.
    #[inline]
    pub(crate) fn decided(self) -> Flow<Option<T>> {
        // Made only where it is needed: dropping one costs more than this.
        self.decided_or(()).map_err(|()| Progress::Incomplete)
    }

    /// What was found, or an error if that cannot be told yet.
    #[inline]
    pub(crate) fn decided_or<E>(self, incomplete: E) -> Result<Option<T>, E> {
        match self {
            Scan::Match(found) => Ok(Some(found)),
            Scan::NoMatch => Ok(None),
            Scan::Incomplete => Err(incomplete),
        }
    }
}

impl Report {
    /// Starts over, and keeps the allocations.
    pub(crate) fn reset(&mut self) {
        self.args.reset();
        self.repairs.clear();
        self.problems.clear();
    }

    pub(crate) fn repair(&mut self, repair: Repair) {
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
    }

    pub(crate) fn used(&self, repair: Repair) -> bool {
        self.repairs.contains(&repair)
    }

    /// Whether the maximum number of problems is listed.
    pub(crate) fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    /// Lists a problem, once.
    pub(crate) fn problem(&mut self, kind: ProblemKind, mut field: String, mut message: String) {
        if self.is_full() {
            return;
        }
        for text in [&mut field, &mut message] {
            text.truncate(problem_text(text).len());
        }
        if self.problems.iter().any(|told| told.kind == kind && told.field == field) {
            return;
        }
        self.problems.push(Problem { kind, field, message });
    }
}

/// As much of a text as a problem can name.
pub(crate) fn problem_text(text: &str) -> &str {
    &text[..fitting(text, 0, MAX_PROBLEM_BYTES)]
}

impl<'a> Context<'a> {
    /// The same for a call whose delimiters are spelled otherwise.
    pub(crate) fn spelled(self, delimiters: Option<&'a Delimiters>) -> Self {
        Context { delimiters: delimiters.unwrap_or(self.delimiters), ..self }
    }

    /// A repair in lenient mode, an error of its name in strict mode.
    pub(crate) fn repair(&self, report: &mut Report, repair: Repair) -> Result<(), ErrorKind> {
        if self.strict && !(self.any_style && matches!(repair, Repair::Coerced | Repair::KeyStyle)) {
            return Err(ErrorKind::Strict(repair));
        }
        report.repair(repair);
        Ok(())
    }

    /// The same with the sentence that says what strict mode does not accept.
    pub(crate) fn repair_or(
        &self,
        report: &mut Report,
        repair: Repair,
        message: impl FnOnce() -> String,
    ) -> Result<(), ReadError> {
        self.repair(report, repair).map_err(|kind| (kind, message()))
    }
}
