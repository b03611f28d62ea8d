//! Rewrites schemas to what they mean: a required field with a default is optional, and `items`, `dependencies` and a
//! few more keywords may have the form of older drafts.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::parts::{EVERY, LIST, NAMED, ONE, parts, pointer_step};
use super::resolve::{SchemaDocument, percent_decode};

/// The addresses of the schemas that declare a default: directly, through a reference, in a part (`allOf`), or in a
/// member of a union.
pub(super) fn defaulted(document: &SchemaDocument<'_>) -> HashSet<usize> {
    let mut open = vec![document.root];
    let mut seen = HashSet::new();
    // For each schema, the schemas that have a default if it has one.
    let mut askers: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut found: Vec<usize> = Vec::new();
    while let Some(schema) = open.pop() {
        let Value::Object(keywords) = schema else { continue };
        if !seen.insert(address(schema)) {
            continue;
        }
        if keywords.contains_key("default") {
            found.push(address(schema));
        }
        let targets = ["$ref", "$dynamicRef"].into_iter().filter_map(|keyword| keywords.get(keyword)?.as_str());
        let targets = targets.filter_map(|reference| document.resolve(reference).ok());
        let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| keywords.get(keyword)?.as_array());
        for asked in targets.chain(lists.flatten()) {
            askers.entry(address(asked)).or_default().push(address(schema));
            open.push(asked);
        }
        open.extend(parts(keywords, EVERY).iter().map(|part| part.schema));
    }
    let mut all: HashSet<usize> = found.iter().copied().collect();
    while let Some(asked) = found.pop() {
        found.extend(askers.get(&asked).into_iter().flatten().filter(|asker| all.insert(**asker)));
    }
    all
}

pub(super) fn address(schema: &Value) -> usize {
    std::ptr::from_ref(schema) as usize
}

/// The names that one schema requires, without those of its own properties that have a default.
pub(super) fn required<'s>(schema: &'s Value, defaulted: &HashSet<usize>) -> impl Iterator<Item = &'s str> {
    let properties = schema.get("properties");
    let optional =
        move |name: &str| properties.and_then(|own| own.get(name)).is_some_and(|p| defaulted.contains(&address(p)));
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.filter(move |name| !optional(name))
}

/// The schema whose `required` lists no property with a default. `None`: it lists none already.
///
/// Schemas under conditions (`not`, `if`) are unchanged.
pub(crate) fn without_required_defaults(document: &SchemaDocument<'_>) -> Option<Value> {
    let defaulted = defaulted(document);
    if defaulted.is_empty() {
        return None;
    }
    let copy = changed(document.root, &outside(document), |own, copy| relax(own, copy, &defaulted));
    (copy != *document.root).then_some(copy)
}

/// A copy of the schema, in which the schemas at these places and the root were changed. The change sees the original.
fn changed(root: &Value, places: &[String], change: impl Fn(&Value, &mut Value)) -> Value {
    let mut copy = root.clone();
    for place in places.iter().map(String::as_str).chain([""]) {
        if let (Some(own), Some(copy)) = (root.pointer(place), copy.pointer_mut(place)) {
            change(own, copy);
        }
    }
    copy
}

fn relax(own: &Value, copy: &mut Value, defaulted: &HashSet<usize>) {
    let Value::Object(keywords) = own else { return };
    let all = keywords.get("required").and_then(Value::as_array).map_or(0, Vec::len);
    let kept: Vec<Value> = required(own, defaulted).map(|name| Value::String(name.to_owned())).collect();
    if kept.len() < all {
        copy["required"] = Value::Array(kept);
    }
    for part in parts(keywords, EVERY).iter().filter(|part| !matches!(part.keyword, "not" | "if")) {
        if let Some(copy) = part.in_copy(copy) {
            relax(part.schema, copy, defaulted);
        }
    }
}

/// Drafts for which the validator of that draft is used.
const OLD_DRAFTS: &[&str] = &["draft-03", "draft-04", "draft-05", "draft-06", "draft-07", "2019-09"];

/// The schema in the form of the newest draft. If it names an older draft, it is unchanged.
pub(crate) fn modernised(schema: &Value) -> Value {
    let old = |draft: &str| OLD_DRAFTS.iter().any(|old| draft.contains(old));
    if schema.get("$schema").and_then(Value::as_str).is_some_and(old) {
        return schema.clone();
    }
    let places = SchemaDocument::new(schema).map_or(Vec::new(), |document| outside(&document));
    changed(schema, &places, |own, copy| modernise(own, copy, schema))
}

/// `own`: the same schema before. `root`: the whole original schema, to find the keywords that references go through.
fn modernise(own: &Value, copy: &mut Value, root: &Value) {
    for part in own.as_object().into_iter().flat_map(|keywords| parts(keywords, EVERY)) {
        if let Some(copy) = part.in_copy(copy) {
            modernise(part.schema, copy, root);
        }
    }
    let Value::Object(keywords) = copy else { return };
    for keyword in ["$ref", "$dynamicRef"] {
        if let Some(Value::String(reference)) = keywords.get_mut(keyword) {
            *reference = moved(reference, root);
        }
    }
    if keywords.get("items").is_some_and(Value::is_array) {
        match keywords.contains_key("prefixItems") {
            true => drop(keywords.remove("items")),
            false => rename(keywords, "items", "prefixItems"),
        }
        rename(keywords, "additionalItems", "items");
    }
    if let Some(Value::Object(all)) = keywords.remove("dependencies") {
        let (names, schemas): (Map<_, _>, Map<_, _>) = all.into_iter().partition(|(_, value)| value.is_array());
        for (keyword, added) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
            if !added.is_empty() {
                keywords.entry(keyword).or_insert(Value::Object(added));
            }
        }
    }
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(Value::Bool(excludes)) = keywords.get(exclusive).cloned() {
            keywords.remove(exclusive);
            if excludes {
                rename(keywords, inclusive, exclusive);
            }
        }
    }
}

fn rename(keywords: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = keywords.remove(from) {
        keywords.insert(to.to_owned(), value);
    }
}

/// The reference after the keywords that it goes through were renamed.
fn moved(reference: &str, root: &Value) -> String {
    let Some(pointer) = reference.strip_prefix('#').filter(|pointer| pointer.starts_with('/')) else {
        return reference.to_owned();
    };
    let mut out = String::from("#");
    let mut at = Some(root);
    for step in pointer.split('/').skip(1) {
        let name = decoded(step);
        let tuple = at.is_some_and(|schema| schema.get("items").is_some_and(Value::is_array));
        let within = |keyword: &str| at.and_then(|schema| schema.get(keyword));
        out.push('/');
        match &*name {
            "items" if tuple => out.push_str("prefixItems"),
            "additionalItems" if tuple => out.push_str("items"),
            "dependencies" if within("dependencies").is_some_and(Value::is_object) => out.push_str("dependentSchemas"),
            _ => out.push_str(step),
        }
        at = at.and_then(|value| value.pointer(&format!("/{}", pointer_step(&name))));
    }
    out
}

fn decoded(step: &str) -> String {
    percent_decode(step).replace("~1", "/").replace("~0", "~")
}

/// The pointers to schemas that are reached only by references, such as those under `components`.
fn outside(document: &SchemaDocument<'_>) -> Vec<String> {
    let mut places = HashSet::new();
    let mut open = vec![document.root];
    let mut seen = HashSet::new();
    while let Some(value) = open.pop() {
        if !seen.insert(address(value)) {
            continue;
        }
        match value {
            Value::Object(map) => {
                if let Some(Value::String(reference)) = map.get("$ref") {
                    let pointer = reference.strip_prefix('#').map(percent_decode);
                    places
                        .extend(pointer.filter(|pointer| pointer.starts_with('/') && !is_part(document.root, pointer)));
                }
                open.extend(map.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    let mut places: Vec<String> = places.into_iter().collect();
    places.sort_unstable();
    places
}

/// Whether the pointer goes only through keywords whose values are schemas.
fn is_part(root: &Value, pointer: &str) -> bool {
    let mut steps = pointer.split('/').skip(1).map(decoded);
    let mut schema = root;
    while let Some(keyword) = steps.next() {
        let Some(value) = schema.get(&keyword) else { return false };
        let is = |list: &[&str]| list.contains(&keyword.as_str());
        let part = match value {
            Value::Array(items) if is(LIST) => steps.next().and_then(|at| items.get(at.parse::<usize>().ok()?)),
            Value::Object(named) if is(NAMED) => steps.next().and_then(|name| named.get(&name)),
            part if is(ONE) => Some(part),
            _ => None,
        };
        match part {
            Some(part) => schema = part,
            None => return false,
        }
    }
    true
}
