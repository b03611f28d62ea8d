//! An upper bound for the cost of a full validation, known before it starts.
//!
//! A validator evaluates a schema once for each path that leads to it. Unions of references multiply the paths at one
//! place in the arguments, and recursive unions multiply them again at each level, so the cost can be exponential in
//! the size of both. Here each pair of a schema and a value is visited once, and its cost is multiplied by the number of paths. The counts are
//! upper bounds: they assume that no keyword of any draft is skipped, and that none ends the evaluation early.

use std::collections::HashMap;

use regex::RegexBuilder;
use serde_json::Value;

use crate::limits::validation as limits;
use crate::schema::parts::{Keywords, parts, pointer_step};
use crate::schema::resolve::address;
use crate::schema::{Json, SchemaDocument, SchemaFault};

/// Bytes of text that are searched in one step, and entries of a list or map in a schema that are compared in one step.
const STEP: u64 = 16;

/// Keywords whose schemas apply to the value itself.
const HERE: Keywords =
    [&["not", "if", "then", "else"], &["allOf", "anyOf", "oneOf"], &["dependentSchemas", "dependencies"]];
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];
const MEMBERS: &[&str] = &["additionalProperties", "unevaluatedProperties"];
const ITEMS: &[&str] = &["items", "additionalItems", "contains", "unevaluatedItems"];
/// Keywords that read a whole text. The cost of `pattern` is measured.
const SCANS: &[&str] = &["format", "minLength", "maxLength", "contentEncoding", "contentMediaType", "enum", "const"];
/// Maximum number of pairs of a schema and a value whose cost is cached, to limit memory.
const REMEMBERED: usize = 1 << 20;

type Id = u32;

/// The maximum cost of evaluating a schema against one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Steps to decide whether the value is valid.
    pub verdict: u64,
    /// Steps to report what is wrong. Each union first decides whether its members are valid.
    pub errors: u64,
    /// Possible errors, each of which is kept in memory.
    pub reported: u64,
    /// Evaluations inside each other, which need stack space.
    levels: usize,
}

/// A schema, and the schemas that its evaluation leads to.
#[derive(Debug, Default)]
struct CostNode {
    own: u64,
    scans: u64,
    /// `patternProperties`, for each [`STEP`] of the name of a member.
    key_scans: u64,
    /// It evaluates its parts a second time.
    unevaluated: bool,
    /// More than one path leads to it.
    shared: bool,
    here: Vec<Id>,
    properties: HashMap<String, Id>,
    members: Vec<Id>,
    names: Vec<Id>,
    prefixes: Vec<Vec<Id>>,
    items: Vec<Id>,
    /// The cost against a scalar, and the additional cost for each [`STEP`] of its text.
    scalar: Cost,
    text: Cost,
}

impl Cost {
    fn of(steps: u64) -> Self {
        Cost { verdict: steps, errors: steps, reported: 1, levels: 1 }
    }

    fn add(&mut self, part: Cost) {
        self.verdict = self.verdict.saturating_add(part.verdict);
        self.errors = self.errors.saturating_add(part.verdict).saturating_add(part.errors);
        self.reported = self.reported.saturating_add(part.reported);
        self.levels = self.levels.max(part.levels + 1);
    }

    /// Adds a part that is evaluated a second time, each part of it separately.
    fn add_again(&mut self, part: Cost) {
        self.add(part);
        self.add(Cost { verdict: part.errors, reported: 0, ..part });
    }

    /// The cost with a text of this many bytes.
    fn with_text(self, text: Cost, bytes: usize) -> Self {
        let times = (bytes as u64).div_ceil(STEP);
        Cost {
            verdict: self.verdict.saturating_add(text.verdict.saturating_mul(times)),
            errors: self.errors.saturating_add(text.errors.saturating_mul(times)),
            ..self
        }
    }
}

impl CostNode {
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
pub(super) struct ValidationCost {
    nodes: Vec<CostNode>,
}

impl ValidationCost {
    /// Rejects a schema that refers to itself without a step into a value, or whose parts multiply at one place.
    pub(crate) fn new(root: &Json) -> Result<Self, SchemaFault> {
        let document = SchemaDocument::new(root)?;
        one_resource(&document)?;
        let mut builder =
            GraphBuilder { document, nodes: Vec::new(), paths: Vec::new(), known: HashMap::new(), open: Vec::new() };
        builder.node(root, String::new());
        while let Some((id, schema)) = builder.open.pop() {
            builder.build(id, schema)?;
        }
        let GraphBuilder { mut nodes, paths, .. } = builder;
        count_scalars(&mut nodes, &paths)?;
        Ok(ValidationCost { nodes })
    }

    /// The cost of evaluating arguments. `None`: it exceeds the limits.
    pub(super) fn of(&self, arguments: &Value) -> Option<Cost> {
        let mut count = Count { nodes: &self.nodes, known: HashMap::new(), steps: 0 };
        let cost = count.cost(0, arguments, 1)?;
        (cost.verdict <= limits::STEPS && cost.levels <= limits::LEVELS).then_some(cost)
    }
}

/// References must mean the same here and to the validator. An inner `$id` or a repeated anchor would change their
/// meaning there.
fn one_resource(document: &SchemaDocument<'_>) -> Result<(), SchemaFault> {
    let root = document.root;
    // Before draft 6, this keyword was `id`. In other drafts, `id` has no meaning.
    let old = document.get(root, "$schema").and_then(Json::as_str).is_some_and(|draft| draft.contains("draft-04"));
    let mut anchors = HashMap::new();
    let mut open = vec![(root, String::new())];
    while let Some((value, path)) = open.pop() {
        match value {
            Json::Object(members) => {
                let get = |keyword: &str| document.get(value, keyword);
                let base = |keyword: &str| get(keyword).is_some_and(Json::is_string);
                for keyword in ["$id", "id"] {
                    if !path.is_empty() && base(keyword) && (keyword == "$id" || old) {
                        return Err((
                            format!("{path}/{keyword}"),
                            "only the root of the schema may have one if calls are validated".into(),
                        ));
                    }
                }
                for keyword in ["$anchor", "$dynamicAnchor"] {
                    let name = get(keyword).and_then(Json::as_str);
                    if name.is_some_and(|name| anchors.insert(name, ()).is_some()) {
                        return Err((format!("{path}/{keyword}"), "two anchors have this name".into()));
                    }
                }
                open.extend(members.iter().map(|(name, value)| (value, format!("{path}/{}", pointer_step(name)))))
            }
            Json::Array(list) => {
                open.extend(list.iter().enumerate().map(|(at, value)| (value, format!("{path}/{at}"))))
            }
            _ => {}
        }
    }
    Ok(())
}

struct GraphBuilder<'s> {
    document: SchemaDocument<'s>,
    nodes: Vec<CostNode>,
    /// The JSON pointer of each node, for messages.
    paths: Vec<String>,
    /// Nodes by the addresses of their schemas.
    known: HashMap<usize, Id>,
    open: Vec<(Id, &'s Json)>,
}

impl<'s> GraphBuilder<'s> {
    fn node(&mut self, schema: &'s Json, path: String) -> Id {
        let address = address(schema);
        if let Some(id) = self.known.get(&address) {
            self.nodes[*id as usize].shared = true;
            return *id;
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(CostNode::default());
        self.paths.push(path);
        self.known.insert(address, id);
        self.open.push((id, schema));
        id
    }

    fn build(&mut self, id: Id, schema: &'s Json) -> Result<(), SchemaFault> {
        let mut node = CostNode { own: 1, ..CostNode::default() };
        if let Json::Object(members) = schema {
            let path = self.paths[id as usize].clone();
            let has = |keyword: &str| self.document.position(schema, keyword).is_some();
            let get = |keyword: &str| self.document.get(schema, keyword);
            let entries = members.iter().map(|(_, value)| match value {
                Json::Array(list) => list.len(),
                Json::Object(members) => members.len(),
                _ => 0,
            });
            node.own += members.len() as u64 + entries.sum::<usize>() as u64 / STEP;
            node.scans = SCANS.iter().filter(|keyword| has(keyword)).count() as u64;
            node.scans += get("pattern").and_then(Json::as_str).map_or(0, pattern_scans);
            if let Some(Json::Object(patterns)) = get("patternProperties") {
                node.key_scans = patterns.iter().map(|(pattern, _)| pattern_scans(pattern)).sum();
            }
            node.unevaluated = has("unevaluatedProperties") || has("unevaluatedItems");
            node.here = self.parts(schema, &path, HERE);
            for keyword in REFERENCES {
                if let Some(Json::String(reference)) = self.document.get(schema, keyword) {
                    let fault = |what| (format!("{path}/{keyword}"), what);
                    let target = self.document.resolve(reference).map_err(fault)?;
                    let place = reference.split_once('#').map_or("", |(_, fragment)| fragment);
                    node.here.push(self.node(target, place.to_owned()));
                }
            }
            if let Some(Json::Object(named)) = self.document.get(schema, "properties") {
                for (name, child) in named {
                    let child = self.node(child, format!("{path}/properties/{}", pointer_step(name)));
                    node.properties.insert(name.clone().into_owned(), child);
                }
            }
            node.members = self.parts(schema, &path, [MEMBERS, &[], &["patternProperties"]]);
            node.names = self.parts(schema, &path, [&["propertyNames"], &[], &[]]);
            node.prefixes.push(self.parts(schema, &path, [&[], &["prefixItems"], &[]]));
            node.prefixes.push(self.parts(schema, &path, [&[], &["items"], &[]]));
            node.items = self.parts(schema, &path, [ITEMS, &[], &[]]);
        }
        // It may have become shared since it was added.
        node.shared = self.nodes[id as usize].shared;
        self.nodes[id as usize] = node;
        Ok(())
    }

    /// The nodes of the schemas under some keywords.
    fn parts(&mut self, schema: &'s Json, path: &str, keywords: Keywords) -> Vec<Id> {
        let parts = schema.as_object().into_iter().flat_map(|members| parts(members, keywords));
        parts.map(|part| self.node(part.schema, format!("{path}{}", part.pointer()))).collect()
    }
}

/// The steps of matching [`STEP`] bytes of text. At worst, each byte meets each state of the automaton, and some
/// hundred states count as a step. The size of the automaton is known only after compiling it.
fn pattern_scans(pattern: &str) -> u64 {
    // In JSON Schema these classes are ASCII, which is much smaller.
    let pattern = pattern.replace(r"\w", "[0-9A-Za-z_]").replace(r"\d", "[0-9]");
    let fits = |bytes: &usize| RegexBuilder::new(&pattern).size_limit(*bytes).build().is_ok();
    let sizes =
        std::iter::successors(Some(4096), |bytes| Some(4 * bytes)).take_while(|bytes| *bytes < limits::PATTERN_BYTES);
    sizes.into_iter().find(fits).unwrap_or(limits::PATTERN_BYTES) as u64 / 4096 * STEP
}

/// Computes the cost of each schema at one place, parts first. A chain of references may be as long as the schema, so
/// this is not recursive.
fn count_scalars(nodes: &mut [CostNode], paths: &[String]) -> Result<(), SchemaFault> {
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
            if scalar.verdict > limits::STEPS_AT_ONE_PLACE || scalar.levels > limits::LEVELS {
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
    nodes: &'w [CostNode],
    /// The costs of shared schemas, by the address of the value.
    known: HashMap<(Id, usize), Cost>,
    steps: u64,
}

impl Count<'_> {
    fn cost(&mut self, id: Id, value: &Value, level: usize) -> Option<Cost> {
        let nodes = self.nodes;
        let node = &nodes[id as usize];
        self.steps += 1;
        if self.steps > limits::STEPS || level > limits::LEVELS {
            return None;
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => return Some(node.scalar),
            Value::String(text) => return Some(node.scalar.with_text(node.text, text.len())),
            Value::Array(_) | Value::Object(_) => {}
        }
        let key = (id, std::ptr::from_ref(value) as usize);
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
