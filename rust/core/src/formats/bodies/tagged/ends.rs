//! Where a value ends. It is raw text, so only the tags of its call tell; where these are nearly right, the call is an error.

use super::{CDATA, HEAD_CHARS, Head, Tags};
use crate::arguments::Context;
use crate::limits::NAME_CHARS;
use crate::syntax::scan::{Scan, first_chars, first_mark, starts, trim, window, ws_run};
use crate::syntax::tags::names_near;

/// Characters of whitespace between two closers of one value.
const NEAR_CHARS: usize = 64;

/// Bytes of a closer that is written twice, the first time in part.
const PART_BYTES: usize = 5;

/// What a mark in a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueEnd {
    /// Its closer, so many bytes long.
    Closer(usize),
    /// The same, but that of the call is missing.
    Unclosed(usize),
    /// Its closer, written twice.
    Doubled(usize),
    /// The end of the call: the closer is missing.
    CallCloser,
    /// The next argument: the closer is missing.
    Argument,
    /// Its closer, but nothing follows that may follow it: text.
    Kept,
    /// A call of a declared tool is opened: the value quotes it.
    Call,
    /// A tag of the call where it cannot be: the value could have ended before.
    Ambiguous,
}

/// The first tag of a call in a value that was taken for text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum QuotedTag {
    #[default]
    None,
    /// The closer of a value: any tag that follows could be meant.
    Closer,
    /// The opener of a call: what follows is quoted, too.
    Call,
}

/// What decides whether the value ends.
#[derive(Clone, Copy)]
pub(super) struct ValueContext<'a> {
    pub cx: &'a Context<'a>,
    /// It is between [`CDATA`].
    pub cdata: bool,
    /// The first tag of a call in it, which was taken for text.
    pub quoted: QuotedTag,
    /// A space precedes, as in prose about tags.
    pub spaced: bool,
    /// An argument's tag was a near miss, so others may be.
    pub near: bool,
    /// Nothing follows.
    pub last: bool,
}

impl ValueContext<'_> {
    fn declares(&self, key: &str) -> bool {
        self.cx.schema.declares(self.cx.schema.root, key)
    }

    fn names_tool(&self, name: &str) -> bool {
        self.cx.tools.is_some_and(|tools| tools.find(name).is_some())
    }

    /// Whether a misspelled tag of an argument or of a call may follow a closer.
    fn names(&self, tags: &Tags, text: (&str, &str)) -> Scan {
        let word = tags.argument.split(|c: char| !c.is_alphanumeric()).rfind(|word| !word.is_empty());
        let is_name = |name: &str| self.declares(name) || self.names_tool(name);
        names_near(text, tags.argument_close, word.unwrap_or_default(), self.last, &is_name)
    }
}

impl Tags {
    /// What a value's mark is, at its first character. `looked`: bytes that were already scanned.
    pub(super) fn value_end(&self, rest: &str, around: ValueContext<'_>, looked: &mut usize) -> Scan<ValueEnd> {
        let last = around.last;
        if around.cdata {
            let inner = ValueContext { cdata: false, ..around };
            return starts(rest, CDATA.1, last).and_then(|()| {
                let from = CDATA.1.len();
                let closed = self.value_end(&rest[from..], inner, looked);
                closed.and_then(|end| match end {
                    ValueEnd::Closer(length) => Scan::Match(ValueEnd::Closer(from + length)),
                    ValueEnd::Unclosed(length) => Scan::Match(ValueEnd::Unclosed(from + length)),
                    ValueEnd::Doubled(length) => Scan::Match(ValueEnd::Doubled(from + length)),
                    ValueEnd::CallCloser
                    | ValueEnd::Argument
                    | ValueEnd::Kept
                    | ValueEnd::Call
                    | ValueEnd::Ambiguous => Scan::NoMatch,
                })
            });
        }
        // The end of the part ends the call.
        match first_mark(rest, self.part_ends, last) {
            Scan::Match(_) if around.quoted == QuotedTag::Closer => return Scan::Match(ValueEnd::Ambiguous),
            Scan::Match(_) => return Scan::Match(ValueEnd::CallCloser),
            Scan::Incomplete => return Scan::Incomplete,
            Scan::NoMatch => {}
        }
        match starts(rest, self.argument_close, last) {
            Scan::Match(()) => self.at_closer(rest, around, looked),
            closer => closer.map(|()| ValueEnd::Kept).or(|| self.without_closer(rest, around, looked)),
        }
    }

    /// What may follow a value's closer: with `false`, only where the closer of the call is missing.
    fn follows_value(&self, text: &str, last: bool) -> Scan<bool> {
        let part = || first_mark(text, self.part_ends, last);
        let own = first_mark(text, &[self.argument, self.close], last).or(part).map(|_| true);
        own.or(|| first_mark(text, &[self.open], last).or(|| first_mark(text, self.section_ends, last)).map(|_| false))
    }

    /// Matches a near miss of an argument's tag, if there was one before in the call. Returns whether the tool declares the key.
    fn near_argument(&self, text: &str, around: ValueContext<'_>) -> Scan<bool> {
        match &self.argument_tag {
            Some(tag) if around.near => {
                tag.read(text, around.last).map(|tag| around.declares(trim(&text[tag.name.clone()])))
            }
            _ => Scan::NoMatch,
        }
    }

    /// The end of the whitespace that may follow a closer.
    fn after_closer(&self, rest: &str, length: usize, looked: &mut usize) -> usize {
        if self.spaced {
            *looked = ws_run(rest, length.max(*looked));
            *looked
        } else {
            length
        }
    }

    fn at_closer(&self, rest: &str, around: ValueContext<'_>, looked: &mut usize) -> Scan<ValueEnd> {
        let (length, last) = (self.argument_close.len(), around.last);
        let end = self.after_closer(rest, length, looked);
        let after = &rest[end..];
        if after.is_empty() {
            return if last { Scan::Match(ValueEnd::Closer(length)) } else { Scan::Incomplete };
        }
        let closed = self.follows_value(after, last).map(|own| match own {
            true => ValueEnd::Closer(length),
            false => ValueEnd::Unclosed(length),
        });
        let near = || self.near_argument(after, around).map(|_| ValueEnd::Closer(length));
        let doubled = || {
            // A value may end in its own closer, on a line before the other one.
            if around.quoted == QuotedTag::Closer || (self.line_breaks && end > length) {
                return Scan::NoMatch;
            }
            starts(after, self.argument_close, last).and_then(|()| {
                let (inner, ended) = window(&after[length..], NEAR_CHARS, last);
                let blanks = if self.spaced { ws_run(inner, 0) } else { 0 };
                match &after[length + blanks..] {
                    "" if last => Scan::Match(()),
                    "" if !ended => Scan::Incomplete,
                    inner => self.follows_value(inner, last).void(),
                }
                .map(|()| ValueEnd::Doubled(end + length))
            })
        };
        match closed.or(near).or(doubled) {
            Scan::NoMatch => match around.names(self, (&rest[length..end], after)) {
                Scan::Match(()) => Scan::Match(ValueEnd::Ambiguous),
                Scan::Incomplete => Scan::Incomplete,
                Scan::NoMatch => Scan::Match(ValueEnd::Kept),
            },
            found => found,
        }
    }

    /// At a mark that is not the value's closer.
    fn without_closer(&self, rest: &str, around: ValueContext<'_>, looked: &mut usize) -> Scan<ValueEnd> {
        let last = around.last;
        let mut closed = || {
            starts(rest, self.close, last).and_then(|()| {
                let end = self.after_closer(rest, self.close.len(), looked);
                match &rest[end..] {
                    "" if last => Scan::Match(()),
                    "" => Scan::Incomplete,
                    after => {
                        let ends = [self.open].into_iter().chain(self.section_ends.iter().copied());
                        Scan::first_of(ends.map(|mark| starts(after, mark, last)))
                    }
                }
            })
        };
        match (around.quoted, &self.head) {
            (QuotedTag::None, _) => {
                let argument = || match around.spaced {
                    true => Scan::NoMatch,
                    false => {
                        let near = || self.near_argument(rest, around).filter(|declared| *declared).void();
                        self.opens_argument(rest, around).or(near).map(|()| ValueEnd::Argument)
                    }
                };
                let call = || self.opens_call(rest, around).map(|()| ValueEnd::Call);
                let part = || self.in_part(rest, last).map(|()| ValueEnd::Ambiguous);
                closed().map(|()| ValueEnd::CallCloser).or(argument).or(call).or(part)
            }
            (QuotedTag::Call, Head::Text(_)) => closed().map(|()| ValueEnd::CallCloser),
            (QuotedTag::Call, Head::Attributes(_)) => Scan::NoMatch,
            (QuotedTag::Closer, _) if around.spaced => closed().map(|()| ValueEnd::Ambiguous),
            (QuotedTag::Closer, head) => {
                let inner = if let Head::Text(text) = head { [text.key_close, text.value] } else { ["", ""] };
                let inner = inner.into_iter().filter(|mark| mark.starts_with('<'));
                let marks =
                    [self.argument, self.open].into_iter().chain(inner).chain(self.section_ends.iter().copied());
                let found = Scan::first_of(marks.map(|mark| starts(rest, mark, last)));
                let near = || self.near_argument(rest, around).void();
                found.or(closed).or(near).map(|()| ValueEnd::Ambiguous)
            }
        }
    }

    /// Whether the next argument is opened here, one that the tool declares.
    fn opens_argument(&self, rest: &str, around: ValueContext<'_>) -> Scan {
        starts(rest, self.argument, around.last).and_then(|()| {
            let rest = &rest[self.argument.len()..];
            let key = match &self.head {
                Head::Text(text) => between(rest, text.key_close, around.last),
                Head::Attributes(attributes) => {
                    let (head, ended) = window(rest, HEAD_CHARS, around.last);
                    attributes.read(head, None, ended).and_then(|found| Scan::some(found.value(head, attributes.key)))
                }
            };
            key.filter(|key| around.declares(trim(&rest[key.clone()]))).void()
        })
    }

    /// Whether a call of a declared tool is opened here.
    fn opens_call(&self, rest: &str, around: ValueContext<'_>) -> Scan {
        starts(rest, self.open, around.last).and_then(|()| {
            let (head, ended) = window(&rest[self.open.len()..], HEAD_CHARS, around.last);
            let name = match &self.head {
                Head::Text(text) => {
                    let begin = ws_run(head, 0);
                    match head[begin..].find(|c: char| text.ends_name(c)) {
                        None => Scan::at_end(ended),
                        Some(length) => Scan::Match(begin..begin + length),
                    }
                }
                Head::Attributes(attributes) => attributes
                    .read(head, attributes.empty, ended)
                    .and_then(|found| Scan::some(found.value(head, attributes.tool))),
            };
            name.filter(|name| around.names_tool(&head[name.clone()])).void()
        })
    }
}

impl Tags {
    /// True if the closer follows its own first marker, which is then written twice.
    fn in_part(&self, rest: &str, last: bool) -> Scan {
        let same = rest.chars().zip(self.argument_close.chars()).take_while(|(a, b)| a == b);
        let part = same.map(|(c, _)| c.len_utf8()).sum::<usize>();
        match part >= PART_BYTES && rest[..part].ends_with(['|', '>', '｜']) {
            true => starts(&rest[part..], self.argument_close, last),
            false => Scan::NoMatch,
        }
    }
}

/// A key up to what closes it.
fn between(text: &str, close: &str, last: bool) -> Scan<std::ops::Range<usize>> {
    let limit = first_chars(text, NAME_CHARS);
    let bytes = &text.as_bytes()[..text.len().min(limit + close.len())];
    let stop = bytes.iter().position(|byte| matches!(byte, b'<' | b'\n') && !close.as_bytes().starts_with(&[*byte]));
    match memchr::memmem::find(bytes, close.as_bytes()) {
        Some(end) if stop.is_none_or(|stop| end < stop) => Scan::Match(0..end),
        None if stop.is_none() && text.len() < limit + close.len() => Scan::at_end(last),
        _ => Scan::NoMatch,
    }
}
