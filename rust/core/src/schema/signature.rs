//! The signature of a tool, as one line of the manual: keys as the model must write them, and short types.

use std::cell::Cell;
use std::collections::HashSet;

use super::{Additional, Choice, Node, NodeId, Schema, UNKNOWN};
use crate::syntax::json::{Value, parse};
use crate::syntax::marks::neutralise;
use crate::syntax::pairs::{is_bare_safe, push_quoted, push_segment};
use crate::syntax::scan::Delimiters;

/// Which descriptions the manual contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Descriptions {
    /// Those of tools and of fields.
    Full,
    /// Those of tools.
    Tools,
    /// None.
    None,
}

/// Segments of a key that the encoder writes and the manual shows.
pub(crate) const NESTED_SEGMENTS: usize = 4;
/// Levels of nested objects that are shown. Recursive types would never end.
const SHAPE_LEVELS: usize = 5;
/// Objects of one tool that are shown with their members. Those of recursive types multiply at each level.
const SHOWN_OBJECTS: usize = 500;

/// Text from a schema as one line of the manual. It contains no tag that could be read as a call.
pub(crate) fn one_line(text: &str, delimiters: &Delimiters) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'));
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    neutralise(&line, delimiters)
}

/// What a signature shows of a schema.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub descriptions: Descriptions,
    /// Whether a text of the schema may be shown as a constraint. `None`: constraints are left out.
    pub constraints: Option<&'a dyn Fn(&str) -> bool>,
}

struct SignatureWriter<'s> {
    schema: &'s Schema,
    delimiters: &'s Delimiters,
    shown: Shown<'s>,
    /// The number of objects shown so far.
    objects: &'s Cell<usize>,
}

/// The fields of a tool, each after a space.
pub(crate) fn signature(schema: &Schema, delimiters: &Delimiters, shown: Shown<'_>, json: bool) -> String {
    let writer = SignatureWriter { schema, delimiters, shown, objects: &Cell::new(0) };
    let mut out = String::new();
    if json {
        out.extend([" ", &writer.shape(schema.root, SHAPE_LEVELS, true)]);
    } else {
        writer.fields(&mut out);
    }
    out
}

/// One key of a tool, as the encoder writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The key, with its dots and quotes.
    pub key: String,
    /// The type as the manual shows it.
    pub r#type: String,
    /// Whether every call must contain the key.
    pub required: bool,
}

/// The keys of a tool. Those of nested objects are dotted.
pub(crate) fn fields(schema: &Schema, delimiters: &Delimiters) -> Vec<Field> {
    let shown = Shown { descriptions: Descriptions::None, constraints: None };
    let writer = SignatureWriter { schema, delimiters, shown, objects: &Cell::new(0) };
    let mut out = Vec::new();
    writer.walk(schema.root, "", true, 1, &mut |step| {
        if let FieldStep::Field { key, id, required } = step {
            out.push(Field { key: key.to_owned(), r#type: writer.name(id, SHAPE_LEVELS), required });
        }
    });
    out
}

/// A step through a tool's fields.
enum FieldStep<'k> {
    Field {
        key: &'k str,
        id: NodeId,
        required: bool,
    },
    /// All members of this object were visited.
    Nested(NodeId),
}

impl SignatureWriter<'_> {
    /// Visits each key that is written. Nested objects are visited as the dotted keys of their members.
    fn walk(&self, id: NodeId, prefix: &str, required: bool, depth: usize, tell: &mut dyn FnMut(FieldStep<'_>)) {
        let Some(object) = &self.schema.node(id).object else { return };
        let all: HashSet<&str> = object.required.iter().map(String::as_str).collect();
        for (name, child) in object.properties.iter() {
            let mut key = prefix.to_owned();
            if !prefix.is_empty() {
                key.push('.');
            }
            push_segment(&mut key, name, self.delimiters);
            let needed = required && all.contains(name);
            if depth < NESTED_SEGMENTS && self.schema.nests(*child) && self.has_room() {
                self.walk(*child, &key, needed, depth + 1, tell);
                tell(FieldStep::Nested(*child));
            } else {
                tell(FieldStep::Field { key: &key, id: *child, required: needed });
            }
        }
    }

    /// Whether one more object may be shown with its members.
    fn has_room(&self) -> bool {
        self.objects.set(self.objects.get() + 1);
        self.objects.get() <= SHOWN_OBJECTS
    }

    /// The keys of the whole tool, each after a space.
    fn fields(&self, out: &mut String) {
        let root = self.schema.root;
        self.walk(root, "", true, 1, &mut |step| match step {
            FieldStep::Field { key, id, required } => {
                out.extend([" ", &one_line(key, self.delimiters)]);
                self.field(id, required, SHAPE_LEVELS, out);
            }
            FieldStep::Nested(id) => self.description(id, out),
        });
        let open = match &self.schema.node(root).object {
            None => Some(UNKNOWN),
            Some(object) => match object.additional {
                Additional::Unsaid if !object.patterns.is_empty() => Some(UNKNOWN),
                additional => additional.open(),
            },
        };
        if let Some(node) = open {
            out.extend([" …=", &self.constrained(node, SHAPE_LEVELS)]);
        }
    }

    /// What follows a key: the mark of an optional field, type, default, constraints, description.
    fn field(&self, id: NodeId, required: bool, levels: usize, out: &mut String) {
        let node = self.schema.node(id);
        if !required {
            out.push('?');
        }
        let short = self.short(id, levels);
        if !short.is_empty() {
            out.extend([":", &short]);
        }
        if let Some(default) = node.default.as_deref().filter(|default| *default != "null") {
            out.extend(["=", &one_line(&self.literal(default), self.delimiters)]);
        }
        self.constraints(id, out);
        self.description(id, out);
    }

    /// The constraints of a value, each after a space.
    fn constraints(&self, id: NodeId, out: &mut String) {
        let Some(is_safe) = self.shown.constraints else { return };
        for text in self.schema.node(id).constraints(&|json| self.literal(json), is_safe) {
            // A custom delimiter may be any text.
            if neutralise(&text, self.delimiters) == text {
                out.extend([" ", &text]);
            }
        }
    }

    fn description(&self, id: NodeId, out: &mut String) {
        if self.shown.descriptions != Descriptions::Full {
            return;
        }
        if let Some(description) = &self.schema.node(id).description {
            let line = one_line(description, self.delimiters);
            if !line.is_empty() {
                out.extend([" (", &line, ")"]);
            }
        }
    }

    fn short(&self, id: NodeId, levels: usize) -> String {
        let node = self.schema.node(id);
        if node.is_string() && self.format(node).is_none() { String::new() } else { self.name(id, levels) }
    }

    fn format<'n>(&self, node: &'n Node) -> Option<&'n str> {
        self.shown.constraints.and_then(|_| node.format())
    }

    /// A type with its constraints, as for items of lists and members of maps.
    fn constrained(&self, id: NodeId, levels: usize) -> String {
        let mut out = self.name(id, levels);
        self.constraints(id, &mut out);
        out
    }

    fn name(&self, id: NodeId, levels: usize) -> String {
        let node = self.schema.node(id);
        if node.is_unknown() {
            return match self.schema.hint(id) {
                Some(Choice::Array) => self.list(id, levels),
                Some(_) => self.shape(id, levels, false),
                None => "any".into(),
            };
        }
        let mut names: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for choice in &node.choices {
            let name = match choice {
                Choice::String => self.format(node).unwrap_or("string").into(),
                Choice::Integer => "int".into(),
                Choice::Number => "number".into(),
                Choice::Boolean => "bool".into(),
                Choice::Null => "null".into(),
                Choice::Literal(literal) => one_line(&self.literal(&literal.json), self.delimiters),
                Choice::Array => self.list(id, levels),
                Choice::Object => self.shape(id, levels, false),
            };
            if seen.insert(name.clone()) {
                names.push(name);
            }
        }
        names.join("|")
    }

    /// A literal as it is written for a field of its type.
    fn literal(&self, json: &str) -> String {
        match parse(json, SHAPE_LEVELS) {
            Ok(Value::String(text)) if is_bare_safe(&text, self.delimiters) => text.into_owned(),
            Ok(Value::String(text)) => {
                let mut quoted = String::new();
                push_quoted(&mut quoted, &text);
                quoted
            }
            _ => json.to_owned(),
        }
    }

    fn list(&self, id: NodeId, levels: usize) -> String {
        let Some(array) = self.schema.node(id).array.as_ref().filter(|_| levels > 0) else { return "[…]".into() };
        let mut items: Vec<String> = array.prefix.iter().map(|item| self.constrained(*item, levels - 1)).collect();
        if let Some(item) = array.items {
            let name = self.constrained(item, levels - 1);
            items.push(if array.prefix.is_empty() { name } else { format!("…{name}") });
        }
        if items.is_empty() {
            items.push("any".into());
        }
        format!("[{}]", items.join(","))
    }

    fn shape(&self, id: NodeId, levels: usize, descriptions: bool) -> String {
        let shown = self.schema.node(id).object.as_ref().filter(|_| levels > 0 && self.has_room());
        let Some(object) = shown else { return "{…}".into() };
        let inner = if descriptions { self.shown.descriptions } else { Descriptions::None };
        let writer = SignatureWriter { shown: Shown { descriptions: inner, ..self.shown }, ..*self };
        let required: HashSet<&str> = object.required.iter().map(String::as_str).collect();
        let mut fields: Vec<String> = Vec::new();
        for (name, child) in object.properties.iter() {
            let mut field = String::new();
            push_segment(&mut field, name, self.delimiters);
            field = one_line(&field, self.delimiters);
            writer.field(*child, required.contains(name), levels - 1, &mut field);
            fields.push(field);
        }
        match object.additional {
            Additional::Open(node) => fields.push(format!("…:{}", self.constrained(node, levels - 1))),
            Additional::Unsaid | Additional::Closed if fields.is_empty() => fields.push("…".into()),
            Additional::Unsaid | Additional::Closed => {}
        }
        format!("{{{}}}", fields.join(","))
    }
}
