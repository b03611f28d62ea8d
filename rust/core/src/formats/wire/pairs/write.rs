//! Pairs written: the inverse of reading them, by the same table.

use crate::arguments::coercion;
use crate::limits::{KEY_CHARS, RECURSION};
use crate::schema::{Choice, NESTED_SEGMENTS, Node, NodeId, ObjectType, Schema, UNKNOWN};
use crate::syntax::json::{Member, Value, json_string, parse};
use crate::syntax::pairs::{is_bare_safe, push_quoted, push_segment};
use crate::syntax::scan::{Delimiters, first_chars};

/// Characters of a key that is written; a reader looks at most [`KEY_CHARS`] ahead.
const WRITTEN_KEY_CHARS: usize = KEY_CHARS - 8;

/// Appends the members as pairs, each after a space. `None`: a key is too long for a pair.
pub(crate) fn write_pairs(
    schema: &Schema,
    delimiters: &Delimiters,
    members: &[Member<'_>],
    out: &mut String,
) -> Option<()> {
    Writer { schema, delimiters }.members(schema.root, "", members, 1, out)
}

/// Appends the name of a member to a key. Returns whether the key is short enough for a pair.
pub(crate) fn write_key(schema: &Schema, id: NodeId, name: &str, delimiters: &Delimiters, key: &mut String) -> bool {
    Writer { schema, delimiters }.segment(id, name, !key.is_empty(), key);
    is_short(key)
}

/// A literal of this type, as a value.
pub(crate) fn written_literal(schema: &Schema, delimiters: &Delimiters, id: NodeId, json: &str) -> String {
    let mut out = String::new();
    match parse(json, RECURSION) {
        Ok(value) => Writer { schema, delimiters }.value(id, &value, &mut out),
        Err(_) => out.push_str(json),
    }
    out
}

fn is_short(key: &str) -> bool {
    first_chars(key, WRITTEN_KEY_CHARS) == key.len()
}

struct Writer<'s> {
    schema: &'s Schema,
    delimiters: &'s Delimiters,
}

impl Writer<'_> {
    fn members(&self, id: NodeId, prefix: &str, members: &[Member<'_>], depth: usize, out: &mut String) -> Option<()> {
        let object = self.schema.node(id).object.as_ref();
        for (name, value) in members {
            let start = out.len() + 1;
            out.push(' ');
            out.push_str(prefix);
            self.segment(id, name, !prefix.is_empty(), out);
            if !is_short(&out[start..]) {
                return None;
            }
            let declared = object.and_then(|object| object.properties.get(name));
            let child = declared.copied().or_else(|| self.schema.member(id, name)).unwrap_or(UNKNOWN);
            match value {
                Value::Object(inner) if !inner.is_empty() && depth < NESTED_SEGMENTS && self.schema.nests(child) => {
                    let key = out.split_off(start);
                    out.pop();
                    self.members(child, &key, inner, depth + 1, out)?;
                }
                _ => {
                    out.push('=');
                    self.value(child, value, out);
                }
            }
        }
        Some(())
    }

    /// Appends the name of a member, after a dot if it is not the first segment.
    fn segment(&self, id: NodeId, name: &str, nested: bool, out: &mut String) {
        let object = self.schema.node(id).object.as_ref();
        let misread = |object: &ObjectType| is_misread(object, name, object.properties.get(name).is_some());
        if nested {
            out.push('.');
        }
        if object.is_some_and(misread) {
            push_quoted(out, name);
        } else {
            push_segment(out, name, self.delimiters);
        }
    }

    fn value(&self, id: NodeId, value: &Value<'_>, out: &mut String) {
        match value {
            Value::String(text) => {
                if self.is_bare(id, text) {
                    out.push_str(text)
                } else {
                    push_quoted(out, text)
                }
            }
            // Where only a string fits, brackets would be read as one.
            Value::Array(_) | Value::Object(_)
                if !self.schema.node(id).takes_container() && self.schema.node(id).takes_string() =>
            {
                let mut json = String::new();
                value.write(&mut json);
                push_quoted(out, &json);
            }
            _ => value.write(out),
        }
    }

    /// Whether the bare text reads as that text.
    fn is_bare(&self, id: NodeId, text: &str) -> bool {
        if !is_bare_safe(text, self.delimiters) {
            return false;
        }
        let node = self.schema.node(id);
        if text.starts_with('(') && takes_tuples(node) {
            return false;
        }
        if node.is_string() || coercion::is_string_bare(node, text) {
            return true;
        }
        let mut json = String::new();
        let outcome = coercion::scalar(self.schema, id, text, false, &mut json);
        !outcome.converted && json == json_string(text)
    }
}

/// Whether parentheses are those of a list there.
pub(super) fn takes_tuples(node: &Node) -> bool {
    node.has(&Choice::Array) && !node.takes_string()
}

/// Whether a bare segment of this name would be taken for another key, or part of one.
fn is_misread(object: &ObjectType, name: &str, declared: bool) -> bool {
    object.joins || (!declared && !object.explicitly_open() && object.folded(name).is_some())
}
