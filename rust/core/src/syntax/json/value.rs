//! A JSON value that keeps its numbers as text.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::number::{hash_number, same_number};

/// A JSON value. Members are in the order given, and numbers are kept as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Number(Cow<'a, str>),
    String(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    Object(Vec<Member<'a>>),
}

/// A member of an object.
pub type Member<'a> = (Cow<'a, str>, Value<'a>);

/// Appends a comma or a colon, with a space if the JSON is spaced.
#[inline]
fn push_mark(mark: char, spaced: bool, out: &mut String) {
    out.push(mark);
    if spaced {
        out.push(' ');
    }
}

impl Value<'_> {
    /// Compares numbers by value, and members in any order. Callers must limit the depth.
    pub fn equals(&self, other: &Value<'_>) -> bool {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => same_number(a, b),
            (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b)),
            (Value::Object(a), Value::Object(b)) => {
                let find = |key: &str| b.iter().find(|(name, _)| name == key).map(|(_, value)| value);
                a.len() == b.len() && a.iter().all(|(key, value)| find(key).is_some_and(|other| value.equals(other)))
            }
            _ => self == other,
        }
    }

    /// A hash that is the same for values that are equal by [`Value::equals`].
    pub fn digest(&self) -> u64 {
        let mut state = DefaultHasher::new();
        std::mem::discriminant(self).hash(&mut state);
        match self {
            Value::Null => {}
            Value::Bool(value) => value.hash(&mut state),
            Value::Number(text) => hash_number(text, &mut state),
            Value::String(text) => text.hash(&mut state),
            Value::Array(items) => items.iter().for_each(|item| item.digest().hash(&mut state)),
            Value::Object(members) => {
                let digest = |(key, value): &Member<'_>| {
                    let mut state = DefaultHasher::new();
                    (key, value.digest()).hash(&mut state);
                    state.finish()
                };
                // The order of members does not matter.
                members.iter().map(digest).fold(0, u64::wrapping_add).hash(&mut state);
            }
        }
        state.finish()
    }

    /// Appends compact JSON. Callers must limit the depth.
    pub fn write(&self, out: &mut String) {
        self.write_with(false, out);
    }

    /// Appends JSON with a space after each comma and colon.
    pub fn write_spaced(&self, out: &mut String) {
        self.write_with(true, out);
    }

    fn write_with(&self, spaced: bool, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(text) => out.push_str(text),
            Value::String(text) => super::push_string(out, text),
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        push_mark(',', spaced, out);
                    }
                    item.write_with(spaced, out);
                }
                out.push(']');
            }
            Value::Object(members) => write_members(members, spaced, out),
        }
    }
}

/// Appends the compact JSON of an object.
pub fn write_object(members: &[Member<'_>], out: &mut String) {
    write_members(members, false, out);
}

/// Appends the JSON of an object, with a space after each comma and colon.
pub fn write_spaced_object(members: &[Member<'_>], out: &mut String) {
    write_members(members, true, out);
}

fn write_members(members: &[Member<'_>], spaced: bool, out: &mut String) {
    out.push('{');
    for (at, (key, value)) in members.iter().enumerate() {
        if at > 0 {
            push_mark(',', spaced, out);
        }
        super::push_string(out, key);
        push_mark(':', spaced, out);
        value.write_with(spaced, out);
    }
    out.push('}');
}
