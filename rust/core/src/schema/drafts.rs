//! The form of the newest draft: `items`, `dependencies` and a few more keywords may have the form of older ones.

use super::parts::{EVERY, Json, parts};
use super::resolve::SchemaDocument;
use super::rewrite::{changed, decoded};
use crate::syntax::json::{Member, Value};

/// Drafts for which the validator of that draft is used.
const OLD_DRAFTS: &[&str] = &["draft-03", "draft-04", "draft-05", "draft-06", "draft-07", "2019-09"];

type Keywords = Vec<Member<'static>>;

/// The schema in the form of the newest draft. If it names an older draft, it is unchanged.
pub(super) fn modernised(document: &SchemaDocument<'_>) -> Json {
    let old = |draft: &str| OLD_DRAFTS.iter().any(|old| draft.contains(old));
    if document.get(document.root, "$schema").and_then(Value::as_str).is_some_and(old) {
        return document.root.clone();
    }
    changed(document, |own, copy| modernise(document, own, copy))
}

/// `own`: the same schema before.
fn modernise<'s>(document: &SchemaDocument<'s>, own: &'s Json, copy: &mut Json) {
    for part in own.as_object().into_iter().flat_map(|keywords| parts(keywords, EVERY)) {
        if let Some(copy) = part.in_copy(copy) {
            modernise(document, part.schema, copy);
        }
    }
    let Value::Object(keywords) = copy else { return };
    for keyword in ["$ref", "$dynamicRef"] {
        if let Some(Value::String(reference)) = find(keywords, keyword).map(|at| &mut keywords[at].1) {
            *reference = moved(document, reference).into();
        }
    }
    if find(keywords, "items").is_some_and(|at| keywords[at].1.is_array()) {
        match find(keywords, "prefixItems") {
            Some(_) => drop(take(keywords, "items")),
            None => rename(keywords, "items", "prefixItems"),
        }
        rename(keywords, "additionalItems", "items");
    }
    if let Some(Value::Object(all)) = take(keywords, "dependencies") {
        let (names, schemas): (Keywords, Keywords) = all.into_iter().partition(|(_, value)| value.is_array());
        for (keyword, added) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
            if !added.is_empty() && find(keywords, keyword).is_none() {
                insert(keywords, keyword, Value::Object(added));
            }
        }
    }
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(Value::Bool(excludes)) = find(keywords, exclusive).map(|at| keywords[at].1.clone()) {
            take(keywords, exclusive);
            if excludes {
                rename(keywords, inclusive, exclusive);
            }
        }
    }
}

fn find(keywords: &Keywords, name: &str) -> Option<usize> {
    keywords.iter().position(|(own, _)| own == name)
}

/// Removes a keyword. Only the last one moves.
fn take(keywords: &mut Keywords, name: &str) -> Option<Json> {
    find(keywords, name).map(|at| keywords.swap_remove(at).1)
}

fn insert(keywords: &mut Keywords, name: &'static str, value: Json) {
    match find(keywords, name) {
        Some(at) => keywords[at].1 = value,
        None => keywords.push((name.into(), value)),
    }
}

fn rename(keywords: &mut Keywords, from: &str, to: &'static str) {
    if let Some(value) = take(keywords, from) {
        insert(keywords, to, value);
    }
}

/// The reference after the keywords that it goes through were renamed.
fn moved(document: &SchemaDocument<'_>, reference: &str) -> String {
    let Some(pointer) = reference.strip_prefix('#').filter(|pointer| pointer.starts_with('/')) else {
        return reference.to_owned();
    };
    let mut out = String::from("#");
    let mut at = Some(document.root);
    for step in pointer.split('/').skip(1) {
        let name = decoded(step);
        let within = |keyword: &str| at.and_then(|schema| document.get(schema, keyword));
        let tuple = within("items").is_some_and(Value::is_array);
        out.push('/');
        match &*name {
            "items" if tuple => out.push_str("prefixItems"),
            "additionalItems" if tuple => out.push_str("items"),
            "dependencies" if within("dependencies").is_some_and(Value::is_object) => out.push_str("dependentSchemas"),
            _ => out.push_str(step),
        }
        at = at.and_then(|value| document.child(value, &name));
    }
    out
}
