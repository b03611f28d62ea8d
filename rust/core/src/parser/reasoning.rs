//! Reasoning: where it begins and ends.

use super::buried::buried;
use super::framed::{Passed, content_end};
use super::{Machine, OnEvent, Window, emit_text};
use crate::event::Event;
use crate::formats::Attempt;
use crate::formats::layout::{CallEnds, Layout, ReasoningMarks};
use crate::limits::ATTEMPT_CHARS;
use crate::parser::state::{ParserState, ReasoningStage};
use crate::syntax::scan::{CodeScanner, Scan, first_mark, partial_end, starts, ws_run};
use crate::toolset::Toolset;

impl Machine {
    /// Reasoning that is part of the text. A prompted model shows in it what the manual taught it, so no call ends it.
    pub(super) fn reasoning(&mut self, tools: &Toolset, window: &mut Window<'_>, on_event: OnEvent<'_>) -> bool {
        let rest = &window.text[window.at..];
        let close = tools.reasoning.first().map_or("", |(_, close)| close);
        let closed = memchr::memmem::find(rest.as_bytes(), close.as_bytes()).map(|found| found + close.len());
        let end = match closed {
            Some(end) => end,
            None if window.last => rest.len(),
            None => partial_end(rest, close),
        };
        self.read_code_and_quotes(tools, &rest[..end]);
        emit_text(&rest[..end], on_event);
        window.at += end;
        if closed.is_some() {
            // Code that is still open at the end of reasoning ends there.
            self.code = CodeScanner::default();
            self.state = ParserState::Text;
        }
        closed.is_some()
    }

    /// A marker of reasoning at byte `at`, before content and calls. Whitespace before it is framing. The result says whether to
    /// go on with the window; `None` if there is no marker.
    pub(super) fn reasoning_mark(
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
                if !opens && self.place.passed > Passed::Nothing {
                    continue;
                }
                match starts(rest, mark, false) {
                    Scan::Match(()) => {
                        self.mark(tools, window, at + mark.len(), on_event);
                        self.place.pass(Passed::Marks);
                        match opens {
                            true => self.state = ParserState::Reasoning { pair, stage: ReasoningStage::Opened },
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
            self.state = ParserState::TailAsText;
            return Some(true);
        }
        if incomplete {
            self.place.scanned = at - window.at;
        }
        incomplete.then_some(false)
    }

    /// A marker around the content at byte `at`, with the whitespace before it. The result is as for [`Self::reasoning_mark`].
    pub(super) fn answer_mark(
        &mut self,
        layout: &Layout,
        window: &mut Window<'_>,
        at: usize,
        on_event: OnEvent<'_>,
    ) -> Option<bool> {
        let (open, close) = layout.answer?;
        let marks = [close, open];
        match first_mark(&window.text[at..], &marks[..if self.place.passed >= Passed::Text { 1 } else { 2 }], false) {
            Scan::Match(length) => {
                // Whitespace at the end of the message is framing, too.
                self.place.passed = if self.place.passed >= Passed::Text { Passed::Call } else { Passed::Marks };
                self.place.content = false;
                self.frame(window, at + length, on_event);
                self.place.breaks = true;
                Some(true)
            }
            Scan::Incomplete if window.last => {
                self.state = ParserState::TailAsText;
                Some(true)
            }
            Scan::Incomplete => {
                self.place.scanned = at - window.at;
                Some(false)
            }
            Scan::NoMatch => None,
        }
    }

    fn breaks_after(&self, tools: &Toolset) -> bool {
        tools.protocol.layout().reasoning.as_ref().is_some_and(|marks| marks.breaks_after)
    }

    pub(super) fn framed_reasoning(&mut self, tools: &Toolset, window: &mut Window<'_>, on_event: OnEvent<'_>) -> bool {
        // Tags of the host's choice have nothing around them.
        let marks = tools.protocol.layout().reasoning.as_ref().unwrap_or(&ReasoningMarks::BARE);
        let ParserState::Reasoning { pair, stage } = self.state else { return self.enter_text(tools) };
        let Some((_, close)) = tools.reasoning.get(pair) else { return self.enter_text(tools) };
        let text = window.text;
        // The model may open the reasoning although the prompt has done so.
        if self.place.passed == Passed::Nothing
            && let Some((open, _)) = tools.reasoning.first()
        {
            let at = ws_run(text, window.at + self.place.scanned);
            match starts(&text[at..], open, window.last) {
                Scan::Incomplete => {
                    self.place.scanned = at - window.at;
                    return false;
                }
                Scan::Match(()) => self.mark(tools, window, at + open.len(), on_event),
                Scan::NoMatch => {}
            }
            self.place.pass(Passed::Marks);
            self.place.scanned = 0;
        }
        if stage == ReasoningStage::Opened && marks.break_after_open {
            match text.as_bytes().get(window.at) {
                None => return false,
                Some(b'\n') => self.mark(tools, window, window.at + 1, on_event),
                Some(_) => {}
            }
        }
        let blank = stage != ReasoningStage::Begun;
        if blank {
            self.state = ParserState::Reasoning { pair, stage: ReasoningStage::Blank };
        }
        let from = window.at + self.place.scanned;
        let closed = memchr::memmem::find(&text.as_bytes()[from..], close.as_bytes()).map(|found| from + found);
        let open_end = if window.last { text.len() } else { window.at + partial_end(&text[window.at..], close) };
        let reasoned = &text[..closed.unwrap_or(open_end)];
        let call = match marks.call_ends {
            CallEnds::Never if closed.is_some() || self.place.buried.is_some() => None,
            ends => {
                let code = self.code;
                // What the closer follows is not decided by what comes after it.
                let call = self.ending_call(tools, reasoned, from, window.last && closed.is_none(), ends);
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
        self.read_code_and_quotes(tools, &text[from.min(end)..end]);
        // Whitespace at the end may belong to what ends the reasoning.
        let seen = content_end(&text[..end], from.min(end));
        let seen = if seen == from.min(end) { window.at } else { seen };
        let by_call = matches!(call, Some((_, true)));
        let kept = if seen == window.at && blank {
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
            self.state = ParserState::Reasoning { pair, stage: ReasoningStage::Begun };
            self.reason(tools, window, kept, on_event);
        }
        let Some(next) = next else {
            if window.last {
                self.mark(tools, window, text.len(), on_event);
            } else {
                self.place.scanned = end - window.at;
            }
            return false;
        };
        self.mark(tools, window, next, on_event);
        self.place.pass(Passed::Marks);
        self.place.buried = None;
        if by_call {
            return self.enter_text(tools);
        }
        // Code that is still open at the end of reasoning ends there.
        self.code = CodeScanner::default();
        self.place.breaks = marks.breaks_after;
        self.enter_text(tools)
    }

    /// Where a call that ends the reasoning may begin, and whether it does. Calls that do not are noted. The text before it is
    /// scanned for code.
    fn ending_call(
        &mut self,
        tools: &Toolset,
        text: &str,
        from: usize,
        last: bool,
        ends: CallEnds,
    ) -> Option<(usize, bool)> {
        let mut from = from;
        let section = tools.protocol.layout().section.as_ref();
        while let Some(at) = self.candidate(tools, text, from) {
            let rest = &text[at..];
            let found = match (ends, section) {
                (CallEnds::Never, _) => Scan::NoMatch,
                (CallEnds::Always, _) => tools.protocol.ends_reasoning(rest),
                (CallEnds::Declared, Some(section)) => section.begins(rest, last).and_then(|length| {
                    let after = &rest[length..];
                    // The whitespace is scanned again with each chunk, so only a little is allowed.
                    match ws_run(after, 0) {
                        blanks if blanks > ATTEMPT_CHARS => Scan::NoMatch,
                        blanks => self.declared(tools, &after[blanks..], last),
                    }
                }),
                (CallEnds::Declared, None) => self.declared(tools, rest, last),
            };
            let noted = || buried(tools, rest, last);
            match (found, if found == Scan::NoMatch { noted() } else { Scan::NoMatch }) {
                (Scan::Match(()), _) => return Some((at, true)),
                (Scan::Incomplete, _) | (_, Scan::Incomplete) => return Some((at, false)),
                (Scan::NoMatch, noted) => {
                    if let Scan::Match((_, tool)) = noted {
                        self.place.buried.get_or_insert(Some(tool));
                    }
                    from = at + rest.chars().next().map_or(1, char::len_utf8);
                    self.read_code_and_quotes(tools, &text[at..from]);
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

    /// What belongs to the markers of reasoning: framing, or text if reasoning is.
    pub(super) fn mark(&mut self, tools: &Toolset, window: &mut Window<'_>, end: usize, on_event: OnEvent<'_>) {
        match tools.separates {
            true => self.frame(window, end, on_event),
            false => {
                emit_text(&window.text[window.at..end], on_event);
                window.at = end;
                self.place.scanned = 0;
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
        self.place.scanned = 0;
    }
}
