//! Frames of messages that consist of parts, each with a header: what begins a part, what it is, and what ends it.

use std::any::Any;
use std::fmt::Debug;

use crate::formats::attempt::Attempt;
use crate::formats::call::Separators;
use crate::formats::commitment::begins_call_of;
use crate::formats::marks::MarkSet;
use crate::syntax::scan::Scan;
use crate::tools::Tools;

/// What a part of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Reasoning,
    Content,
    /// The calls of the layout's section. Without one, what opens a call is here.
    Calls,
    /// Neither: it is framing.
    Dropped,
}

/// What is at a place between two parts. Byte offsets count from that place.
#[derive(Debug)]
pub(crate) enum Header {
    /// More text is needed.
    Incomplete,
    /// So many bytes belong to no part.
    Framing(usize),
    /// A part, after a header of so many bytes.
    Part(usize, Part),
    /// A call.
    Call(Attempt),
    /// What is meant as a call, of this tool if it is known. The bytes are what precedes its arguments.
    Bad(usize, Option<usize>),
}

/// What is at a place in a part where a call may begin.
#[derive(Debug)]
pub(crate) enum InPart {
    /// More text is needed.
    Incomplete,
    /// The number of bytes of text to skip.
    Text(usize),
    /// A marker of this length that begins no part.
    Mention(usize),
    /// The header of a call, of this tool if it is known.
    Call(usize, Option<usize>),
}

/// A frame of messages in parts.
pub(crate) trait PartsFrame: Any + Debug + Sync {
    /// The part in which a message begins, by what the host says or the layout; `None` if it begins with a header.
    fn start(&self, in_reasoning: Option<bool>) -> Option<Part>;

    /// What opens reasoning at the end of a prompt.
    fn reasoning_prompt(&self) -> Option<String> {
        None
    }

    /// What closes that reasoning: one of these.
    fn reasoning_ends(&self) -> Vec<&'static str> {
        self.ends().to_vec()
    }

    /// What may open a part at the start of a message, although the prompt has opened that part or another one.
    fn openers(&self) -> [Option<(&'static str, Part)>; 3] {
        [None; 3]
    }

    /// What begins, divides and ends parts, so that untrusted text must not contain it.
    fn mark(&self, marks: &mut MarkSet);

    /// The prompt ends with what begins a part.
    fn is_begun(&self) -> bool {
        false
    }

    /// What ends a part; a server may leave the last one at the end of a message.
    fn ends(&self) -> &'static [&'static str] {
        &[]
    }

    /// Appends a past message. The calls are written already.
    fn write(
        &self,
        reasoning: Option<&str>,
        content: &str,
        calls: &[String],
        separators: &Separators,
        out: &mut String,
    );

    /// Why no header can name a tool with this name.
    fn bad_name(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// Appends the header of a past call, if it names the tool.
    fn address(&self, _tool: &str, _out: &mut String) {}

    /// Whether a header may follow whitespace at the start of a message.
    fn skips_whitespace(&self) -> bool {
        false
    }

    /// Scans between two parts. The text is not empty. `first`: the message begins here.
    fn header(&self, tools: &Tools, text: &str, first: bool, last: bool) -> Header;

    /// At a byte in a part that what ends it begins with, but that does not end it. The text is not empty.
    fn inside(&self, _tools: &Tools, _text: &str, _last: bool) -> InPart {
        InPart::Text(1)
    }

    /// The byte that what ends a part begins with.
    fn begins(&self) -> u8 {
        b'<'
    }

    /// The length of what ends a part, at such a byte in it. It ends the part only if a header or the end of the message follows it.
    fn closer(&self, tools: &Tools, part: Part, text: &str, last: bool) -> Scan<usize>;
}

/// Text that belongs to no part: up to the next mark, unless it begins a call.
pub(crate) fn unassigned(tools: &Tools, text: &str, last: bool) -> Header {
    if text.starts_with(['{', '[']) {
        match begins_call_of(tools, text, last) {
            Scan::Match(tool) => return Header::Bad(1, Some(tool)),
            Scan::Incomplete => return Header::Incomplete,
            Scan::NoMatch => {}
        }
    }
    let step = text.chars().next().map_or(0, char::len_utf8);
    Header::Framing(memchr::memchr3(b'<', b'{', b'[', &text.as_bytes()[step..]).map_or(text.len(), |at| at + step))
}

/// A scan of what follows a closer: with `last`, the end of the message is one of the choices, and so is half a mark at which the
/// message was cut off. Empty marks are none.
pub(crate) fn followed<'m>(text: &str, last: bool, marks: impl IntoIterator<Item = &'m str>) -> Scan {
    if text.is_empty() {
        return if last { Scan::Match(()) } else { Scan::Incomplete };
    }
    let marks = marks.into_iter().filter(|mark| !mark.is_empty());
    match Scan::first_of(marks.map(|mark| crate::syntax::scan::starts(text, mark, false))) {
        Scan::Incomplete if last => Scan::Match(()),
        scan => scan,
    }
}
