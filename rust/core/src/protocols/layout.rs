//! How a message is divided into reasoning, content and calls around the calls themselves: data of a family, read by the
//! parser.

use crate::protocols::format::Joints;
use crate::protocols::marks::{MarkRole, MarkSet};
use crate::protocols::parts::PartsFrame;
use crate::syntax::scan::{Scan, starts, window};

/// How a message is divided.
#[derive(Debug)]
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
    /// The calls of a past message are written before its content.
    pub calls_first: bool,
    /// The markers are special tokens, which servers remove from text unless they are told not to.
    pub special_tokens: bool,
    /// What a server may leave at the end of a message. All begin with the same ASCII character.
    pub stops: &'static [&'static str],
}

/// What begins and what ends a list of calls: several spellings, the first of which is written.
#[derive(Debug)]
pub(crate) struct Section {
    pub begin: &'static [&'static str],
    pub end: &'static [&'static str],
}

/// How reasoning is marked.
#[derive(Debug)]
pub(crate) struct ReasoningMarks {
    /// What opens and closes it. The first pair is written.
    pub pairs: &'static [(&'static str, &'static str)],
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
            marks.extend(MarkRole::SectionBegin, section.begin.iter().copied());
            marks.extend(MarkRole::SectionEnd, section.end.iter().copied());
        }
        marks.extend(MarkRole::Around, self.stops.iter().copied());
        if let Some(frame) = self.parts {
            frame.mark(marks);
            marks.extend(MarkRole::PartEnd, frame.ends().iter().copied());
        }
        let pairs = self.reasoning.iter().flat_map(|marks| marks.pairs).chain(&self.answer);
        marks.extend(MarkRole::Around, pairs.flat_map(|(open, close)| [*open, *close]));
    }

    /// The length of what begins a section, or is written in it around the calls, if the text begins with it.
    pub(crate) fn begins_calls(&self, joints: Joints, text: &str, last: bool) -> Scan<usize> {
        let Some(section) = &self.section else { return Scan::NoMatch };
        let begin = section.begin.iter().find_map(|mark| joints.begin.trim().strip_prefix(mark));
        let end = section.end.iter().find_map(|mark| joints.end.trim().strip_suffix(mark));
        let written = section.begin.iter().copied().chain(begin).chain(end).chain([joints.between]);
        let mut written: Vec<_> = written.map(str::trim).filter(|mark| !mark.is_empty()).collect();
        // One may be the beginning of another.
        written.sort_by_key(|mark| std::cmp::Reverse(mark.len()));
        match written
            .iter()
            .map(|mark| starts(text, mark, last).map(|()| mark.len()))
            .find(|found| *found != Scan::NoMatch)
        {
            Some(found) => found,
            None => Scan::NoMatch,
        }
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
        calls_first: false,
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
    /// `<think>` and `</think>`, with a line break inside each, and line breaks after the closer.
    pub(crate) const LINES: ReasoningMarks = ReasoningMarks {
        pairs: &[("<think>", "</think>")],
        written: ("<think>\n", "\n</think>\n\n"),
        prompt: None,
        break_after_open: true,
        break_before_close: true,
        breaks_after: true,
        call_ends: CallEnds::Never,
    };

    /// `<think>` and `</think>`, with nothing around the text.
    pub(crate) const BARE: ReasoningMarks = ReasoningMarks {
        written: ("<think>", "</think>"),
        break_after_open: false,
        break_before_close: false,
        breaks_after: false,
        ..ReasoningMarks::LINES
    };
}
