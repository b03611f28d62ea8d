//! Compiles a JSON Schema document to nodes.
//!
//! A node is made from a list of alternatives. An alternative is a list of schemas that all apply: a schema, what its
//! `$ref` and `allOf` add, and one member of each `anyOf` and `oneOf`. Equal lists share a node. That ends recursion,
//! because a document has a finite number of schemas.

use std::collections::{HashMap, HashSet, VecDeque};

use regex::Regex;

use super::parts::{Alternative, Json};
use super::resolve::{SchemaDocument, SchemaFault, address};
use super::rewrite::{defaulted, required};
use super::variants::{Demands, Variant, Variants};
use super::{Additional, Array, Choice, Literal, Node, NodeId, ObjectType, Sample, Schema, UNKNOWN};
use crate::limits::{ALTERNATIVES, SCHEMA_NODES, SCHEMA_STEPS};
use crate::syntax::json::{Member, Value, whole};

/// Compiles a tool's parameters.
pub(crate) fn compile(document: &SchemaDocument<'_>) -> Result<Schema, SchemaFault> {
    compile_with(document, |_, _, _, _| Ok(()))
}

/// The same, with the alternatives of each type.
pub(crate) fn compile_variants(document: &SchemaDocument<'_>) -> Result<Variants, SchemaFault> {
    let mut lists = Vec::new();
    let schema = compile_with(document, |compiler, id, node, alternatives| {
        let list = alternatives.iter().map(|alternative| compiler.variant(node, alternative, alternatives.len()));
        let list = list.collect::<Result<Vec<_>, _>>()?;
        lists.resize_with(lists.len().max(id as usize + 1), Vec::new);
        lists[id as usize] = list;
        Ok(())
    })?;
    Ok(Variants::new(schema, lists))
}

fn compile_with<'d, 's>(
    document: &'d SchemaDocument<'s>,
    mut built: impl FnMut(&mut Compiler<'d, 's>, NodeId, &Node, &[Alternative<'s>]) -> Result<(), SchemaFault>,
) -> Result<Schema, SchemaFault> {
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
        built(&mut compiler, id, &node, &alternatives)?;
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
    unions: Vec<&'s [Json]>,
}

/// Whether the schema is only a reference. Its target is then the same type, so recursion is recognised.
fn is_reference(keywords: &[Member<'static>]) -> bool {
    const BESIDE: [&str; 6] = ["$ref", "$defs", "definitions", "$schema", "$id", "title"];
    // The other way round, each visit would cost as much as the schema has keywords.
    keywords.iter().all(|(name, _)| BESIDE.contains(&&**name)) && keywords.iter().any(|(name, _)| name == "$ref")
}

/// Whether the schema allows everything, without looking at its parts.
fn allows_all(schema: &Json) -> bool {
    schema == &Value::Bool(true) || schema.as_object().is_some_and(<[_]>::is_empty)
}

impl<'s> Compiler<'_, 's> {
    /// The node for these alternatives. It is built later.
    fn node_for(&mut self, sources: Vec<Alternative<'s>>) -> Result<NodeId, SchemaFault> {
        let mut alternatives = Vec::new();
        for source in sources {
            self.expand(source, &mut alternatives)?;
        }
        if alternatives.len() > ALTERNATIVES {
            return Ok(self.any());
        }
        if alternatives.is_empty() {
            return Ok(UNKNOWN);
        }
        let key: Vec<Vec<usize>> =
            alternatives.iter().map(|list: &Alternative<'_>| list.iter().map(|s| address(s)).collect()).collect();
        if let Some(id) = self.known.get(&key) {
            return Ok(*id);
        }
        // An alternative that nothing satisfies is ignored. If there is no other, the type is unknown.
        alternatives.retain(|alternative| self.choices(alternative).is_none_or(|choices| !choices.is_empty()));
        if alternatives.is_empty() {
            self.known.insert(key, UNKNOWN);
            return Ok(UNKNOWN);
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

    /// The node of a type that is too large to follow: any value may fit it, while nothing may fit an unknown one.
    fn any(&mut self) -> NodeId {
        // Other nodes have alternatives.
        *self.known.entry(Vec::new()).or_insert_with(|| {
            self.nodes.push(Node::default());
            self.nodes.len() as NodeId - 1
        })
    }

    /// Appends the alternatives of `sources`, which all apply, to `out`, in the order of the schema.
    fn expand(&mut self, mut sources: Vec<&'s Json>, out: &mut Vec<Alternative<'s>>) -> Result<(), SchemaFault> {
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
    fn follow(&mut self, mut pending: Vec<&'s Json>, mut walk: Walk<'s>) -> Result<Option<Walk<'s>>, SchemaFault> {
        while let Some(schema) = pending.pop() {
            self.count(walk.seen.len())?;
            if schema == &Value::Bool(false) || self.document.get(schema, "not").is_some_and(allows_all) {
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
            let get = |keyword: &str| self.document.get(schema, keyword);
            if let Some(Value::Array(all)) = get("allOf") {
                pending.extend(all.iter().rev());
            }
            for keyword in ["$ref", "$dynamicRef"] {
                let target = get(keyword).and_then(Value::as_str);
                pending.extend(target.and_then(|reference| self.document.resolve(reference).ok()));
            }
            for keyword in ["anyOf", "oneOf"] {
                if let Some(Value::Array(members)) = get(keyword) {
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
            let choices = self.choices(alternative);
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
        let said = |keyword: &str| alternatives.iter().flatten().find_map(|schema| self.document.get(schema, keyword));
        node.description = said("description").and_then(Value::as_str).map(str::to_owned);
        node.default = said("default").map(Value::to_json);
        // The alternative that an example shows. Null is not a helpful example.
        let is_null = |alternative: &&Alternative<'s>| self.choices(alternative).as_deref() == Some(&[Choice::Null]);
        let shown = alternatives.iter().find(|alternative| !is_null(alternative)).or(alternatives.first());
        let sole = alternatives.iter().filter(|alternative| !is_null(alternative)).count() <= 1;
        node.sample = shown.and_then(|alternative| Sample::new(self.document, alternative, sole));
        node.index_strings();
        Ok(node)
    }

    /// One of so many alternatives of a node.
    fn variant(
        &mut self,
        node: &Node,
        alternative: &Alternative<'s>,
        of: usize,
    ) -> Result<(Option<Vec<Choice>>, Variant), SchemaFault> {
        let choices = self.choices(alternative);
        let has = |choice: Choice| choices.as_ref().is_none_or(|choices| choices.contains(&choice));
        let (objects, arrays) = (has(Choice::Object), has(Choice::Array));
        let object = match of {
            1 => node.object.clone(),
            _ if objects => Some(self.object(&[alternative])?),
            _ => None,
        };
        let array = match of {
            1 => node.array.clone(),
            _ if arrays => Some(self.array(&[alternative])?),
            _ => None,
        };
        let demands = Demands::new(self.document, alternative);
        Ok((choices, Variant { object, array, demands, ..Variant::default() }))
    }

    fn object(&mut self, alternatives: &[&Alternative<'s>]) -> Result<ObjectType, SchemaFault> {
        let document = self.document;
        let mut object = ObjectType::default();
        let mut names: Vec<&'s str> = Vec::new();
        let mut seen = HashSet::new();
        for properties in keyword_maps(document, alternatives, "properties") {
            names.extend(properties.iter().map(|(name, _)| &**name).filter(|name| seen.insert(*name)));
        }
        for name in names {
            // An alternative that does not declare the name treats it as any other name.
            let types: Vec<Alternative<'s>> = alternatives
                .iter()
                .filter_map(|alternative| {
                    let find = |schema: &&'s Json| document.get(document.get(schema, "properties")?, name);
                    let declared: Alternative<'s> = alternative.iter().filter_map(find).collect();
                    match declared.is_empty() {
                        false => Some(declared),
                        // Its patterns are not matched against the name.
                        true if self.has(alternative, "patternProperties") => Some(Vec::new()),
                        true => self.open_members(alternative),
                    }
                })
                .collect();
            let node = self.node_for(types)?;
            object.properties.push(name.into(), node);
        }
        for patterns in keyword_maps(document, alternatives, "patternProperties") {
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
            alternative.iter().flat_map(|schema| required(document, schema, &self.defaulted)).collect()
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
            alternatives.iter().filter_map(|alternative| self.open_members(alternative)).collect();
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
        let document = self.document;
        let lists = |schema: &&'s Json| -> Option<&'s [Json]> {
            let items = || document.get(schema, "items").filter(|items| items.is_array());
            document.get(schema, "prefixItems").or_else(items)?.as_array()
        };
        let rest = |schema: &&'s Json| match document.get(schema, "items") {
            Some(Value::Array(_)) => document.get(schema, "additionalItems"),
            other => other,
        };
        let longest =
            alternatives.iter().flat_map(|a| a.iter().filter_map(lists)).map(<[Json]>::len).max().unwrap_or(0);
        let item = |alternative: &&Alternative<'s>, at: usize| -> Alternative<'s> {
            let find = |schema: &&'s Json| lists(schema).and_then(|list| list.get(at)).or_else(|| rest(schema));
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

    /// Whether one of the schemas has this keyword.
    fn has(&self, alternative: &Alternative<'s>, keyword: &str) -> bool {
        alternative.iter().any(|schema| self.document.get(schema, keyword).is_some())
    }

    /// What an alternative says about members that it does not name: nothing (an empty list), schemas, or `None` if it
    /// forbids them.
    fn open_members(&self, alternative: &Alternative<'s>) -> Option<Alternative<'s>> {
        let said = |keyword: &str| -> Alternative<'s> {
            alternative.iter().filter_map(|schema| self.document.get(schema, keyword)).collect()
        };
        let mut others = said("additionalProperties");
        // `unevaluatedProperties` does not apply to members that were evaluated, and whether a condition evaluates them
        // is not known here.
        if others.is_empty() && !CONDITIONS.iter().any(|keyword| self.has(alternative, keyword)) {
            others = said("unevaluatedProperties");
        }
        (!others.contains(&&Value::Bool(false))).then_some(others)
    }

    /// The kinds of values that one alternative allows. `None`: it does not restrict them. It may type members and
    /// items without requiring an object or an array.
    fn choices(&self, alternative: &Alternative<'s>) -> Option<Vec<Choice>> {
        let mut kinds: Option<Vec<Choice>> = None;
        let mut literals: Option<Vec<&Json>> = None;
        for schema in alternative {
            let get = |keyword: &str| self.document.get(schema, keyword);
            let mut said: Vec<Choice> = match get("type") {
                Some(Value::String(name)) => vec![kind(name)],
                Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(kind).collect(),
                _ => Vec::new(),
            };
            if !said.is_empty() {
                if get("nullable") == Some(&Value::Bool(true)) && !said.contains(&Choice::Null) {
                    said.push(Choice::Null);
                }
                kinds = kinds.map(|before| meet(&before, &said)).or(Some(said));
            }
            let only = get("const").map(|only| vec![only]);
            let listed = get("enum").and_then(Value::as_array).map(|list| list.iter().collect());
            for listed in [only, listed].into_iter().flatten() {
                literals = literals.map(|before| common(before, &listed)).or(Some(listed));
            }
        }
        let Some(literals) = literals else { return kinds };
        let allowed = |value: &&Json| kinds.as_ref().is_none_or(|kinds| kinds.iter().any(|k| is_kind(value, k)));
        let nullable = kinds.as_ref().is_some_and(|kinds| kinds.contains(&Choice::Null));
        let mut out: Vec<Choice> = literals.into_iter().filter(allowed).map(literal).collect();
        // With `nullable: true`, null is allowed even if the enum does not list it.
        if nullable && self.has(alternative, "nullable") {
            out.push(Choice::Null);
        }
        Some(out)
    }
}

fn keyword_maps<'a, 's: 'a>(
    document: &'a SchemaDocument<'s>,
    alternatives: &'a [&'a Alternative<'s>],
    keyword: &'a str,
) -> impl Iterator<Item = &'s [Member<'static>]> + 'a {
    let schemas = alternatives.iter().flat_map(|alternative| alternative.iter());
    schemas.filter_map(move |schema| document.get(schema, keyword)?.as_object())
}

/// Keywords that may declare members under a condition.
const CONDITIONS: &[&str] = &["if", "dependentSchemas", "dependencies"];

/// The values in both lists, which may be long.
fn common<'s>(first: Vec<&'s Json>, second: &[&'s Json]) -> Vec<&'s Json> {
    let known: HashSet<u64> = second.iter().map(|value| value.digest()).collect();
    first.into_iter().filter(|value| known.contains(&value.digest())).collect()
}

fn literal(value: &Json) -> Choice {
    let text = value.as_str().map(str::to_owned);
    let folded = text.as_deref().unwrap_or("").to_lowercase();
    Choice::Literal(Literal { json: value.to_json(), text, folded, digest: value.digest() })
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

pub(super) fn is_kind(value: &Json, kind: &Choice) -> bool {
    match (kind, value) {
        (Choice::String, Value::String(_))
        | (Choice::Number, Value::Number(_))
        | (Choice::Boolean, Value::Bool(_))
        | (Choice::Null, Value::Null)
        | (Choice::Array, Value::Array(_))
        | (Choice::Object, Value::Object(_)) => true,
        (Choice::Integer, Value::Number(number)) => whole(number).is_some(),
        _ => false,
    }
}
