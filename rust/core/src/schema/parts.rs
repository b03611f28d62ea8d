//! The schemas directly inside a schema, with the JSON pointers to them.

use serde_json::{Map, Value};

/// Keywords by kind of value: a schema, a list of schemas, or a map of names to schemas.
pub type Keywords = [&'static [&'static str]; 3];

/// Keywords whose value is one schema.
pub const ONE: &[&str] = &[
    "additionalProperties",
    "additionalItems",
    "items",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
/// Keywords whose value is a list of schemas.
pub const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords whose value maps names to schemas.
pub const NAMED: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// Every keyword whose value contains schemas.
pub const EVERY: Keywords = [ONE, LIST, NAMED];

/// The schemas under these keywords, with the JSON pointer to each.
pub fn parts(schema: &Map<String, Value>, [one, list, named]: Keywords) -> impl Iterator<Item = (String, &Value)> {
    let one = one.iter().filter_map(|keyword| Some((format!("/{keyword}"), schema.get(*keyword)?)));
    let list = list.iter().flat_map(|keyword| {
        let items = schema.get(*keyword).and_then(Value::as_array).into_iter().flatten();
        items.enumerate().map(move |(at, part)| (format!("/{keyword}/{at}"), part))
    });
    let named = named.iter().flat_map(|keyword| {
        // Dependencies are schemas or, in older drafts, lists of names.
        let is_schema = |part: &Value| *keyword != "dependencies" || !part.is_array();
        let members = schema.get(*keyword).and_then(Value::as_object).into_iter().flatten();
        let schemas = members.filter(move |(_, part)| is_schema(part));
        schemas.map(move |(name, part)| (format!("/{keyword}/{}", pointer_step(name)), part))
    });
    one.filter(|(_, part)| !part.is_array()).chain(list).chain(named)
}

/// A name as a step of a JSON pointer.
pub fn pointer_step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
