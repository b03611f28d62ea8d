//! A value's text: where it goes, and what it becomes when it is complete.

use super::{Move, State, fail, gap};
use crate::arguments::builder::{Collision, Probe, Target};
use crate::arguments::coercion;
use crate::arguments::keys::Field;
use crate::arguments::{Context, Found, Io, messages};
use crate::error::{ErrorKind, Repair};
use crate::schema::{Choice, NodeId};
use crate::syntax::json::{push_char, push_str};
use crate::syntax::recovery::Skip;

/// A string being read.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) field: Field,
    pub(super) text: Text,
}

#[derive(Debug)]
pub(super) enum Text {
    /// Written as it comes, from this byte of the arguments on.
    Live { target: Target, start: usize },
    /// Typed at its end.
    Collect(String),
}

impl Value {
    /// Text that needs no escapes in JSON.
    pub(super) fn push_plain(&mut self, found: &mut Found, part: &str) {
        match &mut self.text {
            Text::Live { .. } => found.args.json.push_str(part),
            Text::Collect(text) => text.push_str(part),
        }
    }

    pub(super) fn push_str(&mut self, found: &mut Found, part: &str) {
        match &mut self.text {
            Text::Live { .. } => push_str(&mut found.args.json, part),
            Text::Collect(text) => text.push_str(part),
        }
    }

    pub(super) fn push_char(&mut self, found: &mut Found, c: char) {
        match &mut self.text {
            Text::Live { .. } => push_char(&mut found.args.json, c),
            Text::Collect(text) => text.push(c),
        }
    }

    /// What was read of it, with JSON's escapes where it goes straight out.
    pub(super) fn so_far<'a>(&'a self, found: &'a Found) -> &'a str {
        match &self.text {
            // Its opening quote is written.
            Text::Live { start, .. } => found.args.json[*start..].split_once('"').map_or("", |(_, text)| text),
            Text::Collect(text) => text,
        }
    }

    pub(super) fn is_empty(&self, found: &Found) -> bool {
        self.so_far(found).is_empty()
    }

    /// The value is complete.
    pub(super) fn done(&mut self, io: &mut Io<'_>, quoted: bool, next: State) -> Move {
        let skip = match (quoted, self.is_empty(io.found)) {
            (true, true) => Skip::AfterEmpty,
            (true, false) => Skip::After,
            (false, _) => Skip::Bare { opens: false },
        };
        match std::mem::replace(&mut self.text, Text::Collect(String::new())) {
            Text::Live { target, start } => {
                io.found.args.json.push('"');
                if io.found.args.end(target, start) { Move::To(next) } else { duplicate(&self.field, skip) }
            }
            Text::Collect(text) => match typed(io, &self.field, &text, quoted) {
                Ok(()) => Move::To(next),
                Err((kind, message)) => fail(kind, message, skip),
            },
        }
    }
}

/// Where the text of a string goes: straight out if its type takes it whatever it is.
pub(super) fn text(io: &mut Io<'_>, field: &Field, quoted: bool) -> Result<Text, Collision> {
    let node = io.cx.schema.node(field.node);
    let live = if quoted { node.is_unknown() || node.has(&Choice::String) } else { node.is_string() };
    let args = &mut io.found.args;
    if !live {
        return Ok(Text::Collect(String::new()));
    }
    let target = args.place(&field.steps, field.is_piece())?;
    let start = args.begin(target, field.root_key());
    args.json.push('"');
    Ok(Text::Live { target, start })
}

pub(super) fn takes_strings_as_items(cx: &Context<'_>, id: NodeId) -> bool {
    cx.schema.node(id).collects() && cx.schema.node(cx.schema.item(id, 0)).takes_string()
}

/// `a=` without a value.
pub(super) fn empty(io: &mut Io<'_>, field: &Field) -> Move {
    if let Err(kind) = io.cx.repair(io.found, Repair::EmptyValue) {
        let message = format!("Write the empty string as {}=\"\"", field.path());
        return fail(kind, message, Skip::TokenStart);
    }
    match typed(io, field, "", true) {
        Ok(()) => Move::To(gap(false)),
        Err((kind, message)) => fail(kind, message, Skip::TokenStart),
    }
}

/// Types a complete text and puts it into its place.
pub(super) fn typed(io: &mut Io<'_>, field: &Field, text: &str, quoted: bool) -> Result<(), (ErrorKind, String)> {
    let (cx, id) = (io.cx, field.node);
    let repeated = |_| (ErrorKind::DuplicateArgument, twice(field));
    let probe = io.found.args.probe(&field.steps);
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
            io.found.args.append(&field.steps, length, &items).map_err(repeated)?;
            (outcome, None)
        }
        None => {
            let args = &mut io.found.args;
            let target = args.place(&field.steps, field.is_piece()).map_err(repeated)?;
            let start = args.begin(target, field.root_key());
            let outcome = coercion::scalar(cx.schema, id, text, quoted, &mut args.json);
            let same = args.end(target, start);
            (outcome, matches!(target, Target::Again(_)).then_some(same))
        }
    };
    if outcome.converted {
        cx.repair(io.found, Repair::Coerced)
            .map_err(|kind| (kind, messages::not_as_written(&cx, id, &field.path(), text)))?;
    }
    if again == Some(false) {
        return Err((ErrorKind::DuplicateArgument, twice(field)));
    }
    if let Some(kind) = outcome.problem
        && again.is_none()
    {
        let message = messages::violation(&cx, id, kind, &field.path(), text);
        io.found.problem(kind, field.path(), message);
    }
    Ok(())
}

fn twice(field: &Field) -> String {
    format!("{} is given twice, with different values. Give it once.", field.path())
}

pub(super) fn duplicate(field: &Field, skip: Skip) -> Move {
    fail(ErrorKind::DuplicateArgument, twice(field), skip)
}

pub(super) fn collided(field: &Field, collision: Collision) -> Move {
    match collision {
        Collision::Taken => duplicate(field, Skip::ValueStart),
        Collision::Gap { next } => {
            let message = format!("{}: the next index is [{next}]; indexes count from 0 without gaps.", field.path());
            fail(ErrorKind::MalformedCall, message, Skip::ValueStart)
        }
    }
}
