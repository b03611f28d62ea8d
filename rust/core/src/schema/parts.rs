//! The schemas directly inside a schema.

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

/// A schema directly inside another.
pub struct Subschema<'s> {
    pub keyword: &'static str,
    /// The JSON pointer from the outer schema.
    pub pointer: String,
    pub schema: &'s Value,
}

/// The schemas under these keywords.
pub fn parts(schema: &Map<String, Value>, [one, list, named]: Keywords) -> impl Iterator<Item = Subschema<'_>> {
    let one = one.iter().filter_map(|keyword| {
        let value = schema.get(*keyword).filter(|value| !value.is_array())?;
        Some(Subschema { keyword, pointer: format!("/{keyword}"), schema: value })
    });
    let list = list.iter().flat_map(|keyword| {
        let items = schema.get(*keyword).and_then(Value::as_array).into_iter().flatten();
        items.enumerate().map(move |(at, schema)| Subschema { keyword, pointer: format!("/{keyword}/{at}"), schema })
    });
    let named = named.iter().flat_map(|keyword| {
        let members = schema.get(*keyword).and_then(Value::as_object).into_iter().flatten();
        // Dependencies are schemas or, in older drafts, lists of names.
        let schemas = members.filter(|(_, part)| *keyword != "dependencies" || !part.is_array());
        let pointer = move |name: &str| format!("/{keyword}/{}", pointer_step(name));
        schemas.map(move |(name, schema)| Subschema { keyword, pointer: pointer(name), schema })
    });
    one.chain(list).chain(named)
}

/// A name as a step of a JSON pointer.
pub fn pointer_step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
