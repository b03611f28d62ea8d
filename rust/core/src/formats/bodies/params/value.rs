//! The value of one parameter: verbatim text up to the tag that ends it.

use std::borrow::Cow;
use std::mem::take;

use super::typing::write_text;
use crate::arguments::{Context, Flow, Input, Progress, ReadError, Report, Slot};
use crate::error::ErrorKind;
use crate::limits::NAME_CHARS;
use crate::schema::Choice;
use crate::syntax::json::is_plain;
use crate::syntax::quoting::Alternation;
use crate::syntax::scan::{Scan, has_line_break, starts, window, ws_run};
use crate::syntax::tags::{CallTag, ElementRow, closes, names_near};

/// What a tag in a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TagInValue {
    /// Its closing tag, of this many bytes.
    Close(usize),
    /// Its closing tag, written twice.
    Doubled(usize),
    /// Another tag, before which it ends.
    Before,
    /// Text that looks like a tag, so that the value must be closed by its own tag.
    Text,
    /// Text, though it is a closing tag like its own, of this many bytes: nothing that may follow a parameter follows.
    Kept(usize),
    /// The same, but what follows could be a misspelled tag of the call.
    Ambiguous(usize),
}

/// How a value ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// With its closing tag.
    Closed,
    /// With its closing tag, written twice.
    Doubled,
    /// Before another tag.
    Unclosed,
}

/// What is around a value, which decides what ends it.
struct AroundValue<'a> {
    /// The tag of the function, and the tool's name.
    function: (CallTag, &'a str),
    declared: &'a dyn Fn(&str) -> bool,
    /// Nothing follows the text.
    last: bool,
}

/// How a tag is opened; decides what closes it.
#[derive(Debug)]
pub(super) struct ValueTag {
    row: &'static ElementRow,
    /// The name of the tag.
    tag: Cow<'static, str>,
    /// In another form than the usual one.
    styled: bool,
    /// The key was between tags.
    pub apart: bool,
}

#[derive(Debug)]
pub(super) struct ParameterValue {
    pub opened: ValueTag,
    /// A tag of a call was taken for text: then its own closing tag must end it.
    pub kept: bool,
    /// `None` where the call has failed.
    slot: Option<Slot>,
    /// Its parts are streamed.
    live: bool,
    /// They are streamed once the value cannot be null.
    perhaps_null: bool,
    text: String,
    /// After a kept closing tag: the quotes of the text since then. Had the tag ended the value, the model would have written
    /// something else here, and a closing tag in its quotes would be content.
    since: Option<Alternation>,
    /// Nothing was read: a line break here is the tag's.
    start: bool,
    /// A line break was read that may be the closing tag's.
    pending: bool,
    /// A line begins here.
    line: bool,
    /// Bytes after a `<` that were already scanned.
    looked: usize,
}

impl ParameterValue {
    pub(super) fn new(row: &'static ElementRow) -> Self {
        ParameterValue {
            opened: ValueTag { row, tag: Cow::Borrowed(row.parameter.words[0]), styled: false, apart: false },
            kept: false,
            slot: None,
            live: false,
            perhaps_null: false,
            text: String::new(),
            since: None,
            start: true,
            pending: false,
            line: false,
            looked: 0,
        }
    }

    pub(super) fn open(&mut self, tag: &str, apart: bool, styled: bool) {
        let row = self.opened.row;
        let word = row.parameter.words[0];
        let tag = if tag == word { Cow::Borrowed(word) } else { Cow::Owned(tag.to_owned()) };
        let opened = ValueTag { row, tag, styled, apart };
        *self = ParameterValue { opened, ..self.fresh(row) };
    }

    /// A new one, with the allocation of this one.
    pub(super) fn fresh(&mut self, row: &'static ElementRow) -> Self {
        self.text.clear();
        ParameterValue { text: take(&mut self.text), ..ParameterValue::new(row) }
    }

    /// It is written into that slot.
    pub(super) fn begin(&mut self, cx: &Context<'_>, report: &mut Report, mut slot: Slot) -> Result<(), ReadError> {
        let choices = &cx.schema.node(slot.node()).choices;
        self.live = slot.is_string(cx);
        self.perhaps_null = choices.len() == 2 && choices.contains(&Choice::String) && choices.contains(&Choice::Null);
        if self.live {
            slot.start(cx, report)?;
        }
        self.slot = Some(slot);
        Ok(())
    }

    /// The call has failed: only the value's end is searched for.
    pub(super) fn fail(&mut self) {
        (self.slot, self.live, self.perhaps_null) = (None, false, false);
    }

    /// See [`Body::feed_plain`](crate::body::Body::feed_plain).
    pub(super) fn feed_plain(&mut self, report: &mut Report, text: &str) -> Option<bool> {
        if !self.live || memchr::memchr(b'<', text.as_bytes()).is_some() {
            return None;
        }
        let plain = !self.pending && text.bytes().all(is_plain);
        self.take(report, text);
        Some(plain)
    }

    fn write(&mut self, report: &mut Report, part: &str) {
        match &self.slot {
            Some(slot) if self.live => slot.push(report, part),
            Some(_) => self.text.push_str(part),
            None => {}
        }
    }

    /// Takes text that does not end the value.
    fn take(&mut self, report: &mut Report, mut part: &str) {
        if part.is_empty() {
            return;
        }
        self.line = part.ends_with('\n');
        if let Some(quotes) = &mut self.since {
            quotes.run(part);
        }
        if self.opened.row.line_breaks {
            if take(&mut self.start) {
                part = part.strip_prefix('\n').unwrap_or(part);
            }
            if part.is_empty() {
                return;
            }
            if take(&mut self.pending) {
                self.write(report, "\n");
            }
            if let Some(text) = part.strip_suffix('\n') {
                (part, self.pending) = (text, true);
            }
        }
        self.write(report, part);
    }

    /// Streams text that could have been null, once it cannot be null.
    fn go_live(&mut self, cx: &Context<'_>, report: &mut Report) -> Result<(), ReadError> {
        let text = self.text.as_str();
        if !self.perhaps_null || "null".starts_with(text) || "None".starts_with(text) {
            return Ok(());
        }
        self.perhaps_null = false;
        if let Some(slot) = &mut self.slot {
            slot.start(cx, report)?;
            slot.push(report, text);
            self.live = true;
            self.text.clear();
        }
        Ok(())
    }

    /// Reads on from `input.at` to the value's end.
    pub(super) fn read(&mut self, input: &mut Input<'_>, function: CallTag) -> Flow<Ended> {
        let cx = input.cx;
        let declared = |name: &str| cx.schema.declares(cx.schema.root, name);
        let around = AroundValue { function: (function, cx.tool), declared: &declared, last: input.last };
        loop {
            let rest = input.rest();
            let end = memchr::memchr(b'<', rest.as_bytes());
            if end != Some(0) {
                let part = &rest[..end.unwrap_or(rest.len())];
                self.take(input.report, part);
                input.at += part.len();
                self.go_live(&cx, input.report)?;
                if end.is_none() {
                    return Err(Progress::Incomplete);
                }
            }
            let twice = match self.start {
                true => {
                    let tag = self.opened.row.parameter(input.rest(), input.last, &|_| false).decided()?;
                    tag.and_then(|tag| tag.key).is_some_and(|key| declared(&input.rest()[key]))
                }
                false => false,
            };
            let quoted = self.since.and_then(Alternation::open).is_some();
            let found = self.opened.end(input.rest(), &around, self.line, &mut self.looked).decided()?;
            match found {
                Some(TagInValue::Close(_) | TagInValue::Doubled(_) | TagInValue::Before)
                    if quoted && self.slot.is_some() =>
                {
                    return self.ambiguous(cx.tool);
                }
                Some(TagInValue::Ambiguous(_)) if self.slot.is_some() => return self.ambiguous(cx.tool),
                _ if twice && self.slot.is_some() => return self.ambiguous(cx.tool),
                Some(TagInValue::Close(length)) if !quoted => {
                    input.at += length;
                    return Ok(Ended::Closed);
                }
                Some(TagInValue::Doubled(length)) if !quoted => {
                    input.at += length;
                    return Ok(Ended::Doubled);
                }
                Some(TagInValue::Before) if !quoted => return Ok(Ended::Unclosed),
                Some(TagInValue::Kept(length) | TagInValue::Ambiguous(length)) => {
                    (self.kept, self.looked) = (true, 0);
                    let tag = &input.window[input.at..input.at + length];
                    self.take(input.report, tag);
                    self.since.get_or_insert(Alternation::CLOSED);
                    input.at += length;
                    self.go_live(&cx, input.report)?;
                }
                found => {
                    let near = self.opened.nearly_closes(input.rest(), &around).decided()?;
                    self.kept |= near.is_some() || found == Some(TagInValue::Text);
                    self.looked = 0;
                    self.take(input.report, "<");
                    input.at += 1;
                    self.go_live(&cx, input.report)?;
                }
            }
        }
    }

    fn ambiguous<T>(&self, tool: &str) -> Flow<T> {
        let message = format!(
            "{tool}: the value contains tags of its call, so its end is ambiguous. Write the arguments as one JSON object."
        );
        Err((ErrorKind::MalformedCall, message).into())
    }

    /// The value is complete.
    pub(super) fn end(&mut self, cx: &Context<'_>, report: &mut Report) -> Result<(), ReadError> {
        let Some(slot) = self.slot.take() else { return Ok(()) };
        if self.live {
            return slot.end(report);
        }
        let (row, text) = (self.opened.row, &self.text);
        slot.write(cx, report, |report, at| write_text(cx, report, row.python, at, text))
    }
}

impl ValueTag {
    /// What this `<` begins. `line`: it is at the start of a line.
    fn end(&self, rest: &str, around: &AroundValue<'_>, line: bool, looked: &mut usize) -> Scan<TagInValue> {
        let (row, &AroundValue { function: (tag, name), declared, last }) = (self.row, around);
        match closes(rest, &self.tag, last) {
            Scan::Match(length) => {
                return match self.closed(rest, length, around, looked) {
                    Scan::Match(()) => Scan::Match(TagInValue::Close(length)),
                    Scan::NoMatch => self.not_closed(rest, length, around),
                    Scan::Incomplete => Scan::Incomplete,
                };
            }
            Scan::Incomplete => return Scan::Incomplete,
            Scan::NoMatch if line => {}
            Scan::NoMatch => return Scan::NoMatch,
        }
        let next = match self.apart {
            true => row
                .parameter(rest, last, declared)
                .and_then(|it| if it.apart { Scan::Match(()) } else { Scan::NoMatch }),
            false => row.opens_line(rest, last),
        };
        let next = next.or(|| {
            tag.closes(rest, name, last).and_then(|length| {
                let end = ws_run(rest, length.max(*looked));
                *looked = end;
                if end == rest.len() { Scan::at_end(last) } else { closes(&rest[end..], row.block, last).map(|_| ()) }
            })
        });
        match next {
            Scan::Match(()) => Scan::Match(TagInValue::Before),
            Scan::Incomplete => Scan::Incomplete,
            Scan::NoMatch => starts(rest, row.block_open, last)
                .or(|| starts(rest, row.call.open, last))
                .or(|| starts(rest, row.parameter.open, last))
                .map(|()| TagInValue::Text),
        }
    }

    /// At a closing tag like its own, of this many bytes, which nothing follows that may follow a parameter.
    fn not_closed(&self, rest: &str, length: usize, around: &AroundValue<'_>) -> Scan<TagInValue> {
        let end = ws_run(rest, length);
        let after = &rest[end..];
        // A value may end in its own closing tag, on a line before the other one.
        let again =
            if end > length && self.row.line_breaks { Scan::NoMatch } else { closes(after, &self.tag, around.last) };
        let twice = again.and_then(|again| {
            let blanks = ws_run(after, again) - again;
            let closed = if blanks > NAME_CHARS { Scan::NoMatch } else { self.closed(after, again, around, &mut 0) };
            closed.map(|()| TagInValue::Doubled(end + again))
        });
        if twice != Scan::NoMatch {
            return twice;
        }
        let is_name = |name: &str| name == around.function.1 || (around.declared)(name);
        let (close, word) = (self.row.parameter_close, self.row.parameter.words[0]);
        match names_near((&rest[length..end], after), close, word, around.last, &is_name) {
            Scan::Match(()) => Scan::Match(TagInValue::Ambiguous(length)),
            Scan::NoMatch => Scan::Match(TagInValue::Kept(length)),
            Scan::Incomplete => Scan::Incomplete,
        }
    }

    /// Whether a closing tag is here as models misspell it: `</parameter/>`, `</parameter1>`, `</argument>`, `<parameter>`, or with a declared
    /// key.
    fn nearly_closes(&self, rest: &str, around: &AroundValue<'_>) -> Scan {
        let (text, last) = window(rest, NAME_CHARS, around.last);
        let ends = |c: char| !(c.is_alphanumeric() || "_-/.".contains(c));
        let slash = starts(text, "</", last).is_match();
        let inner = text.get(1 + usize::from(slash)..).unwrap_or_default();
        let Some(length) = inner.find(ends) else { return Scan::at_end(last) };
        let (name, words) = (&inner[..length], self.row.parameter.words);
        let begins = |word: &&str| name.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
        let is_word = |word: &&str| name.eq_ignore_ascii_case(word);
        let like = match slash {
            true => begins(&words[0]) || words.iter().any(is_word) || (around.declared)(name),
            false => words.iter().any(is_word),
        };
        Scan::some((like && inner[length..].starts_with('>')).then_some(()))
    }

    /// A closing tag of the value, of this many bytes: it counts only if what may follow a parameter follows.
    fn closed(&self, rest: &str, length: usize, around: &AroundValue<'_>, looked: &mut usize) -> Scan {
        let &AroundValue { function: (tag, name), declared, last } = around;
        let end = ws_run(rest, length.max(*looked));
        *looked = end;
        let after = &rest[end..];
        if after.is_empty() {
            return if last { Scan::Match(()) } else { Scan::Incomplete };
        }
        let row = self.row;
        let next = match self.styled {
            true => row.opens_parameter(after, last, declared),
            false => starts(after, row.parameter.open, last),
        };
        let next = next.or(|| tag.closes(after, name, last).map(|_| ()));
        // The end of its function is missing: only at the start of a line, since prose may mention tags.
        let apart = end > length && !has_line_break(&rest[length..end]);
        if apart && tag != CallTag::Block {
            return next;
        }
        next.or(|| closes(after, row.block, last).map(|_| ()))
            .or(|| starts(after, row.block_open, last))
            .or(|| starts(after, row.call.open, last))
    }
}

/// Whether the text can be written between the tags of a parameter in the usual form, whatever follows.
pub(crate) fn holds(row: &'static ElementRow, cx: &Context<'_>, text: &str) -> bool {
    if memchr::memchr(b'<', text.as_bytes()).is_none() {
        return true;
    }
    let opened = ParameterValue::new(row).opened;
    let declared = |name: &str| cx.schema.declares(cx.schema.root, name);
    let around =
        AroundValue { function: (CallTag::Word(row.call.words[0]), cx.tool), declared: &declared, last: false };
    let after = if row.line_breaks { "\n" } else { "" };
    let whole = format!("{text}{after}{}\n{}\n{}", row.parameter_close, row.call_close, row.block_close);
    let (mut from, mut since) = (0, None::<Alternation>);
    while let Some(offset) = memchr::memchr(b'<', &text.as_bytes()[from..]) {
        let at = from + offset;
        let line = if at == 0 { row.line_breaks } else { text.as_bytes()[at - 1] == b'\n' };
        match opened.end(&whole[at..], &around, line, &mut 0) {
            Scan::NoMatch | Scan::Match(TagInValue::Text) => {}
            Scan::Match(TagInValue::Kept(length)) if since.is_none() => {
                since.insert(Alternation::CLOSED).run(&text[at + length..]);
            }
            Scan::Match(TagInValue::Kept(_)) => {}
            Scan::Incomplete
            | Scan::Match(
                TagInValue::Close(_) | TagInValue::Doubled(_) | TagInValue::Before | TagInValue::Ambiguous(_),
            ) => {
                return false;
            }
        }
        from = at + 1;
    }
    since.and_then(Alternation::open).is_none()
}
