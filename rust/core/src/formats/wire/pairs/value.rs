//! A value's text: where it goes, and what it becomes when it is complete.

use super::{NextState, PairsState, fail, gap, or_fail, repair};
use crate::arguments::builder::{Collision, Probe, Target};
use crate::arguments::coercion;
use crate::arguments::keys::ResolvedKey;
use crate::arguments::{Flow, Input, ReadError, Report, messages};
use crate::error::{ErrorKind, Repair};
use crate::schema::{Choice, NodeId, Schema};
use crate::syntax::json::{push_char, push_str};
use crate::syntax::quoting::Outside;
use crate::syntax::recovery::Recovery;

/// A string being read.
#[derive(Debug)]
pub(super) struct PairValue {
    pub(super) field: ResolvedKey,
    pub(super) text: ValueText,
}

#[derive(Debug)]
pub(super) enum ValueText {
    /// Written as it arrives, from this byte of the arguments on.
    Live { target: Target, start: usize },
    /// Typed at its end.
    Collect(String),
}

impl PairValue {
    /// Text that needs no escapes in JSON.
    pub(super) fn push_plain(&mut self, report: &mut Report, part: &str) {
        match &mut self.text {
            ValueText::Live { .. } => report.args.json.push_str(part),
            ValueText::Collect(text) => text.push_str(part),
        }
    }

    pub(super) fn push_str(&mut self, report: &mut Report, part: &str) {
        match &mut self.text {
            ValueText::Live { .. } => push_str(&mut report.args.json, part),
            ValueText::Collect(text) => text.push_str(part),
        }
    }

    pub(super) fn push_char(&mut self, report: &mut Report, c: char) {
        match &mut self.text {
            ValueText::Live { .. } => push_char(&mut report.args.json, c),
            ValueText::Collect(text) => text.push(c),
        }
    }

    /// What was read of it, with JSON's escapes where it goes straight out.
    pub(super) fn so_far<'a>(&'a self, report: &'a Report) -> &'a str {
        match &self.text {
            // Its opening quote is written.
            ValueText::Live { start, .. } => report.args.json[*start..].split_once('"').map_or("", |(_, text)| text),
            ValueText::Collect(text) => text,
        }
    }

    pub(super) fn is_empty(&self, report: &Report) -> bool {
        self.so_far(report).is_empty()
    }

    /// How the rest is read if the call fails after the value, which is quoted.
    pub(super) fn recovery(&self, report: &Report) -> Recovery {
        if self.is_empty(report) { Recovery::AFTER_EMPTY } else { Recovery::AFTER }
    }

    /// The value is complete.
    pub(super) fn done(&mut self, input: &mut Input<'_>, quoted: bool, next: PairsState) -> NextState {
        let recovery = if quoted { self.recovery(input.report) } else { Recovery::Bare(Outside::WORD) };
        match std::mem::replace(&mut self.text, ValueText::Collect(String::new())) {
            ValueText::Live { target, start } => {
                input.report.args.json.push('"');
                if input.report.args.end(target, start) { Ok(next) } else { duplicate(&self.field, recovery) }
            }
            ValueText::Collect(text) => {
                or_fail(typed(input, &self.field, &text, quoted), recovery)?;
                Ok(next)
            }
        }
    }
}

/// Where the text of a string goes: straight out if its type takes it whatever it is.
pub(super) fn text(input: &mut Input<'_>, field: &ResolvedKey, quoted: bool) -> Result<ValueText, Collision> {
    let node = input.cx.schema.node(field.node);
    let live = if quoted { node.is_unknown() || node.has(&Choice::String) } else { node.is_string() };
    let args = &mut input.report.args;
    if !live {
        return Ok(ValueText::Collect(String::new()));
    }
    let (target, start) = args.begin_at(field)?;
    args.json.push('"');
    Ok(ValueText::Live { target, start })
}

/// Whether a bare value may take in tokens that are not pairs.
pub(super) fn is_open_ended(schema: &Schema, id: NodeId) -> bool {
    let node = schema.node(id);
    let strings = node.takes_string() || (node.collects() && schema.node(schema.item(id, 0)).takes_string());
    strings && schema.declares_properties(schema.root)
}

/// `a=` without a value.
pub(super) fn empty(input: &mut Input<'_>, field: &ResolvedKey) -> NextState {
    let message = || format!("Write the empty string as {}=\"\"", field.path());
    repair(input, Repair::EmptyValue, Recovery::TokenStart, message)?;
    or_fail(typed(input, field, "", true), Recovery::TokenStart)?;
    Ok(gap(false))
}

/// Types a complete text and puts it into its place.
pub(super) fn typed(input: &mut Input<'_>, field: &ResolvedKey, text: &str, quoted: bool) -> Result<(), ReadError> {
    let (cx, id) = (input.cx, field.node);
    let repeated = |_| messages::twice(&field.path());
    let probe = input.report.args.probe(&field.steps);
    let length = match probe {
        Probe::Items(length) => Some(length),
        Probe::Vacant => Some(0),
        Probe::Whole | Probe::Blocked | Probe::Gap { .. } => None,
    };
    let items = length.and_then(|at| Some((at, coercion::items(cx.schema, id, text, quoted, at)?)));
    // An empty list has no pieces: it is a whole.
    let items = items.filter(|(length, (items, _))| *length > 0 || !items.is_empty());
    let (outcome, again) = match items {
        Some((length, (items, outcome))) => {
            input.report.args.append(&field.steps, length, &items).map_err(repeated)?;
            (outcome, None)
        }
        None => {
            let args = &mut input.report.args;
            let (target, start) = args.begin_at(field).map_err(repeated)?;
            let outcome = coercion::scalar(cx.schema, id, text, quoted, &mut args.json);
            let same = args.end(target, start);
            (outcome, matches!(target, Target::Duplicate(_)).then_some(same))
        }
    };
    if outcome.converted {
        let message = || messages::not_as_written(&cx, id, &field.path(), text);
        cx.repair_or(input.report, Repair::Coerced, message)?;
    }
    if again == Some(false) {
        return Err(messages::twice(&field.path()));
    }
    if let Some(kind) = outcome.problem
        && again.is_none()
    {
        input.report.violation(&cx, id, kind, || field.path(), text);
    }
    Ok(())
}

pub(super) fn duplicate<T>(field: &ResolvedKey, recovery: Recovery) -> Flow<T> {
    or_fail(Err(messages::twice(&field.path())), recovery)
}

pub(super) fn collided<T>(field: &ResolvedKey, collision: Collision) -> Flow<T> {
    match collision {
        Collision::Taken => duplicate(field, Recovery::ValueStart),
        Collision::Gap { next } => {
            let message = format!("{}: the next index is [{next}]; indexes count from 0 without gaps.", field.path());
            fail(ErrorKind::MalformedCall, message, Recovery::ValueStart)
        }
    }
}
