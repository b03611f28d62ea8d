//! What an envelope's members mean: the name, the arguments, and others.

use std::mem::{swap, take};

use super::{JsonCall, JsonRules, JsonState, NameKey, fail};
use crate::arguments::object::Quotes;
use crate::arguments::{Flow, Input, Progress, messages};
use crate::error::{ErrorKind, ProblemKind, Repair};
use crate::limits::NAME_CHARS;
use crate::syntax::json::{Value, parse};
use crate::syntax::scan::first_chars;

/// What the value of a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Name,
    Arguments,
    /// Read, and not passed on.
    Other,
}

/// Keys of an envelope: those of the name, those of the arguments, and those that are ignored.
pub(super) const KEYS: [&str; 8] = ["name", "tool", "function", "arguments", "parameters", "args", "id", "type"];

/// Those of the arguments. A format writes some of them.
pub(super) const ARGUMENTS: [&str; 3] = ["arguments", "parameters", "args"];

/// The text of a JSON string.
fn decoded(json: &str) -> Option<String> {
    match parse(json, 1) {
        Ok(Value::String(text)) => Some(text.into_owned()),
        _ => None,
    }
}

impl JsonCall {
    pub(super) fn role(&self) -> Role {
        if let Some(native) = self.native {
            return match (native.name, &*self.key) {
                (NameKey::NameIsKey | NameKey::Opening(_), _) => Role::Arguments,
                (NameKey::Under(name), key) if key == name => Role::Name,
                (_, key) if native.arguments.contains(&key) => Role::Arguments,
                // Without markers, it may be an answer.
                (_, key) if !native.may_be_text && ARGUMENTS.contains(&key) => Role::Arguments,
                (NameKey::Under(_), "tool" | "function") if !native.may_be_text && self.name.is_empty() => Role::Name,
                _ => Role::Other,
            };
        }
        match &*self.key {
            "name" | "tool" | "function" => Role::Name,
            key if ARGUMENTS.contains(&key) => Role::Arguments,
            _ => Role::Other,
        }
    }

    /// Whether the format writes this key.
    pub(super) fn is_own(&self, key: &str) -> bool {
        match self.native {
            None => matches!(key, "name" | "arguments"),
            Some(JsonRules { name: NameKey::Under(name), .. }) if key == name => true,
            Some(JsonRules { name: NameKey::NameIsKey | NameKey::Opening(_), .. }) => true,
            Some(native) => native.arguments.contains(&key),
        }
    }

    /// Whether a member with this key says nothing of the call.
    pub(super) fn ignores(&self, key: &str) -> bool {
        key == "type" || key == self.native.map_or("id", |native| native.id)
    }

    /// A value is read that is not part of the arguments, or must still be typed.
    pub(super) fn read(&mut self, input: &mut Input<'_>) -> Flow {
        let json = self.aside.as_mut().map(|aside| take(&mut aside.json)).unwrap_or_default();
        match self.role() {
            Role::Name if json.starts_with('"') => decoded(&json).map_or(Ok(()), |name| self.named(input, &name)),
            Role::Name if self.is_own(&self.key) => fail(ErrorKind::MalformedCall, "the tool's name must be a string"),
            Role::Arguments if self.given => self.again(input, &json),
            Role::Arguments => {
                self.given = true;
                if !self.name.is_empty() || self.ends().is_some() {
                    return self.arguments(input, &json);
                }
                self.held = Some(json);
                Ok(())
            }
            Role::Name | Role::Other if self.ignores(&self.key) => Ok(()),
            Role::Name | Role::Other => {
                let key = messages::shorten(&self.key);
                if self.guarded {
                    let what = format!("{key} must be a member of \"arguments\"");
                    return fail(ErrorKind::MalformedCall, &what);
                }
                self.misplaced |= json.starts_with('{');
                let message = format!("{key} is outside \"arguments\" and would be ignored; put it inside.");
                input.report.problem(ProblemKind::UnknownField, self.key.to_string(), message);
                Ok(())
            }
        }
    }

    pub(super) fn named(&mut self, input: &mut Input<'_>, name: &str) -> Flow {
        if !self.is_own(&self.key) {
            self.repair(input, Repair::KeyAlias, "the tool's name belongs under the key \"name\"")?;
        }
        if self.name == name && !name.is_empty() {
            return Ok(());
        }
        if !self.name.is_empty() {
            return fail(ErrorKind::DuplicateArgument, "it has two different names");
        }
        if name.is_empty() || first_chars(name, NAME_CHARS) < name.len() {
            return fail(ErrorKind::MalformedCall, "the tool's name must have 1 to 128 characters");
        }
        self.name.push_str(name);
        if self.undecided && self.held.is_none() {
            return Ok(());
        }
        self.undecided = false;
        if self.held.is_some() {
            self.state = JsonState::Value;
        }
        Err(Progress::ToolName(name.into()))
    }

    /// Types complete arguments, and writes them.
    pub(super) fn arguments(&mut self, input: &mut Input<'_>, json: &str) -> Flow {
        let text;
        let (source, encoded) = match json.bytes().next() {
            Some(b'{') => (json, false),
            Some(b'n') => ("{}", false),
            Some(b'"') => {
                text = decoded(json).unwrap_or_default();
                let text = match text.trim() {
                    "" | "null" => "{}",
                    text => text,
                };
                if text.starts_with('{') {
                    self.repair(input, Repair::EncodedArguments, "the arguments must be an object, not a string")?;
                }
                (text, true)
            }
            _ => ("", false),
        };
        if !source.starts_with('{') {
            return fail(ErrorKind::MalformedCall, "the arguments must be an object");
        }
        let quotes = encoded.then(|| Quotes::new(0, &[]));
        self.object.renew(self.lexer.fresh(), input.cx.schema.root, quotes);
        let rest = self.object.read_all(&input.cx, input.report, source)?;
        if encoded && rest.is_none_or(|rest| !rest.trim().is_empty()) {
            return fail(ErrorKind::InvalidJson, "the arguments must be one object");
        }
        Ok(())
    }

    /// The arguments are given again: they must be the same.
    pub(super) fn again(&mut self, input: &mut Input<'_>, json: &str) -> Flow {
        let same = match &self.held {
            Some(first) => first == json,
            None => {
                let mut aside = self.aside.take().unwrap_or_default();
                aside.reset();
                swap(&mut input.report.args, &mut aside);
                let typed = self.arguments(input, json);
                swap(&mut input.report.args, &mut aside);
                typed?;
                input.report.args.json == aside.json
            }
        };
        if same {
            return Ok(());
        }
        fail(ErrorKind::DuplicateArgument, "the arguments are given twice, with different values")
    }
}
