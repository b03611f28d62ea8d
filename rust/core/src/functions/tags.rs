//! Tags: what opens a call, a function and a parameter, and what closes them. Their names are known in any case.

use std::ops::Range;

use crate::limits::{ATTEMPT_CHARS, NAME_CHARS};
use crate::scan::{first_chars, is_ws, ws_run};

pub const WRAPPER: &str = "tool_call";
/// The tag of a function in its usual form, and what models write for it.
pub(super) const FUNCTIONS: [&str; 4] = ["function", "call", "tool", "invoke"];
pub const PARAMETER: &str = "parameter";
pub(super) const PARAMETERS: [&str; 4] = [PARAMETER, "param", "argument", "arg"];
/// What opens them in the usual form.
const USUAL_WRAPPER: &str = "<tool_call>";
const USUAL_FUNCTION: &str = "<function=";
const USUAL_PARAMETER: &str = "<parameter=";
/// Tags with the name of a function in them.
const NAMES: [&str; 2] = ["name", "tool_name"];

/// Blanks in a closing tag, and bytes of an opening one: with more it is none.
const CLOSE_BLANKS: usize = 16;
const TAG_BYTES: usize = 1024;

/// What stands at a place of a text that may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look<T> {
    Need,
    No,
    Yes(T),
}

impl<T> Look<T> {
    /// The other one, where this one is not there.
    pub fn or(self, other: impl FnOnce() -> Look<T>) -> Look<T> {
        match self {
            Look::Yes(_) => self,
            Look::No => other(),
            Look::Need => match other() {
                Look::Yes(found) => Look::Yes(found),
                Look::No | Look::Need => Look::Need,
            },
        }
    }

    pub fn and_then<U>(self, made: impl FnOnce(T) -> Look<U>) -> Look<U> {
        match self {
            Look::Yes(found) => made(found),
            Look::No => Look::No,
            Look::Need => Look::Need,
        }
    }

    pub fn map<U>(self, made: impl FnOnce(T) -> U) -> Look<U> {
        self.and_then(|found| Look::Yes(made(found)))
    }
}

fn need<T>(last: bool) -> Look<T> {
    if last { Look::No } else { Look::Need }
}

impl Default for Tag {
    fn default() -> Self {
        Tag::Function(FUNCTIONS[0])
    }
}

/// What a function is written in; decides what closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// This one of [`FUNCTIONS`].
    Function(&'static str),
    /// The tool's own name.
    Own,
    /// The wrapper alone.
    Wrapper,
}

impl Tag {
    /// Does this close the function, which is called so? Gives the bytes of the closing tag.
    pub fn closes(self, text: &str, name: &str, last: bool) -> Look<usize> {
        match self {
            Tag::Function(tag) => closes(text, tag, last),
            Tag::Own => closes(text, name, last),
            Tag::Wrapper => Look::No,
        }
    }
}

/// How a function was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    pub wrapped: bool,
    pub tag: Tag,
    /// Nothing stands in it.
    pub empty: bool,
    /// In another form than the usual one.
    pub styled: bool,
}

/// The beginning of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opener {
    /// Bytes of its first tag.
    pub open: usize,
    pub name: Range<usize>,
    /// Where the first parameter may stand.
    pub body: usize,
    pub opened: Opened,
}

/// The beginning of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name of its tag.
    pub tag: Range<usize>,
    pub key: Range<usize>,
    /// The key stands between tags, so that nothing has to close the value.
    pub apart: bool,
    pub empty: bool,
    pub styled: bool,
    pub end: usize,
}

/// Does the text start with that word, case aside, with a tag's boundary behind it? Gives the place of the boundary.
pub fn begins(text: &str, word: &str, last: bool) -> Look<usize> {
    let known = text.len().min(word.len());
    if !text.as_bytes()[..known].eq_ignore_ascii_case(&word.as_bytes()[..known]) {
        return Look::No;
    }
    match text.as_bytes().get(word.len()) {
        Some(byte) if is_ws(*byte) || matches!(byte, b'>' | b'/' | b'=') => Look::Yes(word.len()),
        Some(_) => Look::No,
        None => need(last),
    }
}

/// Is this the closing tag of that name? Gives its bytes.
pub fn closes(text: &str, name: &str, last: bool) -> Look<usize> {
    let bytes = text.as_bytes();
    // As it most often is.
    if let Some(rest) = text.strip_prefix("</")
        && rest.as_bytes().get(name.len()) == Some(&b'>')
        && rest.starts_with(name)
    {
        return Look::Yes(name.len() + 3);
    }
    match bytes.get(1) {
        Some(b'/') => {}
        Some(_) => return Look::No,
        None => return need(last),
    }
    match begins(&text[2..], name, last) {
        Look::Yes(length) => {
            let end = ws_run(text, 2 + length);
            match bytes.get(end) {
                _ if end - (2 + length) > CLOSE_BLANKS => Look::No,
                Some(b'>') => Look::Yes(end + 1),
                Some(_) => Look::No,
                None => need(last),
            }
        }
        Look::Need => Look::Need,
        Look::No => Look::No,
    }
}

/// The end of a tag that begins so, and then has nothing but a name of plain characters: the usual form, told at once.
fn usual(text: &str, begin: &str) -> Option<usize> {
    let name = text.strip_prefix(begin)?;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let length = name.as_bytes().iter().position(|byte| !plain(byte))?;
    let ends = name.as_bytes()[length] == b'>' && (1..=NAME_CHARS).contains(&length);
    ends.then_some(begin.len() + length + 1)
}

/// What opens a function in the usual form.
fn usual_opener(text: &str, wrapper: bool) -> Option<Opener> {
    let wrapped = wrapper && text.starts_with(USUAL_WRAPPER);
    let at = if wrapped { ws_run(text, USUAL_WRAPPER.len()) } else { 0 };
    let end = at + usual(&text[at..], USUAL_FUNCTION)?;
    let open = if wrapped { USUAL_WRAPPER.len() } else { end };
    let opened = Opened { wrapped, ..Opened::default() };
    Some(Opener { open, name: at + USUAL_FUNCTION.len()..end - 1, body: end, opened })
}

/// The first of the words that the text behind `<` starts with.
fn one_of(text: &str, words: &[&'static str], last: bool) -> Look<&'static str> {
    let mut found = Look::No;
    for word in words {
        found = found.or(|| begins(text, word, last).map(|_| *word));
    }
    found
}

/// What stands in an opening tag behind its name.
struct Attributes {
    /// Behind `=`, or of the attribute `name`.
    value: Option<Range<usize>>,
    styled: bool,
    empty: bool,
    end: usize,
}

fn attributes(text: &str, from: usize, last: bool) -> Look<Attributes> {
    let mut limit = text.len().min(from + TAG_BYTES);
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    let (text, last) = (&text[..limit], last || limit < text.len());
    let bytes = text.as_bytes();
    let mut found = Attributes { value: None, styled: false, empty: false, end: 0 };
    let mut at = from;
    if bytes.get(at) == Some(&b'=') {
        match value(text, ws_run(text, at + 1), last) {
            Look::Yes((range, end)) => (found.value, at) = (Some(range), end),
            Look::Need => return Look::Need,
            Look::No => return Look::No,
        }
    }
    loop {
        let next = ws_run(text, at);
        match (bytes.get(next), bytes.get(next + 1)) {
            (Some(b'>'), _) => {
                found.end = next + 1;
                return Look::Yes(found);
            }
            (Some(b'/'), Some(b'>')) => {
                (found.empty, found.end) = (true, next + 2);
                return Look::Yes(found);
            }
            (None, _) | (Some(b'/'), None) => return need(last),
            (Some(b'/'), _) => return Look::No,
            _ if next == at => return Look::No,
            _ => {}
        }
        let key = next..word_end(text, next);
        let equals = ws_run(text, key.end);
        match bytes.get(equals) {
            Some(b'=') if !key.is_empty() => {}
            None => return need(last),
            Some(_) => return Look::No,
        }
        match value(text, ws_run(text, equals + 1), last) {
            Look::Yes((range, end)) => {
                if found.value.is_none() && text[key].eq_ignore_ascii_case("name") {
                    (found.value, found.styled) = (Some(range), true);
                }
                at = end;
            }
            Look::Need => return Look::Need,
            Look::No => return Look::No,
        }
    }
}

/// Where a word ends: at a blank, or at what is special in a tag.
fn word_end(text: &str, from: usize) -> usize {
    let ends = |byte: &u8| is_ws(*byte) || matches!(byte, b'<' | b'>' | b'=' | b'/' | b'"' | b'\'');
    text.as_bytes()[from..].iter().position(ends).map_or(text.len(), |length| from + length)
}

/// A value in a tag, in quotes or not, and where it ends.
fn value(text: &str, from: usize, last: bool) -> Look<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    match bytes.get(from) {
        None => need(last),
        Some(&quote @ (b'"' | b'\'')) => match memchr::memchr(quote, &bytes[from + 1..]) {
            Some(length) => Look::Yes((from + 1..from + 1 + length, from + length + 2)),
            None => need(last),
        },
        Some(_) => {
            let ends = |byte: &u8| is_ws(*byte) || matches!(byte, b'<' | b'>' | b'"' | b'\'');
            let Some(length) = bytes[from..].iter().position(ends) else { return need(last) };
            let mut end = from + length;
            if bytes[end] == b'>' && bytes[end - 1] == b'/' && length > 1 {
                end -= 1;
            }
            if end == from { Look::No } else { Look::Yes((from..end, end)) }
        }
    }
}

/// A text up to the closing tag of that name: its range without blanks around it, and where the tag ends.
fn inner(text: &str, from: usize, tag: &str, last: bool) -> Look<(Range<usize>, usize)> {
    let start = ws_run(text, from);
    let limit = start + first_chars(&text[start..], NAME_CHARS + CLOSE_BLANKS);
    let Some(length) = memchr::memchr(b'<', &text.as_bytes()[start..limit]) else {
        return need(last || limit < text.len());
    };
    let name = text[start..start + length].trim_end_matches([' ', '\t', '\r', '\n']);
    let range = start..start + name.len();
    closes(&text[start + length..], tag, last).map(|end| (range, start + length + end))
}

/// Are there names that need no tag of a function: this one, or with `true` one that begins so?
pub type Known<'k> = &'k dyn Fn(&str, bool) -> bool;

/// Looks at what could open a call, in a block or, with `wrapper`, with the block's own tag.
pub fn opener(text: &str, last: bool, wrapper: bool, known: Known<'_>) -> Look<Opener> {
    let end = first_chars(text, ATTEMPT_CHARS);
    let (text, last) = (&text[..end], last || end < text.len());
    if let Some(found) = usual_opener(text, wrapper) {
        return Look::Yes(found);
    }
    let (mut at, mut open, mut opened) = (0, 0, Opened::default());
    let inside = if wrapper && text.starts_with('<') { begins(&text[1..], WRAPPER, last) } else { Look::No };
    match inside {
        Look::Need => return Look::Need,
        Look::No => {}
        Look::Yes(length) => match attributes(text, 1 + length, last) {
            Look::Yes(Attributes { value: None, empty: false, end, .. }) => {
                opened.wrapped = true;
                (at, open) = (ws_run(text, end), end);
            }
            Look::Yes(Attributes { value: Some(name), empty, end, .. }) => {
                opened = Opened { wrapped: true, tag: Tag::Wrapper, empty, styled: true };
                return named(text, Opener { open: end, name, body: end, opened });
            }
            Look::Need => return Look::Need,
            Look::Yes(_) | Look::No => return Look::No,
        },
    }
    function(text, at, last, opened, known).and_then(|mut found| {
        if open > 0 {
            found.open = open;
        }
        named(text, found)
    })
}

/// Only with a name that a tool could have.
fn named(text: &str, found: Opener) -> Look<Opener> {
    if is_name(&text[found.name.clone()]) { Look::Yes(found) } else { Look::No }
}

/// Can it be written as a name in a tag?
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| !c.is_control() && !c.is_whitespace() && !matches!(c, '<' | '>' | '"' | '\'');
    !name.is_empty() && first_chars(name, NAME_CHARS) == name.len() && name.chars().all(fits)
}

fn function(text: &str, at: usize, last: bool, opened: Opened, known: Known<'_>) -> Look<Opener> {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.get(at) else { return need(last) };
    let start = at + usize::from(first == b'<');
    if first != b'<' && !opened.wrapped {
        return Look::No;
    }
    match one_of(&text[start..], &FUNCTIONS, last) {
        Look::Need => return Look::Need,
        Look::Yes(tag) => {
            let opened = Opened { tag: Tag::Function(tag), ..opened };
            let styled = tag != FUNCTIONS[0] || !text[start..].starts_with(tag) || first != b'<';
            return match attributes(text, start + tag.len(), last) {
                Look::Yes(Attributes { value: Some(name), styled: other, empty, end }) => {
                    let opened = Opened { empty, styled: styled || other, ..opened };
                    Look::Yes(Opener { open: end, name, body: end, opened })
                }
                Look::Yes(Attributes { empty: false, end, .. }) if first == b'<' => {
                    let opened = Opened { styled: true, ..opened };
                    let inside = ws_run(text, end);
                    let child = bytes.get(inside).map(|byte| *byte == b'<' && bytes.get(inside + 1) != Some(&b'/'));
                    match child {
                        None => need(last),
                        Some(true) => name_in_tag(text, inside, last, opened),
                        Some(false) => {
                            inner(text, end, tag, last).map(|(name, end)| Opener { open: end, name, body: end, opened })
                        }
                    }
                }
                Look::Yes(_) | Look::No => Look::No,
                Look::Need => Look::Need,
            };
        }
        Look::No => {}
    }
    if opened.wrapped && first == b'<' {
        match name_in_tag(text, at, last, Opened { tag: Tag::Wrapper, styled: true, ..opened }) {
            Look::No => {}
            found => return found,
        }
    }
    let name = start..word_end(text, start);
    if name.end == bytes.len() && !last {
        return if known(&text[name], true) { Look::Need } else { Look::No };
    }
    if name.is_empty() || !known(&text[name.clone()], false) {
        return Look::No;
    }
    if first != b'<' {
        let opened = Opened { tag: Tag::Wrapper, styled: true, ..opened };
        return Look::Yes(Opener { open: name.end, body: name.end, name, opened });
    }
    attributes(text, name.end, last).and_then(|found| match found.value {
        Some(_) => Look::No,
        None => {
            let opened = Opened { tag: Tag::Own, empty: found.empty, styled: true, ..opened };
            Look::Yes(Opener { open: found.end, body: found.end, name, opened })
        }
    })
}

/// The name in a tag of its own.
fn name_in_tag(text: &str, at: usize, last: bool, opened: Opened) -> Look<Opener> {
    one_of(&text[at + 1..], &NAMES, last).and_then(|tag| {
        let behind = at + 1 + tag.len();
        match text.as_bytes().get(behind) {
            Some(b'>') => {
                inner(text, behind + 1, tag, last).map(|(name, end)| Opener { open: end, name, body: end, opened })
            }
            Some(_) => Look::No,
            None => need(last),
        }
    })
}

/// Looks at what could open a parameter: with a tag of ours, or one of the `declared` names.
pub fn parameter(text: &str, last: bool, declared: &dyn Fn(&str) -> bool) -> Look<Parameter> {
    if let Some(end) = usual(text, USUAL_PARAMETER) {
        let (tag, key) = (1..1 + PARAMETER.len(), USUAL_PARAMETER.len()..end - 1);
        return Look::Yes(Parameter { tag, key, apart: false, empty: false, styled: false, end });
    }
    let start = usize::from(text.starts_with('<'));
    let ours = one_of(&text[start..], &PARAMETERS, last).and_then(|word| {
        let tag = start..start + word.len();
        let usual = start == 1 && &text[tag.clone()] == PARAMETERS[0];
        attributes(text, tag.end, last).and_then(|found| {
            let Attributes { value, styled, empty, end } = found;
            let styled = styled || !usual;
            match value {
                Some(key) => {
                    let parameter = Parameter { tag, key, apart: false, empty, styled, end };
                    if is_name(&text[parameter.key.clone()]) { Look::Yes(parameter) } else { Look::No }
                }
                None if empty || start == 0 => Look::No,
                None => inner(text, end, word, last).and_then(|(key, end)| {
                    let parameter = Parameter { tag, key, apart: true, empty: false, styled: true, end };
                    if is_name(&text[parameter.key.clone()]) { Look::Yes(parameter) } else { Look::No }
                }),
            }
        })
    });
    ours.or(|| {
        if start == 0 {
            return Look::No;
        }
        let tag = start..word_end(text, start);
        let cut = first_chars(&text[tag.clone()], NAME_CHARS) < tag.len();
        match text.as_bytes().get(tag.end) {
            None if !cut => return need(last),
            _ if cut || tag.is_empty() || !declared(&text[tag.clone()]) => return Look::No,
            _ => {}
        }
        attributes(text, tag.end, last).and_then(|found| match found.value {
            Some(_) => Look::No,
            None => {
                let Attributes { empty, end, .. } = found;
                Look::Yes(Parameter { key: tag.clone(), tag, apart: false, empty, styled: true, end })
            }
        })
    })
}

/// Does a parameter open here, whatever its key?
pub fn opens_parameter(text: &str, last: bool, declared: &dyn Fn(&str) -> bool) -> Look<()> {
    if text.starts_with(USUAL_PARAMETER) {
        return Look::Yes(());
    }
    let tag = text.strip_prefix('<').map_or(Look::No, |inner| one_of(inner, &PARAMETERS, last));
    match tag {
        Look::Yes(tag) if text.as_bytes()[1 + tag.len()] == b'=' => Look::Yes(()),
        _ => parameter(text, last, declared).map(|_| ()),
    }
}

/// Does this tag open here, with a name in it?
pub fn opens(text: &str, tag: &str, last: bool) -> Look<usize> {
    begins(&text[1..], tag, last).and_then(|length| {
        attributes(text, 1 + length, last)
            .and_then(|found| if found.value.is_some() { Look::Yes(found.end) } else { Look::No })
    })
}

pub fn closes_function(text: &str, last: bool) -> Look<usize> {
    closes_one_of(text, &FUNCTIONS, last)
}

pub fn closes_parameter(text: &str, last: bool) -> Look<usize> {
    closes_one_of(text, &PARAMETERS, last)
}

fn closes_one_of(text: &str, words: &[&'static str], last: bool) -> Look<usize> {
    let mut found = Look::No;
    for word in words {
        found = found.or(|| closes(text, word, last));
    }
    found
}
