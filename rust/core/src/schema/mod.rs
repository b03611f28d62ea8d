//! JSON Schema, compiled once to the types that values are read as.
//!
//! The type of a field is a list of alternatives, in the order of the schema: `anyOf`, `oneOf` and type lists are
//! joined, and `allOf` and `$ref` are merged into each. Keywords that do not change how a value is read (`not`, `if`,
//! formats, bounds) are left to the opt-in validation. Nothing is ever fetched.

mod compile;
mod constraints;
#[cfg(feature = "validate")]
mod drafts;
mod overlap;
mod parts;
mod resolve;
mod rewrite;
mod sample;
mod signature;
#[cfg(not(feature = "validate"))]
mod unvalidated;
#[cfg(feature = "validate")]
mod validation;
#[cfg(feature = "validate")]
mod validation_cost;
mod variants;

use crate::keymap::KeyMap;
use crate::limits::FEW_CHOICES;
use crate::syntax::json::Value;
use regex::Regex;
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) use compile::{compile, compile_variants};
pub(crate) use parts::Json;
pub(crate) use resolve::{SchemaDocument, SchemaFault, read_schema};
pub(crate) use rewrite::without_required_defaults;
pub(crate) use sample::Sample;
pub use signature::{Descriptions, Field};
pub(crate) use signature::{NESTED_SEGMENTS, Shown, fields, one_line, signature};
#[cfg(not(feature = "validate"))]
pub(crate) use unvalidated::Validator;
#[cfg(feature = "validate")]
pub(crate) use validation::Validator;
pub(crate) use variants::{Length, Variant, Variants};

pub(crate) type NodeId = u32;

/// One kind of value that a field may have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Choice {
    String,
    Integer,
    Number,
    Boolean,
    Null,
    Array,
    Object,
    Literal(Literal),
}

/// A member of an enum, or a const.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Literal {
    /// Compact JSON.
    pub json: String,
    /// The decoded text, if the literal is a string.
    pub text: Option<String>,
    /// The decoded text in lower case.
    pub folded: String,
    /// The same for all values that are equal to it.
    pub digest: u64,
}

impl Literal {
    /// What kind of value it is. Numbers are not told apart.
    pub(crate) fn kind(&self) -> Choice {
        match self.json.as_bytes()[0] {
            b'"' => Choice::String,
            b't' | b'f' => Choice::Boolean,
            b'n' => Choice::Null,
            b'[' => Choice::Array,
            b'{' => Choice::Object,
            _ => Choice::Number,
        }
    }
}

impl Choice {
    /// The kind of its values.
    pub(crate) fn kind(&self) -> Choice {
        if let Choice::Literal(literal) = self { literal.kind() } else { self.clone() }
    }
}

/// A field's type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// If empty, the type is unknown, and any JSON is allowed.
    pub choices: Vec<Choice>,
    pub object: Option<ObjectType>,
    pub array: Option<Array>,
    /// The schema has several alternatives.
    pub union: bool,
    pub description: Option<String>,
    /// Compact JSON.
    pub default: Option<String>,
    /// What example values must satisfy.
    pub sample: Option<Box<Sample>>,
    /// The index of the strings, if there are many choices.
    strings: Option<Strings>,
}

/// An index of string choices. Without it, each text would be compared with each string, which is quadratic.
#[derive(Clone, Debug, Default)]
struct Strings {
    /// The positions of the choices with this text in lower case.
    folded: HashMap<String, Vec<usize>>,
    /// The positions of the other choices, which are few.
    others: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectType {
    pub properties: KeyMap<NodeId>,
    /// Folded name → position in `properties`; `None` if two names fold to the same text.
    folded: HashMap<String, Option<usize>>,
    /// A pattern without a regex may match any key.
    pub patterns: Vec<(Option<Regex>, NodeId)>,
    pub additional: Additional,
    pub required: Vec<String>,
    /// A declared name contains a dot, so that bare segments may be joined.
    pub joins: bool,
}

/// What the schema says about keys that it does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Additional {
    /// Nothing: any value is allowed, but a key that nearly matches a declared one is read as that key.
    #[default]
    Unsaid,
    /// They are explicitly allowed, with a type.
    Open(NodeId),
    Closed,
}

impl Additional {
    fn open(self) -> Option<NodeId> {
        if let Additional::Open(node) = self { Some(node) } else { None }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Array {
    pub prefix: Vec<NodeId>,
    /// `None`: unknown.
    pub items: Option<NodeId>,
}

/// A compiled schema. Nodes refer to each other by number, so it may be recursive.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    nodes: Vec<Node>,
    pub root: NodeId,
}

/// Node 0 of every schema, of unknown type.
pub(crate) const UNKNOWN: NodeId = 0;

/// The key in lower case, without `_` and `-`.
pub(crate) fn fold(key: &str) -> String {
    folded(key).collect()
}

fn folded(key: &str) -> impl Iterator<Item = char> {
    key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase)
}

/// Whether the key begins with this text, ignoring case, `_` and `-`.
pub(crate) fn begins_folded(key: &str, begun: &str) -> bool {
    let mut key = folded(key);
    folded(begun).all(|c| key.next() == Some(c))
}

impl ObjectType {
    /// The type of an exact key: from `properties`, then `patternProperties`, then `additionalProperties`. `None`: the
    /// key is not allowed.
    pub(crate) fn member(&self, key: &str) -> Option<NodeId> {
        let fits = |(pattern, _): &&(Option<Regex>, NodeId)| pattern.as_ref().is_none_or(|regex| regex.is_match(key));
        let named = self.properties.get(key).or_else(|| Some(&self.patterns.iter().find(fits)?.1)).copied();
        named.or(match self.additional {
            Additional::Unsaid => Some(UNKNOWN),
            additional => additional.open(),
        })
    }

    /// The only declared key that differs just in case, `_` and `-`.
    pub(crate) fn folded(&self, key: &str) -> Option<(&Arc<str>, NodeId)> {
        let at = (*self.folded.get(&fold(key))?)?;
        let (name, node) = self.properties.at(at);
        Some((name, *node))
    }

    pub(crate) fn explicitly_open(&self) -> bool {
        matches!(self.additional, Additional::Open(_)) || !self.patterns.is_empty()
    }

    /// Whether the schema says anything about it.
    fn is_described(&self) -> bool {
        let said = self.additional != Additional::Unsaid || !self.required.is_empty();
        said || !self.properties.is_empty() || !self.patterns.is_empty()
    }

    fn index(&mut self) {
        self.joins = self.properties.iter().any(|(name, _)| name.contains('.'));
        for (at, (name, _)) in self.properties.iter().enumerate() {
            self.folded.entry(fold(name)).and_modify(|seen| *seen = None).or_insert(Some(at));
        }
    }
}

impl Array {
    pub(crate) fn item(&self, at: usize) -> NodeId {
        self.prefix.get(at).copied().or(self.items).unwrap_or(UNKNOWN)
    }
}

/// Choices of a node, in their order.
pub(crate) enum ChoicesOf<'n> {
    All(&'n [Choice]),
    Some(Vec<&'n Choice>),
}

impl<'n> ChoicesOf<'n> {
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'n Choice> {
        let (all, some): (&'n [Choice], &[&'n Choice]) = match self {
            ChoicesOf::All(all) => (all, &[]),
            ChoicesOf::Some(some) => (&[], some),
        };
        all.iter().chain(some.iter().copied())
    }
}

impl Node {
    /// Must be called when the choices are complete.
    fn index_strings(&mut self) {
        if self.choices.len() <= FEW_CHOICES {
            return;
        }
        let mut strings = Strings::default();
        for (at, choice) in self.choices.iter().enumerate() {
            match choice {
                Choice::Literal(Literal { text: Some(_), folded, .. }) => {
                    strings.folded.entry(folded.clone()).or_default().push(at);
                }
                _ => strings.others.push(at),
            }
        }
        self.strings = (strings.others.len() <= FEW_CHOICES).then_some(strings);
    }

    /// The choices in their order. Of many strings, only those that are this text, ignoring case.
    pub(crate) fn candidates(&self, text: &str) -> ChoicesOf<'_> {
        let Some(Strings { folded, others }) = &self.strings else { return ChoicesOf::All(&self.choices) };
        let like = folded.get(&text.to_lowercase());
        let mut positions: Vec<usize> = others.iter().chain(like.into_iter().flatten()).copied().collect();
        positions.sort_unstable();
        ChoicesOf::Some(positions.into_iter().map(|at| &self.choices[at]).collect())
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.choices.is_empty()
    }

    pub(crate) fn has(&self, choice: &Choice) -> bool {
        self.choices.contains(choice)
    }

    /// Whether the value can be a string. A value of unknown type can.
    pub(crate) fn takes_string(&self) -> bool {
        self.is_unknown()
            || self.choices.iter().any(|choice| match choice {
                Choice::String => true,
                Choice::Literal(literal) => literal.text.is_some(),
                _ => false,
            })
    }

    /// Whether a value is of this type. Its members are not checked.
    pub(crate) fn accepts(&self, value: &Json) -> bool {
        self.is_unknown()
            || self.choices.iter().any(|choice| match (choice, value) {
                (Choice::Integer, Value::Number(text)) => text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok(),
                (Choice::Integer, _) => false,
                (Choice::Literal(literal), value) => value.to_json() == literal.json,
                (choice, value) => compile::is_kind(value, choice),
            })
    }

    /// Whether the type is any string and nothing else, so that text can be passed on as it arrives.
    pub(crate) fn is_string(&self) -> bool {
        self.choices == [Choice::String]
    }

    /// Whether the value can begin with this bracket. A value of unknown type can.
    pub(crate) fn takes(&self, bracket: u8) -> bool {
        let wanted = if bracket == b'{' { Choice::Object } else { Choice::Array };
        self.is_unknown() || self.has(&wanted) || self.literals(bracket).next().is_some()
    }

    /// Whether the value can be an object. A value of unknown type can.
    pub(crate) fn takes_object(&self) -> bool {
        self.takes(b'{')
    }

    /// Whether the value can be an object or an array. A value of unknown type can.
    pub(crate) fn takes_container(&self) -> bool {
        self.takes(b'{') || self.takes(b'[')
    }

    /// The literals that begin with this bracket.
    pub(crate) fn literals(&self, bracket: u8) -> impl Iterator<Item = &Literal> {
        self.choices.iter().filter_map(move |choice| match choice {
            Choice::Literal(literal) if literal.json.as_bytes()[0] == bracket => Some(literal),
            _ => None,
        })
    }

    /// Whether the type is an array and never a string. A scalar is then an item, and a key may be repeated.
    pub(crate) fn collects(&self) -> bool {
        self.has(&Choice::Array) && !self.takes_string()
    }
}

impl Schema {
    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The schema of a tool without a known schema.
    pub(crate) fn unknown() -> Self {
        Schema { nodes: vec![Node::default()], root: UNKNOWN }
    }

    /// The type of an exact key of a value of type `id`. `None`: the key is not allowed.
    pub(crate) fn member(&self, id: NodeId, key: &str) -> Option<NodeId> {
        self.node(id).object.as_ref().map_or(Some(UNKNOWN), |object| object.member(key))
    }

    /// The type of an item of a value of type `id`.
    pub(crate) fn item(&self, id: NodeId, at: usize) -> NodeId {
        self.node(id).array.as_ref().map_or(UNKNOWN, |array| array.item(at))
    }

    /// Whether a value of this type is written as dotted keys. It must be an object with declared members and never a
    /// string or array, or only its members are declared.
    pub(crate) fn nests(&self, id: NodeId) -> bool {
        let node = self.node(id);
        let plain = |choice: &Choice| matches!(choice, Choice::Object | Choice::Null);
        let object = node.has(&Choice::Object) && node.choices.iter().all(plain);
        (object || self.hint(id) == Some(Choice::Object)) && self.declares_properties(id)
    }

    /// The likely kind of a schema without `type`: an object if only members are described, an array if only items are.
    pub(crate) fn hint(&self, id: NodeId) -> Option<Choice> {
        let node = self.node(id);
        let object = node.object.as_ref().is_some_and(ObjectType::is_described);
        let array = node.array.as_ref().is_some_and(|array| array.items.is_some() || !array.prefix.is_empty());
        match (object, array) {
            (true, false) if node.is_unknown() && !node.union => Some(Choice::Object),
            (false, true) if node.is_unknown() && !node.union => Some(Choice::Array),
            _ => None,
        }
    }

    /// Why calls of a tool with this schema are not written as pairs, if they are not.
    pub(crate) fn complexity(&self) -> Option<&'static str> {
        let root = self.node(self.root);
        if root.union {
            Some("its parameters are a union")
        } else if !root.is_unknown() && root.choices != [Choice::Object] {
            Some("its parameters are not an object")
        } else if self.is_recursive() {
            Some("its parameters are recursive")
        } else {
            None
        }
    }

    /// Whether the root contains itself.
    fn is_recursive(&self) -> bool {
        let mut seen = vec![false; self.nodes.len()];
        let mut open = vec![self.root];
        while let Some(id) = open.pop() {
            let node = self.node(id);
            let object = node.object.iter().flat_map(|object| {
                let named = object.properties.iter().map(|(_, id)| *id);
                named.chain(object.patterns.iter().map(|(_, id)| *id)).chain(object.additional.open())
            });
            let array = node.array.iter().flat_map(|array| array.prefix.iter().copied().chain(array.items));
            for child in object.chain(array) {
                if child == self.root && child != UNKNOWN {
                    return true;
                }
                if !std::mem::replace(&mut seen[child as usize], true) {
                    open.push(child);
                }
            }
        }
        false
    }

    /// Whether the arguments may have members that the schema does not name.
    pub(crate) fn is_open(&self) -> bool {
        self.node(self.root).object.as_ref().is_none_or(ObjectType::explicitly_open)
    }

    /// Whether this is exactly the name of a property of a value of type `id`.
    pub(crate) fn declares(&self, id: NodeId, key: &str) -> bool {
        self.node(id).object.as_ref().is_some_and(|object| object.properties.get(key).is_some())
    }

    pub(crate) fn declares_properties(&self, id: NodeId) -> bool {
        self.node(id).object.as_ref().is_some_and(|object| !object.properties.is_empty())
    }
}
