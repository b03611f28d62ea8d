//! How a message is divided into reasoning, content and calls around the calls themselves: data of a row, read by the
//! parser.

use crate::formats::call::Separators;
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::parts::PartsFrame;
use crate::formats::template::{cut, spaced};
use crate::syntax::scan::{Scan, starts, window};

/// How a message is divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Reasoning and whitespace around calls are separated from the content, as servers do for native formats. Otherwise, only
    /// calls are taken out of the text.
    pub native: bool,
    pub reasoning: Option<ReasoningMarks>,
    /// What may surround the content. Whitespace before and line breaks after it are framing.
    pub answer: Option<(&'static str, &'static str)>,
    /// The message begins in reasoning, unless the host says how the prompt ends.
    pub starts_in_reasoning: bool,
    /// How the message is divided into parts, if it is.
    pub parts: Option<&'static dyn PartsFrame>,
    /// What begins and what ends a list of calls. Calls are only read between them.
    pub section: Option<Section>,
    /// Whitespace directly before a call belongs to the call.
    pub trim_before_call: bool,
    /// Line breaks at the start of the message are framing, also after a closer that is in the prompt.
    pub breaks_at_start: bool,
    /// The markers are special tokens, which servers remove from text unless they are told not to.
    pub special_tokens: bool,
    /// What a server may leave at the end of a message. All begin with the same ASCII character.
    pub stops: &'static [&'static str],
}

/// What begins and what ends a list of calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub begin: &'static str,
    pub end: &'static str,
    /// Other markers that end it.
    pub also: &'static [&'static str],
}

impl Section {
    /// What is written around the calls.
    pub(crate) const fn of(separators: Separators) -> Section {
        Section { begin: spaced(separators.begin).text, end: spaced(separators.end).text, also: &[] }
    }

    /// The length of what begins the section, at the start of the text.
    pub(crate) fn begins(&self, text: &str, last: bool) -> Scan<usize> {
        starts(text, self.begin, last).map(|()| self.begin.len())
    }

    /// What ends the section.
    pub(crate) fn ends(&self) -> impl Iterator<Item = &'static str> + Clone {
        [self.end].into_iter().chain(self.also.iter().copied())
    }

    /// The length of what ends the section, at the start of the text.
    pub(crate) fn ended(&self, text: &str, last: bool) -> Scan<usize> {
        Scan::first_of(self.ends().map(|end| starts(text, end, last).map(|()| end.len())))
    }
}

/// How reasoning is marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReasoningMarks {
    /// What opens and closes it.
    pub pair: (&'static str, &'static str),
    /// Pairs that are read, too.
    pub also: &'static [(&'static str, &'static str)],
    /// What templates write before and after the reasoning of a past message.
    pub written: (&'static str, &'static str),
    /// What opens reasoning at the end of a prompt, if that differs from what is written before past reasoning.
    pub prompt: Option<&'static str>,
    /// One line break after the opener is part of it.
    pub break_after_open: bool,
    /// One line break before the closer is part of it.
    pub break_before_close: bool,
    /// Line breaks after the closer are framing.
    pub breaks_after: bool,
    /// A whole opener of a call ends reasoning that is still open.
    pub call_ends: CallEnds,
}

/// Whether a call ends reasoning that is still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallEnds {
    /// It is reasoning.
    Never,
    /// If its opener is complete.
    Always,
    /// If it names a declared tool.
    Declared,
}

impl Layout {
    /// The markers of reasoning, answers, parts and sections, and the stop tokens.
    pub(crate) fn mark(&self, marks: &mut MarkSet) {
        if let Some(section) = &self.section {
            marks.extend(MarkRole::SectionBegin, [section.begin]);
            marks.extend(MarkRole::SectionEnd, section.ends());
        }
        marks.extend(MarkRole::Around, self.stops.iter().copied());
        if let Some(frame) = self.parts {
            frame.mark(marks);
            marks.extend(MarkRole::PartEnd, frame.ends().iter().copied());
        }
        let pairs = self.reasoning.iter().flat_map(ReasoningMarks::pairs).chain(self.answer);
        marks.extend(MarkRole::Around, pairs.flat_map(|(open, close)| [open, close]));
    }

    /// The length of what begins a section, or is written in it around the calls, if the text begins with it.
    pub(crate) fn begins_calls(&self, separators: Separators, text: &str, last: bool) -> Scan<usize> {
        let Some(section) = &self.section else { return Scan::NoMatch };
        let begin = separators.begin.trim().strip_prefix(section.begin);
        let end = section.ends().find_map(|mark| separators.end.trim().strip_suffix(mark));
        let written = [section.begin, separators.between].into_iter().chain(begin).chain(end);
        let mut written: Vec<_> = written.map(str::trim).filter(|mark| !mark.is_empty()).collect();
        // One may be the beginning of another.
        written.sort_by_key(|mark| std::cmp::Reverse(mark.len()));
        let mut found = written.iter().map(|mark| starts(text, mark, last).map(|()| mark.len()));
        found.find(|found| *found != Scan::NoMatch).unwrap_or(Scan::NoMatch)
    }

    /// Whether a stop token or another special token is at the start of untrusted text, which the server would read as such.
    pub(crate) fn is_token(&self, text: &str) -> bool {
        self.native && (is_special_token(text) || self.stops.iter().any(|stop| text.starts_with(stop)))
    }

    /// The end of a prompt after which a message begins in reasoning.
    pub(crate) fn reasoning_prompt(&self) -> Option<String> {
        let marks = self.reasoning.as_ref();
        let opener = marks.map(|marks| marks.prompt.unwrap_or(marks.written.0.trim_start()).to_owned());
        opener.or_else(|| self.parts.and_then(|frame| frame.reasoning_prompt()))
    }

    /// What closes reasoning: one of these.
    pub(crate) fn reasoning_ends(&self) -> Vec<&'static str> {
        match (&self.reasoning, self.parts) {
            (Some(marks), _) => marks.pairs().map(|(_, close)| close).collect(),
            (None, Some(frame)) if frame.reasoning_prompt().is_some() => frame.reasoning_ends(),
            (None, _) => Vec::new(),
        }
    }

    /// Appends the reasoning of a past message.
    pub(crate) fn write_reasoning(&self, reasoning: &str, out: &mut String) {
        if let Some(ReasoningMarks { written: (open, close), .. }) = &self.reasoning {
            out.extend([open, reasoning, close]);
        }
    }

    /// Only calls are taken out of the text, and reasoning at its start if the host asks for that.
    pub(crate) const PROMPTED: Layout = Layout {
        native: false,
        reasoning: Some(ReasoningMarks::LINES),
        answer: None,
        starts_in_reasoning: false,
        parts: None,
        section: None,
        trim_before_call: false,
        breaks_at_start: false,
        special_tokens: false,
        stops: &[],
    };

    /// A native format without reasoning and section.
    pub(crate) const NATIVE: Layout = Layout { native: true, reasoning: None, ..Layout::PROMPTED };
}

/// What special tokens begin with.
pub(crate) const TOKEN_BEGINS: [&str; 2] = ["<|", "<｜"];

/// Characters of a special token. Those of known templates are shorter.
const TOKEN_CHARS: usize = 64;

/// Whether the text begins with a token in the form of most templates, such as `<|user|>` or `<｜User｜>`, known or not.
fn is_special_token(text: &str) -> bool {
    let Some(rest) = TOKEN_BEGINS.iter().find_map(|begin| text.strip_prefix(begin)) else { return false };
    let (rest, _) = window(rest, TOKEN_CHARS, true);
    let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '<' | '>'));
    end.is_some_and(|end| rest[end..].starts_with('>') && !rest[..end].trim_matches(['|', '｜']).is_empty())
}

impl ReasoningMarks {
    /// From the template of a past message, with `{reasoning}`. Line breaks at the inner sides of the markers, and after them, are theirs.
    pub(crate) const fn of(template: &'static str) -> ReasoningMarks {
        ReasoningMarks::of_parts(cut(template, "reasoning"))
    }

    /// From what templates write before and after the reasoning.
    pub(crate) const fn of_parts(written: (&'static str, &'static str)) -> ReasoningMarks {
        let (open, close) = (spaced(written.0), spaced(written.1));
        ReasoningMarks {
            pair: (open.text, close.text),
            also: &[],
            written,
            prompt: None,
            break_after_open: !open.after.is_empty(),
            break_before_close: !close.before.is_empty(),
            breaks_after: !close.after.is_empty(),
            call_ends: CallEnds::Never,
        }
    }

    /// `<think>` and `</think>`, with a line break inside each, and line breaks after the closer.
    pub(crate) const LINES: ReasoningMarks = ReasoningMarks::of("<think>\n{reasoning}\n</think>\n\n");

    /// `<think>` and `</think>`, with nothing around the text.
    pub(crate) const BARE: ReasoningMarks = ReasoningMarks::of("<think>{reasoning}</think>");

    /// The same, which calls end by this rule.
    pub(crate) const fn call_ends(self, call_ends: CallEnds) -> ReasoningMarks {
        ReasoningMarks { call_ends, ..self }
    }

    /// What opens and closes it: all pairs, the one that is written first.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        [self.pair].into_iter().chain(self.also.iter().copied())
    }
}
