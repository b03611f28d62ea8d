//! Tags: what opens a call, a function and a parameter, and what closes them. Their words are case-insensitive.

use std::ops::Range;

use super::attributes::{Head, Of, head, word_end};
use super::look::{begins, closes, closes_one_of, one_of};
use super::{Form, Row};
use crate::limits::{ATTEMPT_CHARS, NAME_CHARS};
use crate::syntax::scan::{Scan, first_chars, starts, ws_run};

/// Tags with the name of a function in them.
const NAMES: [&str; 2] = ["name", "tool_name"];
/// Characters between a name and the tag that closes it.
const CLOSE_CHARS: usize = 16;
/// Maximum bytes of a parameter's tag.
const TAG_BYTES: usize = 1024;
/// Maximum characters of a key whose line ends the value before it.
const LINE_KEY_CHARS: usize = 256;

/// What a function is written in; decides what closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// This word.
    Word(&'static str),
    /// The tool's own name.
    Own,
    /// The block alone.
    Block,
}

impl Tag {
    /// The number of bytes of the tag that closes the function of this name, if this is one.
    pub fn closes(self, text: &str, name: &str, last: bool) -> Scan<usize> {
        match self {
            Tag::Word(tag) => closes(text, tag, last),
            Tag::Own => closes(text, name, last),
            Tag::Block => Scan::NoMatch,
        }
    }
}

/// The attributes of the tag that opened a function, which its body reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attributes {
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
pub struct Opened {
    pub row: &'static Row,
    pub wrapped: bool,
    pub tag: Tag,
    pub attributes: Attributes,
    /// It is empty.
    pub empty: bool,
    /// In another form than the usual one.
    pub styled: bool,
    /// The tag is one of another protocol, in which only its attributes are read so.
    pub foreign: bool,
}

impl Opened {
    fn new(row: &'static Row) -> Self {
        Opened {
            row,
            wrapped: false,
            tag: Tag::Word(row.call.words[0]),
            attributes: Attributes::None,
            empty: false,
            styled: false,
            foreign: false,
        }
    }
}

impl Opened {
    /// A tag of another format, with this word, whose attributes are the tool's name and the arguments.
    pub fn of_attributes(row: &'static Row, word: &'static str) -> Self {
        let (tag, attributes) = (Tag::Word(word), Attributes::Named);
        Opened { tag, attributes, styled: true, foreign: true, ..Opened::new(row) }
    }
}

/// The beginning of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opener {
    /// Bytes of its first tag.
    pub open: usize,
    /// `None`: it is beyond what was scanned.
    pub name: Option<Range<usize>>,
    /// Where the first parameter may be, or where the attributes begin.
    pub body: usize,
    /// Where the tag ends; `None`: beyond what was scanned.
    pub end: Option<usize>,
    pub opened: Opened,
}

/// The beginning of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name of its tag.
    pub tag: Range<usize>,
    /// `None`: its tag has attributes that mean nothing here, from byte `end` on.
    pub key: Option<Range<usize>>,
    /// The key is between tags, so the value needs no closing tag.
    pub apart: bool,
    pub empty: bool,
    pub styled: bool,
    pub end: usize,
}

/// Whether this name, or with `true` one that begins with it, needs no tag of a function.
pub type Known<'k> = &'k dyn Fn(&str, bool) -> bool;

/// Whether it can be written as a name in a tag.
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| !c.is_control() && !c.is_whitespace() && !matches!(c, '<' | '>' | '"' | '\'');
    !name.is_empty() && first_chars(name, NAME_CHARS) == name.len() && name.chars().all(fits)
}

impl Form {
    /// The end of a tag in the usual form, which contains only a name of plain characters: a fast path.
    fn usual(&self, text: &str) -> Option<usize> {
        let name = text.strip_prefix(self.open)?;
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let length = name.as_bytes().iter().position(|byte| !plain(byte))?;
        let ends = name[length..].starts_with(self.end) && (1..=NAME_CHARS).contains(&length);
        ends.then_some(self.open.len() + length + self.end.len())
    }
}

/// A text up to the closing tag of that name: its range without whitespace around it, and where the tag ends.
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

/// Only with a name that a tool could have.
fn named(text: &str, found: Opener) -> Scan<Opener> {
    match &found.name {
        Some(name) if !is_name(&text[name.clone()]) => Scan::NoMatch,
        _ => Scan::Match(found),
    }
}

/// What a tag with that head opens.
fn with_head(found: &Head, opened: Opened) -> Opener {
    let attributes = match (found.more, found.by_attribute || found.name.is_none()) {
        (false, _) => Attributes::None,
        (true, false) => Attributes::Arguments,
        (true, true) => Attributes::Named,
    };
    let body = if found.more { found.from } else { found.end.unwrap_or(found.from) };
    let opened = Opened { empty: found.empty && !found.more, attributes, ..opened };
    Opener { open: body, name: found.name.clone(), body, end: found.end, opened }
}

/// The tag of a known name, whose attributes are all arguments.
pub fn own_tag(row: &'static Row, text: &str, last: bool, known: Known<'_>) -> Scan<Opener> {
    let end = first_chars(text, ATTEMPT_CHARS);
    let (text, cut) = (&text[..end], end < text.len());
    own(text, 0, last || cut, Opened::new(row), known).and_then(|(found, open)| match open && !cut {
        true => Scan::NoMatch,
        false => named(text, found),
    })
}

/// The same, from its `<` at byte `at` on; and whether the tag continues beyond the text.
fn own(text: &str, at: usize, last: bool, opened: Opened, known: Known<'_>) -> Scan<(Opener, bool)> {
    let start = at + 1;
    let name = start..word_end(text.as_bytes(), start);
    if name.end == text.len() && !last {
        return if known(&text[name], true) { Scan::Incomplete } else { Scan::NoMatch };
    }
    if name.is_empty() || text.as_bytes().get(name.end) == Some(&b'=') || !known(&text[name.clone()], false) {
        return Scan::NoMatch;
    }
    head(text, name.end, last, Of::Name).map(|found| {
        let opened = Opened { tag: Tag::Own, styled: true, ..opened };
        let mut opener = with_head(&found, opened);
        opener.name = Some(name);
        if found.more {
            opener.opened.attributes = Attributes::Arguments;
        }
        (opener, found.cut)
    })
}

impl Row {
    /// What opens a function in the usual form.
    fn usual_opener(&'static self, text: &str, block: bool) -> Option<Opener> {
        let wrapped = block && text.starts_with(self.block_open);
        let at = if wrapped { ws_run(text, self.block_open.len()) } else { 0 };
        let end = at + self.call.usual(&text[at..])?;
        let open = if wrapped { self.block_open.len() } else { end };
        let opened = Opened { wrapped, ..Opened::new(self) };
        let name = at + self.call.open.len()..end - self.call.end.len();
        Some(Opener { open, name: Some(name), body: end, end: Some(end), opened })
    }

    /// Looks at what could open a call, in a block or, with `block`, with the block's own tag.
    pub fn opener(&'static self, text: &str, last: bool, block: bool, known: Known<'_>) -> Scan<Opener> {
        let end = first_chars(text, ATTEMPT_CHARS);
        let (text, cut) = (&text[..end], end < text.len());
        let last = last || cut;
        if let Some(found) = self.usual_opener(text, block) {
            return Scan::Match(found);
        }
        // What would continue beyond the end of a message is undecided.
        let decided = |(found, open): (Opener, bool)| match open && !cut {
            true => Scan::NoMatch,
            false => named(text, found),
        };
        let inside = if block && text.starts_with('<') { begins(&text[1..], self.block, last) } else { Scan::NoMatch };
        let length = match inside {
            Scan::Incomplete => return Scan::Incomplete,
            Scan::NoMatch => return self.function(text, 0, last, Opened::new(self), known).and_then(decided),
            Scan::Match(length) => 1 + length,
        };
        let found = match head(text, length, last, Of::Call) {
            Scan::Match(found) => found,
            Scan::Incomplete => return Scan::Incomplete,
            Scan::NoMatch => return Scan::NoMatch,
        };
        let opened = Opened { wrapped: true, ..Opened::new(self) };
        let Some(end) = found.end.filter(|_| found.name.is_none()) else {
            let opened = Opened { tag: Tag::Block, styled: true, ..opened };
            return decided((with_head(&found, opened), found.cut));
        };
        if found.empty {
            return Scan::NoMatch;
        }
        self.function(text, ws_run(text, end), last, opened, known).and_then(decided).map(|mut inner| {
            inner.open = end;
            if found.more {
                inner.body = found.from;
                inner.opened = Opened { attributes: Attributes::OfBlock, ..inner.opened };
            }
            inner
        })
    }

    /// A function at byte `at`; and whether its tag continues beyond the text.
    fn function(&self, text: &str, at: usize, last: bool, opened: Opened, known: Known<'_>) -> Scan<(Opener, bool)> {
        let bytes = text.as_bytes();
        let Some(&first) = bytes.get(at) else { return Scan::at_end(last) };
        let start = at + usize::from(first == b'<');
        if first != b'<' && !opened.wrapped {
            return Scan::NoMatch;
        }
        match one_of(&text[start..], self.call.words, last) {
            Scan::Incomplete => return Scan::Incomplete,
            Scan::Match(tag) => {
                let usual = tag == self.call.words[0] && text[start..].starts_with(tag) && first == b'<';
                return head(text, start + tag.len(), last, Of::Call)
                    .and_then(|found| self.with_word(text, tag, first == b'<', usual, &found, last, opened));
            }
            Scan::NoMatch => {}
        }
        if opened.wrapped && first == b'<' {
            match name_in_tag(text, at, last, Opened { tag: Tag::Block, styled: true, ..opened }) {
                Scan::NoMatch => {}
                found => return found.map(|found| (found, false)),
            }
        }
        if first == b'<' {
            return own(text, at, last, opened, known);
        }
        let name = start..word_end(bytes, start);
        if name.end == bytes.len() && !last {
            return if known(&text[name], true) { Scan::Incomplete } else { Scan::NoMatch };
        }
        if name.is_empty() || !known(&text[name.clone()], false) {
            return Scan::NoMatch;
        }
        let opened = Opened { tag: Tag::Block, styled: true, ..opened };
        Scan::Match((Opener { open: name.end, body: name.end, end: Some(name.end), name: Some(name), opened }, false))
    }

    /// A function in a tag with one of its words.
    #[allow(clippy::too_many_arguments)]
    fn with_word(
        &self,
        text: &str,
        tag: &'static str,
        angle: bool,
        usual: bool,
        found: &Head,
        last: bool,
        opened: Opened,
    ) -> Scan<(Opener, bool)> {
        let opened = Opened { tag: Tag::Word(tag), styled: !usual || found.by_attribute || found.more, ..opened };
        let end = match found.end.filter(|_| found.name.is_none()) {
            None => return Scan::Match((with_head(found, opened), found.cut)),
            Some(_) if found.empty || found.more || !angle => return Scan::NoMatch,
            Some(end) => end,
        };
        // The name is between tags.
        let opened = Opened { styled: true, ..opened };
        let inside = ws_run(text, end);
        let bytes = text.as_bytes();
        let child = bytes.get(inside).map(|byte| *byte == b'<' && bytes.get(inside + 1) != Some(&b'/'));
        let found = match child {
            None => Scan::at_end(last),
            Some(true) => name_in_tag(text, inside, last, opened),
            Some(false) => inner(text, end, tag, last).map(|(name, end)| Opener {
                open: end,
                name: Some(name),
                body: end,
                end: Some(end),
                opened,
            }),
        };
        found.map(|found| (found, false))
    }

    /// Looks at what could open a parameter: with a tag of ours, or one of the `declared` names.
    pub fn parameter(&self, text: &str, last: bool, declared: &dyn Fn(&str) -> bool) -> Scan<Parameter> {
        let form = &self.parameter;
        if let Some(end) = form.usual(text) {
            let (tag, key) = (1..1 + form.words[0].len(), form.open.len()..end - form.end.len());
            return Scan::Match(Parameter { tag, key: Some(key), apart: false, empty: false, styled: false, end });
        }
        let mut limit = text.len().min(TAG_BYTES);
        while !text.is_char_boundary(limit) {
            limit -= 1;
        }
        let cut = limit < text.len();
        let (text, last) = (&text[..limit], last || cut);
        let start = usize::from(text.starts_with('<'));
        one_of(&text[start..], form.words, last)
            .and_then(|word| {
                let tag = start..start + word.len();
                let usual = start == 1 && &text[tag.clone()] == form.words[0];
                head(text, tag.end, last, Of::Parameter).and_then(|found| {
                    let styled = !usual || found.by_attribute;
                    let parameter = |key, apart, empty, styled, end| {
                        Scan::Match(Parameter { tag: tag.clone(), key: Some(key), apart, empty, styled, end })
                    };
                    match (found.name, found.end) {
                        _ if found.cut && !cut => Scan::NoMatch,
                        _ if found.more => Scan::Match(Parameter {
                            tag,
                            key: None,
                            apart: false,
                            empty: false,
                            styled,
                            end: found.from,
                        }),
                        (_, None) => Scan::NoMatch,
                        (Some(key), Some(end)) if is_name(&text[key.clone()]) => {
                            parameter(key, false, found.empty, styled, end)
                        }
                        (Some(_), _) => Scan::NoMatch,
                        (None, _) if found.empty || start == 0 => Scan::NoMatch,
                        (None, Some(end)) => inner(text, end, word, last).and_then(|(key, end)| {
                            if is_name(&text[key.clone()]) {
                                parameter(key, true, false, true, end)
                            } else {
                                Scan::NoMatch
                            }
                        }),
                    }
                })
            })
            .or(|| declared_tag(text, last, cut, declared))
    }

    /// Whether a parameter opens here, whatever its key.
    pub fn opens_parameter(&self, text: &str, last: bool, declared: &dyn Fn(&str) -> bool) -> Scan {
        let tag = text.strip_prefix('<').map_or(Scan::NoMatch, |inner| one_of(inner, self.parameter.words, last));
        match tag {
            Scan::Match(tag) if text.as_bytes()[1 + tag.len()] == b'=' => Scan::Match(()),
            _ => self.parameter(text, last, declared).map(|_| ()),
        }
    }

    /// Whether the tag of a parameter in the usual form is here, on a line of its own.
    pub fn opens_line(&self, text: &str, last: bool) -> Scan {
        let Form { open, end, .. } = &self.parameter;
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

    /// Whether something follows that may be in a function. Prose mentions tags, too.
    pub fn follows(&self, rest: &str, last: bool, (tag, name): (Tag, &str), declared: &dyn Fn(&str) -> bool) -> Scan {
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
        parameter.or(|| closed().or(|| tag.closes(rest, name, last)).map(|_| ()))
    }

    pub fn closes_function(&self, text: &str, last: bool) -> Scan<usize> {
        closes_one_of(text, self.call.words, last)
    }

    pub fn closes_parameter(&self, text: &str, last: bool) -> Scan<usize> {
        closes_one_of(text, self.parameter.words, last)
    }

    /// Whether a whole opening of a call is here, in the usual form.
    pub fn ends_reasoning(&self, text: &str, last: bool) -> Scan {
        if !self.call_ends_reasoning {
            return Scan::NoMatch;
        }
        starts(text, self.block_open, last).and_then(|()| {
            let end = first_chars(text, ATTEMPT_CHARS);
            let at = ws_run(&text[..end], self.block_open.len());
            starts(&text[at..end], self.call.open, last || end < text.len())
        })
    }
}

/// The name in a tag of its own.
fn name_in_tag(text: &str, at: usize, last: bool, opened: Opened) -> Scan<Opener> {
    one_of(&text[at + 1..], &NAMES, last).and_then(|tag| {
        let after = at + 1 + tag.len();
        match text.as_bytes().get(after) {
            Some(b'>') => inner(text, after + 1, tag, last).map(|(name, end)| Opener {
                open: end,
                name: Some(name),
                body: end,
                end: Some(end),
                opened,
            }),
            Some(_) => Scan::NoMatch,
            None => Scan::at_end(last),
        }
    })
}

/// A parameter whose tag is its declared key.
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
    head(text, tag.end, last, Of::Name).and_then(|found| match found.end {
        _ if found.cut && !cut => Scan::NoMatch,
        Some(end) if !found.more => {
            Scan::Match(Parameter { key: Some(tag.clone()), tag, apart: false, empty: found.empty, styled: true, end })
        }
        _ => Scan::Match(Parameter { tag, key: None, apart: false, empty: false, styled: true, end: found.from }),
    })
}
