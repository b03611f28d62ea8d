//! The toolsets that generated messages are read with: every schema shape, under every option that changes reading.

use std::sync::LazyLock;

use serde_json::{Value, json};
use wirecall_core::{Definition, Limits, Options, Toolset, UnknownTools};

pub(crate) const DELIMITERS: &[(&str, &str)] = &[("<call>", "</call>"), ("«call»", "«/call»"), ("<|tool|>", "<|end|>")];

pub(crate) fn definition(name: &str, schema: &Value) -> Definition {
    Definition::new(name, schema.to_string())
}

/// The names of the tools, and the keys of their fields; each generator of messages adds its near misses.
pub(crate) const NAMES: &[&str] = &["get_weather", "create", "search", "tree", "any", "ping"];
#[rustfmt::skip]
pub(crate) const KEYS: &[&str] = &[
    "city", "units", "days", "maxResults", "deep", "tags", "ids", "items", "profile", "pair", "meta", "q", "limit", "when", "by", "a.b",
    "a", "root", "value", "n_1",
];

fn definitions() -> Vec<Definition> {
    let weather = json!({"type": "object", "properties": {
        "city": {"type": "string"}, "units": {"enum": ["metric", "imperial", "Imperial", 7, null]},
        "days": {"type": "integer"}, "maxResults": {"type": "number"}, "deep": {"type": "boolean"}}, "required": ["city"]});
    let create = json!({"type": "object", "properties": {
        "tags": {"type": "array", "items": {"type": "string"}}, "ids": {"type": "array", "items": {"type": "integer"}},
        "items": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}},
            "required": ["sku"], "additionalProperties": false}},
        "profile": {"type": "object", "properties": {"name": {"type": "string"},
            "address": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "integer"}}}}},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false},
        "meta": {"type": "object", "additionalProperties": {"type": "integer"}}}});
    let search = json!({"type": "object", "properties": {
        "q": {"type": "string"}, "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "when": {"type": ["string", "null", "integer"]}, "by": {"oneOf": [{"const": "name"}, {"type": "array", "items": {}}]},
        "a.b": {"type": "string"}, "a": {"type": "object", "properties": {"c": {"type": "integer"}}}}, "additionalProperties": false});
    let tree = json!({"$defs": {"node": {"type": "object", "properties": {"value": {"type": "string"},
        "next": {"$ref": "#/$defs/node"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}},
        "type": "object", "properties": {"root": {"$ref": "#/$defs/node"}, "value": {"type": "number"}}});
    let any =
        json!({"type": "object", "patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": true});
    vec![
        definition("get_weather", &weather),
        definition("create", &create),
        definition("search", &search),
        definition("tree", &tree),
        definition("any", &any),
        definition("ping", &json!({"type": "object", "properties": {}, "additionalProperties": false})),
    ]
}

pub(crate) fn delimiters(at: usize) -> Option<(String, String)> {
    let (open, close) = DELIMITERS[at];
    Some((open.into(), close.into()))
}

/// A toolset, and its markers, to print with a failure.
pub(crate) struct Setting {
    pub tools: Toolset,
    pub name: String,
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// Lenient and strict, with and without validation, of each pair of delimiters; and open toolsets.
pub(crate) fn settings() -> &'static [Setting] {
    static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| settings_with(Limits::default()));
    &SETTINGS
}

/// The same, each time with less room for a call.
pub(crate) fn limited() -> &'static [Vec<Setting>] {
    static LIMITED: LazyLock<Vec<Vec<Setting>>> = LazyLock::new(|| {
        let sizes = [1, 8, 12, 15, 16, 17, 18, 19, 20, 22, 24, 26, 28, 30, 32, 36, 40, 48, 64, 80];
        sizes.into_iter().map(|call_bytes| settings_with(limits(call_bytes))).collect()
    });
    &LIMITED
}

/// The default options of a protocol.
pub(crate) fn options_of(protocol: &str, strict: bool) -> Options {
    let mut options = Options::default();
    options.protocol = protocol.into();
    options.strict = strict;
    options
}

/// The default limits, with this much room for a call.
pub(crate) fn limits(call_bytes: usize) -> Limits {
    let mut limits = Limits::default();
    limits.call_bytes = call_bytes;
    limits
}

/// Of another protocol: lenient and strict, with and without validation, and open toolsets.
pub(crate) fn settings_of(protocol: &str, limits: Limits) -> Vec<Setting> {
    let mut out = Vec::new();
    for strict in [false, true] {
        for (kind, validate) in [("declared", false), ("validated", true), ("open", false)] {
            let mut options = options_of(protocol, strict);
            options.validate = validate;
            options.limits = limits;
            let tools = if kind == "open" { Vec::new() } else { definitions() };
            let tools = Toolset::new(tools, options).expect("the definitions are fine");
            let mode = if strict { "strict" } else { "lenient" };
            out.push(Setting { tools, name: format!("{protocol} {mode} {kind}") });
        }
    }
    out
}

fn settings_with(limits: Limits) -> Vec<Setting> {
    let mut out = Vec::new();
    for (at, (open, _)) in DELIMITERS.iter().enumerate() {
        for strict in [false, true] {
            for (kind, validate) in [("declared", false), ("validated", true), ("open", false), ("forwarding", false)] {
                let mut options = Options::default();
                options.strict = strict;
                options.validate = validate;
                options.limits = limits;
                options.delimiters = delimiters(at);
                let mut tools = if kind == "open" { Vec::new() } else { definitions() };
                if kind == "forwarding" {
                    options.unknown_tools = UnknownTools::Forward;
                    tools.truncate(2);
                }
                let tools = Toolset::new(tools, options).expect("the definitions are fine");
                let mode = if strict { "strict" } else { "lenient" };
                out.push(Setting { tools, name: format!("{mode} {kind} {open}") });
            }
        }
    }
    out
}
