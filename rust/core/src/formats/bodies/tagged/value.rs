//! The value of one argument: raw text up to its closer, typed by the schema or by an attribute.

use std::mem::take;

use super::{TagAttributes, ValueStyle};
use crate::arguments::tree::{ValuePath, is_json, is_literal};
use crate::arguments::{Context, Lists, Object, ReadError, Report, Slot, TreeWriter};
use crate::error::{ErrorKind, Repair};
use crate::formats::bodies::params::write_text;
use crate::limits::RECURSION;
use crate::schema::{Choice, Node};
use crate::syntax::json::{is_plain, parse};
use crate::syntax::python::container;
use crate::syntax::scan::trim;
use crate::syntax::tree::UntypedValue;

/// What types a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// The schema.
    #[default]
    Schema,
    /// It is a string.
    Text,
    /// It is JSON.
    Json,
    /// It is not a string, so it is JSON; what is not JSON has the wrong type.
    Other,
}

impl Kind {
    /// What this attribute says.
    pub(super) fn of(attributes: &TagAttributes, kind: &str) -> Kind {
        match &attributes.kinds {
            [string, ..] if *string == kind => Kind::Text,
            [_, first, others @ ..] if others.iter().all(|other| other == first) => Kind::Other,
            _ => Kind::Json,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct TaggedValue {
    kind: Kind,
    /// `None` where the call has failed.
    slot: Option<Slot>,
    /// Its parts are streamed.
    live: bool,
    /// They are streamed once the value cannot be null.
    perhaps_null: bool,
    text: String,
    /// Bytes since the last sign of tags in the value.
    since: usize,
    /// Its last byte.
    last: Option<u8>,
}

impl TaggedValue {
    /// It is written into that slot.
    pub(super) fn begin(
        &mut self,
        cx: &Context<'_>,
        report: &mut Report,
        mut slot: Slot,
        kind: Kind,
    ) -> Result<(), ReadError> {
        let node = cx.schema.node(slot.node());
        self.text.clear();
        (self.kind, self.perhaps_null, self.since, self.last) = (kind, false, usize::MAX, None);
        self.live = match kind {
            Kind::Schema => slot.is_string(cx),
            Kind::Text => node.is_unknown() || node.has(&Choice::String),
            Kind::Json | Kind::Other => false,
        };
        if self.live {
            slot.start(cx, report)?;
        } else if kind == Kind::Schema {
            self.perhaps_null = node.choices.len() == 2 && node.has(&Choice::String) && node.has(&Choice::Null);
        }
        self.slot = Some(slot);
        Ok(())
    }

    /// It is a string, if a string is possible.
    pub(super) fn quote(&mut self, cx: &Context<'_>) {
        if self.kind == Kind::Schema
            && self.slot.as_ref().is_some_and(|slot| cx.schema.node(slot.node()).takes_string())
        {
            (self.kind, self.perhaps_null) = (Kind::Text, false);
        }
    }

    /// The call has failed: only the value's end is searched for.
    pub(super) fn fail(&mut self) {
        (self.slot, self.live, self.perhaps_null) = (None, false, false);
        self.text = String::new();
    }

    /// Bytes since the last `<`, `>` or `|` in the value.
    pub(super) fn since_sign(&self) -> usize {
        self.since
    }

    /// Its last byte.
    pub(super) fn last(&self) -> Option<u8> {
        self.last
    }

    fn count(&mut self, text: &str) {
        self.last = text.bytes().next_back().or(self.last);
        self.since = match memchr::memrchr3(b'<', b'>', b'|', text.as_bytes()) {
            Some(at) => text.len() - at - 1,
            None => self.since.saturating_add(text.len()),
        };
    }

    pub(super) fn push(&mut self, report: &mut Report, text: &str) {
        self.count(text);
        match &self.slot {
            Some(slot) if self.live => slot.push(report, text),
            Some(_) => self.text.push_str(text),
            None => {}
        }
    }

    /// See [`Body::feed_plain`](crate::formats::body::Body::feed_plain).
    /// `mark`: the first byte of what may end the value.
    pub(super) fn feed_plain(&mut self, report: &mut Report, mark: u8, text: &str) -> Option<bool> {
        if !self.live || memchr::memchr(mark, text.as_bytes()).is_some() {
            return None;
        }
        self.count(text);
        let slot = self.slot.as_ref()?;
        let plain = text.bytes().all(is_plain);
        if plain {
            slot.push_plain(report, text)
        } else {
            slot.push(report, text)
        }
        Some(plain)
    }

    /// Streams text that could have been null, once it cannot be null.
    pub(super) fn go_live(
        &mut self,
        cx: &Context<'_>,
        report: &mut Report,
        values: ValueStyle,
    ) -> Result<(), ReadError> {
        let none = values != ValueStyle::Json && "None".starts_with(&self.text);
        if !self.perhaps_null || none || "null".starts_with(&self.text) {
            return Ok(());
        }
        self.perhaps_null = false;
        if let Some(slot) = &mut self.slot {
            slot.start(cx, report)?;
            slot.push(report, &self.text);
            self.live = true;
            self.text.clear();
        }
        Ok(())
    }

    /// The value is complete.
    pub(super) fn end(&mut self, cx: &Context<'_>, report: &mut Report, values: ValueStyle) -> Result<(), ReadError> {
        let Some(slot) = self.slot.take() else { return Ok(()) };
        if self.live {
            return slot.end(report);
        }
        let text = take(&mut self.text);
        slot.write(cx, report, |report, at| match self.kind {
            Kind::Schema => write_typed(cx, report, values, at, &text),
            Kind::Text => {
                let tree = UntypedValue::Scalar { text, quoted: true };
                TreeWriter { cx, report, lists: Lists::Own }.value(at, &tree)
            }
            Kind::Json | Kind::Other if is_text(cx.schema.node(at.node), &text) => {
                let message = || format!("{}: write the type of a string.", at.path());
                cx.repair_or(report, Repair::TagStyle, message)?;
                let tree = UntypedValue::Scalar { text, quoted: true };
                TreeWriter { cx, report, lists: Lists::Own }.value(at, &tree)
            }
            Kind::Other if is_other_scalar(cx.schema.node(at.node), &text) => {
                let tree = UntypedValue::Scalar { text, quoted: false };
                TreeWriter { cx, report, lists: Lists::Own }.value(at, &tree)
            }
            Kind::Json | Kind::Other => write_json(cx, report, at, text),
        })
    }
}

/// Appends the JSON of a text that the schema types.
pub(super) fn write_typed(
    cx: &Context<'_>,
    report: &mut Report,
    values: ValueStyle,
    at: &ValuePath<'_>,
    text: &str,
) -> Result<(), ReadError> {
    if values == ValueStyle::Json {
        return write_text(cx, report, false, at, text);
    }
    let bracket = trim(text).bytes().next().filter(|byte| matches!(byte, b'[' | b'{'));
    let node = cx.schema.node(at.node);
    let json = bracket
        .filter(|bracket| node.takes(*bracket) && !is_literal(node, text) && !is_json(cx, trim(text)))
        .and_then(|_| container(trim(text)))
        .filter(|json| is_json(cx, json));
    write_text(cx, report, true, at, json.as_deref().unwrap_or(text))
}

/// Whether a value that should be JSON is a string without quotes, which nothing else could be.
fn is_text(node: &Node, text: &str) -> bool {
    let only = node.takes_string() && !node.is_unknown() && !node.takes_container();
    let literal = matches!(trim(text), "True" | "False" | "None");
    only && !literal && !trim(text).starts_with('"') && parse(trim(text), RECURSION).is_err()
}

/// Whether a value that is not JSON is in a place for numbers, booleans or null only.
fn is_other_scalar(node: &Node, text: &str) -> bool {
    let scalars = !node.is_unknown() && !node.takes_string() && !node.takes_container();
    scalars && parse(trim(text), RECURSION).is_err()
}

/// Appends JSON, typed. Nothing else is read: the attribute says that it is JSON.
fn write_json(cx: &Context<'_>, report: &mut Report, at: &ValuePath<'_>, mut text: String) -> Result<(), ReadError> {
    let exact = Context { strict: true, any_style: cx.any_style || !cx.strict, ..*cx };
    // A word ends only where whitespace follows.
    text.push(' ');
    let invalid = |message| (ErrorKind::InvalidJson, message);
    match Object::new(&exact, at.node, at.path(), at.above).read_all(&exact, report, &text) {
        Ok(Some(rest)) if trim(rest).is_empty() => Ok(()),
        Ok(_) => {
            Err(invalid(format!("{}: {} is not valid JSON.", at.path(), crate::arguments::messages::shorten(&text))))
        }
        Err((ErrorKind::Strict(Repair::RelaxedJson), message)) => Err(invalid(message)),
        Err(other) => Err(other),
    }
}
