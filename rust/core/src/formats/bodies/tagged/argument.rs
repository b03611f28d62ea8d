//! The part of an argument before its value: its tags and its key.

use std::mem::take;

use super::body::{State, TaggedBody, malformed};
use super::head::{head, head_before, is_long, kind};
use super::value::Kind;
use super::{Head, KeyTags, TagAttributes, Tags};
use crate::arguments::{Context, Flow, Input, Progress, Slot};
use crate::error::{ErrorKind, Repair};
use crate::formats::bodies::near_tag::NearTag;
use crate::syntax::scan::{Scan, starts, starts_as, trim, window, ws_run};
use crate::syntax::tags::is_markup;
use crate::syntax::word_quotes::in_quotes;

/// Characters of signs before the rest of a broken tag.
const TAG_CHARS: usize = 64;

/// Removes a second opener and quotes around a key if the tool declares the rest. Returns whether it removed something.
fn plain_key<'k>(tags: &Tags, cx: &Context<'_>, key: &'k str) -> (&'k str, bool) {
    if cx.schema.declares(cx.schema.root, key) {
        return (key, false);
    }
    let single = key.strip_prefix(tags.argument).unwrap_or(key);
    let plain = in_quotes(single).unwrap_or(single);
    let meant = plain.len() < key.len() && cx.schema.declares(cx.schema.root, plain);
    if meant { (plain, true) } else { (key, false) }
}

/// True if the text begins with a tag, the end of a tag, or signs and the word of `tag`: the rest of a broken tag, not a value.
fn is_tag_like(text: &str, tag: &str) -> Scan {
    let is_sign = |c: char| !(c.is_alphanumeric() || c == '_');
    let (head, ended) = window(text, TAG_CHARS, false);
    let (inner, word) = (head.trim_start_matches(is_sign), tag.trim_matches(is_sign));
    if head.starts_with(['<', '>']) {
        return Scan::Match(());
    }
    // Only the last word of the tag may be left.
    let last = word.rsplit(is_sign).next().unwrap_or(word);
    Scan::first_of([word, last].into_iter().map(|word| starts_as(inner, word, ended)))
}

impl TaggedBody {
    /// Reads a near miss of an argument's tag.
    pub(super) fn near_argument(&mut self, input: &mut Input<'_>, tag: &NearTag) -> Flow {
        let rest = input.rest();
        let (mut key, mut kind) = (rest[tag.name.clone()].to_owned(), Kind::Schema);
        if let Head::Attributes(attributes) = &self.tags.head {
            key = attributes.decode(&key);
            kind = tag.value(rest, attributes.kind).map_or(Kind::Schema, |kind| Kind::of(attributes, kind));
        }
        input.at += tag.end;
        self.repair(input, Repair::TagStyle)?;
        self.near = true;
        self.begin(input, &key, kind)
    }

    /// Starts the value of an argument whose key is an attribute.
    pub(super) fn begin(&mut self, input: &mut Input<'_>, key: &str, kind: Kind) -> Flow {
        self.to(State::ValueStart)?;
        key.clone_into(&mut self.key);
        let Some(slot) = self.slot(input, key)? else { return Ok(()) };
        Ok(self.value.begin(&input.cx, input.report, slot, kind)?)
    }

    pub(super) fn key_in_tag(&mut self, input: &mut Input<'_>, attributes: &TagAttributes) -> Flow {
        let rest = input.rest();
        let found = attributes.read(head(rest), None, is_long(rest)).decided()?;
        let argument = found.and_then(|found| {
            let key = attributes.decode(&rest[found.value(rest, attributes.key)?]);
            let kind = Kind::of(attributes, &rest[found.value(rest, attributes.kind)?]);
            Some((found.end + attributes.end.len(), key, kind))
        });
        let Some((length, key, kind)) = argument else {
            if let Some(argument) = &self.tags.argument_tag
                && let Some(tag) = argument.after(rest, 0, false).decided()?
            {
                return self.near_argument(input, &tag);
            }
            let message = format!(
                "Write an argument as {}{}=\"…\" {}=\"…\"{}.",
                self.tags.argument, attributes.key, attributes.kind, attributes.end
            );
            return self.fail(State::ValueStart, &message);
        };
        input.at += length;
        self.begin(input, &key, kind)
    }

    pub(super) fn key(&mut self, input: &mut Input<'_>, text: &KeyTags) -> Flow {
        let (rest, close) = (input.rest(), text.key_close);
        let (head, long) = head_before(rest, close);
        let find = |mark: &str| memchr::memmem::find(&head.as_bytes()[self.looked..], mark.as_bytes());
        let value = find(text.value).filter(|_| !text.value.is_empty());
        let closed = find(close).filter(|end| value.is_none_or(|value| *end < value));
        let Some(end) = closed.or(value).map(|end| self.looked + end) else {
            if long {
                return self.fail(State::Between, "The key of an argument is too long, or is not closed.");
            }
            self.looked = rest.len().saturating_sub(close.len().max(text.value.len()) - 1);
            return Err(Progress::Incomplete);
        };
        self.unopened = closed.is_none();
        let (key, length) = (&rest[..end], end + closed.map_or(0, |_| close.len()));
        if closed.is_none() {
            if !self.failed && !input.cx.schema.declares(input.cx.schema.root, trim(key)) {
                return malformed(format!("{}: close the key of each argument with {close}.", input.cx.tool));
            }
            self.repair(input, Repair::MissingClose)?;
        }
        let (key, style) = plain_key(self.tags, &input.cx, trim(key));
        if style {
            self.repair(input, Repair::TagStyle)?;
        }
        input.at += length;
        self.to(State::BeforeValue(None))?;
        key.clone_into(&mut self.key);
        let slot = self.slot(input, key)?;
        self.quoted = false;
        self.to(State::BeforeValue(slot))
    }

    /// The place of an argument; `None` if the call has failed.
    pub(super) fn slot(&mut self, input: &mut Input<'_>, key: &str) -> Flow<Option<Slot>> {
        if self.failed {
            return Ok(None);
        }
        if matches!(self.tags.head, Head::Text(_))
            && is_markup(key)
            && !input.cx.schema.declares(input.cx.schema.root, key)
        {
            return malformed(format!("{}: the name of an argument must not contain tags or quotes.", input.cx.tool));
        }
        let slot = self.fields.open(&input.cx, input.report, key, false)?;
        if slot.is_taken(input.report) {
            let message = format!("{} is given twice. Give it once.", slot.path());
            return Err((ErrorKind::DuplicateArgument, message).into());
        }
        Ok(Some(slot))
    }

    pub(super) fn before_value(&mut self, input: &mut Input<'_>, text: &KeyTags, slot: Option<Slot>) -> Flow {
        let open = text.value;
        if !open.is_empty() {
            input.at = ws_run(input.window, input.at);
        }
        match text.kind.map_or(Scan::NoMatch, |tags| kind(input.rest(), tags)) {
            Scan::Match((length, is_string)) => {
                input.at += length;
                self.quoted = is_string;
                return self.to(State::BeforeValue(slot));
            }
            Scan::NoMatch => {}
            Scan::Incomplete => {
                self.state = State::BeforeValue(slot);
                return Err(Progress::Incomplete);
            }
        }
        match starts(input.rest(), open, false) {
            Scan::Match(()) => {
                input.at += open.len();
                self.begin_value(input, slot)
            }
            Scan::Incomplete => {
                self.state = State::BeforeValue(slot);
                Err(Progress::Incomplete)
            }
            Scan::NoMatch if slot.is_some() && !input.rest().is_empty() => {
                match is_tag_like(input.rest(), open) {
                    Scan::Incomplete => {
                        self.state = State::BeforeValue(slot);
                        return Err(Progress::Incomplete);
                    }
                    Scan::Match(()) => {
                        return self.fail(State::Between, &format!("A key must be followed by {open}."));
                    }
                    Scan::NoMatch => {}
                }
                self.repair(input, Repair::TagStyle)?;
                self.unopened = true;
                self.begin_value(input, slot)
            }
            Scan::NoMatch => self.fail(State::Between, &format!("A key must be followed by {open}.")),
        }
    }

    /// Starts the value of an argument whose key is text.
    pub(super) fn begin_value(&mut self, input: &mut Input<'_>, slot: Option<Slot>) -> Flow {
        self.to(State::ValueStart)?;
        if let Some(slot) = slot {
            self.value.begin(&input.cx, input.report, slot, Kind::Schema)?;
            if take(&mut self.quoted) {
                self.value.quote(&input.cx);
            }
        }
        Ok(())
    }

    /// The length of the tag at the start of the text, if it repeats the tag of the current argument.
    pub(super) fn doubled(&self, text: &str) -> Option<usize> {
        let Scan::Match(tag) = self.tags.argument_tag?.read(text, false) else { return None };
        (text[tag.name.clone()] == self.key).then_some(tag.end)
    }
}
