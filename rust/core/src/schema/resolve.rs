//! Checks a schema's shape and finds what its references point at, all inside the one document.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// What is wrong, and the JSON pointer where.
pub type Fault = (String, String);

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

const TYPES: &[&str] = &["string", "integer", "number", "boolean", "null", "array", "object"];

/// The references of one document.
pub struct Document<'s> {
    root: &'s Value,
    anchors: HashMap<String, &'s Value>,
}

impl<'s> Document<'s> {
    /// Walks the whole document. The first fault wins.
    pub fn new(root: &'s Value) -> Result<Self, Fault> {
        let mut document = Document { root, anchors: HashMap::new() };
        document.collect(root);
        document.check(root, &mut String::new())?;
        Ok(document)
    }

    pub fn root(&self) -> &'s Value {
        self.root
    }

    fn collect(&mut self, schema: &'s Value) {
        let Value::Object(map) = schema else { return };
        for keyword in ["$id", "$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(name)) = map.get(keyword) {
                let name = if keyword == "$id" { name.trim_end_matches('#').to_owned() } else { format!("#{name}") };
                self.anchors.entry(name).or_insert(schema);
            }
        }
        subschemas(map, &mut |_, child| {
            self.collect(child);
            Ok(())
        })
        .ok();
    }

    /// The schema that a reference names, or what is wrong with the reference.
    pub fn resolve(&self, reference: &str) -> Result<&'s Value, String> {
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

    fn check(&self, schema: &'s Value, path: &mut String) -> Result<(), Fault> {
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
        // A branch of a union that allows nothing is ignored.
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
        subschemas(map, &mut |step, child| {
            let length = path.len();
            path.push_str(step);
            let result = self.check(child, path);
            path.truncate(length);
            result
        })
    }
}

/// Calls `visit` with the pointer step and the schema of every direct subschema.
fn subschemas<'s>(
    map: &'s Map<String, Value>,
    visit: &mut dyn FnMut(&str, &'s Value) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for keyword in ONE {
        if let Some(child) = map.get(*keyword).filter(|child| !child.is_array()) {
            visit(&format!("/{keyword}"), child)?;
        }
    }
    for keyword in LIST {
        if let Some(Value::Array(children)) = map.get(*keyword) {
            for (at, child) in children.iter().enumerate() {
                visit(&format!("/{keyword}/{at}"), child)?;
            }
        }
    }
    for keyword in NAMED {
        if let Some(Value::Object(children)) = map.get(*keyword) {
            // Dependencies are schemas, or, in older drafts, lists of names.
            for (name, child) in children.iter().filter(|(_, child)| *keyword != "dependencies" || !child.is_array()) {
                visit(&format!("/{keyword}/{}", name.replace('~', "~0").replace('/', "~1")), child)?;
            }
        }
    }
    Ok(())
}

pub fn percent_decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                out.push(byte);
                at += 3;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
