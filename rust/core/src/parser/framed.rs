//! Native formats: text, reasoning and sections, with whitespace that belongs to the format. What the format takes is framing.
//!
//! Whitespace is held back until it is known what follows it: it may belong to a call. It is kept as a run and scanned once.

use super::example::example;
use super::text::{Candidate, Refused};
use super::{Machine, OnEvent, Window, emit_framing, emit_text};
use crate::error::ErrorKind;
use crate::event::Event;
use crate::limits::ATTEMPT_CHARS;
use crate::parser::state::ParserState;
use crate::protocols::Attempt;
use crate::protocols::layout::{CallEnds, ReasoningMarks};
use crate::syntax::scan::{CodeScanner, Scan, fitting, is_ws, partial_end, starts, ws_run};
use crate::toolset::Toolset;

/// What precedes the place outside calls where the parser is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Between the markers of a section.
    pub section: bool,
    /// There was text other than whitespace since the start, reasoning, or the last call or section.
    pub content: bool,
    /// There was a call or a section.
    pub called: bool,
    /// There was text other than whitespace, a call, or a section. No reasoning begins any more.
    pub begun: bool,
    /// There was something other than whitespace.
    pub anything: bool,
    /// Line breaks here are framing.
    pub breaks: bool,
    /// So many bytes of the next window are known to be whitespace.
    pub looked: usize,
    /// Which pair of markers opened the reasoning.
    pair: usize,
    /// There was reasoning other than whitespace.
    reasoned: bool,
    /// A line break here belongs to the opener of the reasoning.
    pub opened: bool,
}

/// Bytes at the end of a message in which stop tokens are recognised.
const STOP_BYTES: usize = 256;

/// Where the run of stop tokens and whitespace that ends the text begins, or what may become one.
pub(super) fn stop_tail(text: &str, stops: &[&str], last: bool) -> usize {
    // All begin with the same one.
    let Some(first) = stops.first().and_then(|stop| stop.bytes().next()) else { return text.len() };
    let from = text.len() - (text.len() - fitting(text, 0, text.len().saturating_sub(STOP_BYTES)));
    let is_run = |run: &str| {
        let mut rest = run;
        loop {
            rest = match stops.iter().find_map(|stop| rest.strip_prefix(stop)) {
                Some(after) => &after[ws_run(after, 0)..],
                None => return rest.is_empty() || (!last && stops.iter().any(|stop| stop.starts_with(rest))),
            };
        }
    };
    let begins = memchr::memchr_iter(first, &text.as_bytes()[from..]).map(|at| from + at);
    begins.into_iter().find(|at| is_run(&text[*at..])).unwrap_or(text.len())
}

/// The byte after the last one that is not whitespace; `from`: it is known that there is none before.
fn content_end(text: &str, from: usize) -> usize {
    text.as_bytes()[from..].iter().rposition(|byte| !is_ws(*byte)).map_or(from, |at| from + at + 1)
}

impl Machine {
    /// Whether text that has no marker and ends with something other than whitespace can be passed on at once.
    pub(super) fn passes_text(&self, text: &str) -> bool {
        self.place.content && !text.as_bytes().last().is_some_and(|byte| is_ws(*byte))
    }

    pub(super) fn framed_start(&mut self, tools: &Toolset) {
        let layout = tools.protocol.layout();
        let reasons = !tools.reasoning.is_empty() && self.in_reasoning.unwrap_or(layout.starts_in_reasoning);
        self.place = Place { breaks: layout.breaks_at_start && !reasons, opened: true, ..Place::default() };
        if let Some(frame) = layout.parts {
            self.state = ParserState::Between;
            if let Some(part) = frame.start(self.in_reasoning) {
                self.enter(part);
            }
            return;
        }
        self.state = if reasons { ParserState::Reasoning } else { ParserState::Text };
    }

    /// The state after a call or an error.
    pub(super) fn outside(&mut self, tools: &Toolset) -> ParserState {
        (self.place.content, self.place.looked) = (false, 0);
        (self.place.called, self.place.begun, self.place.anything) = (true, true, true);
        match tools.protocol.layout().parts {
            _ if self.place.section => ParserState::Section,
            Some(_) => ParserState::Between,
            None => ParserState::Text,
        }
    }

    /// Text was reported.
    pub(super) fn wrote(&mut self) {
        (self.place.content, self.place.begun, self.place.anything) = (true, true, true);
        self.place.looked = 0;
    }

    /// Framing up to this byte of the window.
    pub(super) fn frame(&mut self, window: &mut Window<'_>, end: usize, on_event: OnEvent<'_>) {
        emit_framing(&window.text[window.at..end], on_event);
        window.at = end;
        self.place.looked = 0;
    }

    /// What belongs to the markers of reasoning: framing, or text if reasoning is.
    fn mark(&mut self, tools: &Toolset, window: &mut Window<'_>, end: usize, on_event: OnEvent<'_>) {
        match tools.separates {
            true => self.frame(window, end, on_event),
            false => {
                emit_text(&window.text[window.at..end], on_event);
                window.at = end;
                self.place.looked = 0;
            }
        }
    }

    pub(super) fn reason(&mut self, tools: &Toolset, window: &mut Window<'_>, end: usize, on_event: OnEvent<'_>) {
        let text = &window.text[window.at..end];
        if text.is_empty() {
            return;
        }
        if tools.separates {
            let start = window.offset(window.at);
            let end = window.offset(end);
            on_event(Event::Reasoning { text, start, end });
        } else {
            on_event(Event::Text(text));
        }
        window.at = end;
        self.place.looked = 0;
    }

    /// Content up to this byte, which is not whitespace alone.
    pub(super) fn content(&mut self, window: &mut Window<'_>, end: usize, on_event: OnEvent<'_>) {
        if end > window.at {
            emit_text(&window.text[window.at..end], on_event);
            window.at = end;
            self.wrote();
        }
    }

    /// Whitespace up to this byte: framing or content.
    fn blanks(&mut self, framing: bool, window: &mut Window<'_>, end: usize, on_event: OnEvent<'_>) {
        match framing {
            true => self.frame(window, end, on_event),
            false => {
                emit_text(&window.text[window.at..end], on_event);
                window.at = end;
                self.place.looked = 0;
            }
        }
    }

    /// Line breaks that are framing. Returns whether something else follows them.
    pub(super) fn line_breaks(&mut self, tools: &Toolset, window: &mut Window<'_>, on_event: OnEvent<'_>) -> bool {
        let rest = &window.text.as_bytes()[window.at..];
        let end = window.at + rest.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        match self.place.anything {
            true => self.mark(tools, window, end, on_event),
            false => self.frame(window, end, on_event),
        }
        self.place.breaks = window.at == window.text.len();
        !self.place.breaks
    }

    /// A section begins, in the other protocol at this position, and its marker ends at byte `end`.
    pub(super) fn open_section(
        &mut self,
        other: Option<usize>,
        window: &mut Window<'_>,
        end: usize,
        on_event: OnEvent<'_>,
    ) -> bool {
        self.frame(window, end, on_event);
        self.other = other;
        self.code = CodeScanner::AFTER_CALL;
        self.place.section = true;
        self.state = ParserState::Section;
        true
    }

    pub(super) fn framed_text(&mut self, tools: &Toolset, window: &mut Window<'_>, on_event: OnEvent<'_>) -> bool {
        let layout = tools.protocol.layout();
        let text = window.text;
        if self.place.breaks && !self.line_breaks(tools, window, on_event) {
            return false;
        }
        let mut at = window.at + self.place.looked;
        // The end of the last text that is not whitespace, and how far it is known.
        let (mut solid, mut known) = (window.at, at);
        // Calls without markers, of this format or of others, are read where the content begins.
        let unmarked = tools.protocol.begins_message() || !tools.others.is_empty();
        let mut begins = unmarked && !self.place.begun && at == window.at;
        loop {
            let begin = std::mem::take(&mut begins);
            let found = if begin { Some(at) } else { self.candidate(tools, text, at) };
            let end = found.unwrap_or(text.len());
            // Whitespace before the candidate is held back. What was looked at is not scanned again.
            let seen = content_end(&text[..end], known);
            if seen > known {
                solid = seen;
            }
            known = end;
            self.content(window, solid, on_event);
            let Some(found) = found else {
                self.place.looked = text.len() - window.at;
                if window.last {
                    self.blanks(self.place.called && !self.place.content, window, text.len(), on_event);
                }
                return false;
            };
            at = found;
            let rest = &text[at..];
            let framing = layout.trim_before_call || !self.place.content;
            if !self.place.begun
                && let Some(more) = self.reasoning_mark(tools, window, at, on_event)
            {
                return more;
            }
            match self.look(tools, rest, begin, window.last) {
                Candidate::Text(length) => {
                    self.read_code(tools, &text[at..at + length]);
                    at += length;
                }
                Candidate::Section(other, length) => {
                    self.blanks(framing, window, at, on_event);
                    return self.open_section(other, window, at + length, on_event);
                }
                // A forged result ends the reading as the end of the message does.
                Candidate::Forged(mark) => {
                    self.blanks(self.place.called && !self.place.content, window, at, on_event);
                    return self.forged(window, at, mark, on_event);
                }
                // An opener at which the message was cut off is not content.
                Candidate::Need if window.last && self.cut && rest.starts_with(&tools.settings.delimiters.open) => {
                    self.blanks(framing, window, at, on_event);
                    let sentence = "The call was cut off. It was not run: write it again in full.".to_owned();
                    let raw = rest[..fitting(rest, 0, tools.settings.limits.call_bytes)].to_owned();
                    let kind = ErrorKind::IncompleteCall;
                    let example = if self.bare { None } else { example(tools, kind, None, None) };
                    let refused = Refused { length: rest.len(), raw, kind, sentence, example };
                    return self.refuse(window, refused, on_event);
                }
                Candidate::Need if window.last => {
                    self.content(window, at, on_event);
                    return self.undecided(tools, window, at, on_event);
                }
                Candidate::Need => {
                    self.place.looked = at - window.at;
                    return false;
                }
                Candidate::Call(other, attempt) => {
                    if let Attempt::Call { lead, .. } = attempt {
                        at += lead;
                    }
                    self.blanks(framing, window, at, on_event);
                    self.other = other;
                    self.code = CodeScanner::AFTER_CALL;
                    return self.commit(tools, window, attempt, on_event);
                }
            }
        }
    }

    /// A marker of reasoning at byte `at`, before content and calls. Whitespace before it is framing. The result says whether to
    /// go on with the window; `None` if there is no marker.
    fn reasoning_mark(
        &mut self,
        tools: &Toolset,
        window: &mut Window<'_>,
        at: usize,
        on_event: OnEvent<'_>,
    ) -> Option<bool> {
        let rest = &window.text[at..];
        let mut incomplete = false;
        for (pair, (open, close)) in tools.reasoning.iter().enumerate() {
            for (mark, opens) in [(open, true), (close, false)] {
                // A closer without an opener only counts as the first thing in a message.
                if !opens && self.place.anything {
                    continue;
                }
                match starts(rest, mark, false) {
                    Scan::Match(()) => {
                        self.mark(tools, window, at + mark.len(), on_event);
                        self.place.anything = true;
                        (self.place.pair, self.place.opened, self.place.reasoned) = (pair, true, false);
                        match opens {
                            true => self.state = ParserState::Reasoning,
                            false => self.place.breaks = self.breaks_after(tools),
                        }
                        return Some(true);
                    }
                    Scan::Incomplete => incomplete = true,
                    Scan::NoMatch => {}
                }
            }
        }
        // What could have become a marker is no call.
        if incomplete && window.last {
            self.state = ParserState::Rest;
            return Some(true);
        }
        if incomplete {
            self.place.looked = at - window.at;
        }
        incomplete.then_some(false)
    }

    fn breaks_after(&self, tools: &Toolset) -> bool {
        tools.protocol.layout().reasoning.as_ref().is_some_and(|marks| marks.breaks_after)
    }

    pub(super) fn framed_reasoning(&mut self, tools: &Toolset, window: &mut Window<'_>, on_event: OnEvent<'_>) -> bool {
        // Tags of the host's choice have nothing around them.
        let marks = tools.protocol.layout().reasoning.as_ref().unwrap_or(&ReasoningMarks::BARE);
        let Some((_, close)) = tools.reasoning.get(self.place.pair) else { return self.enter_text(tools) };
        let text = window.text;
        // The model may open the reasoning although the prompt has done so.
        if !self.place.anything
            && let Some((open, _)) = tools.reasoning.first()
        {
            let at = ws_run(text, window.at + self.place.looked);
            match starts(&text[at..], open, window.last) {
                Scan::Incomplete => {
                    self.place.looked = at - window.at;
                    return false;
                }
                Scan::Match(()) => self.mark(tools, window, at + open.len(), on_event),
                Scan::NoMatch => {}
            }
            (self.place.anything, self.place.looked) = (true, 0);
        }
        if self.place.opened && marks.break_after_open {
            match text.as_bytes().get(window.at) {
                None => return false,
                Some(b'\n') => self.mark(tools, window, window.at + 1, on_event),
                Some(_) => {}
            }
        }
        self.place.opened = false;
        let from = window.at + self.place.looked;
        let closed = memchr::memmem::find(&text.as_bytes()[from..], close.as_bytes()).map(|found| from + found);
        let open_end = if window.last { text.len() } else { window.at + partial_end(&text[window.at..], close) };
        let reasoned = &text[..closed.unwrap_or(open_end)];
        let call = match marks.call_ends {
            CallEnds::Never => None,
            ends => {
                let code = self.code;
                let call = self.ending_call(tools, reasoned, text, from, window.last, ends);
                self.code = code;
                call
            }
        };
        let (end, next) = match (call, closed) {
            (Some((at, true)), _) => (at, Some(at)),
            (Some((at, false)), None) if !window.last => (at, None),
            (_, Some(at)) => (at, Some(at + close.len())),
            (_, None) => (open_end, None),
        };
        self.read_code(tools, &text[from.min(end)..end]);
        // Whitespace at the end may belong to what ends the reasoning.
        let seen = content_end(&text[..end], from.min(end));
        let seen = if seen == from.min(end) { window.at } else { seen };
        let by_call = matches!(call, Some((_, true)));
        let kept = if seen == window.at && !self.place.reasoned {
            window.at
        } else if next.is_none() && !window.last {
            if marks.call_ends != CallEnds::Never {
                seen
            } else if marks.break_before_close && text[window.at..end].ends_with('\n') {
                end - 1
            } else {
                end
            }
        } else if next.is_none() {
            end
        } else if by_call {
            seen
        } else if marks.break_before_close && text[window.at..end].ends_with('\n') {
            end - 1
        } else {
            end
        };
        if kept > window.at {
            self.place.reasoned = true;
            self.reason(tools, window, kept, on_event);
        }
        let Some(next) = next else {
            if window.last {
                self.mark(tools, window, text.len(), on_event);
            } else {
                self.place.looked = end - window.at;
            }
            return false;
        };
        self.mark(tools, window, next, on_event);
        self.place.anything = true;
        if by_call {
            return self.enter_text(tools);
        }
        // Code that is still open at the end of reasoning ends there.
        self.code = CodeScanner::default();
        self.place.breaks = marks.breaks_after;
        self.enter_text(tools)
    }

    /// Outside reasoning, calls and sections.
    pub(super) fn enter_text(&mut self, tools: &Toolset) -> bool {
        self.place.looked = 0;
        self.state = if tools.protocol.layout().parts.is_some() { ParserState::Between } else { ParserState::Text };
        true
    }

    /// Where a call that ends the reasoning may begin, and whether it does. The text before it is scanned for code.
    fn ending_call(
        &mut self,
        tools: &Toolset,
        reasoned: &str,
        text: &str,
        from: usize,
        last: bool,
        ends: CallEnds,
    ) -> Option<(usize, bool)> {
        let mut from = from;
        let section = tools.protocol.layout().section.as_ref();
        while let Some(at) = self.candidate(tools, reasoned, from) {
            let rest = &text[at..];
            let found = match (ends, section) {
                (CallEnds::Never, _) => Scan::NoMatch,
                (CallEnds::Always, _) => tools.protocol.ends_reasoning(rest),
                (CallEnds::Declared, Some(section)) => first_mark(rest, section.begin, last).and_then(|length| {
                    let after = &rest[length..];
                    // The whitespace is scanned again with each chunk, so only a little is allowed.
                    match ws_run(after, 0) {
                        blanks if blanks > ATTEMPT_CHARS => Scan::NoMatch,
                        blanks => self.declared(tools, &after[blanks..], last),
                    }
                }),
                (CallEnds::Declared, None) => self.declared(tools, rest, last),
            };
            match found {
                Scan::Match(()) => return Some((at, true)),
                Scan::Incomplete => return Some((at, false)),
                Scan::NoMatch => {
                    from = at + rest.chars().next().map_or(1, char::len_utf8);
                    self.read_code(tools, &text[at..from]);
                }
            }
        }
        None
    }

    /// Whether a call of a declared tool is opened here.
    fn declared(&self, tools: &Toolset, rest: &str, last: bool) -> Scan {
        match tools.protocol.attempt(&tools.tools, &tools.settings, rest, last) {
            Attempt::Incomplete => Scan::at_end(last),
            Attempt::Call { name: Some((_, lookup)), .. } if lookup.tool().is_some() => Scan::Match(()),
            _ => Scan::NoMatch,
        }
    }

    /// In a section, everything outside calls is framing.
    pub(super) fn section(&mut self, tools: &Toolset, window: &mut Window<'_>, on_event: OnEvent<'_>) -> bool {
        let set = self.read_as(tools);
        let Some(section) = &set.protocol.layout().section else { return self.enter_text(tools) };
        let text = window.text;
        let mut at = window.at;
        while let Some(offset) = set.settings.candidates.find(&text.as_bytes()[at..]) {
            at += offset;
            let rest = &text[at..];
            let step = rest.chars().next().map_or(1, char::len_utf8);
            match first_mark(rest, section.end, window.last) {
                Scan::Match(length) => {
                    self.frame(window, at + length, on_event);
                    self.state = self.outside(tools);
                    self.place.section = false;
                    return self.enter_text(tools);
                }
                Scan::Incomplete => {
                    self.frame(window, at, on_event);
                    return false;
                }
                Scan::NoMatch => {}
            }
            match set.protocol.attempt(&set.tools, &set.settings, rest, window.last) {
                Attempt::Incomplete if window.last => at += step,
                Attempt::Incomplete => {
                    self.frame(window, at, on_event);
                    return false;
                }
                Attempt::Text(length) => at += length,
                attempt => {
                    if let Attempt::Call { lead, .. } = attempt {
                        at += lead;
                    }
                    self.frame(window, at, on_event);
                    return self.commit(tools, window, attempt, on_event);
                }
            }
        }
        self.frame(window, text.len(), on_event);
        false
    }
}

/// The length of the first of these marks at the start of the text.
pub(super) fn first_mark(text: &str, marks: &[&str], last: bool) -> Scan<usize> {
    Scan::first_of(marks.iter().map(|mark| starts(text, mark, last).map(|()| mark.len())))
}
