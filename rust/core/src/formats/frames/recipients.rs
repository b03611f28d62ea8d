//! The frame of messages to recipients: `MARK RECIPIENT LINE-BREAK TEXT`, repeated. Nothing but the next mark ends a part.

use crate::formats::attempt::Attempt;
use crate::formats::body::Opening;
use crate::formats::call::Separators;
use crate::formats::commitment::{begins_call, bracket_near, quoted_name};
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::parts::{Header, InPart, Part, PartsFrame};
use crate::limits::ATTEMPT_CHARS;
use crate::syntax::scan::{Scan, starts, window, ws_run};
use crate::tools::Tools;

/// The markers of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipients {
    /// What begins a part. The prompt ends with it.
    pub mark: &'static str,
    /// The recipient of content.
    pub content: &'static str,
}

fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'{' | b'<' | b'>' | b'(' | b'"' | b'\'' | b'`' | b'\\')
}

/// Whether spaces, a declared name and a line with an object begin the text.
fn spaced_name(tools: &Tools, text: &str, last: bool) -> Scan {
    let name = text.trim_start_matches(' ');
    let length = name.bytes().take_while(|byte| !ends_name(*byte)).count();
    let line = name[length..].trim_start_matches(' ');
    if line.is_empty() {
        return Scan::at_end(last);
    }
    if !line.starts_with('\n') || tools.find(&name[..length]).is_none() {
        return Scan::NoMatch;
    }
    starts(&line[ws_run(line, 0)..], "{", last)
}

impl Recipients {
    /// The length of a recipient's name, or 0 if it is in quotes or after spaces. What a tool gets is an object, or meant as one; any
    /// other text after a name is no header.
    fn recipient(&self, tools: &Tools, text: &str, last: bool) -> Scan<usize> {
        let (head, ended) = window(text, ATTEMPT_CHARS, last);
        let length = head.bytes().take_while(|byte| !ends_name(*byte)).count();
        let line = match head.as_bytes().get(length) {
            None => return Scan::at_end(ended),
            // Neutralised text.
            Some(b'\\') => return Scan::NoMatch,
            Some(byte) => *byte == b'\n',
        };
        if length == 0 {
            return quoted_name(tools, head, ended).or(|| spaced_name(tools, head, ended)).map(|()| 0);
        }
        if line && &head[..length] == self.content {
            return Scan::Match(length);
        }
        let object = || match head.as_bytes().get(ws_run(head, length)) {
            None => Scan::at_end(ended),
            Some(b'{') if line => Scan::Match(length),
            Some(_) => Scan::NoMatch,
        };
        let named = tools.find(&head[..length]).is_some();
        let rest = &head[length..];
        let meant = || match named {
            true => begins_call(tools, rest, ended).void().or(|| bracket_near(rest, ended)).map(|()| length),
            // `name: "save"`
            false => quoted_name(tools, rest.trim_start_matches(' '), ended).map(|()| length),
        };
        object().or(meant)
    }
}

impl PartsFrame for Recipients {
    fn start(&self, _: Option<bool>) -> Option<Part> {
        None
    }

    fn mark(&self, marks: &mut MarkSet) {
        marks.push(MarkRole::Part, self.mark);
    }

    fn is_begun(&self) -> bool {
        true
    }

    fn begins(&self) -> u8 {
        self.mark.as_bytes().first().copied().unwrap_or_default()
    }

    fn bad_name(&self, name: &str) -> Option<&'static str> {
        if name == self.content {
            return Some("messages to it are content");
        }
        name.bytes().any(ends_name).then_some("it must not contain whitespace, quotes, backslashes, {, (, < or >")
    }

    fn write(&self, _: Option<&str>, content: &str, calls: &[String], separators: &Separators, out: &mut String) {
        if !content.is_empty() {
            out.extend([self.mark, self.content, "\n", content]);
        }
        separators.write("", calls, out);
    }

    fn header(&self, tools: &Tools, text: &str, first: bool, last: bool) -> Header {
        let skipped = match starts(text, self.mark, last) {
            Scan::Incomplete => return Header::Incomplete,
            Scan::Match(()) => self.mark.len(),
            Scan::NoMatch if first => 0,
            // An object without its recipient.
            Scan::NoMatch if text.starts_with('{') => {
                return match text.as_bytes().get(1) {
                    None if !last => Header::Incomplete,
                    Some(b'"' | b'\'') => Header::Bad(1, None),
                    _ => Header::Framing(1),
                };
            }
            // Up to the next place that is looked at, wherever the text is cut.
            Scan::NoMatch => {
                let first = text.chars().next().map_or(0, char::len_utf8);
                let next = memchr::memchr2(b'{', self.begins(), &text.as_bytes()[first..]);
                return Header::Framing(next.map_or(text.len(), |next| first + next));
            }
        };
        match self.recipient(tools, &text[skipped..], last) {
            Scan::Incomplete => Header::Incomplete,
            Scan::NoMatch if first && skipped == 0 => Header::Part(0, Part::Content),
            Scan::NoMatch => {
                let (head, ended) = window(&text[skipped..], ATTEMPT_CHARS, last);
                match begins_call(tools, head, ended) {
                    Scan::Match(tool) => Header::Bad(skipped, tool),
                    Scan::Incomplete => Header::Incomplete,
                    Scan::NoMatch if first => Header::Part(0, Part::Content),
                    Scan::NoMatch => Header::Framing(skipped),
                }
            }
            Scan::Match(length) => {
                let (name, body) = (
                    skipped..skipped + length,
                    skipped + length + usize::from(text.as_bytes().get(skipped + length) == Some(&b'\n')),
                );
                match &text[name.clone()] {
                    "" => Header::Call(Attempt::call(body, body, Opening::OWN)),
                    to if to == self.content => Header::Part(body, Part::Content),
                    to => Header::Call(Attempt::named(body, (name, tools.called(to)), body, Opening::OWN)),
                }
            }
        }
    }

    fn inside(&self, _: &Tools, text: &str, _: bool) -> InPart {
        // The mark may begin at the next byte, too: `>>>>`.
        let first = text.chars().next().map_or(0, char::len_utf8);
        match text.starts_with(self.mark) && !text[first..].starts_with(self.mark) {
            true => InPart::Mention(self.mark.len()),
            false => InPart::Text(1),
        }
    }

    fn closer(&self, tools: &Tools, _: Part, text: &str, last: bool) -> Scan<usize> {
        starts(text, self.mark, last).and_then(|()| self.recipient(tools, &text[self.mark.len()..], last).map(|_| 0))
    }
}
