//! Checks the shape of a schema and resolves its references, all inside one document.

use std::collections::HashMap;

use super::parts::{EVERY, Json, NAMED, parts, step_names};
use crate::syntax::json::{Duplicates, Value, parse_with};

/// A JSON pointer, and what is wrong there.
pub(crate) type SchemaFault = (String, String);

/// Levels of a schema. 127 is the limit of most readers. Checking and rewriting are recursive.
const SCHEMA_DEPTH: usize = 127;
/// Above this number of members, an object has an index. Hostile schemas would make scans quadratic.
const FEW_MEMBERS: usize = 16;

const TYPES: &[&str] = &["string", "integer", "number", "boolean", "null", "array", "object"];

/// Reads the text of a schema. Of equal keys the last value counts.
pub(crate) fn read_schema(text: &str) -> Result<Json, SchemaFault> {
    parse_with(text, SCHEMA_DEPTH, Duplicates::Last)
        .map_err(|error| (String::new(), format!("the schema is not valid JSON: {error}")))
}

/// What a value of a document is known by: its place in memory.
pub(crate) fn address(value: &Json) -> usize {
    std::ptr::from_ref(value) as usize
}

/// One document, with its references and an index of its members.
pub(crate) struct SchemaDocument<'s> {
    pub root: &'s Json,
    anchors: HashMap<String, &'s Json>,
    /// The positions of members by name, for each object that has many, by its address.
    wide: HashMap<usize, HashMap<&'s str, usize>>,
}

impl<'s> SchemaDocument<'s> {
    /// Checks the whole document. The first fault is returned.
    pub(crate) fn new(root: &'s Json) -> Result<Self, SchemaFault> {
        let mut document = SchemaDocument { root, anchors: HashMap::new(), wide: HashMap::new() };
        document.index(root);
        document.collect(root);
        document.check(root, &mut String::new())?;
        Ok(document)
    }

    fn index(&mut self, value: &'s Json) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.index(item)),
            Value::Object(members) => {
                if members.len() > FEW_MEMBERS {
                    let names = members.iter().enumerate().map(|(at, (name, _))| (&**name, at));
                    self.wide.insert(address(value), names.collect());
                }
                members.iter().for_each(|(_, value)| self.index(value));
            }
            _ => {}
        }
    }

    /// The position of a member of an object.
    pub(crate) fn position(&self, value: &'s Json, name: &str) -> Option<usize> {
        let members = value.as_object()?;
        if members.len() > FEW_MEMBERS {
            return self.wide.get(&address(value))?.get(name).copied();
        }
        // The length and the first byte usually differ, which avoids a call to compare the rest.
        let (length, first) = (name.len(), name.as_bytes().first());
        members.iter().position(|(own, _)| own.len() == length && own.as_bytes().first() == first && own == name)
    }

    /// A member of an object. The value must belong to this document.
    #[inline]
    pub(crate) fn get(&self, value: &'s Json, name: &str) -> Option<&'s Json> {
        let at = self.position(value, name)?;
        value.as_object().map(|members| &members[at].1)
    }

    /// The positions of members and items that a JSON pointer goes through.
    pub(crate) fn locate(&self, from: &'s Json, pointer: &str) -> Option<Vec<usize>> {
        let mut value = from;
        let steps = step_names(pointer)?.map(|name| {
            let at;
            (at, value) = self.step(value, &name)?;
            Some(at)
        });
        steps.collect()
    }

    /// The member or item that one step of a JSON pointer leads to, and its position.
    fn step(&self, value: &'s Json, name: &str) -> Option<(usize, &'s Json)> {
        match value {
            Value::Array(items) => {
                // An index has no leading zeros.
                let at = Some(name).filter(|name| *name == "0" || !name.starts_with(['0', '+']))?.parse().ok()?;
                Some((at, items.get(at)?))
            }
            Value::Object(members) => {
                let at = self.position(value, name)?;
                Some((at, &members[at].1))
            }
            _ => None,
        }
    }

    /// The member of an object with this name, or the item of an array at this index.
    pub(crate) fn child(&self, value: &'s Json, name: &str) -> Option<&'s Json> {
        self.step(value, name).map(|(_, child)| child)
    }

    /// The value that a JSON pointer points to.
    fn pointer(&self, from: &'s Json, pointer: &str) -> Option<&'s Json> {
        step_names(pointer)?.try_fold(from, |value, name| self.child(value, &name))
    }

    fn collect(&mut self, schema: &'s Json) {
        let Some(keywords) = schema.as_object() else { return };
        for keyword in ["$id", "$anchor", "$dynamicAnchor"] {
            if let Some(name) = self.get(schema, keyword).and_then(Value::as_str) {
                let name = if keyword == "$id" { name.trim_end_matches('#').to_owned() } else { format!("#{name}") };
                self.anchors.entry(name).or_insert(schema);
            }
        }
        for part in parts(keywords, EVERY) {
            self.collect(part.schema);
        }
    }

    /// The schema that a reference points to, or why there is none.
    pub(crate) fn resolve(&self, reference: &str) -> Result<&'s Json, String> {
        if reference == "#" || reference.is_empty() {
            return Ok(self.root);
        }
        if let Some(found) = self.anchors.get(reference) {
            return Ok(found);
        }
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if base.is_empty() {
            self.root
        } else {
            *self.anchors.get(base).ok_or_else(|| {
                format!("$ref {reference:?} is outside this schema and is not fetched; put the schema under $defs")
            })?
        };
        let decoded = percent_decode(fragment);
        self.pointer(base, &decoded).ok_or_else(|| format!("$ref {reference:?} points to nothing in this schema"))
    }

    fn check(&self, schema: &'s Json, path: &mut String) -> Result<(), SchemaFault> {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(_) => return Ok(()),
            _ => return Err((path.clone(), "a schema must be an object, true or false".into())),
        };
        let fault = |path: &str, keyword: &str, what: &str| Err((format!("{path}/{keyword}"), what.to_owned()));
        let get = |keyword: &str| self.get(schema, keyword);
        if let Some(types) = get("type") {
            let known = |value: &Json| value.as_str().is_some_and(|name| TYPES.contains(&name));
            let fine = match types {
                Value::Array(list) => !list.is_empty() && list.iter().all(known),
                one => known(one),
            };
            if !fine {
                return fault(path, "type", &format!("type must be one of {}, or a list of them", TYPES.join(", ")));
            }
        }
        for keyword in NAMED {
            if get(keyword).is_some_and(|value| !value.is_object()) {
                return fault(path, keyword, "must be an object that maps names to schemas");
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf", "prefixItems"] {
            if get(keyword).is_some_and(|value| value.as_array().is_none_or(<[Json]>::is_empty)) {
                return fault(path, keyword, "must be a non-empty list of schemas");
            }
        }
        if get("required").is_some_and(|r| r.as_array().is_none_or(|list| !list.iter().all(Value::is_string))) {
            return fault(path, "required", "must be a list of property names");
        }
        // An alternative of a union that allows nothing is ignored.
        let member = path.rsplit('/').nth(1).is_some_and(|keyword| matches!(keyword, "anyOf" | "oneOf"));
        if get("enum").is_some_and(|value| value.as_array().is_none_or(|list| list.is_empty() && !member)) {
            return fault(path, "enum", "must be a non-empty list of values");
        }
        for keyword in ["$ref", "$dynamicRef"] {
            match get(keyword) {
                None => {}
                Some(Value::String(reference)) => {
                    self.resolve(reference).map_err(|what| (format!("{path}/{keyword}"), what))?;
                }
                Some(_) => return fault(path, keyword, "must be a string"),
            }
        }
        for part in parts(keywords, EVERY) {
            let length = path.len();
            path.push_str(&part.pointer());
            self.check(part.schema, path)?;
            path.truncate(length);
        }
        Ok(())
    }
}

pub(super) fn percent_decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let (first, rest) = text.split_once('%').unwrap_or((text, ""));
    let mut out = Vec::from(first);
    for part in rest.split('%') {
        let byte = part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(byte.unwrap_or(b'%'));
        out.extend(&part.as_bytes()[if byte.is_some() { 2 } else { 0 }..]);
    }
    String::from_utf8_lossy(&out).into_owned()
}
