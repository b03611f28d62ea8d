//! The frame of messages in elements, each opened and closed by its name: reasoning, then content, then calls.

use crate::formats::call::Separators;
use crate::formats::commitment::{begins_call_of, declared};
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::parts::{Header, InPart, Part, PartsFrame, followed, unassigned};
use crate::limits::{ATTEMPT_CHARS, NAME_CHARS};
use crate::syntax::scan::{Scan, starts, window, ws_run};
use crate::tools::Tools;

/// An element: its opening and its closing tag.
type Element = (&'static str, &'static str);

/// The markers of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub reasoning: Element,
    /// The first is written.
    pub content: &'static [Element],
    pub calls: Element,
    /// What begins each element but the first, or empty.
    pub join: &'static str,
    /// What closes the message, or empty.
    pub close: &'static str,
    /// What any tag begins with.
    pub tags: &'static [&'static str],
    /// Each message has reasoning and content, though empty, and begins in one of them. Otherwise it may have none of them.
    pub always_present: bool,
    /// The tool's name precedes the tag that opens its call.
    pub name_first: bool,
}

/// So near the bracket of a tag after a name, a bar makes it a tag that is misspelled.
const NEAR_CHARS: usize = 32;

/// Words before it.
const LEAD_WORDS: usize = 3;

/// Whether a byte ends a name before a tag.
fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'<'
}

impl Elements {
    /// What few formats have: nothing between elements, and nothing after the last.
    pub(crate) const PLAIN: Elements = Elements {
        reasoning: ("", ""),
        content: &[],
        calls: ("", ""),
        join: "",
        close: "",
        tags: &[],
        always_present: false,
        name_first: false,
    };

    /// The element of reasoning, if the format has one.
    fn thought(&self) -> &[Element] {
        if self.reasoning.0.is_empty() { &[] } else { std::slice::from_ref(&self.reasoning) }
    }

    /// The length of a name before the tag that opens a call.
    fn name(&self, text: &str, last: bool) -> Scan<usize> {
        let (head, ended) = window(text, NAME_CHARS + 1, last);
        let length = head.bytes().take_while(|byte| !ends_name(*byte)).count();
        match head.as_bytes().get(length) {
            None => Scan::at_end(ended),
            Some(_) => starts(&text[length..], self.calls.0, last).map(|()| length),
        }
    }

    /// A message that begins with a tool's name and another tag than the one that opens a call.
    fn misspelled(&self, tools: &Tools, text: &str, last: bool) -> Header {
        let (head, ended) = window(text, NAME_CHARS + NEAR_CHARS, last);
        let first = head.chars().next().map_or(0, char::len_utf8);
        let ends = |c: char| c == '<' || c.is_ascii_control();
        let lead = head[first..].find(ends).map(|at| first + at);
        let before = &head[..lead.unwrap_or(head.len())];
        let words =
            || before.split(|c: char| !(c.is_alphanumeric() || "_-./:".contains(c))).filter(|word| !word.is_empty());
        // With a backslash it is neutralised.
        if head.starts_with('\\') || words().nth(LEAD_WORDS).is_some() {
            return Header::Part(0, Part::Content);
        }
        let tool = words().find_map(|word| declared(tools, word));
        let tag = match lead {
            None => Scan::at_end(ended),
            Some(at) => {
                let elements = self.content.iter().chain([&self.reasoning]).flat_map(|(open, close)| [*open, *close]);
                let own = elements
                    .chain([self.join])
                    .filter(|mark| !mark.is_empty())
                    .map(|mark| starts(&text[at..], mark, last));
                let (near, ended) = window(&head[at..], NEAR_CHARS, ended);
                match Scan::first_of(own) {
                    Scan::NoMatch if near.starts_with('<') => match near.find(['|', '\\']) {
                        None => Scan::at_end(ended),
                        Some(bar) => Scan::some(near[bar..].starts_with('|').then_some(at + bar + 1)),
                    },
                    Scan::Incomplete => Scan::Incomplete,
                    Scan::Match(()) | Scan::NoMatch => Scan::NoMatch,
                }
            }
        };
        match (tool, tag) {
            (Some(_), Scan::Match(open)) => Header::Bad(open, tool),
            (Some(_), Scan::Incomplete) => Header::Incomplete,
            (None, Scan::Incomplete) if lead.is_none() => Header::Incomplete,
            _ => Header::Part(0, Part::Content),
        }
    }
}

impl PartsFrame for Elements {
    fn start(&self, in_reasoning: Option<bool>) -> Option<Part> {
        match in_reasoning {
            Some(true) => Some(Part::Reasoning),
            _ => self.always_present.then_some(Part::Content),
        }
    }

    fn reasoning_prompt(&self) -> Option<String> {
        self.thought().first().map(|(open, _)| (*open).to_owned())
    }

    fn reasoning_ends(&self) -> Vec<&'static str> {
        self.thought().iter().map(|(_, close)| *close).collect()
    }

    fn mark(&self, marks: &mut MarkSet) {
        let elements = self.content.iter().chain([&self.reasoning, &self.calls]);
        let own = elements.flat_map(|(open, close)| [*open, *close]).chain([self.join, self.close]);
        marks.extend(MarkRole::Part, own.chain(self.tags.iter().copied()).filter(|mark| !mark.is_empty()));
    }

    fn openers(&self) -> [Option<(&'static str, Part)>; 3] {
        let content = self.content.first().map(|(open, _)| (*open, Part::Content));
        let thought = self.thought().first().map(|(open, _)| (*open, Part::Reasoning));
        [thought, content, Some((self.calls.0, Part::Calls))]
    }

    fn write(
        &self,
        reasoning: Option<&str>,
        content: &str,
        calls: &[String],
        separators: &Separators,
        out: &mut String,
    ) {
        let spoken = (self.always_present || !content.is_empty()).then_some(content);
        let thought = reasoning.or(self.always_present.then_some(""));
        let texts = [(Some(&self.reasoning), thought), (self.content.first(), spoken)];
        let texts = texts.into_iter().filter_map(|(element, text)| element.zip(text));
        let texts = texts.map(|((open, close), text)| [open, text, close].concat());
        let mut written = String::new();
        separators.write("", calls, &mut written);
        let parts: Vec<_> = texts.chain((!calls.is_empty()).then_some(written)).collect();
        out.push_str(&parts.join(self.join));
        out.push_str(self.close);
    }

    fn bad_name(&self, name: &str) -> Option<&'static str> {
        (self.name_first && name.bytes().any(ends_name)).then_some("it must not contain whitespace or <")
    }

    fn address(&self, tool: &str, out: &mut String) {
        if self.name_first {
            out.push_str(tool);
        }
    }

    /// A closer after which something else begins than a part, such as a misspelled marker, and then what is meant as a call.
    fn inside(&self, tools: &Tools, text: &str, last: bool) -> InPart {
        let closers = self.content.iter().chain(self.thought()).map(|(_, close)| *close);
        let close = match Scan::first_of(closers.map(|close| starts(text, close, last).map(|()| close))) {
            Scan::Match(close) => close,
            Scan::Incomplete => return InPart::Incomplete,
            Scan::NoMatch => return InPart::Text(1),
        };
        let (head, ended) = window(text, ATTEMPT_CHARS, last);
        let rest = &head[close.len()..];
        let bracket = rest.find(|c: char| c.is_whitespace() || matches!(c, '[' | '{'));
        match bracket.map(|at| (at, rest.as_bytes()[at])) {
            None if ended => InPart::Text(1),
            None => InPart::Incomplete,
            Some((at, b'[' | b'{')) => match begins_call_of(tools, &text[close.len() + at..], last) {
                Scan::Match(tool) => InPart::Call(close.len() + at, Some(tool)),
                Scan::Incomplete => InPart::Incomplete,
                Scan::NoMatch => InPart::Text(1),
            },
            Some(_) => InPart::Text(1),
        }
    }

    fn header(&self, tools: &Tools, text: &str, first: bool, last: bool) -> Header {
        let content = self.content.iter().map(|element| (element, Part::Content));
        let thought = self.thought().iter().map(|element| (element, Part::Reasoning));
        let known = content.chain(thought).chain([(&self.calls, Part::Calls)]);
        let opened = known.map(|((open, _), part)| starts(text, open, last).map(|()| Header::Part(open.len(), part)));
        match Scan::first_of(opened) {
            Scan::Match(header) => header,
            Scan::Incomplete => Header::Incomplete,
            Scan::NoMatch => {
                let own = Scan::first_of(self.tags.iter().map(|tag| starts(text, tag, last)));
                // A server has left out the tags.
                if first && own == Scan::NoMatch {
                    let name = if self.name_first { self.name(text, last) } else { Scan::NoMatch };
                    return match name {
                        Scan::Match(length) => Header::Framing(length),
                        Scan::Incomplete => Header::Incomplete,
                        Scan::NoMatch if self.name_first => self.misspelled(tools, text, last),
                        Scan::NoMatch => Header::Part(0, Part::Content),
                    };
                }
                match own {
                    Scan::Incomplete if !last => Header::Incomplete,
                    _ => unassigned(tools, text, last),
                }
            }
        }
    }

    fn closer(&self, _: &Tools, part: Part, text: &str, last: bool) -> Scan<usize> {
        let elements = match part {
            Part::Reasoning => self.thought(),
            _ => self.content,
        };
        let spoken = self.content.iter().filter(|_| part == Part::Reasoning).map(|(open, _)| *open);
        let next = spoken.chain([self.calls.0, self.join, self.close]);
        let closed = Scan::first_of(elements.iter().map(|(_, close)| {
            starts(text, close, last).and_then(|()| {
                let rest = &text[close.len()..];
                // It may be doubled.
                let next = next.clone().chain([*close]);
                followed(&rest[ws_run(rest, 0)..], last, next).map(|()| close.len())
            })
        }));
        // Content that is opened ends reasoning that is not closed.
        let opened = || match part {
            Part::Reasoning => {
                Scan::first_of(self.content.iter().map(|(open, _)| starts(text, open, last).map(|()| 0)))
            }
            _ => Scan::NoMatch,
        };
        closed.or(opened)
    }
}
