//! Text, and where calls begin in it, in one protocol or in several.
//!
//! Protocols are asked in order. The first whose answer is not "text" decides. If the end of the message leaves a place undecided,
//! the rest of the message could have become part of one call: it is an error if that call is opened there and the message is known
//! to be cut off, and text otherwise.

use std::borrow::Cow;

use super::buried::goes_on;
use super::framed::{Passed, content_end};
use super::quoted::QUOTED;
use super::{Machine, OnEvent, Window, emit_text};
use crate::error::ErrorKind;
use crate::event::{CallError, Event};
use crate::formats::commitment::{begins_call, begins_call_of, begins_tag, unreadable};
use crate::formats::layout::Section;
use crate::formats::registry::Reads;
use crate::formats::{Attempt, BadCall};
use crate::limits::ATTEMPT_CHARS;
use crate::parser::state::{ParserState, RejectedText};
use crate::syntax::scan::{Closers, CodeScanner, Scan, first_mark, starts, window, ws_run};
use crate::toolset::{CodeMode, Toolset};

/// Result of testing a possible opening.
pub(super) enum Candidate<'t> {
    /// More text is needed.
    Need,
    /// The number of bytes of text to skip.
    Text(usize),
    /// An opener of this length that begins no call.
    Mention(usize),
    /// A call whose opener, of this length, is in a text in quotes that began after another opener.
    Quoted(usize),
    /// A result that begins with this mark.
    Forged(&'t str),
    /// A call, in the other protocol at this position.
    Call(Option<usize>, Attempt),
    /// What begins a section in that protocol, of this length.
    Section(Option<usize>, usize),
}

/// What begins a result. The marks of other formats are not errors.
fn result_marks<'t>(tools: &Toolset, (other, set): (Option<usize>, &'t Toolset)) -> &'t [Cow<'static, str>] {
    let asks = other.is_none() || tools.reads == Reads::First;
    if asks { &set.settings.info.result_marks } else { &[] }
}

/// Whether the possible start of a call in another format is a fence, which is code.
#[inline]
fn is_code(tools: &Toolset, other: Option<usize>, rest: &str) -> bool {
    other.is_some() && tools.code == CodeMode::Text && tools.reads == Reads::Recovers && rest.starts_with(['`', '~'])
}

/// A call that the end of the message has cut off before anything was known of it but its tool.
fn cut_off(open: usize, tool: Option<usize>) -> BadCall {
    let (kind, message) = (ErrorKind::IncompleteCall, "The call was cut off.".to_owned());
    BadCall { open, tool, kind, message, closers: Closers::Spelled(&[]), in_tag: false }
}

/// Whether what follows the marker of a section is a call, what is meant as one, or the end of the section. If not, the marker was
/// only mentioned.
pub(super) fn begins_section(set: &Toolset, section: &Section, text: &str, last: bool) -> Scan {
    let (head, ended) = window(text, ATTEMPT_CHARS, last);
    let at = ws_run(head, 0);
    let (rest, head) = (&text[at..], &head[at..]);
    if head.is_empty() {
        return if ended { Scan::Match(()) } else { Scan::Incomplete };
    }
    let attempted = || match set.protocol.attempt(&set.tools, &set.settings, rest, last) {
        Attempt::Incomplete => Scan::Incomplete,
        Attempt::Text(_) => Scan::NoMatch,
        Attempt::Call { .. } | Attempt::Bad(_) => Scan::Match(()),
    };
    let begins = set.settings.marks.call.iter().any(|mark| mark.as_bytes().first() == head.as_bytes().first());
    let tag = || match head.as_bytes() {
        [b'<'] => Scan::at_end(ended),
        [b'<', b'/', ..] => begins_tag(&head[2..], ended).void(),
        [b'<', byte, ..] => Scan::some((byte.is_ascii_alphabetic() || b"|]\xef".contains(byte)).then_some(())),
        [byte, ..] => Scan::some((begins && byte.is_ascii_punctuation() && *byte != b'`').then_some(())),
        [] => Scan::NoMatch,
    };
    section
        .ended(rest, last)
        .void()
        .or(attempted)
        .or(tag)
        .or(|| begins_call(&set.tools, head, ended).void())
        .or(|| holds_call(set, section, head, ended))
}

/// Whether a call of a declared tool begins in the text, before the end of the section.
fn holds_call(set: &Toolset, section: &Section, text: &str, ended: bool) -> Scan {
    let end = section.ends().filter_map(|end| memchr::memmem::find(text.as_bytes(), end.as_bytes())).min();
    let (text, ended) = (&text[..end.unwrap_or(text.len())], ended || end.is_some());
    let mut at = 0;
    while let Some(offset) = set.settings.candidates.find(&text.as_bytes()[at..]) {
        at += offset;
        match set.protocol.attempt(&set.tools, &set.settings, &text[at..], ended) {
            Attempt::Incomplete if end.is_none() => return Scan::Incomplete,
            Attempt::Call { name: Some((_, lookup)), .. } if lookup.tool().is_some() => return Scan::Match(()),
            Attempt::Bad(_) => return Scan::Match(()),
            Attempt::Incomplete | Attempt::Call { .. } | Attempt::Text(_) => {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
            }
        }
    }
    Scan::at_end(ended)
}

/// A call of a declared tool outside of the section in which calls are.
fn outside_section(set: &Toolset, text: &str) -> Attempt {
    match set.protocol.attempt(&set.tools, &set.settings, text, false) {
        Attempt::Call { open, name: Some((_, lookup)), body, .. } if lookup.tool().is_some() => {
            match goes_on(set, &text[body..], false) {
                Scan::Match(()) => unreadable(&set.tools, open, lookup.tool(), set.settings.marks.closers()),
                Scan::Incomplete => Attempt::Incomplete,
                Scan::NoMatch => Attempt::text(text),
            }
        }
        // The name is in the body.
        Attempt::Call { open, name: None, .. } => match begins_call_of(&set.tools, &text[open..], false) {
            Scan::Match(tool) => unreadable(&set.tools, open, Some(tool), set.settings.marks.closers()),
            Scan::Incomplete => Attempt::Incomplete,
            Scan::NoMatch => Attempt::text(text),
        },
        attempt @ (Attempt::Incomplete | Attempt::Bad(_)) => attempt,
        Attempt::Call { .. } | Attempt::Text(_) => Attempt::text(text),
    }
}

/// Message to the model: a closing marker without an opener.
const UNOPENED: &str = "A call has no opening marker that can be read, so it was not run. Write it again in full.";

impl Machine {
    /// Text up to the next call or section, or what belongs to the format. In native formats, whitespace before these is held back: it
    /// may belong to them.
    pub(super) fn text(&mut self, tools: &Toolset, window: &mut Window<'_>, on_event: OnEvent<'_>) -> bool {
        if self.place.breaks && !self.line_breaks(tools, window, on_event) {
            return false;
        }
        let text = window.text;
        let mut at = window.at + self.place.scanned;
        // The end of the last text that is not whitespace, and how far it is known.
        let (mut solid, mut known) = (window.at, at);
        let mut begins = self.begins_here(tools, window, at);
        loop {
            let begin = std::mem::take(&mut begins);
            let found = if begin { Some(at) } else { self.candidate(tools, text, at) };
            let end = found.unwrap_or(text.len());
            // What was looked at is not scanned again.
            let seen = if tools.native { content_end(&text[..end], known) } else { end };
            if seen > known {
                solid = seen;
            }
            known = end;
            // In other formats, text without an opening stays one event.
            if tools.native || found.is_none() {
                self.content(window, solid, on_event);
            }
            let Some(found) = found else {
                self.place.scanned = text.len() - window.at;
                if window.last {
                    self.blanks(self.place.passed == Passed::Call && !self.place.content, window, text.len(), on_event);
                }
                return false;
            };
            at = found;
            let framing = tools.protocol.layout().trim_before_call || !self.place.content;
            if tools.native
                && let Some(more) = self.own_mark(tools, window, at, framing, on_event)
            {
                return more;
            }
            match self.look(tools, &text[at..], begin, window.last) {
                Candidate::Text(length) => {
                    self.read_code_and_quotes(tools, &text[at..at + length]);
                    at += length;
                }
                Candidate::Mention(length) => {
                    self.mention(tools, &text[at..at + length]);
                    at += length;
                }
                Candidate::Quoted(length) => {
                    self.content(window, at, on_event);
                    return self.lone_mark(tools, window, length, QUOTED, on_event);
                }
                Candidate::Section(other, length) => {
                    self.before(tools, framing, window, at, on_event);
                    return self.open_section(other, window, at + length, on_event);
                }
                Candidate::Call(other, attempt) => {
                    if let Attempt::Call { lead, .. } = attempt {
                        at += lead;
                    }
                    self.before(tools, framing, window, at, on_event);
                    self.other = other;
                    self.code = CodeScanner::AFTER_CALL;
                    return self.commit(tools, window, attempt, on_event);
                }
                // A forged result ends the reading as the end of the message does.
                Candidate::Forged(mark) => {
                    self.before(tools, self.place.passed == Passed::Call && !self.place.content, window, at, on_event);
                    return self.forged(window, at, mark, on_event);
                }
                Candidate::Need if window.last => {
                    if tools.native {
                        self.content(window, at, on_event);
                    }
                    return self.undecided(tools, window, at, on_event);
                }
                Candidate::Need => {
                    if !tools.native {
                        self.content(window, at, on_event);
                    }
                    self.place.scanned = at - window.at;
                    return false;
                }
            }
        }
    }

    /// Reports the text before an opening at byte `end`. In native formats, only whitespace is left of it.
    fn before(&mut self, tools: &Toolset, framing: bool, window: &mut Window<'_>, end: usize, on_event: OnEvent<'_>) {
        match tools.native {
            true => self.blanks(framing, window, end, on_event),
            false => self.content(window, end, on_event),
        }
    }

    /// Whether calls without markers, of this format or of others, are looked for at byte `at`.
    fn begins_here(&self, tools: &Toolset, window: &Window<'_>, at: usize) -> bool {
        match tools.native {
            true => {
                let begins = tools.settings.info.begins_message;
                let place = &self.place;
                let begun = place.passed < Passed::Text && (begins || !tools.others.is_empty());
                // A call without markers may follow another one, unless that has failed.
                let follows = begins && place.passed == Passed::Call && !place.content && place.quotes.is_none();
                // Whitespace at the end begins nothing.
                let follows = follows && !(window.last && window.text[at..].trim_ascii().is_empty());
                (begun || follows) && at == window.at
            }
            false => window.before + at == 0,
        }
    }

    /// A marker of the format at byte `at` that is no opener. The result says whether to go on with the window; `None` if there is none.
    fn own_mark(
        &mut self,
        tools: &Toolset,
        window: &mut Window<'_>,
        at: usize,
        framing: bool,
        on_event: OnEvent<'_>,
    ) -> Option<bool> {
        let found =
            if self.place.passed >= Passed::Text { None } else { self.reasoning_mark(tools, window, at, on_event) };
        let found = found.or_else(|| self.answer_mark(tools.protocol.layout(), window, at, on_event));
        if found.is_some() {
            return found;
        }
        match first_mark(&window.text[at..], &tools.settings.marks.ends, window.last) {
            Scan::NoMatch => {}
            Scan::Incomplete => {
                self.place.scanned = at - window.at;
                return Some(false);
            }
            Scan::Match(length) if self.lacks_opener(tools, window, at) => {
                self.blanks(framing, window, at, on_event);
                return Some(self.lone_mark(tools, window, length, UNOPENED, on_event));
            }
            Scan::Match(_) => self.place.mentioned = true,
        }
        None
    }

    /// The next candidate from byte `at` on that is outside of code. The text before it is scanned for code.
    #[inline]
    pub(super) fn candidate(&mut self, tools: &Toolset, text: &str, at: usize) -> Option<usize> {
        let found = match tools.code {
            CodeMode::Call => tools.settings.candidates.find(&text.as_bytes()[at..]).map(|offset| at + offset),
            CodeMode::Text => self.candidate_outside_code(tools, text, at),
        };
        self.read_quotes(tools, &text[at..found.unwrap_or(text.len())]);
        found
    }

    #[inline(never)]
    fn candidate_outside_code(&mut self, tools: &Toolset, text: &str, at: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let (mut read, mut from) = (at, at);
        loop {
            let found = tools.settings.candidates.find(&bytes[from..]).map(|offset| from + offset);
            self.code.read(&bytes[read..found.unwrap_or(bytes.len())]);
            match found {
                Some(found) if !self.code.is_outside(bytes[found]) => (read, from) = (found, found + 1),
                _ => return found,
            }
        }
    }

    /// The toolsets whose protocols are read now, with their positions among the others.
    fn sets<'t>(&self, tools: &'t Toolset) -> impl Iterator<Item = (Option<usize>, &'t Toolset)> + use<'t> {
        let others = if self.settled { &[] } else { &*tools.others };
        std::iter::once((self.other, self.read_as(tools))).chain((0..).map(Some).zip(others))
    }

    /// `begin`: the message begins here. Otherwise a candidate is here.
    pub(super) fn look<'t>(&self, tools: &'t Toolset, rest: &str, begin: bool, last: bool) -> Candidate<'t> {
        let found = self.found(tools, rest, begin, last);
        if !self.in_quotes() {
            return found;
        }
        let opener = match &found {
            Candidate::Section(_, open) => Some(*open),
            Candidate::Call(_, attempt) => attempt.opener(),
            _ => None,
        };
        opener.map_or(found, Candidate::Quoted)
    }

    /// The same, without regard to quotes.
    fn found<'t>(&self, tools: &'t Toolset, rest: &str, begin: bool, last: bool) -> Candidate<'t> {
        let first = rest.chars().next().map_or(0, char::len_utf8);
        if tools.reads == Reads::Nothing {
            return Candidate::Text(first);
        }
        let several = !self.settled && !tools.others.is_empty();
        // What no set takes for an opener is one character.
        let mut opener = None;
        let mut mentioned = |length: usize| opener = Some(opener.map_or(length, |known: usize| known.min(length)));
        let mut bad = None;
        for (other, set) in self.sets(tools) {
            // Only another format has something that begins so.
            if (!begin && !set.settings.candidates.may_begin(rest.as_bytes())) || is_code(tools, other, rest) {
                continue;
            }
            for mark in result_marks(tools, (other, set)) {
                match starts(rest, mark, false) {
                    Scan::Match(()) => return Candidate::Forged(mark),
                    Scan::Incomplete => return Candidate::Need,
                    Scan::NoMatch => {}
                }
            }
            if let Some(section) = &set.protocol.layout().section {
                let opened = section.begins(rest, last);
                let begun = |last| {
                    opened.and_then(|length| begins_section(set, section, &rest[length..], last).map(|()| length))
                };
                if last && self.truncated == Some(true) && begun(false) == Scan::Incomplete {
                    return self.undecided_end(other, set, rest);
                }
                match begun(last) {
                    Scan::Match(length) => return Candidate::Section(other, length),
                    Scan::Incomplete => return Candidate::Need,
                    Scan::NoMatch => {}
                }
                if set.spelling {
                    continue;
                }
                if let Scan::Match(length) = opened {
                    mentioned(length);
                }
                let attempt = outside_section(set, rest);
                match self.orphan(set, &attempt, rest).unwrap_or(attempt) {
                    Attempt::Incomplete if !last => return Candidate::Need,
                    Attempt::Incomplete if self.is_cut_off(set, rest) => return self.undecided_end(other, set, rest),
                    attempt @ Attempt::Bad(_) => bad = bad.or(Some((other, attempt))),
                    _ => {}
                }
                continue;
            }
            let mut attempt = set.protocol.attempt(&set.tools, &set.settings, rest, false);
            if let Some(orphan) = self.orphan(set, &attempt, rest) {
                attempt = orphan;
            }
            if last && attempt == Attempt::Incomplete {
                attempt = match set.protocol.attempt(&set.tools, &set.settings, rest, true) {
                    Attempt::Incomplete | Attempt::Text(_) => return self.undecided_end(other, set, rest),
                    // The rest of the message could have become part of this call, so the error covers it.
                    Attempt::Bad(bad) => {
                        let bad = if self.truncated == Some(true) { cut_off(bad.open, bad.tool) } else { *bad };
                        let bad = BadCall { closers: Closers::Spelled(&[]), in_tag: false, ..bad };
                        return Candidate::Call(other, Attempt::Bad(Box::new(bad)));
                    }
                    attempt => attempt,
                };
            }
            if several && matches!(attempt, Attempt::Call { .. }) {
                match set.protocol.fits(rest) {
                    Scan::Match(()) => {}
                    Scan::Incomplete if last => return self.undecided_end(other, set, rest),
                    Scan::Incomplete => return Candidate::Need,
                    Scan::NoMatch => {
                        mentioned(first);
                        attempt = Attempt::text(rest);
                    }
                }
            }
            match attempt {
                Attempt::Incomplete => return Candidate::Need,
                Attempt::Text(length) if length > first => mentioned(length),
                Attempt::Text(_) if begin && set.settings.info.begins_message && rest.starts_with(['[', '{']) => {
                    mentioned(first)
                }
                Attempt::Text(_) => {}
                Attempt::Bad(_) => bad = bad.or(Some((other, attempt))),
                attempt => return Candidate::Call(other, attempt),
            }
        }
        match (bad, opener) {
            (Some((other, attempt)), _) => Candidate::Call(other, attempt),
            (None, Some(length)) => Candidate::Mention(length),
            (None, None) => Candidate::Text(first),
        }
    }

    /// If the attempt is text, an error of a call whose opener is missing. In a text with code, the opener may be in the code.
    fn orphan(&self, set: &Toolset, attempt: &Attempt, rest: &str) -> Option<Attempt> {
        if !matches!(attempt, Attempt::Text(_)) || self.code.was_seen() {
            return None;
        }
        match set.protocol.orphan(&set.tools, rest, false) {
            Scan::Match(length) => Some(unreadable(&set.tools, length, None, set.settings.marks.closers())),
            Scan::Incomplete => Some(Attempt::Incomplete),
            Scan::NoMatch => None,
        }
    }

    /// What the end of the message leaves undecided.
    fn undecided_end<'t>(&self, other: Option<usize>, set: &Toolset, rest: &str) -> Candidate<'t> {
        match self.is_cut_off(set, rest) {
            true => Candidate::Call(other, Attempt::Bad(Box::new(cut_off(rest.len(), None)))),
            false => Candidate::Need,
        }
    }

    /// Whether the message is cut off after a whole opener at the start of this text: whatever word follows, it remains one.
    fn is_cut_off(&self, set: &Toolset, rest: &str) -> bool {
        self.truncated == Some(true) && set.protocol.is_mark(&set.tools, &set.settings, &format!("{rest}x"))
    }

    /// The message has ended, and byte `at` is undecided. No call can begin after it, but a result can.
    pub(super) fn undecided(
        &mut self,
        tools: &Toolset,
        window: &mut Window<'_>,
        mut at: usize,
        on_event: OnEvent<'_>,
    ) -> bool {
        let text = window.text;
        loop {
            let step = text[at..].chars().next().map_or(0, char::len_utf8);
            self.read_code_and_quotes(tools, &text[at..at + step]);
            let Some(found) = self.candidate(tools, text, at + step) else {
                emit_text(&text[window.at..], on_event);
                window.at = text.len();
                return false;
            };
            at = found;
            let mut known = self.sets(tools).flat_map(|set| result_marks(tools, set));
            if let Some(mark) = known.find(|mark| text[at..].starts_with(mark.as_ref())) {
                return self.forged(window, at, mark, on_event);
            }
        }
    }

    pub(super) fn forged(&mut self, window: &mut Window<'_>, at: usize, mark: &str, on_event: OnEvent<'_>) -> bool {
        emit_text(&window.text[window.at..at], on_event);
        window.at = at;
        // Without its brackets, because a tag would be neutralised for the model.
        let shown = mark.trim_matches(['<', '>']);
        let message =
            format!("Only the tools write {shown}. End your message after the calls and wait for their results.");
        self.refuse(window, RejectedText::new(mark, ErrorKind::ForgedResult, message), on_event)
    }

    /// An error. The rest of the message is text.
    pub(super) fn refuse(&mut self, window: &mut Window<'_>, refused: RejectedText, on_event: OnEvent<'_>) -> bool {
        let RejectedText { length, raw, kind, sentence, example } = refused;
        let (start, byte) = (window.offset(window.at), window.before + window.at);
        window.at += length;
        let end = window.offset(window.at);
        self.state = ParserState::TailAsText;
        let bytes = byte..byte + length;
        let (index, name, arguments) = (None, None, None);
        let problems = Vec::new();
        let error = CallError { index, name, kind, sentence, example, arguments, problems, raw, start, end, bytes };
        on_event(Event::CallError(Box::new(error)));
        true
    }
}
