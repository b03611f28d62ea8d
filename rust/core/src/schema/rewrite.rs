//! Rewrites schemas to what they mean: a required field with a default is optional.

use std::collections::{HashMap, HashSet};

use super::parts::{EVERY, Json, LIST, NAMED, ONE, member_mut, parts, step_name};
use super::resolve::{SchemaDocument, address, percent_decode};
use crate::syntax::json::Value;

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
        if document.position(schema, "default").is_some() {
            found.push(address(schema));
        }
        let get = |keyword: &str| document.get(schema, keyword);
        let targets = ["$ref", "$dynamicRef"].into_iter().filter_map(|keyword| get(keyword)?.as_str());
        let targets = targets.filter_map(|reference| document.resolve(reference).ok());
        let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| get(keyword)?.as_array());
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

/// The names that one schema requires, without those of its own properties that have a default.
pub(crate) fn required<'s>(
    document: &SchemaDocument<'s>,
    schema: &'s Json,
    defaulted: &HashSet<usize>,
) -> impl Iterator<Item = &'s str> {
    let properties = document.get(schema, "properties");
    let own = move |name: &str| document.get(properties?, name);
    let optional = move |name: &str| own(name).is_some_and(|property| defaulted.contains(&address(property)));
    let names =
        document.get(schema, "required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.filter(move |name| !optional(name))
}

/// The schema whose `required` lists no property with a default. `None`: it lists none already.
///
/// Schemas under conditions (`not`, `if`) are unchanged.
pub(crate) fn without_required_defaults(document: &SchemaDocument<'_>) -> Option<Json> {
    let defaulted = defaulted(document);
    if defaulted.is_empty() {
        return None;
    }
    let copy = changed(document, |own, copy| relax(document, own, copy, &defaulted));
    (copy != *document.root).then_some(copy)
}

/// A copy of the schema, in which all its schemas were changed, wherever they are. The change sees the original.
pub(super) fn changed<'s>(document: &SchemaDocument<'s>, change: impl Fn(&'s Json, &mut Json)) -> Json {
    let mut copy = document.root.clone();
    for place in outside(document).iter().map(String::as_str).chain([""]) {
        let Some(path) = document.locate(document.root, place) else { continue };
        if let Some((own, copy)) = follow(document.root, &mut copy, &path) {
            change(own, copy);
        }
    }
    copy
}

/// The value at these positions, and what it became in a copy.
fn follow<'s, 'c>(mut own: &'s Json, mut copy: &'c mut Json, path: &[usize]) -> Option<(&'s Json, &'c mut Json)> {
    for at in path {
        (own, copy) = match own {
            Value::Array(items) => match copy {
                Value::Array(copies) => (&items[*at], copies.get_mut(*at)?),
                _ => return None,
            },
            Value::Object(members) => {
                let (name, own) = &members[*at];
                (own, member_mut(copy, *at, name)?)
            }
            _ => return None,
        };
    }
    Some((own, copy))
}

fn relax<'s>(document: &SchemaDocument<'s>, own: &'s Json, copy: &mut Json, defaulted: &HashSet<usize>) {
    let Value::Object(keywords) = own else { return };
    if let Some(at) = document.position(own, "required")
        && let Some(Value::Array(names)) = member_mut(copy, at, "required")
    {
        let kept: HashSet<&str> = required(document, own, defaulted).collect();
        names.retain(|name| name.as_str().is_some_and(|name| kept.contains(name)));
    }
    for part in parts(keywords, EVERY).iter().filter(|part| !matches!(part.keyword, "not" | "if")) {
        if let Some(copy) = part.in_copy(copy) {
            relax(document, part.schema, copy, defaulted);
        }
    }
}

pub(crate) fn decoded(step: &str) -> String {
    step_name(&percent_decode(step))
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
            Value::Object(members) => {
                if let Some(Value::String(reference)) = document.get(value, "$ref") {
                    let pointer = reference.strip_prefix('#').map(percent_decode);
                    places.extend(pointer.filter(|pointer| pointer.starts_with('/') && !is_part(document, pointer)));
                }
                open.extend(members.iter().map(|(_, value)| value));
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
fn is_part(document: &SchemaDocument<'_>, pointer: &str) -> bool {
    let mut steps = pointer.split('/').skip(1).map(decoded);
    let mut schema = document.root;
    while let Some(keyword) = steps.next() {
        let Some(value) = document.get(schema, &keyword) else { return false };
        let is = |list: &[&str]| list.contains(&keyword.as_str());
        let part = match value {
            Value::Array(items) if is(LIST) => steps.next().and_then(|at| items.get(at.parse::<usize>().ok()?)),
            named @ Value::Object(_) if is(NAMED) => steps.next().and_then(|name| document.get(named, &name)),
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
