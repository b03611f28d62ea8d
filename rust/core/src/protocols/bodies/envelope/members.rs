//! What an envelope's members mean: the name, the arguments, and what stands beside them.

use std::borrow::Cow;
use std::mem::{swap, take};

use super::{Envelope, State};
use crate::arguments::object::Quotes;
use crate::arguments::{Bad, Io, Step, messages};
use crate::error::{ErrorKind, ProblemKind, Repair};
use crate::limits::NAME_CHARS;
use crate::syntax::json::{Value, parse};
use crate::syntax::scan::first_chars;

/// What the value of a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Name,
    Arguments,
    /// Read, and not passed on.
    Other,
}

/// Keys of an envelope: those of the name, those of the arguments, and what says nothing of the call.
pub const KEYS: [&str; 8] = ["name", "tool", "function", "arguments", "parameters", "args", "id", "type"];

/// A key, of which most are known.
pub fn known(key: &str) -> Cow<'static, str> {
    match KEYS.iter().find(|known| **known == key) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(key.to_owned()),
    }
}

/// The text of a JSON string.
fn decoded(json: &str) -> Option<String> {
    match parse(json, 1) {
        Ok(Value::String(text)) => Some(text.into_owned()),
        _ => None,
    }
}

impl Envelope {
    pub(super) fn role(&self) -> Role {
        match &*self.key {
            "name" | "tool" | "function" => Role::Name,
            "arguments" | "parameters" | "args" => Role::Arguments,
            _ => Role::Other,
        }
    }

    /// A value is read that stands beside the arguments, or is to be typed.
    pub(super) fn read(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        let json = self.aside.as_mut().map(|aside| take(&mut aside.json)).unwrap_or_default();
        match self.role() {
            Role::Name if json.starts_with('"') => match decoded(&json) {
                Some(name) => self.named(io, &name),
                None => Ok(None),
            },
            Role::Name if self.key == "name" => {
                Err(self.bad(ErrorKind::MalformedCall, "the tool's name must be a string"))
            }
            Role::Arguments if self.given => {
                self.again(io, &json)?;
                Ok(None)
            }
            Role::Arguments => {
                self.given = true;
                if self.name.is_empty() {
                    self.held = Some(json);
                } else {
                    self.arguments(io, &json)?;
                }
                Ok(None)
            }
            Role::Name | Role::Other => {
                if !matches!(&*self.key, "id" | "type") {
                    let key = messages::shorten(&self.key);
                    if self.guarded {
                        let what = format!("{key} must be a member of \"arguments\"");
                        return Err(self.bad(ErrorKind::MalformedCall, &what));
                    }
                    let message = format!("{key} is outside \"arguments\" and would be ignored; put it inside.");
                    io.found.problem(ProblemKind::UnknownField, self.key.to_string(), message);
                }
                Ok(None)
            }
        }
    }

    pub(super) fn named(&mut self, io: &mut Io<'_>, name: &str) -> Result<Option<Step>, Bad> {
        if self.key != "name" {
            self.repair(io, Repair::KeyAlias, "the tool's name belongs under the key \"name\"")?;
        }
        if !self.name.is_empty() {
            let same = self.name == name;
            let differ = || self.bad(ErrorKind::DuplicateArgument, "it has two different names");
            return if same { Ok(None) } else { Err(differ()) };
        }
        if name.is_empty() || first_chars(name, NAME_CHARS) < name.len() {
            return Err(self.bad(ErrorKind::MalformedCall, "the tool's name must have 1 to 128 characters"));
        }
        self.name.push_str(name);
        if self.held.is_some() {
            self.state = State::Value;
        }
        Ok(Some(Step::Named(name.to_owned())))
    }

    /// Types arguments that are there as a whole, and writes them.
    pub(super) fn arguments(&mut self, io: &mut Io<'_>, json: &str) -> Result<(), Bad> {
        let text;
        let (source, encoded) = match json.bytes().next() {
            Some(b'{') => (json, false),
            Some(b'n') => ("{}", false),
            Some(b'"') => {
                self.repair(io, Repair::EncodedArguments, "the arguments must be an object, not a string")?;
                text = decoded(json).unwrap_or_default();
                match text.trim() {
                    "" | "null" => ("{}", true),
                    text => (text, true),
                }
            }
            _ => ("", false),
        };
        if !source.starts_with('{') {
            return Err(self.bad(ErrorKind::MalformedCall, "the arguments must be an object"));
        }
        let quotes = encoded.then(|| Quotes::new(0, &[]));
        self.object.renew(self.lexer.fresh(), io.cx.schema.root, quotes);
        let mut inner = Io { cx: io.cx, found: &mut *io.found, window: source, at: 0, last: true };
        match self.object.feed(&mut inner) {
            Ok(true) if inner.rest().trim().is_empty() => Ok(()),
            Ok(_) if encoded => Err(self.bad(ErrorKind::InvalidJson, "the arguments must be one object")),
            Ok(_) => Ok(()),
            Err(failure) => Err((failure.kind, failure.message)),
        }
    }

    /// Arguments that were given before: the same again are none.
    pub(super) fn again(&mut self, io: &mut Io<'_>, json: &str) -> Result<(), Bad> {
        let same = match &self.held {
            Some(first) => first == json,
            None => {
                let mut aside = self.aside.take().unwrap_or_default();
                aside.reset();
                swap(&mut io.found.args, &mut aside);
                let typed = self.arguments(io, json);
                swap(&mut io.found.args, &mut aside);
                typed?;
                io.found.args.json == aside.json
            }
        };
        let differ = || self.bad(ErrorKind::DuplicateArgument, "the arguments are given twice, with different values");
        if same { Ok(()) } else { Err(differ()) }
    }
}
