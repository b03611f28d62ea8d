//! The frame of messages in channels: `HEADER SEPARATOR TEXT END`, repeated. The header says the channel and the recipient.

use std::ops::Range;

use crate::error::Repair;
use crate::protocols::body::Opening;
use crate::protocols::format::{Joints, fill};
use crate::protocols::parts::{Header, Part, PartsFrame, followed};
use crate::protocols::protocol::{Attempt, Style};
use crate::syntax::scan::{Scan, partial_end, starts, window};
use crate::tools::Tools;

/// Characters of a header. A longer one is not a header.
const HEADER_CHARS: usize = 1024;

/// The markers of a family.
#[derive(Debug)]
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
    /// The channels, or the recipients, of reasoning and of content.
    pub reasoning: &'static str,
    pub content: &'static [&'static str],
    /// What is written before a call, with `{name}` in it.
    pub address: &'static str,
}

impl Channels {
    /// The header of a message in this channel, or to this recipient, after the role.
    fn header_of(&self, channel: &str) -> String {
        match self.channel.is_empty() {
            true => [" ", self.recipient, channel, self.separator].concat(),
            false => [self.channel, channel, self.separator].concat(),
        }
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
            let named = part.split(self.constrain).next().unwrap_or_default();
            let word = named.split_ascii_whitespace().find_map(|word| word.strip_prefix(self.recipient))?;
            let start = word.as_ptr() as usize - header.as_ptr() as usize;
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

    fn marks(&self) -> Vec<&'static str> {
        let own = [self.start, self.channel, self.constrain, self.separator];
        own.into_iter().chain(self.ends.iter().copied()).filter(|mark| !mark.is_empty()).collect()
    }

    fn ends(&self) -> &'static [&'static str] {
        self.ends
    }

    fn write(&self, reasoning: Option<&str>, content: &str, calls: &[String], joints: &Joints, out: &mut String) {
        // Without calls it is an answer.
        let channel = if calls.is_empty() { self.content.first() } else { self.content.last() };
        let texts = [(Some(&self.reasoning), reasoning.unwrap_or_default()), (channel, content)];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        let texts = texts.map(|(channel, text)| self.header_of(channel.copied().unwrap_or_default()) + text);
        let texts: Vec<_> = texts.collect();
        out.push_str(&texts.join(joints.after_content));
        match (texts.is_empty(), calls.is_empty()) {
            (false, true) => out.push_str(self.ends.first().copied().unwrap_or_default()),
            (false, false) => out.push_str(joints.after_content),
            (true, _) => {}
        }
        joints.write("", calls, out);
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
        let begun = if first {
            // The prompt has written the start and the role.
            let begins = [self.start, self.channel, self.recipient];
            let begins = begins.into_iter().filter(|mark| !mark.is_empty());
            Scan::first_of(begins.map(|mark| starts(head, mark, last)))
        } else {
            starts(head, self.start, last)
        };
        match begun {
            Scan::Incomplete => return Header::Incomplete,
            Scan::Match(()) => {}
            // A server has left out the headers, or the prompt has written the first one.
            Scan::NoMatch if first => return Header::Part(0, Part::Content),
            Scan::NoMatch => {
                let next = memchr::memmem::find(text.as_bytes(), self.start.as_bytes());
                let held = || partial_end(text, self.start);
                return match next.unwrap_or_else(|| if last { text.len() } else { held() }) {
                    0 => Header::Incomplete,
                    length => Header::Framing(length),
                };
            }
        }
        let skipped = if head.starts_with(self.start) { self.start.len() } else { 0 };
        let inner = &head[skipped..];
        let separator = memchr::memmem::find(inner.as_bytes(), self.separator.as_bytes());
        // A header without a separator ends where the next one begins.
        let next = memchr::memmem::find(inner.as_bytes(), self.start.as_bytes());
        let at = match (separator, next) {
            (Some(at), next) if next.is_none_or(|next| at < next) => at,
            (_, Some(next)) => return Header::Framing(skipped + next),
            (_, None) if ended => return Header::Framing(head.len()),
            (_, None) => return Header::Incomplete,
        };
        let (header, length) = (&inner[..at], skipped + at + self.separator.len());
        let (channel, recipient) = self.read(header);
        if self.channel.is_empty() {
            let part = match recipient.map(|to| &header[to]) {
                Some(to) if to == self.reasoning => Part::Reasoning,
                Some(to) if !self.content.contains(&to) => Part::Calls,
                _ => Part::Content,
            };
            return Header::Part(length, part);
        }
        match (recipient, channel) {
            (Some(to), _) => {
                let (word, end) = (&header[to.clone()], skipped + to.end);
                let named = word.strip_prefix(self.functions);
                let name = named.unwrap_or(word);
                // Other recipients are tools that the server has built in. A declared tool is called without the prefix, too.
                if named.is_none() && tools.find(name).is_none() {
                    return Header::Part(length, Part::Dropped);
                }
                let style = named.is_none().then(|| Style { repairs: vec![Repair::ToolStyle], delimiters: None });
                Header::Call(Attempt::Call {
                    lead: 0,
                    open: length,
                    name: Some((end - name.len()..end, tools.lookup(name))),
                    body: length,
                    opening: Opening::Native,
                    style: style.map(Box::new),
                })
            }
            (None, Some(channel)) if channel == self.reasoning => Header::Part(length, Part::Reasoning),
            (None, Some(channel)) if !self.content.contains(&channel) => Header::Part(length, Part::Dropped),
            (None, _) => Header::Part(length, Part::Content),
        }
    }

    fn closer(&self, _: &Tools, _: Part, text: &str, last: bool) -> Scan<usize> {
        Scan::first_of(self.ends.iter().map(|end| {
            starts(text, end, last).and_then(|()| followed(&text[end.len()..], last, [self.start]).map(|()| end.len()))
        }))
    }
}
