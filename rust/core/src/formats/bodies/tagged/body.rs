//! The body of a call, from after the tool's name.

use std::mem::{replace, take};

use super::ends::{QuotedTag, ValueContext, ValueEnd};
use super::head::{head, is_long};
use super::value::TaggedValue;
use super::{CDATA, Head, KeyTags, TagAttributes, Tags, ValueStyle};
use crate::arguments::{Context, Fields, Flow, Input, Lists, Progress, Report, Slot, steps};
use crate::error::{ErrorKind, Repair};
use crate::formats::bodies::json::{JsonCall, JsonRules};
use crate::formats::body::Body;
use crate::syntax::scan::{Delimiters, Scan, first_mark, starts, trim};

#[derive(Debug)]
pub(super) enum State {
    /// At a JSON object that is the whole call.
    Json,
    /// In the tag of the call, which names the tool.
    Name,
    /// Before what ends that tag.
    NameEnd,
    /// Before an argument, or before the end of the call.
    Between,
    /// In what names an argument.
    Key,
    /// Before what begins the value of that argument.
    BeforeValue(Option<Slot>),
    /// At the start of a value.
    ValueStart,
    Value,
}

#[derive(Debug)]
pub(super) struct TaggedBody {
    pub(super) tags: &'static Tags,
    pub(super) state: State,
    pub(super) fields: Fields,
    pub(super) value: TaggedValue,
    /// It is between [`CDATA`].
    pub(super) cdata: bool,
    pub(super) quoted_tag: QuotedTag,
    /// An argument was read.
    pub(super) given: bool,
    /// An argument's tag was a near miss.
    pub(super) near: bool,
    /// The key of the current argument.
    pub(super) key: String,
    /// A type said that it is a string.
    pub(super) quoted: bool,
    /// A tag between the key and the value is missing.
    pub(super) unopened: bool,
    /// Bytes of the window that were already scanned.
    pub(super) looked: usize,
    /// The call has failed: only its end is searched for.
    pub(super) failed: bool,
    /// The arguments are a JSON object instead.
    pub(super) object: Option<Box<JsonCall>>,
}

impl Body for TaggedBody {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        steps(|| self.step(input))
    }

    fn recover(&mut self, input: &mut Input<'_>) -> Progress {
        if let Some(object) = &mut self.object {
            return object.recover(input);
        }
        if let State::Json = self.state {
            return self.whole_call(input).recover(input);
        }
        if !replace(&mut self.failed, true) {
            self.value.fail();
            // The name is not that of a tool.
            if let Err(progress) = self.find_object(input) {
                self.failed = false;
                return progress;
            }
        }
        self.feed(input)
    }

    fn feed_plain(&mut self, report: &mut Report, text: &str, delimiters: &Delimiters) -> Option<bool> {
        if let Some(object) = &mut self.object {
            return object.feed_plain(report, text, delimiters);
        }
        let mark = self.mark();
        let held = self.tags.holds_break() && text.ends_with('\n');
        (matches!(self.state, State::Value) && !held).then(|| self.value.feed_plain(report, mark, text))?
    }

    fn next(&mut self) -> Option<Box<dyn Body>> {
        self.object.as_mut()?.next()
    }

    fn closable(&self, report: &Report) -> bool {
        self.object.as_ref().is_some_and(|object| object.closable(report))
    }

    fn unterminated(&self) -> bool {
        self.object.as_ref().map_or(!matches!(self.state, State::Between), |object| object.unterminated())
    }

    fn finish(&self, _: &Context<'_>, report: &mut Report) {
        match self.object {
            Some(_) => report.args.release(),
            None => report.args.close(),
        }
    }
}

pub(super) fn malformed<T>(message: String) -> Flow<T> {
    Err((ErrorKind::MalformedCall, message).into())
}

impl TaggedBody {
    /// `name`: the tool's name as written; empty if the tag of the call is not read yet, or the call is JSON.
    pub(super) fn new(tags: &'static Tags, name: &str) -> Self {
        let state = match tags.head {
            Head::Text(_) if name.is_empty() && !tags.is_part() => State::Json,
            Head::Text(_) => State::Between,
            Head::Attributes(_) if name.is_empty() => State::Name,
            Head::Attributes(_) => State::NameEnd,
        };
        TaggedBody {
            tags,
            state,
            fields: Fields::default(),
            value: TaggedValue::default(),
            cdata: false,
            quoted_tag: QuotedTag::None,
            given: false,
            near: false,
            key: String::new(),
            quoted: false,
            unopened: false,
            looked: 0,
            failed: false,
            object: None,
        }
    }

    /// Starts over, and keeps the allocations.
    pub(super) fn reset(&mut self, tags: &'static Tags, name: &str) {
        let (mut fields, mut value, key) = (take(&mut self.fields), take(&mut self.value), take(&mut self.key));
        fields.reset(Lists::Own);
        value.fail();
        *self = TaggedBody { fields, value, key, ..TaggedBody::new(tags, name) };
    }

    fn step(&mut self, input: &mut Input<'_>) -> Flow {
        let tags = self.tags;
        if let Some(object) = &mut self.object {
            return Err(object.feed(input));
        }
        match (&mut self.state, &tags.head) {
            (State::Json, _) => {
                self.repair(input, Repair::CallStyle)?;
                Err(self.whole_call(input).feed(input))
            }
            (State::Name, Head::Attributes(attributes)) => self.name(input, attributes),
            (State::NameEnd, Head::Attributes(attributes)) => self.name_end(input, attributes),
            (State::Key, Head::Attributes(attributes)) => self.key_in_tag(input, attributes),
            (State::Key, Head::Text(text)) => self.key(input, text),
            (State::BeforeValue(slot), Head::Text(text)) => {
                let slot = slot.take();
                self.before_value(input, text, slot)
            }
            (State::ValueStart, _) => self.value_start(input),
            (State::Value, _) => self.value(input),
            (State::Between | State::Name | State::NameEnd | State::BeforeValue(_), _) => self.between(input),
        }
    }

    /// After a failure: reads on in an object, if one is in place of the arguments.
    fn find_object(&mut self, input: &mut Input<'_>) -> Flow {
        if let (State::NameEnd, Head::Attributes(attributes)) = (&self.state, &self.tags.head) {
            self.name_end(input, attributes)?;
        }
        if self.given || !matches!(self.state, State::Between) {
            return Ok(());
        }
        match input.next_byte() {
            Ok(b'{' | b'(') => Err(self.object(input).recover(input)),
            Err(progress) if !input.last => Err(progress),
            _ => Ok(()),
        }
    }

    /// The reader of a JSON object in place of the arguments.
    fn object(&mut self, input: &Input<'_>) -> &mut JsonCall {
        self.object.get_or_insert_with(|| {
            let mut object = JsonCall::default();
            object.reset_named(&input.cx, self.tags.around_object(), false);
            Box::new(object)
        })
    }

    /// The reader of a JSON object that is the whole call.
    fn whole_call(&mut self, input: &Input<'_>) -> &mut JsonCall {
        let close = std::slice::from_ref(&self.tags.close);
        self.object.get_or_insert_with(|| {
            let mut call = JsonCall::default();
            call.reset_native(&input.cx, JsonRules { close, ..JsonRules::USUAL });
            Box::new(call)
        })
    }

    pub(super) fn to(&mut self, state: State) -> Flow {
        (self.state, self.looked) = (state, 0);
        Ok(())
    }

    /// The first byte of what may end a value.
    fn mark(&self) -> u8 {
        if self.cdata { b']' } else { b'<' }
    }

    /// After a failure, the call is read on from that state.
    pub(super) fn fail(&mut self, state: State, message: &str) -> Flow {
        self.to(state)?;
        if self.failed { Ok(()) } else { malformed(message.to_owned()) }
    }

    fn name(&mut self, input: &mut Input<'_>, attributes: &TagAttributes) -> Flow {
        let rest = input.rest();
        let found = attributes.read(head(rest), attributes.empty, is_long(rest)).decided()?;
        let name = found.and_then(|found| {
            let name = attributes.decode(trim(&rest[found.value(rest, attributes.tool)?]));
            (!name.is_empty()).then_some((found.end, name))
        });
        let Some((end, name)) = name else {
            return self.fail(State::Between, "The tag of a call must have the tool's name.");
        };
        input.at += end;
        self.to(State::NameEnd)?;
        if self.failed { Ok(()) } else { Err(Progress::ToolName(name.into())) }
    }

    fn name_end(&mut self, input: &mut Input<'_>, attributes: &TagAttributes) -> Flow {
        let rest = input.rest();
        if let Some(empty) = attributes.empty
            && starts(rest, empty, false).decided()?.is_some()
        {
            input.at += empty.len();
            return self.close(input);
        }
        if starts(rest, attributes.end, false).decided()?.is_some() {
            input.at += attributes.end.len();
        }
        self.to(State::Between)
    }

    /// The call is complete.
    fn close(&mut self, input: &mut Input<'_>) -> Flow {
        if !self.failed {
            self.fields.finish(&input.cx, input.report)?;
        }
        Err(Progress::CallEnd)
    }

    fn between(&mut self, input: &mut Input<'_>) -> Flow {
        let tags = self.tags;
        if self.failed {
            return self.pass_over(input);
        }
        if input.next_byte().is_err() {
            if !input.last {
                return Err(Progress::Incomplete);
            }
            // The end of a part is a stop token, which servers may remove.
            if !tags.is_part() {
                input.repair(Repair::MissingClose, format!("Close the call with {}.", tags.close))?;
            }
            return self.close(input);
        }
        // A tag that is cut off at the end of the message stays incomplete.
        let rest = input.rest();
        if starts(rest, tags.argument, false).decided()?.is_some() {
            input.at += tags.argument.len();
            return self.to(State::Key);
        }
        if first_mark(rest, tags.part_ends, false).decided()?.is_some() {
            return self.close(input);
        }
        if starts(rest, tags.close, false).decided()?.is_some() {
            input.at += tags.close.len();
            return self.close(input);
        }
        if let Some(argument) = &tags.argument_tag
            && let Some(tag) = argument.read(rest, false).decided()?
        {
            return self.near_argument(input, &tag);
        }
        if rest.starts_with(['{', '(']) && !self.given {
            input.repair(
                Repair::CallStyle,
                format!("Write each argument between {} and {}.", tags.argument, tags.argument_close),
            )?;
            self.object(input);
            return Ok(());
        }
        // Without arguments, the opener of a call could be written twice.
        let ends = [tags.open].into_iter().chain(tags.ends());
        if Scan::first_of(ends.map(|mark| starts(rest, mark, false))).decided()?.is_some() && self.given {
            self.repair(input, Repair::MissingClose)?;
            return self.close(input);
        }
        malformed(format!("{}: only {} or {} may follow.", input.cx.tool, tags.argument.trim_end(), tags.close))
    }

    /// In a call that has failed: up to the next tag.
    fn pass_over(&mut self, input: &mut Input<'_>) -> Flow {
        let tags = self.tags;
        let value = if let Head::Text(KeyTags { value, .. }) = &tags.head { Some(*value) } else { None };
        let value = value.filter(|value| !value.is_empty());
        while let Some(offset) = memchr::memchr(b'<', input.rest().as_bytes()) {
            input.at += offset;
            let rest = input.rest();
            if first_mark(rest, tags.part_ends, false).decided()?.is_some() {
                return Err(Progress::CallEnd);
            }
            let marks = [tags.argument, tags.close].into_iter().chain(value).chain(tags.ends());
            let found = Scan::first_of(marks.map(|mark| starts(rest, mark, false).map(|()| mark)));
            let Some(mark) = found.decided()? else {
                input.at += 1;
                continue;
            };
            if tags.ends().any(|end| end == mark) {
                return Err(Progress::CallEnd);
            }
            input.at += mark.len();
            return match mark {
                _ if mark == tags.close => Err(Progress::CallEnd),
                _ if mark == tags.argument => self.to(State::Key),
                _ => self.to(State::ValueStart),
            };
        }
        input.at = input.window.len();
        Err(Progress::Incomplete)
    }

    fn value_start(&mut self, input: &mut Input<'_>) -> Flow {
        (self.quoted_tag, self.given) = (QuotedTag::None, true);
        let value = self.tags.before_value();
        if !value.is_empty() && starts(input.rest(), value, input.last).decided()?.is_some() {
            self.repair(input, Repair::TagStyle)?;
            input.at += value.len();
        }
        if self.tags.line_breaks && starts(input.rest(), "\n", input.last).decided()?.is_some() {
            input.at += 1;
            return self.to(State::Value);
        }
        self.cdata = self.tags.values == ValueStyle::PythonOrCdata
            && starts(input.rest(), CDATA.0, input.last).decided()?.is_some();
        if self.cdata {
            input.at += CDATA.0.len();
            self.value.quote(&input.cx);
        }
        self.to(State::Value)
    }

    fn value(&mut self, input: &mut Input<'_>) -> Flow {
        let tags = self.tags;
        loop {
            let rest = input.rest();
            let end = memchr::memchr(self.mark(), rest.as_bytes()).unwrap_or(rest.len());
            // The last line break may belong to the closer.
            let held = usize::from(tags.holds_break() && rest[..end].ends_with('\n'));
            if end > held {
                self.push(input, end - held)?;
            }
            if end == rest.len() {
                return Err(Progress::Incomplete);
            }
            // In a call that has failed, only its end is searched for.
            let quoted = if self.failed { QuotedTag::Call } else { self.quoted_tag };
            let spaced = held == 0 && self.value.last() == Some(b' ');
            let (cx, cdata, near, last) = (&input.cx, self.cdata, self.near, input.last);
            let around = ValueContext { cx, cdata, quoted, spaced, near, last };
            if let Head::Text(KeyTags { key_close, value, .. }) = &tags.head
                && self.unopened
                && !self.failed
                && first_mark(&rest[end..], &[value, key_close], false).decided()?.is_some()
            {
                return malformed(format!("{}: a key must be followed by {key_close} and {value}.", cx.tool));
            }
            let found = tags.value_end(&rest[end..], around, &mut self.looked).decided()?;
            if found == Some(ValueEnd::Argument)
                && self.value.last().is_none()
                && let Some(length) = self.doubled(&rest[end..])
            {
                input.at += end + length;
                self.repair(input, Repair::TagStyle)?;
                return self.to(State::ValueStart);
            }
            let (length, closed) = match found {
                Some(ValueEnd::Closer(length)) => (length, true),
                Some(ValueEnd::Unclosed(length)) if self.failed || self.is_clean() => (length, true),
                Some(ValueEnd::Doubled(length)) => {
                    self.repair(input, Repair::TagStyle)?;
                    (length, true)
                }
                Some(ValueEnd::CallCloser) if self.failed || self.is_clean() => (0, false),
                Some(ValueEnd::Argument) if !self.failed && self.is_clean() => {
                    self.repair(input, Repair::MissingClose)?;
                    (0, false)
                }
                None | Some(ValueEnd::Kept | ValueEnd::Call) => {
                    match (found, self.quoted_tag) {
                        (Some(ValueEnd::Kept), QuotedTag::None) => self.quoted_tag = QuotedTag::Closer,
                        (Some(ValueEnd::Call), QuotedTag::None) => self.quoted_tag = QuotedTag::Call,
                        _ => {}
                    }
                    self.looked = 0;
                    self.push(input, held + 1)?;
                    continue;
                }
                Some(ValueEnd::Unclosed(_) | ValueEnd::Argument | ValueEnd::Ambiguous | ValueEnd::CallCloser) => {
                    if !self.failed {
                        return malformed(format!(
                            "{}: a value contains tags of the call, so its end is ambiguous. Close each value with {}.",
                            input.cx.tool, tags.argument_close
                        ));
                    }
                    self.looked = 0;
                    self.push(input, held + 1)?;
                    continue;
                }
            };
            if closed && !tags.line_breaks {
                self.value.push(input.report, &rest[end - held..end]);
            }
            input.at += held + length;
            self.to(State::Between)?;
            return Ok(self.value.end(&input.cx, input.report, tags.values)?);
        }
    }

    /// Takes so many bytes as a part of the value.
    fn push(&mut self, input: &mut Input<'_>, length: usize) -> Flow {
        self.value.push(input.report, &input.rest()[..length]);
        input.at += length;
        Ok(self.value.go_live(&input.cx, input.report, self.tags.values)?)
    }

    /// Whether the value, so far, does not end in a sign of tags, which could be a misspelled closer, or in a line break, which could
    /// be that of a closer.
    fn is_clean(&self) -> bool {
        self.value.since_sign() > self.tags.argument_close.len() + 2
            && !(self.tags.line_breaks && !self.tags.is_part() && self.value.last() == Some(b'\n'))
    }

    pub(super) fn repair(&self, input: &mut Input<'_>, repair: Repair) -> Flow {
        if !self.failed {
            input.repair(repair, "Write the call in the usual form.")?;
        }
        Ok(())
    }
}
