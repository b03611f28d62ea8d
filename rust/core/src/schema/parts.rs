//! The schemas directly inside a schema.

use crate::syntax::json::{Member, Value};

/// JSON of a schema.
pub(crate) type Json = Value<'static>;

/// Schemas that all apply.
pub(super) type Alternative<'s> = Vec<&'s Json>;

/// Keywords by kind of value: a schema, a list of schemas, or a map of names to schemas.
pub(super) type Keywords = [&'static [&'static str]; 3];

/// Keywords whose value is one schema.
pub(super) const ONE: &[&str] = &[
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
pub(super) const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords whose value maps names to schemas.
pub(super) const NAMED: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// Every keyword whose value contains schemas.
pub(super) const EVERY: Keywords = [ONE, LIST, NAMED];

/// A schema directly inside another.
pub(super) struct Subschema<'s> {
    pub keyword: &'static str,
    /// The position of the keyword among the members of the outer schema.
    at: usize,
    place: PartPlace<'s>,
    pub schema: &'s Json,
    /// The kind of its keyword, and the position among those.
    order: (usize, usize),
}

/// Where a schema is in the value of its keyword.
enum PartPlace<'s> {
    Whole,
    Item(usize),
    Member(usize, &'s str),
}

impl Subschema<'_> {
    /// The JSON pointer from the outer schema.
    pub(super) fn pointer(&self) -> String {
        match self.place {
            PartPlace::Whole => format!("/{}", self.keyword),
            PartPlace::Item(at) => format!("/{}/{at}", self.keyword),
            PartPlace::Member(_, name) => format!("/{}/{}", self.keyword, pointer_step(name)),
        }
    }

    /// The schema at this place in a copy of the outer schema.
    pub(crate) fn in_copy<'c>(&self, copy: &'c mut Json) -> Option<&'c mut Json> {
        let value = member_mut(copy, self.at, self.keyword)?;
        match (&self.place, value) {
            (PartPlace::Whole, value) => Some(value),
            (PartPlace::Item(at), Value::Array(items)) => items.get_mut(*at),
            (PartPlace::Member(at, name), value) => member_mut(value, *at, name),
            (PartPlace::Item(_), _) => None,
        }
    }
}

/// The member of an object with this name. In the original it was at this position, and few members of a copy move.
pub(super) fn member_mut<'c>(value: &'c mut Json, at: usize, name: &str) -> Option<&'c mut Json> {
    let Value::Object(members) = value else { return None };
    let is_here = members.get(at).is_some_and(|(own, _)| own == name);
    let at = if is_here { at } else { members.iter().position(|(own, _)| own == name)? };
    Some(&mut members[at].1)
}

/// The schemas under these keywords, in the order of the keywords.
pub(crate) fn parts<'s>(schema: &'s [Member<'static>], keywords: Keywords) -> Vec<Subschema<'s>> {
    let mut out = Vec::new();
    // Schemas have few keywords, so these are looked for in the lists: the other way round, each would cost a hash.
    for (at, (name, value)) in schema.iter().enumerate() {
        let fits = [!value.is_array(), value.is_array(), value.is_object()];
        let find = |kind: usize| Some((kind, keywords[kind].iter().position(|keyword| keyword == name)?));
        let Some(order) = (0..3).filter(|kind| fits[*kind]).find_map(find) else { continue };
        let keyword = keywords[order.0][order.1];
        let part = |place, schema| Subschema { keyword, at, place, schema, order };
        match value {
            Value::Array(items) => {
                out.extend(items.iter().enumerate().map(|(at, schema)| part(PartPlace::Item(at), schema)));
            }
            // Dependencies are schemas or, in older drafts, lists of names.
            Value::Object(members) if order.0 == 2 => {
                let schemas = members.iter().enumerate();
                let schemas = schemas.filter(|(_, (_, schema))| keyword != "dependencies" || !schema.is_array());
                out.extend(schemas.map(|(at, (name, schema))| part(PartPlace::Member(at, name), schema)));
            }
            schema => out.push(part(PartPlace::Whole, schema)),
        }
    }
    out.sort_by_key(|part| part.order);
    out
}

/// A name as a step of a JSON pointer.
pub(super) fn pointer_step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name in a step of a JSON pointer.
pub(super) fn step_name(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// The names in the steps of a JSON pointer. `None`: it is not a pointer.
pub(super) fn step_names(pointer: &str) -> Option<impl Iterator<Item = String>> {
    (pointer.is_empty() || pointer.starts_with('/')).then(|| pointer.split('/').skip(1).map(step_name))
}
