//! Compiles a JSON Schema document to nodes.
//!
//! A node is made from a list of alternatives. An alternative is a list of schemas that all apply: a schema, what its
//! `$ref` and `allOf` add, and one member of each `anyOf` and `oneOf`. Equal lists share a node. That ends recursion,
//! because a document has a finite number of schemas.

use std::collections::{HashMap, HashSet, VecDeque};

use regex::Regex;
use serde_json::{Map, Value};

use super::resolve::{SchemaDocument, SchemaFault};
use super::rewrite::{address, defaulted, required};
use super::{Additional, Array, Choice, Literal, Node, NodeId, ObjectType, Sample, Schema, UNKNOWN};
use crate::limits::{ALTERNATIVES, RECURSION, SCHEMA_NODES, SCHEMA_STEPS};
use crate::syntax::json;

/// Schemas that all apply.
type Alternative<'s> = Vec<&'s Value>;

/// Compiles a tool's parameters.
pub(crate) fn compile(document: &SchemaDocument<'_>) -> Result<Schema, SchemaFault> {
    let mut compiler = Compiler {
        document,
        defaulted: defaulted(document),
        nodes: vec![Node::default()],
        known: HashMap::new(),
        open: VecDeque::new(),
        steps: 0,
    };
    let root = compiler.node_for(vec![vec![document.root]])?;
    while let Some((id, alternatives)) = compiler.open.pop_front() {
        let node = compiler.build(&alternatives)?;
        compiler.nodes[id as usize] = node;
    }
    Ok(Schema { nodes: compiler.nodes, root })
}

struct Compiler<'d, 's> {
    document: &'d SchemaDocument<'s>,
    /// The addresses of schemas that declare a default.
    defaulted: HashSet<usize>,
    nodes: Vec<Node>,
    /// Nodes by the addresses of their schemas. The same schemas mean the same type.
    known: HashMap<Vec<Vec<usize>>, NodeId>,
    open: VecDeque<(NodeId, Vec<Alternative<'s>>)>,
    /// The steps taken so far. Each costs about the same.
    steps: usize,
}

/// One way through the unions of a schema.
#[derive(Clone, Default)]
struct Walk<'s> {
    held: Alternative<'s>,
    /// The addresses of its schemas, including those that are only references.
    seen: Vec<usize>,
    /// Unions from which no member was chosen yet.
    unions: Vec<&'s [Value]>,
}

/// Whether the schema is only a reference. Its target is then the same type, so recursion is recognised.
fn is_reference(keywords: &Map<String, Value>) -> bool {
    keywords.contains_key("$ref")
        && keywords.keys().all(|k| matches!(k.as_str(), "$ref" | "$defs" | "definitions" | "$schema" | "$id" | "title"))
}

/// Whether the schema allows everything, without looking at its parts.
fn allows_all(schema: &Value) -> bool {
    schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}

impl<'s> Compiler<'_, 's> {
    /// The node for these alternatives. It is built later.
    fn node_for(&mut self, sources: Vec<Alternative<'s>>) -> Result<NodeId, SchemaFault> {
        let mut alternatives = Vec::new();
        for source in sources {
            self.expand(source, &mut alternatives)?;
        }
        if alternatives.len() > ALTERNATIVES {
            return Ok(UNKNOWN);
        }
        // An alternative that nothing satisfies is ignored. If there is no other, the type is unknown.
        alternatives.retain(|alternative| choices(alternative).is_none_or(|choices| !choices.is_empty()));
        if alternatives.is_empty() {
            return Ok(UNKNOWN);
        }
        let key: Vec<Vec<usize>> =
            alternatives.iter().map(|list: &Alternative<'_>| list.iter().map(|s| address(s)).collect()).collect();
        if let Some(id) = self.known.get(&key) {
            return Ok(*id);
        }
        if self.nodes.len() >= SCHEMA_NODES {
            return Err((String::new(), format!("the schema has more than {SCHEMA_NODES} different types")));
        }
        let id = self.nodes.len() as NodeId;
        self.nodes.push(Node::default());
        self.known.insert(key, id);
        self.open.push_back((id, alternatives));
        Ok(id)
    }

    /// Appends the alternatives of `sources`, which all apply, to `out`, in the order of the schema.
    fn expand(&mut self, mut sources: Vec<&'s Value>, out: &mut Vec<Alternative<'s>>) -> Result<(), SchemaFault> {
        sources.reverse();
        let mut open = vec![(sources, Walk::default())];
        while let Some((pending, walk)) = open.pop() {
            let Some(mut walk) = self.follow(pending, walk)? else { continue };
            if out.len() > ALTERNATIVES {
                return Ok(());
            }
            if walk.unions.is_empty() {
                out.push(walk.held);
                continue;
            }
            let members = walk.unions.remove(0);
            for member in members.iter().rev() {
                // A schema that was visited already would recurse forever and add nothing.
                if !walk.seen.contains(&address(member)) {
                    self.count(walk.seen.len())?;
                    open.push((vec![member], walk.clone()));
                }
            }
        }
        Ok(())
    }

    fn count(&mut self, steps: usize) -> Result<(), SchemaFault> {
        self.steps += steps + 1;
        if self.steps > SCHEMA_STEPS {
            return Err((String::new(), "its references and unions expand to too many combinations".into()));
        }
        Ok(())
    }

    /// Adds the `pending` schemas and those they refer to, last first, to `walk`. `None`: nothing satisfies them.
    fn follow(&mut self, mut pending: Vec<&'s Value>, mut walk: Walk<'s>) -> Result<Option<Walk<'s>>, SchemaFault> {
        while let Some(schema) = pending.pop() {
            self.count(walk.seen.len())?;
            if schema == &Value::Bool(false) || schema.get("not").is_some_and(allows_all) {
                return Ok(None);
            }
            let Some(keywords) = schema.as_object() else { continue };
            if walk.seen.contains(&address(schema)) {
                continue;
            }
            walk.seen.push(address(schema));
            if !is_reference(keywords) {
                walk.held.push(schema);
            }
            if let Some(Value::Array(all)) = keywords.get("allOf") {
                pending.extend(all.iter().rev());
            }
            for keyword in ["$ref", "$dynamicRef"] {
                let target = keywords.get(keyword).and_then(Value::as_str);
                pending.extend(target.and_then(|reference| self.document.resolve(reference).ok()));
            }
            for keyword in ["anyOf", "oneOf"] {
                if let Some(Value::Array(members)) = keywords.get(keyword) {
                    walk.unions.push(members);
                }
            }
        }
        Ok(Some(walk))
    }

    fn build(&mut self, alternatives: &[Alternative<'s>]) -> Result<Node, SchemaFault> {
        let mut node = Node { union: alternatives.len() > 1, ..Node::default() };
        let mut unknown = false;
        let mut objects = Vec::new();
        let mut arrays = Vec::new();
        let mut seen = HashSet::new();
        for alternative in alternatives {
            let choices = choices(alternative);
            unknown |= choices.is_none();
            // Members of a value of unknown type have their declared types, too.
            if choices.as_ref().is_none_or(|choices| choices.contains(&Choice::Object)) {
                objects.push(alternative);
            }
            if choices.as_ref().is_none_or(|choices| choices.contains(&Choice::Array)) {
                arrays.push(alternative);
            }
            node.choices.extend(choices.into_iter().flatten().filter(|choice| seen.insert(choice.clone())));
        }
        // If an alternative is a literal array or object, typing the members of others could change that literal.
        if !objects.is_empty() && node.literals(b'{').next().is_none() {
            node.object = Some(self.object(&objects)?);
        }
        if !arrays.is_empty() && node.literals(b'[').next().is_none() {
            node.array = Some(self.array(&arrays)?);
        }
        if unknown {
            node.choices.clear();
        }
        let said = |keyword: &str| alternatives.iter().flatten().find_map(|schema| schema.get(keyword));
        node.description = said("description").and_then(Value::as_str).map(str::to_owned);
        node.default = said("default").map(Value::to_string);
        // The alternative that an example shows. Null is not a helpful example.
        let is_null = |alternative: &&Alternative<'s>| choices(alternative).as_deref() == Some(&[Choice::Null]);
        let shown = alternatives.iter().find(|alternative| !is_null(alternative)).or(alternatives.first());
        let sole = alternatives.iter().filter(|alternative| !is_null(alternative)).count() <= 1;
        node.sample = shown.and_then(|alternative| Sample::new(alternative, sole));
        node.index_strings();
        Ok(node)
    }

    fn object(&mut self, alternatives: &[&Alternative<'s>]) -> Result<ObjectType, SchemaFault> {
        let mut object = ObjectType::default();
        let mut names: Vec<&'s str> = Vec::new();
        let mut seen = HashSet::new();
        for properties in keyword_maps(alternatives, "properties") {
            names.extend(properties.keys().map(String::as_str).filter(|name| seen.insert(*name)));
        }
        for name in names {
            // An alternative that does not declare the name treats it as any other name.
            let types: Vec<Alternative<'s>> = alternatives
                .iter()
                .filter_map(|alternative| {
                    let find = |schema: &&'s Value| schema.get("properties")?.get(name);
                    let declared: Alternative<'s> = alternative.iter().filter_map(find).collect();
                    match declared.is_empty() {
                        false => Some(declared),
                        // Its patterns are not matched against the name.
                        true if has_patterns(alternative) => Some(Vec::new()),
                        true => open_members(alternative),
                    }
                })
                .collect();
            let node = self.node_for(types)?;
            object.properties.push(name.into(), node);
        }
        for patterns in keyword_maps(alternatives, "patternProperties") {
            for (pattern, schema) in patterns {
                // A pattern with look-around or back-references is not linear. It types no keys and forbids none.
                let regex = Regex::new(pattern).ok();
                // In a union, other alternatives may type such keys differently, so they are untyped.
                let directs = regex.is_some() && alternatives.len() == 1;
                let node = if directs { self.node_for(vec![vec![schema]])? } else { UNKNOWN };
                object.patterns.push((regex, node));
            }
        }
        object.additional = self.additional(alternatives)?;
        // A member is required if every alternative requires it.
        let required = |alternative: &Alternative<'s>| -> Vec<&'s str> {
            alternative.iter().flat_map(|schema| required(schema, &self.defaulted)).collect()
        };
        let mut common = required(alternatives[0]);
        for alternative in &alternatives[1..] {
            let other: HashSet<&str> = required(alternative).into_iter().collect();
            common.retain(|name| other.contains(name));
        }
        let mut seen = HashSet::new();
        object.required.extend(common.into_iter().filter(|name| seen.insert(*name)).map(str::to_owned));
        object.index();
        Ok(object)
    }

    fn additional(&mut self, alternatives: &[&Alternative<'s>]) -> Result<Additional, SchemaFault> {
        let open: Vec<Alternative<'s>> =
            alternatives.iter().filter_map(|alternative| open_members(alternative)).collect();
        if open.is_empty() {
            return Ok(Additional::Closed);
        }
        if open.iter().any(Vec::is_empty) {
            return Ok(Additional::Unsaid);
        }
        Ok(Additional::Open(self.node_for(open)?))
    }

    fn array(&mut self, alternatives: &[&Alternative<'s>]) -> Result<Array, SchemaFault> {
        let mut array = Array::default();
        let lists = |schema: &&'s Value| -> Option<&'s Vec<Value>> {
            schema.get("prefixItems").or_else(|| schema.get("items").filter(|v| v.is_array()))?.as_array()
        };
        let rest = |schema: &&'s Value| match schema.get("items") {
            Some(Value::Array(_)) => schema.get("additionalItems"),
            other => other,
        };
        let longest = alternatives.iter().flat_map(|a| a.iter().filter_map(lists)).map(Vec::len).max().unwrap_or(0);
        let item = |alternative: &&Alternative<'s>, at: usize| -> Alternative<'s> {
            let find = |schema: &&'s Value| lists(schema).and_then(|list| list.get(at)).or_else(|| rest(schema));
            alternative.iter().filter_map(find).collect()
        };
        let types = |at: usize| -> Vec<Alternative<'s>> {
            alternatives.iter().map(|alternative| item(alternative, at)).collect()
        };
        for at in 0..longest {
            array.prefix.push(self.node_for(types(at))?);
        }
        let items = types(usize::MAX);
        if items.iter().any(|said| !said.is_empty()) {
            array.items = Some(self.node_for(items)?);
        }
        Ok(array)
    }
}

fn has_patterns(alternative: &Alternative<'_>) -> bool {
    alternative.iter().any(|schema| schema.get("patternProperties").is_some())
}

/// What an alternative says about members that it does not name: nothing (an empty list), schemas, or `None` if it
/// forbids them.
fn open_members<'s>(alternative: &Alternative<'s>) -> Option<Alternative<'s>> {
    let said =
        |keyword: &str| -> Alternative<'s> { alternative.iter().filter_map(|schema| schema.get(keyword)).collect() };
    let mut others = said("additionalProperties");
    // `unevaluatedProperties` does not apply to members that were evaluated, and whether a condition evaluates them is
    // not known here.
    let conditional = |schema: &&Value| CONDITIONS.iter().any(|keyword| schema.get(keyword).is_some());
    if others.is_empty() && !alternative.iter().any(conditional) {
        others = said("unevaluatedProperties");
    }
    (!others.contains(&&Value::Bool(false))).then_some(others)
}

/// Keywords that may declare members under a condition.
const CONDITIONS: &[&str] = &["if", "dependentSchemas", "dependencies"];

fn keyword_maps<'a, 's: 'a>(
    alternatives: &'a [&'a Alternative<'s>],
    keyword: &'a str,
) -> impl Iterator<Item = &'s Map<String, Value>> + 'a {
    alternatives.iter().flat_map(|a| a.iter()).filter_map(move |schema| schema.get(keyword)?.as_object())
}

/// The kinds of values that one alternative allows. `None`: it does not restrict them. It may type members and items
/// without requiring an object or an array.
fn choices(alternative: &Alternative<'_>) -> Option<Vec<Choice>> {
    let mut kinds: Option<Vec<Choice>> = None;
    let mut literals: Option<Vec<&Value>> = None;
    for keywords in alternative.iter().filter_map(|schema| schema.as_object()) {
        let mut said: Vec<Choice> = match keywords.get("type") {
            Some(Value::String(name)) => vec![kind(name)],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(kind).collect(),
            _ => Vec::new(),
        };
        if !said.is_empty() {
            if keywords.get("nullable") == Some(&Value::Bool(true)) && !said.contains(&Choice::Null) {
                said.push(Choice::Null);
            }
            kinds = kinds.map(|before| meet(&before, &said)).or(Some(said));
        }
        let listed: Option<Vec<&Value>> = match (keywords.get("const"), keywords.get("enum")) {
            (Some(only), _) => Some(vec![only]),
            (None, Some(Value::Array(list))) => Some(list.iter().collect()),
            _ => None,
        };
        if let Some(listed) = listed {
            literals = literals.map(|before| common(before, &listed)).or(Some(listed));
        }
    }
    if let Some(literals) = literals {
        let allowed = |value: &&Value| kinds.as_ref().is_none_or(|kinds| kinds.iter().any(|k| is_kind(value, k)));
        let nullable = kinds.as_ref().is_some_and(|kinds| kinds.contains(&Choice::Null));
        let mut out: Vec<Choice> = literals.into_iter().filter(allowed).map(literal).collect();
        // With `nullable: true`, null is allowed even if the enum does not list it.
        if nullable && alternative.iter().any(|s| s.get("nullable").is_some()) {
            out.push(Choice::Null);
        }
        return Some(out);
    }
    kinds
}

/// The values in both lists, which may be long.
fn common<'s>(first: Vec<&'s Value>, second: &[&'s Value]) -> Vec<&'s Value> {
    let text = |value: &Value| {
        let mut value = value.clone();
        value.sort_all_objects();
        value.to_string()
    };
    let texts: HashSet<String> = second.iter().map(|value| text(value)).collect();
    first.into_iter().filter(|value| texts.contains(&text(value))).collect()
}

fn literal(value: &Value) -> Choice {
    let text = value.as_str().map(str::to_owned);
    let folded = text.as_deref().unwrap_or("").to_lowercase();
    let json = value.to_string();
    let read = (value.is_object() || value.is_array()).then(|| json::parse(&json, RECURSION).ok()).flatten();
    let digest = read.map_or(0, |value| value.digest());
    Choice::Literal(Literal { json, text, folded, digest })
}

fn kind(name: &str) -> Choice {
    match name {
        "string" => Choice::String,
        "integer" => Choice::Integer,
        "number" => Choice::Number,
        "boolean" => Choice::Boolean,
        "null" => Choice::Null,
        "array" => Choice::Array,
        _ => Choice::Object,
    }
}

/// The types in both lists, in the order of the first. An integer is a number, too.
fn meet(a: &[Choice], b: &[Choice]) -> Vec<Choice> {
    a.iter()
        .filter_map(|choice| match choice {
            _ if b.contains(choice) => Some(choice.clone()),
            Choice::Integer if b.contains(&Choice::Number) => Some(Choice::Integer),
            Choice::Number if b.contains(&Choice::Integer) => Some(Choice::Integer),
            _ => None,
        })
        .collect()
}

pub(super) fn is_kind(value: &Value, kind: &Choice) -> bool {
    match (kind, value) {
        (Choice::String, Value::String(_))
        | (Choice::Number, Value::Number(_))
        | (Choice::Boolean, Value::Bool(_))
        | (Choice::Null, Value::Null)
        | (Choice::Array, Value::Array(_))
        | (Choice::Object, Value::Object(_)) => true,
        (Choice::Integer, Value::Number(number)) => json::whole(&number.to_string()).is_some(),
        _ => false,
    }
}
