//! The arguments shown in an example of a call.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::limits::RECURSION;
use crate::schema::{Additional, Choice, NodeId, Sample, Schema, UNKNOWN};
use crate::syntax::json::{Member, Value, json_string, parse};

/// Which values an example takes from a schema's `examples` and `default`; the others are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    All,
    Scalars,
    None,
}

/// Maximum depth of an example, since recursive types have no end.
const LEVELS: usize = 4;
/// Maximum number of values in an example.
const VALUES: usize = 500;
/// How many optional fields are shown if none is required.
const SHOWN: usize = 4;

struct Example<'s> {
    schema: &'s Schema,
    given: Given,
    /// Values that may still be made.
    left: usize,
}

/// A short value that the type takes, as JSON.
pub(crate) fn example(schema: &Schema, id: NodeId) -> String {
    let mut example = Example { schema, given: Given::None, left: VALUES };
    example.value(id, LEVELS, 0).unwrap_or_else(|| "null".into())
}

/// The arguments of an example: the required fields, or the first few. `None` if there would be too many.
pub(crate) fn example_members(schema: &Schema, given: Given) -> Option<Vec<Member<'static>>> {
    let mut example = Example { schema, given, left: VALUES };
    let mut members: Vec<Member<'static>> = Vec::new();
    for (name, id) in shown_fields(schema, schema.root, SHOWN) {
        let value = parse(&example.value(id, LEVELS, 0)?, RECURSION).ok()?;
        members.push((Cow::Owned(name.to_owned()), value));
    }
    // Keys that the schema does not name, if it says that there may be some, and names none.
    if schema.is_open() && !schema.declares_properties(schema.root) {
        members.push((Cow::Borrowed("key"), Value::String(Cow::Borrowed("some text"))));
    }
    Some(members)
}

/// The required fields, or the first few.
fn shown_fields(schema: &Schema, id: NodeId, few: usize) -> Vec<(&str, NodeId)> {
    let Some(object) = &schema.node(id).object else { return Vec::new() };
    let declared = object.properties.iter().map(|(name, id)| (name, *id));
    if object.required.is_empty() {
        return declared.take(few).collect();
    }
    let required: HashSet<&str> = object.required.iter().map(String::as_str).collect();
    // Fields that are in `required` but not in `properties` come last.
    let named = object.required.iter().filter(|name| object.properties.get(name).is_none());
    let named = named.filter_map(|name| Some((name.as_str(), object.member(name)?)));
    declared.filter(|(name, _)| required.contains(name)).chain(named).collect()
}

/// a, b, c, …, z, a1, b1, …
fn word(nth: usize) -> String {
    let letter = char::from(b'a' + (nth % 26) as u8);
    if nth < 26 { letter.to_string() } else { format!("{letter}{}", nth / 26) }
}

impl Example<'_> {
    /// A value, and others for other `nth`, as far as there are any.
    fn value(&mut self, id: NodeId, levels: usize, nth: usize) -> Option<String> {
        self.left = self.left.checked_sub(1)?;
        let schema = self.schema;
        let node = schema.node(id);
        let sample = node.sample.as_deref();
        let given = sample.into_iter().flat_map(Sample::given).find(|value| {
            let wanted = match self.given {
                Given::All => true,
                Given::Scalars => !value.is_array() && !value.is_object(),
                Given::None => false,
            };
            wanted && nth == 0 && node.accepts(value)
        });
        if let Some(given) = given {
            return Some(given.to_json());
        }
        // Null is not a helpful example.
        let shown = node.choices.iter().find(|choice| **choice != Choice::Null).or(node.choices.first());
        let literals = || node.choices.iter().filter(|choice| matches!(choice, Choice::Literal(_)));
        let shown = if nth > 0 { literals().nth(nth).or(shown) } else { shown };
        Some(match shown {
            None | Some(Choice::String) => json_string(&sample.unwrap_or(&Sample::default()).text(nth)),
            Some(Choice::Integer) => sample.unwrap_or(&Sample::default()).number(5.0, true, nth),
            Some(Choice::Number) => sample.unwrap_or(&Sample::default()).number(2.5, false, nth),
            Some(Choice::Boolean) => (nth == 0).to_string(),
            Some(Choice::Null) => "null".into(),
            Some(Choice::Literal(literal)) => literal.json.clone(),
            Some(Choice::Array) if levels == 0 => "[]".into(),
            Some(Choice::Object) if levels == 0 => "{}".into(),
            Some(Choice::Array) => self.list(id, sample, levels, nth)?,
            Some(Choice::Object) => self.object(id, levels, nth)?,
        })
    }

    fn list(&mut self, id: NodeId, sample: Option<&Sample>, levels: usize, nth: usize) -> Option<String> {
        let schema = self.schema;
        let plain = |at: usize| {
            let item = schema.node(schema.item(id, at));
            if item.sample.is_some() { None } else { item.choices.first().or(Some(&Choice::String)) }
        };
        let fixed = schema.node(id).array.as_ref().map_or(0, |array| array.prefix.len());
        let usual = match plain(fixed) {
            _ if fixed > 0 => fixed,
            Some(Choice::String | Choice::Integer) => 2,
            _ => 1,
        };
        let count = sample.map_or(usual, |sample| sample.items(usual));
        let unique = sample.is_some_and(|sample| sample.unique);
        let mut items: Vec<String> = Vec::new();
        for at in 0..count {
            let item = schema.item(id, at);
            let other = if unique { nth + at } else { nth };
            let item = match plain(at) {
                // Plain items differ in any list, which is more helpful.
                Some(Choice::String) if fixed == 0 => json_string(&word(at + nth)),
                Some(Choice::Integer) if fixed == 0 => (at + nth + 1).to_string(),
                Some(Choice::Literal(_)) => {
                    let choices = &schema.node(item).choices;
                    match &choices[(at + nth) % choices.len()] {
                        Choice::Literal(literal) => literal.json.clone(),
                        _ => self.value(item, levels - 1, other)?,
                    }
                }
                _ => self.value(item, levels - 1, other)?,
            };
            if unique && items.contains(&item) {
                break;
            }
            items.push(item);
        }
        Some(format!("[{}]", items.join(",")))
    }

    fn object(&mut self, id: NodeId, levels: usize, nth: usize) -> Option<String> {
        if !self.schema.declares_properties(id) {
            return Some(match self.schema.node(id).object.as_ref().map(|object| object.additional) {
                Some(Additional::Closed) => "{}".into(),
                Some(Additional::Open(node)) if node != UNKNOWN => {
                    format!("{{\"key\":{}}}", self.value(node, levels - 1, nth)?)
                }
                _ => "{\"key\":\"value\"}".into(),
            });
        }
        let fields = shown_fields(self.schema, id, 1).into_iter();
        let members =
            fields.map(|(name, child)| Some(format!("{}:{}", json_string(name), self.value(child, levels - 1, nth)?)));
        Some(format!("{{{}}}", members.collect::<Option<Vec<_>>>()?.join(",")))
    }
}
