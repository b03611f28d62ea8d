//! The frame of messages in channels: `HEADER SEPARATOR TEXT END`, repeated. The header says the channel and the recipient.

use std::ops::Range;

use crate::error::Repair;
use crate::formats::attempt::{Attempt, Style};
use crate::formats::body::Opening;
use crate::formats::call::Separators;
use crate::formats::commitment::declared;
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::parts::{Header, InPart, Part, PartsFrame, followed, unassigned};
use crate::formats::template::fill;
use crate::limits::ATTEMPT_CHARS;
use crate::syntax::quoting::{is_quote, leaves_open};
use crate::syntax::scan::{Scan, first_mark, offset_in, starts, window, ws_run};
use crate::tools::{Lookup, Tools};

/// Characters of a header. A longer one is not a header.
const HEADER_CHARS: usize = 1024;

/// The words of a header in which a name counts.
const HEADER_WORDS: usize = 8;

/// The longest word in a marker.
const MARKER_BYTES: usize = 32;

/// The role in headers.
const ROLE: &str = "assistant";

/// What ends a header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Separator,
    /// Something else, so it is not complete.
    Broken,
}

/// Whether a member, or the end of the object, follows the bracket of an object.
fn begins_member(text: &str, last: bool) -> Scan {
    let (head, ended) = window(text, ATTEMPT_CHARS, last);
    match head.as_bytes().get(ws_run(head, 0)) {
        None => Scan::at_end(ended),
        Some(byte) => Scan::some((is_quote(*byte) || matches!(byte, b'}' | b'<')).then_some(())),
    }
}

/// Whether the bracket before this text strays into a marker: a word and the end of the marker follow.
fn breaks_marker(text: &str, last: bool) -> Scan {
    let word = text.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '_');
    match text.len() - word.len() < MARKER_BYTES {
        true => first_mark(word, &["|>", ">"], last).void(),
        false => Scan::NoMatch,
    }
}

/// Whether a piece of a marker, with its bar, follows the first word of a header, which no other word follows.
fn is_torn(header: &str, rest: &str, last: bool) -> Scan {
    let bar = |text: &str, last: bool| {
        let (near, ended) = window(text, MARKER_BYTES, last);
        if near.contains('|') { Scan::Match(()) } else { Scan::at_end(ended) }
    };
    let word = header.split_ascii_whitespace().next().unwrap_or_default();
    if word.contains('<') {
        return header.find('<').map_or(Scan::NoMatch, |at| bar(&header[at..], true));
    }
    if word != header.trim() {
        return Scan::NoMatch;
    }
    let (near, ended) = window(rest, MARKER_BYTES, last);
    near.find('<').map_or_else(|| Scan::at_end(ended), |at| bar(&rest[at..], last))
}

/// The markers of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channels {
    /// What begins the header of a message, after the role in the prompt.
    pub start: &'static str,
    /// What precedes the channel. If it is empty, the recipient says what a message is: others get the calls of a section.
    pub channel: &'static str,
    /// What precedes the type of the content in a header.
    pub constrain: &'static str,
    /// What ends a header.
    pub separator: &'static str,
    /// What ends a message.
    pub ends: &'static [&'static str],
    pub recipient: &'static str,
    /// What the recipient of a call begins with.
    pub functions: &'static str,
    /// Recipients that the server runs.
    pub built_in: &'static [&'static str],
    /// The channels, or the recipients, of reasoning and of content. The last is that of content before calls.
    pub reasoning: &'static str,
    pub content: &'static [&'static str],
    /// What is written before a call, with `{name}` in it.
    pub address: &'static str,
    /// One space after a header belongs to the header.
    pub spaced: bool,
    /// The first text of the arguments: the bracket of an object, or a tag.
    pub arguments: &'static str,
}

impl Channels {
    /// True if arguments begin here, after whitespace.
    fn object(&self, text: &str, last: bool) -> Scan {
        let (head, ended) = window(text, ATTEMPT_CHARS, last);
        starts(&head[ws_run(head, 0)..], self.arguments, ended)
    }

    /// Where a header ends, and how: at the separator, or, without one, before the next header, an object, or the end of a message.
    fn end(&self, text: &str, ended: bool) -> Scan<(usize, End)> {
        let mut at = 0;
        // A marker that no header has.
        let mut unknown = None;
        let broken = |at, unknown: Option<usize>| Scan::Match((unknown.unwrap_or(at), End::Broken));
        while let Some(offset) = memchr::memchr2(b'<', b'{', &text.as_bytes()[at..]) {
            at += offset;
            let rest = &text[at..];
            // It may stray into a marker: `<{|channel|>`.
            if let Some(inside) = rest.strip_prefix('{').filter(|_| self.arguments == "{") {
                match starts(inside, "|", ended) {
                    Scan::NoMatch => return broken(at, None),
                    Scan::Incomplete => return Scan::Incomplete,
                    Scan::Match(()) => {}
                }
            }
            if self.arguments.len() > 1 && starts(rest, self.arguments, ended).is_match() {
                return broken(at, None);
            }
            let own = [self.channel, self.constrain];
            let ends = [self.start].into_iter().chain(self.ends.iter().copied());
            let separator = starts(rest, self.separator, ended);
            let next = || Scan::first_of(ends.map(|mark| starts(rest, mark, ended)));
            match separator.or(next) {
                Scan::Incomplete => return Scan::Incomplete,
                Scan::Match(()) if separator.is_match() => return Scan::Match((at, End::Separator)),
                Scan::Match(()) => return broken(at, unknown),
                Scan::NoMatch => {}
            }
            if !own.iter().any(|mark| !mark.is_empty() && rest.starts_with(mark)) {
                unknown = unknown.or(Some(at));
            }
            at += 1;
        }
        if ended { broken(text.len(), unknown) } else { Scan::Incomplete }
    }

    /// The declared tool that a header names, in whatever place and spelling.
    fn named(&self, tools: &Tools, header: &str) -> Option<usize> {
        // Prose has more words.
        if header.contains('\n') || header.split_ascii_whitespace().count() > HEADER_WORDS {
            return None;
        }
        let is_own = |word: &str| word == self.reasoning || self.content.contains(&word) || word == ROLE;
        header.split(|c: char| !(c.is_alphanumeric() || "_-.:/".contains(c))).find_map(|word| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
            if is_own(word) { None } else { declared(tools, word) }
        })
    }

    /// Whether the server runs what is sent to this recipient.
    fn is_built_in(&self, recipient: &str) -> bool {
        recipient.split('.').next().is_some_and(|tool| self.built_in.contains(&tool))
    }

    /// What is in a channel, or sent to a recipient, that is no call.
    fn part_of(&self, channel: &str) -> Option<Part> {
        match channel {
            channel if channel == self.reasoning => Some(Part::Reasoning),
            channel => self.content.contains(&channel).then_some(Part::Content),
        }
    }

    /// A header without its separator, at these bytes.
    fn broken(&self, tools: &Tools, text: &str, at: Range<usize>, (first, last): (bool, bool)) -> Header {
        let (header, rest) = (&text[at.clone()], &text[at.end..]);
        let (_, recipient) = self.read(header);
        let inside = [self.channel, self.constrain].iter().any(|mark| !mark.is_empty() && header.contains(mark));
        // The message begins with it, so a word of prose may be all of it.
        let begins = first && at.start == 0;
        let plain = begins && !inside;
        let tool = self.named(tools, header);
        let addressed = tool.is_some() && recipient.is_some();
        let called = match (&recipient, plain) {
            (_, true) => addressed,
            (Some(to), false) => tool.is_some() || !self.is_built_in(&header[to.clone()]),
            (None, false) => tool.is_some(),
        };
        // Prose mentions markers, names and objects, too.
        if called && !header.contains('\n') && rest.starts_with(self.arguments) {
            let inner = &rest[1..];
            let tag = Scan::some((self.arguments.len() > 1).then_some(()));
            match tag.or(|| begins_member(inner, last)).or(|| breaks_marker(inner, last)) {
                Scan::Match(()) => return Header::Bad(at.end, tool),
                Scan::Incomplete => return Header::Incomplete,
                Scan::NoMatch => {}
            }
        }
        // What is left of a call.
        if begins && addressed && !self.channel.is_empty() {
            let torn = if inside { Scan::Match(()) } else { is_torn(header, rest, last) };
            match torn {
                Scan::Match(()) => return Header::Bad(at.end, tool),
                Scan::Incomplete => return Header::Incomplete,
                Scan::NoMatch => {}
            }
        }
        if plain {
            return Header::Part(0, Part::Content);
        }
        let whole = window(text, HEADER_CHARS, last).0.len() == at.end;
        let ended = whole || self.ends.iter().any(|end| rest.starts_with(end));
        match self.unseparated(header).filter(|_| recipient.is_none() && ended) {
            Some((length, part)) => Header::Part(at.start + length, part),
            None => Header::Framing(at.end.max(1)),
        }
    }

    /// In a header without its separator, up to the end of the message: where the text of the channel begins, and what it is.
    fn unseparated(&self, header: &str) -> Option<(usize, Part)> {
        let (_, channel) = header.split_once(self.channel).filter(|_| !self.channel.is_empty())?;
        let word = channel.split_ascii_whitespace().next()?;
        let part = self.part_of(word)?;
        let end = offset_in(header, word) + word.len();
        // Otherwise it is a header that is cut off.
        let text = !header[end..].trim().is_empty() && !header[end..].contains('<');
        text.then_some((end, part))
    }

    /// The header of a message in this channel, or to this recipient, after the role.
    fn header_of(&self, channel: &str) -> String {
        match self.channel.is_empty() {
            true => [" ", self.recipient, channel, self.separator].concat(),
            false => [self.channel, channel, self.separator].concat(),
        }
    }

    /// True if a call's header begins here without its first markers: `commentary to=NAME …`.
    fn headless(&self, tools: &Tools, text: &str, last: bool) -> Scan {
        let (head, ended) = window(text, HEADER_CHARS, last);
        let words = self.content.iter().filter(|_| !self.channel.is_empty());
        let word =
            words.map(|word| starts(head, word, last).and_then(|()| first_mark(&head[word.len()..], &[" "], last)));
        match Scan::first_of(word) {
            Scan::Match(_) => {}
            Scan::Incomplete => return Scan::Incomplete,
            Scan::NoMatch => return Scan::NoMatch,
        }
        let Some(end) = head.find(['<', '\n']) else { return Scan::at_end(ended) };
        let addressed = head[..end].split_ascii_whitespace().any(|word| word.starts_with(self.recipient));
        Scan::some((addressed && self.named(tools, &head[..end]).is_some()).then_some(()))
    }

    /// The channel and the recipient of a header, as its bytes. The last channel counts; a recipient may be in the role or in the
    /// channel.
    fn read<'h>(&self, header: &'h str) -> (Option<&'h str>, Option<Range<usize>>) {
        let mut parts = header.split(self.channel);
        let (role, channel) = match self.channel.is_empty() {
            true => (header, None),
            false => (parts.next().unwrap_or_default(), parts.last()),
        };
        let recipient = |part: &'h str| {
            let mut words = part.split(self.constrain).flat_map(str::split_ascii_whitespace);
            let word = words.find_map(|word| word.strip_prefix(self.recipient))?;
            let start = offset_in(header, word);
            Some(start..start + word.len())
        };
        let name = channel.and_then(|part| part.split(self.constrain).next()?.split_ascii_whitespace().next());
        (name, channel.and_then(recipient).or_else(|| recipient(role)))
    }
}

impl PartsFrame for Channels {
    fn start(&self, in_reasoning: Option<bool>) -> Option<Part> {
        (in_reasoning == Some(true)).then_some(Part::Reasoning)
    }

    fn reasoning_prompt(&self) -> Option<String> {
        Some(self.header_of(self.reasoning))
    }

    fn mark(&self, marks: &mut MarkSet) {
        let own = [self.start, self.channel, self.constrain, self.separator];
        let own = own.into_iter().chain(self.ends.iter().copied());
        marks.extend(MarkRole::Part, own.filter(|mark| !mark.is_empty()));
    }

    fn ends(&self) -> &'static [&'static str] {
        self.ends
    }

    fn write(
        &self,
        reasoning: Option<&str>,
        content: &str,
        calls: &[String],
        separators: &Separators,
        out: &mut String,
    ) {
        // Without calls it is an answer.
        let channel = if calls.is_empty() { self.content.first() } else { self.content.last() };
        let texts = [(Some(&self.reasoning), reasoning.unwrap_or_default()), (channel, content)];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        let texts = texts.map(|(channel, text)| self.header_of(channel.copied().unwrap_or_default()) + text);
        let texts: Vec<_> = texts.collect();
        out.push_str(&texts.join(separators.after_content));
        match (texts.is_empty(), calls.is_empty()) {
            (false, true) => out.push_str(self.ends.first().copied().unwrap_or_default()),
            (false, false) => out.push_str(separators.after_content),
            (true, _) => {}
        }
        separators.write("", calls, out);
    }

    fn bad_name(&self, name: &str) -> Option<&'static str> {
        // Without channels, the recipient says what a message is.
        let is_part = name == self.reasoning || self.content.contains(&name);
        if self.channel.is_empty() && is_part {
            return Some("messages to it are reasoning or content");
        }
        let ends = |c: char| c.is_ascii_whitespace() || c == '<';
        name.contains(ends).then_some("it must not contain whitespace or <")
    }

    fn address(&self, tool: &str, out: &mut String) {
        fill(self.address, out, |key, out| {
            out.push_str(tool);
            key == "name"
        });
    }

    fn skips_whitespace(&self) -> bool {
        true
    }

    fn header(&self, tools: &Tools, text: &str, first: bool, last: bool) -> Header {
        let (head, ended) = window(text, HEADER_CHARS, last);
        // The prompt has written the start and the role.
        let prompted = [self.start, self.channel, self.recipient];
        let begins = if first { &prompted[..] } else { &prompted[..2] };
        let begins = begins.iter().filter(|mark| !mark.is_empty());
        let begun = Scan::first_of(begins.map(|mark| starts(head, mark, last)));
        match begun {
            Scan::Incomplete => return Header::Incomplete,
            Scan::Match(()) => {}
            // A server has left out the headers, or the prompt has written the first one.
            Scan::NoMatch if first => return Header::Part(0, Part::Content),
            Scan::NoMatch => match self.headless(tools, text, last) {
                Scan::Incomplete => return Header::Incomplete,
                Scan::Match(()) => {}
                Scan::NoMatch => return unassigned(tools, text, last),
            },
        }
        let skipped = if head.starts_with(self.start) { self.start.len() } else { 0 };
        let (at, end) = match self.end(&head[skipped..], ended) {
            Scan::Match(found) => found,
            Scan::Incomplete => return Header::Incomplete,
            Scan::NoMatch => (head.len() - skipped, End::Broken),
        };
        let header = &head[skipped..skipped + at];
        let (channel, recipient) = self.read(header);
        if end == End::Broken {
            return self.broken(tools, text, skipped..skipped + at, (first, last));
        }
        // The separator is in a text in quotes, so it ends no header.
        if leaves_open(header) {
            return match self.named(tools, header) {
                Some(tool) => Header::Bad(skipped.max(1), Some(tool)),
                None => Header::Framing(1),
            };
        }
        let mut length = skipped + at + self.separator.len();
        if self.spaced {
            match starts(&text[length..], " ", last) {
                Scan::Match(()) => length += 1,
                Scan::Incomplete => return Header::Incomplete,
                Scan::NoMatch => {}
            }
        }
        let object = || self.object(&text[length..], last);
        let named = |part: Part| match self.named(tools, header) {
            Some(tool) => Header::Bad(length, Some(tool)),
            None => Header::Part(length, part),
        };
        // What is no answer, but has an object, is meant as a call.
        let unless_object = |part: Part| match (self.named(tools, header), object()) {
            (None, Scan::Incomplete) => Header::Incomplete,
            (None, Scan::NoMatch) => Header::Part(length, part),
            (tool, _) => Header::Bad(length, tool),
        };
        match (recipient, channel) {
            (Some(to), _) if self.channel.is_empty() => {
                Header::Part(length, self.part_of(&header[to]).unwrap_or(Part::Calls))
            }
            (None, _) if self.channel.is_empty() => named(Part::Content),
            (Some(to), _) => {
                let (word, end) = (&header[to.clone()], skipped + to.end);
                let without = word.strip_prefix(self.functions);
                let name = without.unwrap_or(word);
                // A declared tool is called without the prefix, too.
                let found = if without.is_none() && tools.find(name).is_none() {
                    match unless_object(Part::Dropped) {
                        Header::Part(..) => return Header::Part(length, Part::Dropped),
                        _ if self.is_built_in(word) => return Header::Part(length, Part::Dropped),
                        Header::Bad(_, None) => Lookup::Unknown,
                        other => return other,
                    }
                } else {
                    tools.called(name)
                };
                // The recipient should precede the type of the content.
                let late = !self.constrain.is_empty() && header[..to.start].contains(self.constrain);
                let odd = [(without.is_none(), Repair::ToolStyle), (late || !begun.is_match(), Repair::TagStyle)];
                let repairs: Vec<_> = odd.into_iter().filter_map(|(odd, repair)| odd.then_some(repair)).collect();
                Header::Call(Attempt::Call {
                    lead: 0,
                    open: length,
                    name: Some((end - name.len()..end, found)),
                    body: length,
                    opening: Opening::OWN,
                    style: Style::repaired(repairs),
                })
            }
            (None, Some(channel)) => match self.part_of(channel) {
                None => unless_object(Part::Dropped),
                // Before calls, where an object is meant as one.
                Some(part) if self.content.last() == Some(&channel) || self.arguments.starts_with('<') => {
                    unless_object(part)
                }
                Some(part) => named(part),
            },
            // The name of the channel is missing.
            (None, None) if header.contains(self.channel) => unless_object(Part::Content),
            (None, None) => named(Part::Content),
        }
    }

    fn inside(&self, tools: &Tools, text: &str, last: bool) -> InPart {
        match self.header(tools, text, false, last) {
            Header::Incomplete => InPart::Incomplete,
            Header::Bad(open, tool) if text[..open].ends_with(self.separator) => match self.object(&text[open..], last)
            {
                Scan::Match(()) => InPart::Call(open, tool),
                Scan::Incomplete => InPart::Incomplete,
                Scan::NoMatch => InPart::Text(1),
            },
            // Text about the format has calls of other tools.
            Header::Call(Attempt::Call { body, name: Some((_, lookup)), .. }) => match self.object(&text[body..], last)
            {
                Scan::Match(()) if lookup.tool().is_some() => InPart::Call(body, lookup.tool()),
                Scan::Incomplete => InPart::Incomplete,
                _ => InPart::Mention(body),
            },
            _ => InPart::Text(1),
        }
    }

    fn closer(&self, tools: &Tools, _: Part, text: &str, last: bool) -> Scan<usize> {
        Scan::first_of(self.ends.iter().map(|end| {
            let after = |()| {
                let after = &text[end.len()..];
                followed(after, last, [self.start]).or(|| self.headless(tools, after, last)).map(|()| end.len())
            };
            starts(text, end, last).and_then(after)
        }))
    }
}
