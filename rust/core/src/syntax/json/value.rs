//! A JSON value with its numbers as text: what the encoder writes from.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::lexer::{Lexeme, Lexer, Place};
use super::number::{hash_number, is_number, same_number};
use crate::limits::RECURSION;

/// A JSON value; keys in the order given, numbers as written.
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

impl Value<'_> {
    /// Numbers by value, members in any order. Recursion is bounded by the depth the value was made with.
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

    /// The same for values that are equal, and most likely another one for those that are not.
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
                // In any order.
                members.iter().map(digest).fold(0, u64::wrapping_add).hash(&mut state);
            }
        }
        state.finish()
    }

    /// Appends compact JSON. Recursion is bounded by the depth the value was made with.
    pub fn write(&self, out: &mut String) {
        self.write_with("", out);
    }

    /// The same with a space after each comma and colon.
    pub fn write_spaced(&self, out: &mut String) {
        self.write_with(" ", out);
    }

    fn write_with(&self, space: &str, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(text) => out.push_str(text),
            Value::String(text) => super::push_string(out, text),
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                        out.push_str(space);
                    }
                    item.write_with(space, out);
                }
                out.push(']');
            }
            Value::Object(members) => write_members(members, space, out),
        }
    }
}

/// Appends the compact JSON of an object.
pub fn write_object(members: &[Member<'_>], out: &mut String) {
    write_members(members, "", out);
}

/// The same with a space after each comma and colon.
pub fn write_spaced_object(members: &[Member<'_>], out: &mut String) {
    write_members(members, " ", out);
}

fn write_members(members: &[Member<'_>], space: &str, out: &mut String) {
    out.push('{');
    for (at, (key, value)) in members.iter().enumerate() {
        if at > 0 {
            out.push(',');
            out.push_str(space);
        }
        super::push_string(out, key);
        out.push(':');
        out.push_str(space);
        value.write_with(space, out);
    }
    out.push('}');
}

/// Reads strict JSON, at most `depth` levels deep, and at most `RECURSION`. The error says what is wrong and at which byte.
pub fn parse(text: &str, depth: usize) -> Result<Value<'static>, String> {
    let mut reader = Reader { lexer: Lexer::new(false), text, at: 0 };
    let value = reader.value(depth.min(RECURSION))?;
    match reader.next(Place::Punctuation) {
        Lexeme::Need => Ok(value),
        _ => Err(reader.error("there is text after the value")),
    }
}

struct Reader<'t> {
    lexer: Lexer,
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self, place: Place) -> Lexeme<'t> {
        self.lexer.next(self.text, &mut self.at, true, place)
    }

    fn error(&self, what: &str) -> String {
        format!("{what} (at byte {})", self.at)
    }

    fn value(&mut self, depth: usize) -> Result<Value<'static>, String> {
        let lexeme = self.next(Place::Value);
        self.value_from(lexeme, depth)
    }

    fn value_from(&mut self, lexeme: Lexeme<'t>, depth: usize) -> Result<Value<'static>, String> {
        match lexeme {
            Lexeme::Word("null") => Ok(Value::Null),
            Lexeme::Word("true") => Ok(Value::Bool(true)),
            Lexeme::Word("false") => Ok(Value::Bool(false)),
            Lexeme::Word(word) if is_number(word) => Ok(Value::Number(Cow::Owned(word.to_owned()))),
            Lexeme::StringStart => Ok(Value::String(Cow::Owned(self.string()?))),
            Lexeme::Punct(b'[' | b'{') if depth == 0 => Err(self.error("nested too deeply")),
            Lexeme::Punct(b'[') => self.array(depth - 1),
            Lexeme::Punct(b'{') => self.object(depth - 1),
            Lexeme::Need => Err(self.error("the text ends inside a value")),
            Lexeme::Bad(what) | Lexeme::Lax(what) => Err(self.error(what)),
            _ => Err(self.error("a JSON value is expected")),
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let mut out = String::new();
        loop {
            match self.next(Place::Value) {
                Lexeme::Plain(text) => out.push_str(text),
                Lexeme::Char(c) => out.push(c),
                Lexeme::StringEnd => return Ok(out),
                Lexeme::Bad(what) | Lexeme::Lax(what) => return Err(self.error(what)),
                _ => return Err(self.error("a string does not end")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value<'static>, String> {
        let mut items = Vec::new();
        loop {
            match self.next(Place::Value) {
                Lexeme::Punct(b']') if items.is_empty() => return Ok(Value::Array(items)),
                lexeme => items.push(self.value_from(lexeme, depth)?),
            }
            match self.next(Place::Punctuation) {
                Lexeme::Punct(b',') => {}
                Lexeme::Punct(b']') => return Ok(Value::Array(items)),
                _ => return Err(self.error("a comma or ] is missing")),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value<'static>, String> {
        let mut members: Vec<Member<'static>> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        loop {
            match self.next(Place::Key) {
                Lexeme::Punct(b'}') if members.is_empty() => return Ok(Value::Object(members)),
                Lexeme::StringStart => {}
                _ => return Err(self.error("a key in double quotes is expected")),
            }
            let key = self.string()?;
            if !seen.insert(key.clone()) {
                return Err(self.error(&format!("the key {key:?} occurs twice")));
            }
            if self.next(Place::Punctuation) != Lexeme::Punct(b':') {
                return Err(self.error("a colon is missing"));
            }
            let value = self.value(depth)?;
            members.push((Cow::Owned(key), value));
            match self.next(Place::Punctuation) {
                Lexeme::Punct(b',') => {}
                Lexeme::Punct(b'}') => return Ok(Value::Object(members)),
                _ => return Err(self.error("a comma or } is missing")),
            }
        }
    }
}
