//! What a full validation costs at most, counted before it is done.
//!
//! A validator evaluates a schema once for each way that leads to it. Unions of references multiply the ways at one place
//! of the arguments, and recursive unions multiply them again at each level, so the work can be exponential in the size of
//! both. Here each pair of a schema and a value is counted once, and what it costs is multiplied, not done again.
//! The counts are upper bounds: of every draft's keywords, none is taken to be skipped, and none to decide early.

use std::collections::HashMap;

use regex::RegexBuilder;
use serde_json::{Map, Value};

use crate::limits::{PATTERN_BYTES, VALIDATION_LEVELS, VALIDATION_STEPS, VALIDATION_STEPS_AT_ONE_PLACE};
use crate::schema::parts::{Keywords, parts, pointer_step};
use crate::schema::rewrite::address;
use crate::schema::{Document, Fault};

/// Bytes of text that are searched, and entries of a list or map in a schema that are compared, in one step.
const STEP: u64 = 16;

/// Keywords whose schemas hold for the value itself.
const HERE: Keywords =
    [&["not", "if", "then", "else"], &["allOf", "anyOf", "oneOf"], &["dependentSchemas", "dependencies"]];
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];
const MEMBERS: &[&str] = &["additionalProperties", "unevaluatedProperties"];
const ITEMS: &[&str] = &["items", "additionalItems", "contains", "unevaluatedItems"];
/// Keywords that read all of a text; what `pattern` costs is measured.
const SCANS: &[&str] = &["format", "minLength", "maxLength", "contentEncoding", "contentMediaType", "enum", "const"];
/// Pairs of a schema and a value whose cost is remembered: memory.
const REMEMBERED: usize = 1 << 20;

type Id = u32;

/// What evaluating a schema against one value costs at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Steps to find out whether it holds.
    pub verdict: u64,
    /// Steps to say what is wrong: each union asks for the verdict of its members before they say more.
    pub errors: u64,
    /// What may be wrong: each is kept in memory.
    pub told: u64,
    /// Evaluations inside each other: what it takes of the stack.
    levels: usize,
}

/// A schema, and where its parts lead.
#[derive(Debug, Default)]
struct Node {
    own: u64,
    scans: u64,
    /// `patternProperties`, for each [`STEP`] of a member's name.
    key_scans: u64,
    /// It asks again what its parts have evaluated.
    unevaluated: bool,
    /// More than one way leads here.
    shared: bool,
    here: Vec<Id>,
    properties: HashMap<String, Id>,
    members: Vec<Id>,
    names: Vec<Id>,
    prefixes: Vec<Vec<Id>>,
    items: Vec<Id>,
    /// Against a scalar, and what is added for each [`STEP`] of its text.
    scalar: Cost,
    text: Cost,
}

impl Cost {
    fn of(steps: u64) -> Self {
        Cost { verdict: steps, errors: steps, told: 1, levels: 1 }
    }

    fn add(&mut self, part: Cost) {
        self.verdict = self.verdict.saturating_add(part.verdict);
        self.errors = self.errors.saturating_add(part.verdict).saturating_add(part.errors);
        self.told = self.told.saturating_add(part.told);
        self.levels = self.levels.max(part.levels + 1);
    }

    /// A part of a schema that asks again what this part has evaluated: each part of it for itself.
    fn add_again(&mut self, part: Cost) {
        self.add(part);
        self.add(Cost { verdict: part.errors, told: 0, ..part });
    }

    /// With a text of so many bytes.
    fn with_text(self, text: Cost, bytes: usize) -> Self {
        let times = (bytes as u64).div_ceil(STEP);
        Cost {
            verdict: self.verdict.saturating_add(text.verdict.saturating_mul(times)),
            errors: self.errors.saturating_add(text.errors.saturating_mul(times)),
            ..self
        }
    }
}

impl Node {
    fn sum(&self, own: u64, parts: impl Iterator<Item = Cost>) -> Cost {
        let mut sum = Cost::of(own);
        for part in parts {
            match self.unevaluated {
                true => sum.add_again(part),
                false => sum.add(part),
            }
        }
        sum
    }
}

/// The graph of a schema.
#[derive(Debug)]
pub struct Work {
    nodes: Vec<Node>,
}

impl Work {
    /// Refuses a schema that goes round in circles without a step into a value, or whose parts multiply at one place.
    pub fn new(root: &Value) -> Result<Self, Fault> {
        one_resource(root)?;
        let document = Document::new(root)?;
        let mut builder =
            Builder { document, nodes: Vec::new(), paths: Vec::new(), known: HashMap::new(), open: Vec::new() };
        builder.node(root, String::new());
        while let Some((id, schema)) = builder.open.pop() {
            builder.build(id, schema)?;
        }
        let Builder { mut nodes, paths, .. } = builder;
        count_scalars(&mut nodes, &paths)?;
        Ok(Work { nodes })
    }

    /// The cost of evaluating arguments; `None` if it is more than the limits allow.
    pub fn of(&self, arguments: &Value) -> Option<Cost> {
        let mut count = Count { nodes: &self.nodes, known: HashMap::new(), steps: 0 };
        let cost = count.cost(0, arguments, 1)?;
        (cost.verdict <= VALIDATION_STEPS && cost.levels <= VALIDATION_LEVELS).then_some(cost)
    }
}

/// References must mean here what they mean to the validator, for which an inner `$id` and a repeated anchor change it.
fn one_resource(root: &Value) -> Result<(), Fault> {
    // Before draft 6 it was called `id`, which elsewhere is anybody's word.
    let old = root.get("$schema").and_then(Value::as_str).is_some_and(|draft| draft.contains("draft-04"));
    let mut anchors = HashMap::new();
    let mut open = vec![(root, String::new())];
    while let Some((value, path)) = open.pop() {
        if let Value::Object(map) = value {
            let base = |keyword: &str| map.get(keyword).is_some_and(Value::is_string);
            for keyword in ["$id", "id"] {
                if !path.is_empty() && base(keyword) && (keyword == "$id" || old) {
                    return Err((
                        format!("{path}/{keyword}"),
                        "only the root of the schema may have one if calls are validated".into(),
                    ));
                }
            }
            for keyword in ["$anchor", "$dynamicAnchor"] {
                let name = map.get(keyword).and_then(Value::as_str);
                if name.is_some_and(|name| anchors.insert(name, ()).is_some()) {
                    return Err((format!("{path}/{keyword}"), "two anchors have this name".into()));
                }
            }
        }
        match value {
            Value::Object(map) => {
                open.extend(map.iter().map(|(name, value)| (value, format!("{path}/{}", pointer_step(name)))))
            }
            Value::Array(list) => {
                open.extend(list.iter().enumerate().map(|(at, value)| (value, format!("{path}/{at}"))))
            }
            _ => {}
        }
    }
    Ok(())
}

struct Builder<'s> {
    document: Document<'s>,
    nodes: Vec<Node>,
    /// Where each stands, for messages.
    paths: Vec<String>,
    /// By address.
    known: HashMap<usize, Id>,
    open: Vec<(Id, &'s Value)>,
}

impl<'s> Builder<'s> {
    fn node(&mut self, schema: &'s Value, path: String) -> Id {
        let address = address(schema);
        if let Some(id) = self.known.get(&address) {
            self.nodes[*id as usize].shared = true;
            return *id;
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(Node::default());
        self.paths.push(path);
        self.known.insert(address, id);
        self.open.push((id, schema));
        id
    }

    fn build(&mut self, id: Id, schema: &'s Value) -> Result<(), Fault> {
        let mut node = Node { own: 1, ..Node::default() };
        if let Value::Object(map) = schema {
            let path = self.paths[id as usize].clone();
            let entries = map.values().map(|value| match value {
                Value::Array(list) => list.len(),
                Value::Object(map) => map.len(),
                _ => 0,
            });
            node.own += map.len() as u64 + entries.sum::<usize>() as u64 / STEP;
            node.scans = SCANS.iter().filter(|keyword| map.contains_key(**keyword)).count() as u64;
            node.scans += map.get("pattern").and_then(Value::as_str).map_or(0, pattern_scans);
            if let Some(Value::Object(patterns)) = map.get("patternProperties") {
                node.key_scans = patterns.keys().map(|pattern| pattern_scans(pattern)).sum();
            }
            node.unevaluated = map.contains_key("unevaluatedProperties") || map.contains_key("unevaluatedItems");
            node.here = self.parts(map, &path, HERE);
            for keyword in REFERENCES {
                if let Some(Value::String(reference)) = map.get(*keyword) {
                    let fault = |what| (format!("{path}/{keyword}"), what);
                    let target = self.document.resolve(reference).map_err(fault)?;
                    let place = reference.split_once('#').map_or("", |(_, fragment)| fragment);
                    node.here.push(self.node(target, place.to_owned()));
                }
            }
            if let Some(Value::Object(named)) = map.get("properties") {
                for (name, child) in named {
                    let child = self.node(child, format!("{path}/properties/{}", pointer_step(name)));
                    node.properties.insert(name.clone(), child);
                }
            }
            node.members = self.parts(map, &path, [MEMBERS, &[], &["patternProperties"]]);
            node.names = self.parts(map, &path, [&["propertyNames"], &[], &[]]);
            node.prefixes.push(self.parts(map, &path, [&[], &["prefixItems"], &[]]));
            node.prefixes.push(self.parts(map, &path, [&[], &["items"], &[]]));
            node.items = self.parts(map, &path, [ITEMS, &[], &[]]);
        }
        // It may have been found to be shared meanwhile.
        node.shared = self.nodes[id as usize].shared;
        self.nodes[id as usize] = node;
        Ok(())
    }

    /// The nodes of the schemas under some keywords.
    fn parts(&mut self, map: &'s Map<String, Value>, path: &str, keywords: Keywords) -> Vec<Id> {
        parts(map, keywords).map(|(pointer, part)| self.node(part, format!("{path}{pointer}"))).collect()
    }
}

/// Steps of matching [`STEP`] bytes of text: at worst, each byte meets each state of the pattern's automaton, some hundred of
/// which are a step. How large that is, only compiling it tells.
fn pattern_scans(pattern: &str) -> u64 {
    // To JSON Schema these are ASCII, and much smaller.
    let pattern = pattern.replace(r"\w", "[0-9A-Za-z_]").replace(r"\d", "[0-9]");
    let fits = |bytes: &usize| RegexBuilder::new(&pattern).size_limit(*bytes).build().is_ok();
    let sizes = std::iter::successors(Some(4096), |bytes| Some(4 * bytes)).take_while(|bytes| *bytes < PATTERN_BYTES);
    sizes.into_iter().find(fits).unwrap_or(PATTERN_BYTES) as u64 / 4096 * STEP
}

/// Fills in what each schema costs at one place, parts first. A chain of references may be as long as the schema, so the way
/// down is no recursion.
fn count_scalars(nodes: &mut [Node], paths: &[String]) -> Result<(), Fault> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Counted,
    }
    let mut seen = vec![Seen::No; nodes.len()];
    for root in 0..nodes.len() {
        let mut open = vec![(root, 0)];
        while let Some((at, next)) = open.pop() {
            if next == 0 && seen[at] == Seen::Counted {
                continue;
            }
            seen[at] = Seen::Open;
            if let Some(part) = nodes[at].here.get(next).map(|part| *part as usize) {
                open.push((at, next + 1));
                match seen[part] {
                    Seen::No => open.push((part, 0)),
                    Seen::Open => {
                        let message = "it refers to itself without a step into a member or an item";
                        return Err((paths[part].clone(), message.into()));
                    }
                    Seen::Counted => {}
                }
                continue;
            }
            let node = &nodes[at];
            let part = |id: &Id| &nodes[*id as usize];
            let scalar = node.sum(node.own, node.here.iter().map(|id| part(id).scalar));
            let text = node.sum(node.scans, node.here.iter().map(|id| part(id).text));
            if scalar.verdict > VALIDATION_STEPS_AT_ONE_PLACE || scalar.levels > VALIDATION_LEVELS {
                let message = "its references and unions expand to too many combinations for calls to be validated";
                return Err((paths[at].clone(), message.into()));
            }
            (nodes[at].scalar, nodes[at].text) = (scalar, text);
            seen[at] = Seen::Counted;
        }
    }
    Ok(())
}

struct Count<'w> {
    nodes: &'w [Node],
    /// Of schemas that more than one way leads to, by the value's address.
    known: HashMap<(Id, usize), Cost>,
    steps: u64,
}

impl Count<'_> {
    fn cost(&mut self, id: Id, value: &Value, level: usize) -> Option<Cost> {
        let nodes = self.nodes;
        let node = &nodes[id as usize];
        self.steps += 1;
        if self.steps > VALIDATION_STEPS || level > VALIDATION_LEVELS {
            return None;
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => return Some(node.scalar),
            Value::String(text) => return Some(node.scalar.with_text(node.text, text.len())),
            Value::Array(_) | Value::Object(_) => {}
        }
        let key = (id, address(value));
        if let Some(cost) = self.known.get(&key) {
            return Some(*cost);
        }
        let mut parts = Vec::with_capacity(node.here.len());
        for part in &node.here {
            parts.push(self.cost(*part, value, level + 1)?);
        }
        let mut cost = node.sum(node.own, parts.into_iter());
        let mut inner = |part: Id, value: &Value| self.cost(part, value, level + 1).map(|part| cost.add(part));
        match value {
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    for part in node.prefixes.iter().filter_map(|prefix| prefix.get(at)).chain(&node.items) {
                        inner(*part, item)?;
                    }
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    for part in node.properties.get(name).into_iter().chain(&node.members) {
                        inner(*part, member)?;
                    }
                }
                for name in members.keys() {
                    cost.add(Cost::default().with_text(Cost::of(node.key_scans), name.len()));
                    for part in &node.names {
                        let part = &nodes[*part as usize];
                        cost.add(part.scalar.with_text(part.text, name.len()));
                    }
                }
            }
            _ => {}
        }
        if node.shared && self.known.len() < REMEMBERED {
            self.known.insert(key, cost);
        }
        Some(cost)
    }
}
