//! Tags: what opens a call, a function and a parameter, and what closes them. Their words are case-insensitive.

use std::ops::Range;

use super::attributes::{Of, TagHead, head, word_end};
use super::words::{begins, closes, closes_one_of, one_of};
use super::{ElementRow, TagForm};
use crate::limits::{ATTEMPT_CHARS, NAME_CHARS};
use crate::syntax::scan::{Scan, first_chars, is_ws, starts, starts_as, window, ws_run};

/// Tags that contain the name of a function.
const NAMES: [&str; 2] = ["name", "tool_name"];
/// Maximum number of characters between a name and the tag that closes it.
const CLOSE_CHARS: usize = 16;
/// Maximum bytes of a parameter's tag.
const TAG_BYTES: usize = 1024;
/// Maximum number of characters of a key whose line ends the value before it.
const LINE_KEY_CHARS: usize = 256;

/// The tag that opened a function. It decides what closes the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallTag {
    /// A tag with this word.
    Word(&'static str),
    /// A tag with the tool's own name.
    Own,
    /// Only the block.
    Block,
}

impl CallTag {
    /// The number of bytes of the tag at the start of the text, if it closes the function of this name.
    pub(crate) fn closes(self, text: &str, name: &str, last: bool) -> Scan<usize> {
        match self {
            CallTag::Word(tag) => closes(text, tag, last),
            CallTag::Own => closes(text, name, last),
            CallTag::Block => Scan::NoMatch,
        }
    }
}

/// The attributes of the tag that opened a function. The body reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenerAttributes {
    /// It has none.
    None,
    /// All are arguments.
    Arguments,
    /// The one called `name` names the tool.
    Named,
    /// They belong to a block around functions, not to a call.
    OfBlock,
}

/// How a function was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenTag {
    pub row: &'static ElementRow,
    pub wrapped: bool,
    pub tag: CallTag,
    pub attributes: OpenerAttributes,
    /// The tag is empty: `<…/>`.
    pub empty: bool,
    /// The tag is not in the usual form.
    pub styled: bool,
    /// The tag belongs to another protocol. Only its attributes are read by this format.
    pub foreign: bool,
}

impl OpenTag {
    fn new(row: &'static ElementRow) -> Self {
        OpenTag {
            row,
            wrapped: false,
            tag: CallTag::Word(row.call.words[0]),
            attributes: OpenerAttributes::None,
            empty: false,
            styled: false,
            foreign: false,
        }
    }

    /// A tag of another format, with this word. Its attributes are the name of the tool and the arguments.
    pub(crate) fn of_attributes(row: &'static ElementRow, word: &'static str) -> Self {
        let (tag, attributes) = (CallTag::Word(word), OpenerAttributes::Named);
        OpenTag { tag, attributes, styled: true, foreign: true, ..OpenTag::new(row) }
    }

    /// The function is opened by the block, or by a name in it.
    fn by_block(self) -> Self {
        OpenTag { tag: CallTag::Block, styled: true, ..self }
    }
}

/// The beginning of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallOpener {
    /// The number of bytes of its first tag.
    pub open: usize,
    /// `None`: it is after the scanned text.
    pub name: Option<Range<usize>>,
    /// Where the first parameter may begin, or where the attributes begin.
    pub body: usize,
    /// Where the tag ends. `None`: after the scanned text.
    pub end: Option<usize>,
    /// The tag continues after the text, inside a quoted value.
    cut: bool,
    pub opened: OpenTag,
}

impl CallOpener {
    /// An opening that ends with the name, or with the tag of the name.
    fn named(name: Range<usize>, end: usize, opened: OpenTag) -> Self {
        CallOpener { open: end, name: Some(name), body: end, end: Some(end), cut: false, opened }
    }

    /// The opening of a tag with this head.
    fn with_head(found: &TagHead, opened: OpenTag) -> Self {
        let attributes = match (found.more, found.by_attribute || found.name.is_none()) {
            (false, _) => OpenerAttributes::None,
            (true, false) => OpenerAttributes::Arguments,
            (true, true) => OpenerAttributes::Named,
        };
        let body = if found.more { found.from } else { found.end.unwrap_or(found.from) };
        let opened = OpenTag { empty: found.empty && !found.more, attributes, ..opened };
        CallOpener { open: body, name: found.name.clone(), body, end: found.end, cut: found.cut, opened }
    }

    /// Requires a name that a tool could have, and a tag that ends within the message. `cut`: the message continues
    /// after the text, so the tag may, too.
    fn checked(self, text: &str, cut: bool) -> Scan<CallOpener> {
        let fits = self.name.as_ref().is_none_or(|name| is_name(&text[name.clone()]));
        Scan::some((fits && (cut || !self.cut)).then_some(self))
    }
}

/// The beginning of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// The name of its tag.
    pub tag: Range<usize>,
    /// `None`: its tag has attributes without a meaning here. They begin at byte `end`.
    pub key: Option<Range<usize>>,
    /// The key is between tags. The value then needs no closing tag.
    pub apart: bool,
    pub empty: bool,
    pub styled: bool,
    pub end: usize,
}

impl Parameter {
    fn new(tag: Range<usize>, key: Option<Range<usize>>, styled: bool, end: usize) -> Self {
        Parameter { tag, key, apart: false, empty: false, styled, end }
    }
}

/// Whether a function of this name needs no tag. With `true`: whether one of a name with this beginning.
pub(super) type Known<'k> = &'k dyn Fn(&str, bool) -> bool;

/// Whether a tag can contain this name.
pub(crate) fn is_name(name: &str) -> bool {
    let fits = |c: char| !c.is_control() && !c.is_whitespace() && !matches!(c, '<' | '>' | '"' | '\'');
    !name.is_empty() && first_chars(name, NAME_CHARS) == name.len() && name.chars().all(fits)
}

impl TagForm {
    /// The end of a tag in the usual form with a name of plain characters only: a fast path.
    fn usual(&self, text: &str) -> Option<usize> {
        let name = text.strip_prefix(self.open)?;
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let length = name.as_bytes().iter().position(|byte| !plain(byte))?;
        let ends = name[length..].starts_with(self.end) && (1..=NAME_CHARS).contains(&length);
        ends.then_some(self.open.len() + length + self.end.len())
    }
}

/// A text up to the closing tag of that name: its range without outer whitespace, and where the tag ends.
fn inner(text: &str, from: usize, tag: &str, last: bool) -> Scan<(Range<usize>, usize)> {
    let start = ws_run(text, from);
    let limit = start + first_chars(&text[start..], NAME_CHARS + CLOSE_CHARS);
    let Some(length) = memchr::memchr(b'<', &text.as_bytes()[start..limit]) else {
        return Scan::at_end(last || limit < text.len());
    };
    let name = text[start..start + length].trim_end_matches([' ', '\t', '\r', '\n']);
    let range = start..start + name.len();
    closes(&text[start + length..], tag, last).map(|end| (range, start + length + end))
}

/// The tag of a known name, whose attributes are all arguments.
pub(crate) fn own_tag(row: &'static ElementRow, text: &str, last: bool, known: Known<'_>) -> Scan<CallOpener> {
    let end = first_chars(text, ATTEMPT_CHARS);
    let (text, cut) = (&text[..end], end < text.len());
    own(text, 0, last || cut, OpenTag::new(row), known).and_then(|found| found.checked(text, cut))
}

/// [`own_tag`] from its `<` at byte `at` on.
fn own(text: &str, at: usize, last: bool, opened: OpenTag, known: Known<'_>) -> Scan<CallOpener> {
    let name = known_name(text, at + 1, last, known).filter(|name| text.as_bytes().get(name.end) != Some(&b'='));
    name.and_then(|name| {
        head(text, name.end, last, Of::Name).map(|found| {
            let mut opener = CallOpener::with_head(&found, OpenTag { tag: CallTag::Own, styled: true, ..opened });
            opener.name = Some(name);
            if found.more {
                opener.opened.attributes = OpenerAttributes::Arguments;
            }
            opener
        })
    })
}

/// The known name that begins at this byte.
fn known_name(text: &str, start: usize, last: bool, known: Known<'_>) -> Scan<Range<usize>> {
    let name = start..word_end(text.as_bytes(), start);
    let cut = name.end == text.len() && !last;
    match (!name.is_empty() || cut) && known(&text[name.clone()], cut) {
        true if cut => Scan::Incomplete,
        is_known => Scan::some(is_known.then_some(name)),
    }
}

impl ElementRow {
    /// The opening of a function in the usual form.
    fn usual_opener(&'static self, text: &str, block: bool) -> Option<CallOpener> {
        let wrapped = block && text.starts_with(self.block_open);
        let at = if wrapped { ws_run(text, self.block_open.len()) } else { 0 };
        let end = at + self.call.usual(&text[at..])?;
        let open = if wrapped { self.block_open.len() } else { end };
        let opened = OpenTag { wrapped, ..OpenTag::new(self) };
        let name = at + self.call.open.len()..end - self.call.end.len();
        Some(CallOpener { open, ..CallOpener::named(name, end, opened) })
    }

    /// The opening of a call: in a block or, with `block`, with the tag of the block.
    pub(crate) fn opener(&'static self, text: &str, last: bool, block: bool, known: Known<'_>) -> Scan<CallOpener> {
        // Most signs in prose are decided by one byte: no name or word of a tag begins with whitespace.
        if matches!(text.as_bytes(), [b'<', next, ..] if is_ws(*next)) {
            return Scan::NoMatch;
        }
        let end = first_chars(text, ATTEMPT_CHARS);
        let (text, cut) = (&text[..end], end < text.len());
        let last = last || cut;
        if let Some(found) = self.usual_opener(text, block) {
            return Scan::Match(found);
        }
        let function = |at: usize, opened: OpenTag| {
            self.function(text, at, last, opened, known).and_then(|found| found.checked(text, cut))
        };
        match if block && text.starts_with('<') { begins(&text[1..], self.block, last) } else { Scan::NoMatch } {
            Scan::Incomplete => Scan::Incomplete,
            Scan::NoMatch => function(0, OpenTag::new(self)),
            Scan::Match(length) => head(text, 1 + length, last, Of::Call).and_then(|found| {
                let opened = OpenTag { wrapped: true, ..OpenTag::new(self) };
                let Some(end) = found.end.filter(|_| found.name.is_none()) else {
                    return CallOpener::with_head(&found, opened.by_block()).checked(text, cut);
                };
                if found.empty {
                    return Scan::NoMatch;
                }
                function(ws_run(text, end), opened).map(|mut inner| {
                    inner.open = end;
                    if found.more {
                        inner.body = found.from;
                        inner.opened.attributes = OpenerAttributes::OfBlock;
                    }
                    inner
                })
            }),
        }
    }

    /// The opening of a function at byte `at`.
    fn function(&self, text: &str, at: usize, last: bool, opened: OpenTag, known: Known<'_>) -> Scan<CallOpener> {
        let Some(&first) = text.as_bytes().get(at) else { return Scan::at_end(last) };
        let angle = first == b'<';
        if !angle && !opened.wrapped {
            return Scan::NoMatch;
        }
        let start = at + usize::from(angle);
        match one_of(&text[start..], self.call.words, last) {
            Scan::Incomplete => Scan::Incomplete,
            Scan::Match(tag) => self.with_word(text, at, tag, last, opened),
            Scan::NoMatch if !angle => known_name(text, start, last, known)
                .map(|name| CallOpener::named(name.clone(), name.end, opened.by_block())),
            Scan::NoMatch => {
                let in_tag = opened.wrapped.then(|| name_in_tag(text, at, last, opened.by_block()));
                match in_tag.unwrap_or(Scan::NoMatch) {
                    Scan::NoMatch => own(text, at, last, opened, known),
                    found => found,
                }
            }
        }
    }

    /// The opening of a function at byte `at`, whose tag has one of the words of functions.
    fn with_word(&self, text: &str, at: usize, tag: &'static str, last: bool, opened: OpenTag) -> Scan<CallOpener> {
        let bytes = text.as_bytes();
        let angle = bytes[at] == b'<';
        let start = at + usize::from(angle);
        let usual = angle && tag == self.call.words[0] && text[start..].starts_with(tag);
        head(text, start + tag.len(), last, Of::Call).and_then(|found| {
            let opened = OpenTag {
                tag: CallTag::Word(tag),
                styled: !usual || found.by_attribute || found.spaced || found.more,
                ..opened
            };
            let Some(end) = found.end.filter(|_| found.name.is_none()) else {
                return Scan::Match(CallOpener::with_head(&found, opened));
            };
            if found.empty || found.more || !angle {
                return Scan::NoMatch;
            }
            // The name is between tags.
            let opened = OpenTag { styled: true, ..opened };
            let inside = ws_run(text, end);
            match (bytes.get(inside), bytes.get(inside + 1)) {
                (None, _) => Scan::at_end(last),
                (Some(b'<'), next) if next != Some(&b'/') => name_in_tag(text, inside, last, opened),
                _ => inner(text, end, tag, last).map(|(name, end)| CallOpener::named(name, end, opened)),
            }
        })
    }

    /// The opening of a parameter: in one of the format's tags, or in a tag with a `declared` name.
    pub(crate) fn parameter(&self, text: &str, last: bool, declared: &dyn Fn(&str) -> bool) -> Scan<Parameter> {
        let form = &self.parameter;
        if let Some(end) = form.usual(text) {
            let (tag, key) = (1..1 + form.words[0].len(), form.open.len()..end - form.end.len());
            return Scan::Match(Parameter::new(tag, Some(key), false, end));
        }
        let mut limit = text.len().min(TAG_BYTES);
        while !text.is_char_boundary(limit) {
            limit -= 1;
        }
        let cut = limit < text.len();
        let (text, last) = (&text[..limit], last || cut);
        let start = usize::from(text.starts_with('<'));
        let with_word = |word: &'static str| {
            let tag = start..start + word.len();
            let usual = start == 1 && &text[tag.clone()] == form.words[0];
            head(text, tag.end, last, Of::Parameter).and_then(|found| {
                let styled = !usual || found.by_attribute || found.spaced;
                match (found.name, found.end) {
                    _ if found.cut && !cut => Scan::NoMatch,
                    _ if found.more => Scan::Match(Parameter::new(tag, None, styled, found.from)),
                    (_, None) => Scan::NoMatch,
                    (Some(key), Some(end)) => {
                        Scan::Match(Parameter { empty: found.empty, ..Parameter::new(tag, Some(key), styled, end) })
                    }
                    (None, _) if found.empty || start == 0 => Scan::NoMatch,
                    (None, Some(end)) => inner(text, end, word, last)
                        .map(|(key, end)| Parameter { apart: true, ..Parameter::new(tag, Some(key), true, end) }),
                }
            })
        };
        let is_named = |found: &Parameter| found.key.as_ref().is_none_or(|key| is_name(&text[key.clone()]));
        let found = one_of(&text[start..], form.words, last).and_then(with_word).filter(is_named);
        found.or(|| declared_tag(text, last, cut, declared))
    }

    /// Whether a parameter opens here. Its key does not matter.
    pub(crate) fn opens_parameter(&self, text: &str, last: bool, declared: &dyn Fn(&str) -> bool) -> Scan {
        let tag = text.strip_prefix('<').map_or(Scan::NoMatch, |inner| one_of(inner, self.parameter.words, last));
        match tag {
            Scan::Match(tag) if text.as_bytes()[1 + tag.len()] == b'=' => Scan::Match(()),
            _ => self.parameter(text, last, declared).void(),
        }
    }

    /// Whether the tag of a parameter is here, in the usual form and on a line of its own.
    pub(crate) fn opens_line(&self, text: &str, last: bool) -> Scan {
        let TagForm { open, end, .. } = &self.parameter;
        starts(text, open, last).and_then(|()| {
            let key = &text[open.len()..];
            let limit = first_chars(key, LINE_KEY_CHARS + 1);
            match key.as_bytes()[..limit].iter().position(|byte| matches!(byte, b'<' | b'>' | b'"' | b'\n')) {
                None => Scan::at_end(last || first_chars(key, LINE_KEY_CHARS) < key.len()),
                Some(0) => Scan::NoMatch,
                Some(length) => {
                    let rest = &key[length..];
                    starts(rest, end, last).and_then(|()| starts(&rest[end.len()..], "\n", last))
                }
            }
        })
    }

    /// Whether something that may be in a function follows. Prose mentions tags, too.
    pub(crate) fn follows(
        &self,
        rest: &str,
        last: bool,
        (tag, name): (CallTag, &str),
        declared: &dyn Fn(&str) -> bool,
    ) -> Scan {
        match rest.as_bytes().first() {
            None => return Scan::at_end(last),
            Some(b'{') => return Scan::Match(()),
            Some(_) => {}
        }
        let parameter = self.opens_parameter(rest, last, declared);
        if !rest.starts_with('<') {
            return parameter;
        }
        let closed = || self.closes_function(rest, last).or(|| closes(rest, self.block, last));
        parameter.or(|| closed().or(|| tag.closes(rest, name, last)).void())
    }

    pub(crate) fn closes_function(&self, text: &str, last: bool) -> Scan<usize> {
        closes_one_of(text, self.call.words, last)
    }

    /// The number of bytes of a closing tag that continues after its word: `</function_invocation>`.
    pub(crate) fn nearly_closes_function(&self, text: &str, last: bool) -> Scan<usize> {
        let word = |word: &&'static str| starts_as(&text[2..], word, last);
        starts(text, "</", last).and_then(|()| Scan::first_of(self.call.words.iter().map(word))).and_then(|()| {
            let (head, ended) = window(text, NAME_CHARS, last);
            match head[2..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
                None => Scan::at_end(ended),
                Some(end) => Scan::some(head[2 + end..].starts_with('>').then_some(end + 3)),
            }
        })
    }

    pub(crate) fn closes_parameter(&self, text: &str, last: bool) -> Scan<usize> {
        closes_one_of(text, self.parameter.words, last)
    }

    /// Whether a complete opening of a call is here, in the usual form.
    pub(crate) fn ends_reasoning(&self, text: &str) -> Scan {
        starts(text, self.block_open, false).and_then(|()| {
            let end = first_chars(text, ATTEMPT_CHARS);
            let at = ws_run(&text[..end], self.block_open.len());
            starts(&text[at..end], self.call.open, end < text.len())
        })
    }
}

/// A name in a tag of its own.
fn name_in_tag(text: &str, at: usize, last: bool, opened: OpenTag) -> Scan<CallOpener> {
    one_of(&text[at + 1..], &NAMES, last).and_then(|tag| {
        let after = at + 1 + tag.len();
        let found = starts(&text[after..], ">", last).and_then(|()| inner(text, after + 1, tag, last));
        found.map(|(name, end)| CallOpener::named(name, end, opened))
    })
}

/// A parameter whose tag is a declared key.
fn declared_tag(text: &str, last: bool, cut: bool, declared: &dyn Fn(&str) -> bool) -> Scan<Parameter> {
    if !text.starts_with('<') {
        return Scan::NoMatch;
    }
    let tag = 1..word_end(text.as_bytes(), 1);
    let long = first_chars(&text[tag.clone()], NAME_CHARS) < tag.len();
    match text.as_bytes().get(tag.end) {
        None if !long => return Scan::at_end(last),
        Some(b'=') => return Scan::NoMatch,
        _ if long || tag.is_empty() || !declared(&text[tag.clone()]) => return Scan::NoMatch,
        _ => {}
    }
    head(text, tag.end, last, Of::Name).filter(|found| cut || !found.cut).map(|found| match found.end {
        Some(end) if !found.more => {
            Parameter { empty: found.empty, ..Parameter::new(tag.clone(), Some(tag), true, end) }
        }
        _ => Parameter::new(tag, None, true, found.from),
    })
}
