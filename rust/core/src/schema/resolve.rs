//! Checks the shape of a schema and resolves its references, all inside one document.

use std::collections::HashMap;

use serde_json::Value;

use super::parts::{EVERY, NAMED, parts};

/// A JSON pointer, and what is wrong there.
pub(crate) type SchemaFault = (String, String);

const TYPES: &[&str] = &["string", "integer", "number", "boolean", "null", "array", "object"];

/// The references of one document.
pub(crate) struct SchemaDocument<'s> {
    pub root: &'s Value,
    anchors: HashMap<String, &'s Value>,
}

impl<'s> SchemaDocument<'s> {
    /// Checks the whole document. The first fault is returned.
    pub(crate) fn new(root: &'s Value) -> Result<Self, SchemaFault> {
        let mut document = SchemaDocument { root, anchors: HashMap::new() };
        document.collect(root);
        document.check(root, &mut String::new())?;
        Ok(document)
    }

    fn collect(&mut self, schema: &'s Value) {
        let Value::Object(map) = schema else { return };
        for keyword in ["$id", "$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(name)) = map.get(keyword) {
                let name = if keyword == "$id" { name.trim_end_matches('#').to_owned() } else { format!("#{name}") };
                self.anchors.entry(name).or_insert(schema);
            }
        }
        for part in parts(map, EVERY) {
            self.collect(part.schema);
        }
    }

    /// The schema that a reference points to, or why there is none.
    pub(crate) fn resolve(&self, reference: &str) -> Result<&'s Value, String> {
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
        base.pointer(&decoded)
            .filter(|_| decoded.is_empty() || decoded.starts_with('/'))
            .ok_or_else(|| format!("$ref {reference:?} points to nothing in this schema"))
    }

    fn check(&self, schema: &'s Value, path: &mut String) -> Result<(), SchemaFault> {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(_) => return Ok(()),
            _ => return Err((path.clone(), "a schema must be an object, true or false".into())),
        };
        let fault = |path: &str, keyword: &str, what: &str| Err((format!("{path}/{keyword}"), what.to_owned()));
        if let Some(types) = map.get("type") {
            let known = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
            let fine = match types {
                Value::Array(list) => !list.is_empty() && list.iter().all(known),
                one => known(one),
            };
            if !fine {
                return fault(path, "type", &format!("type must be one of {}, or a list of them", TYPES.join(", ")));
            }
        }
        for keyword in NAMED {
            if map.get(*keyword).is_some_and(|value| !value.is_object()) {
                return fault(path, keyword, "must be an object that maps names to schemas");
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf", "prefixItems"] {
            if map.get(keyword).is_some_and(|value| value.as_array().is_none_or(Vec::is_empty)) {
                return fault(path, keyword, "must be a non-empty list of schemas");
            }
        }
        if map.get("required").is_some_and(|r| r.as_array().is_none_or(|list| !list.iter().all(Value::is_string))) {
            return fault(path, "required", "must be a list of property names");
        }
        // An alternative of a union that allows nothing is ignored.
        let member = path.rsplit('/').nth(1).is_some_and(|keyword| matches!(keyword, "anyOf" | "oneOf"));
        if map.get("enum").is_some_and(|value| value.as_array().is_none_or(|list| list.is_empty() && !member)) {
            return fault(path, "enum", "must be a non-empty list of values");
        }
        for keyword in ["$ref", "$dynamicRef"] {
            match map.get(keyword) {
                None => {}
                Some(Value::String(reference)) => {
                    self.resolve(reference).map_err(|what| (format!("{path}/{keyword}"), what))?;
                }
                Some(_) => return fault(path, keyword, "must be a string"),
            }
        }
        for part in parts(map, EVERY) {
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
