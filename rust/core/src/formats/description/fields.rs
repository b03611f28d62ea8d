//! The fields of a description. One list of them serves for reading and for writing.
//!
//! Texts are kept for the life of the process: the rows of built-in formats are constants, and a format that is read becomes the same.

use std::borrow::Cow;

use crate::formats::template::holes;
use crate::syntax::json::{Member, Value, json_string};
use crate::syntax::near::nearest;
use crate::syntax::scan::first_chars;

/// Characters of a value in an error.
const SHOWN: usize = 60;

/// The fields of one table, which are read or written.
pub(crate) struct FieldList<'d> {
    mode: Access<'d>,
    /// The keys that lead to the table, each with a dot after it.
    path: String,
    /// The first thing that is wrong.
    wrong: Option<String>,
}

enum Access<'d> {
    Read { given: Vec<Member<'d>>, known: Vec<&'static str> },
    Write(Vec<Member<'static>>),
}

/// The value of a field.
pub(crate) trait FieldValue: Sized {
    /// The values that can be read, for errors.
    const SHAPE: &'static str;

    fn read(value: &Value<'_>) -> Option<Self>;

    fn write(&self) -> Value<'static>;
}

/// Keeps a text for the life of the process.
fn kept(text: &str) -> &'static str {
    String::from(text).leak()
}

/// Keeps a value for the life of the process.
pub(super) fn keep<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

impl FieldValue for &'static str {
    const SHAPE: &'static str = "a string";

    fn read(value: &Value<'_>) -> Option<Self> {
        value.as_str().map(kept)
    }

    fn write(&self) -> Value<'static> {
        Value::String(Cow::Borrowed(self))
    }
}

impl FieldValue for bool {
    const SHAPE: &'static str = "true or false";

    fn read(value: &Value<'_>) -> Option<Self> {
        if let Value::Bool(flag) = value { Some(*flag) } else { None }
    }

    fn write(&self) -> Value<'static> {
        Value::Bool(*self)
    }
}

impl FieldValue for (&'static str, &'static str) {
    const SHAPE: &'static str = "a list of two strings";

    fn read(value: &Value<'_>) -> Option<Self> {
        match value.as_array()? {
            [first, second] => Some((FieldValue::read(first)?, FieldValue::read(second)?)),
            _ => None,
        }
    }

    fn write(&self) -> Value<'static> {
        Value::Array(vec![self.0.write(), self.1.write()])
    }
}

/// `false` is none.
impl<T: FieldValue> FieldValue for Option<T> {
    const SHAPE: &'static str = T::SHAPE;

    fn read(value: &Value<'_>) -> Option<Self> {
        if *value == Value::Bool(false) { Some(None) } else { T::read(value).map(Some) }
    }

    fn write(&self) -> Value<'static> {
        self.as_ref().map_or(Value::Bool(false), T::write)
    }
}

impl<T: FieldValue + 'static> FieldValue for &'static [T] {
    const SHAPE: &'static str = "a list";

    fn read(value: &Value<'_>) -> Option<Self> {
        value.as_array()?.iter().map(T::read).collect::<Option<Vec<_>>>().map(|items| &*items.leak())
    }

    fn write(&self) -> Value<'static> {
        Value::Array(self.iter().map(T::write).collect())
    }
}

impl<T: FieldValue + 'static, const N: usize> FieldValue for &'static [T; N] {
    const SHAPE: &'static str = <&[T]>::SHAPE;

    fn read(value: &Value<'_>) -> Option<Self> {
        <&[T]>::read(value)?.try_into().ok()
    }

    fn write(&self) -> Value<'static> {
        <&[T]>::write(&self.as_slice())
    }
}

impl FieldValue for [&'static str; 6] {
    const SHAPE: &'static str = "a list of six strings";

    fn read(value: &Value<'_>) -> Option<Self> {
        <&[&'static str]>::read(value)?.try_into().ok()
    }

    fn write(&self) -> Value<'static> {
        Value::Array(self.iter().map(FieldValue::write).collect())
    }
}

impl<'d> FieldList<'d> {
    pub(super) fn reading(given: Vec<Member<'d>>, path: &str) -> Self {
        FieldList { mode: Access::Read { given, known: Vec::new() }, path: path.to_owned(), wrong: None }
    }

    fn writing() -> FieldList<'static> {
        FieldList { mode: Access::Write(Vec::new()), path: String::new(), wrong: None }
    }

    /// A field that is read, if it is given.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Value<'d>> {
        let Access::Read { given, known } = &mut self.mode else { return None };
        known.push(key);
        let at = given.iter().position(|(name, _)| name == key)?;
        Some(given.remove(at).1)
    }

    /// A template that is read, if it is given. Each of its holes must be one of these, and occur once.
    pub(super) fn template(&mut self, key: &'static str, known: &[&str]) -> Option<&'static str> {
        self.template_with(key, |_| known)
    }

    /// The same, with holes that depend on the template.
    pub(super) fn template_with<'k>(
        &mut self,
        key: &'static str,
        known: impl Fn(&'static str) -> &'k [&'k str],
    ) -> Option<&'static str> {
        if self.writes() {
            return None;
        }
        let mut given = None;
        self.field(key, &mut given);
        let template: &'static str = given?;
        let known = known(template);
        let place = format!("{}{key}", self.path);
        let mut names: Vec<&str> = Vec::new();
        for name in holes(template) {
            if !known.contains(&name) {
                self.fail(format!("{place} has {{{name}}}; its holes are {{{}}}", known.join("}, {")));
            } else if names.contains(&name) {
                self.fail(format!("{place} has {{{name}}} twice"));
            }
            names.push(name);
        }
        Some(template)
    }

    /// Whether a field is read that contains the text.
    pub(super) fn has(&self, key: &str, text: &str) -> bool {
        let Access::Read { given, .. } = &self.mode else { return false };
        given.iter().any(|(name, value)| name == key && value.as_str().is_some_and(|value| value.contains(text)))
    }

    fn push(&mut self, key: &'static str, value: Value<'static>) {
        if let Access::Write(written) = &mut self.mode {
            written.push((Cow::Borrowed(key), value));
        }
    }

    fn writes(&self) -> bool {
        matches!(self.mode, Access::Write(_))
    }

    /// Remembers that the value of a field is not of this shape.
    pub(super) fn refuse(&mut self, key: &str, shape: &str, value: &Value<'_>) {
        let json = value.to_json();
        let end = first_chars(&json, SHOWN);
        let more = if end < json.len() { "…" } else { "" };
        let place = format!("{}{key}", self.path);
        self.fail(format!("{place} must be {shape}, not {}{more}", &json[..end]));
    }

    pub(super) fn fail(&mut self, wrong: String) {
        self.wrong.get_or_insert(wrong);
    }

    pub(super) fn field<T: FieldValue>(&mut self, key: &'static str, value: &mut T) {
        if self.writes() {
            return self.push(key, value.write());
        }
        let Some(given) = self.take(key) else { return };
        match T::read(&given) {
            Some(read) => *value = read,
            None => self.refuse(key, T::SHAPE, &given),
        }
    }

    /// A field that is a template.
    pub(super) fn template_field(&mut self, key: &'static str, text: &mut &'static str, known: &[&str]) {
        self.push(key, text.write());
        *text = self.template(key, known).unwrap_or(text);
    }

    /// One of several values, each with its name.
    pub(super) fn choice<T: Copy + PartialEq>(
        &mut self,
        key: &'static str,
        value: &mut T,
        choices: &[(&'static str, T)],
    ) {
        if self.writes() {
            let name = choices.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name);
            return self.push(key, name.write());
        }
        let Some(given) = self.take(key) else { return };
        match choices.iter().find(|(name, _)| given.as_str() == Some(name)) {
            Some((_, chosen)) => *value = *chosen,
            None => {
                let names: Vec<_> = choices.iter().map(|(name, _)| json_string(name)).collect();
                self.refuse(key, &format!("one of {}", names.join(", ")), &given);
            }
        }
    }

    /// The fields of a table inside this one.
    pub(super) fn within<T>(
        &mut self,
        key: &str,
        members: Vec<Member<'_>>,
        list: impl FnOnce(&mut FieldList<'_>) -> T,
    ) -> T {
        let mut inner = FieldList::reading(members, &format!("{}{key}.", self.path));
        let value = list(&mut inner);
        if let Err(wrong) = inner.finish() {
            self.fail(wrong);
        }
        value
    }

    fn written(self) -> Vec<Member<'static>> {
        if let Access::Write(written) = self.mode { written } else { Vec::new() }
    }

    /// The first thing that is wrong, unknown keys included.
    pub(super) fn finish(self) -> Result<(), String> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        let Access::Read { given, known } = self.mode else { return Ok(()) };
        let Some((key, _)) = given.first() else { return Ok(()) };
        let shown = &key[..first_chars(key, SHOWN)];
        let near = nearest(key, known.iter().copied());
        let advice = match near.first() {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("the fields are {}", known.join(", ")),
        };
        Err(format!("there is no field {:?}; {advice}", format!("{}{shown}", self.path)))
    }
}

/// The fields of a value that differ from those of another one.
pub(super) fn difference<T: Copy>(
    value: &T,
    other: &T,
    list: &dyn Fn(&mut T, &mut FieldList<'_>),
) -> Vec<Member<'static>> {
    changed(all(value, list), &all(other, list))
}

/// All fields of a value.
pub(super) fn all<T: Copy>(value: &T, list: &dyn Fn(&mut T, &mut FieldList<'_>)) -> Vec<Member<'static>> {
    let mut fields = FieldList::writing();
    list(&mut value.clone(), &mut fields);
    fields.written()
}

fn changed(members: Vec<Member<'static>>, others: &[Member<'static>]) -> Vec<Member<'static>> {
    let kept = |(key, value): Member<'static>| {
        let other = others.iter().find(|(name, _)| *name == key).map(|(_, other)| other);
        match (value, other) {
            (value, Some(other)) if value == *other => None,
            (Value::Object(inner), Some(Value::Object(other))) => Some((key, Value::Object(changed(inner, other)))),
            (value, _) => Some((key, value)),
        }
    };
    members.into_iter().filter_map(kept).collect()
}
