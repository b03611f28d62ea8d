//! The arguments shown in an example of a call.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::json::{Member, Value, json_string, parse};
use crate::limits::RECURSION;
use crate::schema::{Additional, Choice, NodeId, Sample, Schema, UNKNOWN};

/// Which values an example takes from a schema's `examples` and `default`; the others are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
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
pub fn example(schema: &Schema, id: NodeId) -> String {
    let mut example = Example { schema, given: Given::None, left: VALUES };
    example.value(id, LEVELS).unwrap_or_else(|| "null".into())
}

/// The arguments of an example: the required fields, or the first few. `None` if there would be too many.
pub fn example_members(schema: &Schema, given: Given) -> Option<Vec<Member<'static>>> {
    let mut example = Example { schema, given, left: VALUES };
    let mut members: Vec<Member<'static>> = Vec::new();
    for (name, id) in shown_fields(schema, schema.root, SHOWN) {
        let value = parse(&example.value(id, LEVELS)?, RECURSION).ok()?;
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

impl Example<'_> {
    fn value(&mut self, id: NodeId, levels: usize) -> Option<String> {
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
            wanted && node.accepts(value)
        });
        if let Some(given) = given {
            return Some(given.to_string());
        }
        // Null is not a helpful example.
        let shown = node.choices.iter().find(|choice| **choice != Choice::Null).or(node.choices.first());
        Some(match shown {
            None | Some(Choice::String) => json_string(&sample.map_or_else(|| "some text".into(), Sample::text)),
            Some(Choice::Integer) => sample.map_or_else(|| "5".into(), |sample| sample.number(5.0, true).to_string()),
            Some(Choice::Number) => sample.map_or_else(|| "2.5".into(), |sample| sample.number(2.5, false).to_string()),
            Some(Choice::Boolean) => "true".into(),
            Some(Choice::Null) => "null".into(),
            Some(Choice::Literal(literal)) => literal.json.clone(),
            Some(Choice::Array) if levels == 0 => "[]".into(),
            Some(Choice::Object) if levels == 0 => "{}".into(),
            Some(Choice::Array) => self.list(id, sample, levels)?,
            Some(Choice::Object) => self.object(id, levels)?,
        })
    }

    fn list(&mut self, id: NodeId, sample: Option<&Sample>, levels: usize) -> Option<String> {
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
        let items = (0..count).map(|at| match plain(at) {
            // The items differ, since a list may require that.
            Some(Choice::String) if fixed == 0 && at < 26 => {
                Some(json_string(&char::from(b'a' + at as u8).to_string()))
            }
            Some(Choice::Integer) if fixed == 0 => Some((at + 1).to_string()),
            Some(Choice::Literal(_)) => {
                let choices = &schema.node(schema.item(id, at)).choices;
                match &choices[at % choices.len()] {
                    Choice::Literal(literal) => Some(literal.json.clone()),
                    _ => self.value(schema.item(id, at), levels - 1),
                }
            }
            _ => self.value(schema.item(id, at), levels - 1),
        });
        Some(format!("[{}]", items.collect::<Option<Vec<_>>>()?.join(",")))
    }

    fn object(&mut self, id: NodeId, levels: usize) -> Option<String> {
        if !self.schema.declares_properties(id) {
            return Some(match self.schema.node(id).object.as_ref().map(|object| object.additional) {
                Some(Additional::Closed) => "{}".into(),
                Some(Additional::Open(node)) if node != UNKNOWN => {
                    format!("{{\"key\":{}}}", self.value(node, levels - 1)?)
                }
                _ => "{\"key\":\"value\"}".into(),
            });
        }
        let fields = shown_fields(self.schema, id, 1).into_iter();
        let members =
            fields.map(|(name, child)| Some(format!("{}:{}", json_string(name), self.value(child, levels - 1)?)));
        Some(format!("{{{}}}", members.collect::<Option<Vec<_>>>()?.join(",")))
    }
}
