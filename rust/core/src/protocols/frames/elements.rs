//! The frame of messages in elements, each opened and closed by its name: reasoning, then content, then calls.

use crate::protocols::format::Joints;
use crate::protocols::parts::{Header, Part, PartsFrame, followed};
use crate::syntax::scan::{Scan, starts, ws_run};
use crate::tools::Tools;

/// An element: its opening and its closing tag.
type Element = (&'static str, &'static str);

/// The markers of a family.
#[derive(Debug)]
pub(crate) struct Elements {
    pub reasoning: Element,
    pub content: Element,
    pub calls: Element,
    /// What closes the message.
    pub close: &'static str,
    /// What any tag begins with.
    pub tags: &'static [&'static str],
}

impl PartsFrame for Elements {
    fn start(&self, in_reasoning: Option<bool>) -> Option<Part> {
        Some(if in_reasoning == Some(false) { Part::Content } else { Part::Reasoning })
    }

    fn openers(&self) -> [Option<(&'static str, Part)>; 2] {
        [Some((self.reasoning.0, Part::Reasoning)), Some((self.content.0, Part::Content))]
    }

    fn write(&self, reasoning: Option<&str>, content: &str, calls: &[String], joints: &Joints, out: &mut String) {
        out.extend([self.reasoning.0, reasoning.unwrap_or_default(), self.reasoning.1]);
        out.extend([self.content.0, content, self.content.1]);
        joints.write("", calls, out);
        out.push_str(self.close);
    }

    fn header(&self, _: &Tools, text: &str, _: bool, last: bool) -> Header {
        let known = [(self.reasoning, Part::Reasoning), (self.content, Part::Content), (self.calls, Part::Calls)];
        let opened = known.map(|((open, _), part)| starts(text, open, last).map(|()| Header::Part(open.len(), part)));
        match Scan::first_of(opened) {
            Scan::Match(header) => header,
            Scan::Incomplete => Header::Incomplete,
            Scan::NoMatch => {
                let own = self.tags.iter().map(|tag| starts(text, tag, last));
                let step = text.chars().next().map_or(1, char::len_utf8);
                match Scan::first_of(own) {
                    Scan::Incomplete if !last => Header::Incomplete,
                    // Up to the next tag.
                    _ => Header::Framing(
                        memchr::memchr(b'<', &text.as_bytes()[step..]).map_or(text.len(), |at| at + step),
                    ),
                }
            }
        }
    }

    fn closer(&self, part: Part, text: &str, last: bool) -> Scan<usize> {
        let (close, next): (_, &[&str]) = match part {
            Part::Reasoning => (self.reasoning.1, &[self.content.0, self.calls.0, self.close]),
            _ => (self.content.1, &[self.calls.0, self.close]),
        };
        let closed = starts(text, close, last).and_then(|()| {
            let rest = &text[close.len()..];
            followed(&rest[ws_run(rest, 0)..], last, next).map(|()| close.len())
        });
        // Content that is opened ends reasoning that is not closed.
        let opened = || match part {
            Part::Reasoning => starts(text, self.content.0, last).map(|()| 0),
            _ => Scan::NoMatch,
        };
        closed.or(opened)
    }
}
