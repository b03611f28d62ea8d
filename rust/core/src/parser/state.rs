//! The state of a parser within a message.

use std::sync::Arc;

use crate::arguments::{Failure, Report};
use crate::error::ErrorKind;
use crate::event::CallError;
use crate::formats::body::Body;
use crate::formats::parts::Part;
use crate::syntax::scan::{Closers, Delimiters, fitting};

/// What is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reports {
    #[default]
    All,
    /// No deltas of arguments: the text is a whole message.
    NoDeltas,
    /// No examples of errors, either.
    NoExamples,
}

/// The state between events. Undecided text is in the parser's buffer.
#[derive(Debug, Default)]
pub(super) enum ParserState {
    /// Nothing is read yet. Reasoning may begin.
    #[default]
    Start,
    /// Up to its closer. `pair`: which pair of markers opened it.
    Reasoning {
        pair: usize,
        stage: ReasoningStage,
    },
    Text,
    /// Between the calls of a section.
    Section,
    /// Between the parts of a message.
    Between,
    /// In a part that is text.
    Part(Part),
    Call(Box<Call>),
    /// Everything up to the end of the message is text.
    TailAsText,
    /// Everything up to the end of the message is framing.
    TailAsFraming,
}

impl ParserState {
    /// In reasoning that the first pair of markers, or the prompt, has opened.
    pub(super) const OPENED: ParserState = ParserState::Reasoning { pair: 0, stage: ReasoningStage::Opened };
}

/// How far reasoning is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasoningStage {
    /// A line break here belongs to the opener.
    Opened,
    /// There was whitespace at most.
    Blank,
    Begun,
}

/// Bytes of memory for a call's source that are kept for the next call.
const KEPT_BYTES: usize = 4096;

/// A committed call.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub name: Option<String>,
    /// The position of the tool; `None` if the tool is not declared.
    pub tool: Option<usize>,
    /// The index in its start event.
    pub index: Option<usize>,
    /// Offset of OPEN in characters and in bytes.
    pub start: usize,
    pub start_byte: usize,
    /// The source from OPEN up to the current window.
    pub raw: String,
    /// Bytes of the source beyond the limit of `raw`.
    pub cut: usize,
    pub report: Report,
    pub body: Box<dyn Body>,
    /// The call has failed. Only its end is looked for.
    pub failure: Option<Failure>,
    /// Its delimiters, if they are spelled differently.
    pub delimiters: Option<Arc<Delimiters>>,
    /// What ends the call after a failure.
    pub closers: Closers,
    /// The failure is in the opening tag, where `/>` ends the call.
    pub in_tag: bool,
    /// The end of the opening tag in which the call failed.
    pub tag: String,
    /// The arguments of a failed call that was read completely.
    pub arguments: Option<String>,
    /// Another call of its list follows, which must end first.
    pub waits: bool,
    /// Bytes of the calls before it in its list.
    pub earlier: usize,
}

/// A call of a list that is read, but is not reported before the list ends.
#[derive(Debug)]
pub(super) enum WaitingCall {
    /// A complete call, and where it ends in characters and in bytes.
    Complete(Box<Call>, usize, usize),
    Failed(Box<CallError>),
}

impl Call {
    /// Adds a part of the source. The first `most` bytes of the source are kept.
    pub(super) fn add_source(&mut self, part: &str, most: usize) {
        let room = if self.cut > 0 { 0 } else { most.saturating_sub(self.earlier + self.raw.len()) };
        let kept = fitting(part, 0, room);
        self.raw.push_str(&part[..kept]);
        self.cut += part.len() - kept;
    }

    /// Resets the call and keeps its allocations. The source buffer is shrunk to [`KEPT_BYTES`].
    pub(super) fn reset(&mut self) {
        self.raw.clear();
        self.raw.shrink_to(KEPT_BYTES);
        self.report.reset();
        (self.name, self.tool, self.index, self.cut, self.failure) = (None, None, None, 0, None);
        (self.delimiters, self.closers, self.in_tag) = (None, Closers::Own, false);
        self.tag.clear();
        (self.arguments, self.waits, self.earlier) = (None, false, 0);
    }

    /// Bytes that the source may still grow by, of this many for a list or a call outside a list.
    pub(super) fn room(&self, most: usize) -> usize {
        most.saturating_sub(self.earlier + self.raw.len() + self.cut)
    }
}

/// An error of text that begins no call that can be read.
pub(super) struct RejectedText {
    /// Bytes from the place where it begins.
    pub length: usize,
    /// The text, as far as there is room for a call.
    pub raw: String,
    pub kind: ErrorKind,
    pub sentence: String,
    pub example: Option<String>,
}

impl RejectedText {
    /// An error of a marker.
    pub(super) fn new(mark: &str, kind: ErrorKind, sentence: String) -> Self {
        RejectedText { length: mark.len(), raw: mark.to_owned(), kind, sentence, example: None }
    }
}
