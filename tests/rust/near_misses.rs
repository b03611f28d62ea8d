//! One table of near misses: what elements and lines repair, JSON repairs to the same arguments, under the same names.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use wirecall_core::Toolset;

use crate::support::config;
use crate::support::every::with_laws;
use crate::support::reading::{Seen, calls, read};
use crate::support::toolsets::{definition, options_of};

/// All whose calls are a document between markers; `wire` has a syntax of its own for members, and its own near misses.
fn documents() -> impl Iterator<Item = &'static str> {
    with_laws().filter(|name| *name != "wire")
}

/// Members on lines, their values as flows.
fn lines(value: &Value) -> String {
    match value.as_object().filter(|members| !members.is_empty()) {
        Some(members) => members.iter().map(|(key, value)| format!("\n  \"{key}\": {value}")).collect(),
        None => format!(" {value}"),
    }
}

/// Each value is JSON: between tags it is the text of a value that may be JSON.
fn message(protocol: &str, fields: &[(&str, Value)]) -> String {
    let each = |write: &dyn Fn(&str, &Value) -> String| -> String {
        fields.iter().map(|(key, value)| write(key, value)).collect::<Vec<_>>().concat()
    };
    let object: Map<String, Value> = fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    let call = json!({"name": "f", "arguments": object});
    match protocol {
        "yaml" => format!("<f>\n{}</f>", each(&|key, value| format!("{key}:{}\n", lines(value)))),
        "xml" => format!("<f>{}</f>", each(&|key, value| format!("<{key}>{value}</{key}>"))),
        "qwen3coder" => format!(
            "<tool_call><function=f>{}</function></tool_call>",
            each(&|key, value| {
                // Strings have no quotes there.
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                format!("<parameter={key}>{text}</parameter>")
            })
        ),
        "hermes" => format!("<tool_call>{call}</tool_call>"),
        "gemma" => format!("```tool_call{call}```"),
        other => panic!("no message is written for {other}"),
    }
}

fn toolset(protocol: &str, schema: &Value, strict: bool) -> Toolset {
    let options = options_of(protocol, strict);
    Toolset::new(vec![definition("f", schema)], options).expect("the tool is fine")
}

/// What a message gives: arguments, and repairs, or which problems where; or the error's kind.
fn outcome(protocol: &str, schema: &Value, fields: &[(&str, Value)], strict: bool) -> Result<String, String> {
    let message = message(protocol, fields);
    let seen = read(&toolset(protocol, schema, strict), &message, Some(false));
    if let Some(end) = calls(&seen).next() {
        let arguments: Value = serde_json::from_str(&end.arguments).expect("the arguments are JSON");
        let problems: Vec<_> = end.problems.iter().map(|problem| (problem.kind, &problem.field)).collect();
        // Where there are problems, not all say what was converted on the way.
        let told = if problems.is_empty() { format!("{:?}", end.repairs) } else { format!("{problems:?}") };
        return Ok(format!("{arguments} {told}"));
    }
    let errors = seen.iter().filter_map(|one| match one {
        Seen::Error(error) => Some(format!("{:?}", error.kind)),
        _ => None,
    });
    Err(errors.collect())
}

fn same_everywhere(schema: &Value, fields: &[(&str, Value)]) -> Result<(), TestCaseError> {
    for strict in [false, true] {
        let yaml = outcome("yaml", schema, fields, strict);
        for protocol in documents() {
            let other = outcome(protocol, schema, fields, strict);
            prop_assert_eq!(&other, &yaml, "{} and yaml, strict: {}, of {:?}", protocol, strict, fields);
        }
    }
    Ok(())
}

fn words() -> impl Strategy<Value = Vec<String>> {
    let word = select(&["metric", "m", "miles per hour", "Miles", "a b", "ab", "'q'", "5", "é"][..]);
    prop::collection::hash_set(word, 1..5).prop_map(|words| words.into_iter().map(str::to_owned).collect())
}

fn dressed() -> impl Strategy<Value = (String, String)> {
    let quote = select(&["", "", "'", "\"", "`", "'\""][..]);
    let blank = select(&["", "", " ", "\t", "  "][..]);
    (quote, blank).prop_map(|(quote, blank)| (format!("{blank}{quote}"), format!("{quote}{blank}")))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_enum_in_quotes(
        words in words(), which: prop::sample::Index, (before, behind) in dressed(), squeeze: bool, many: bool,
    ) {
        let word = &words[which.index(words.len())];
        let word = if squeeze { word.replace(' ', "") } else { word.replace(' ', "  ") };
        let others = (0..if many { 20 } else { 0 }).map(|at| format!("other {at}"));
        let all: Vec<String> = words.iter().cloned().chain(others).collect();
        let schema = json!({"type": "object", "properties": {"units": {"type": "string", "enum": all}}});
        same_everywhere(&schema, &[("units", json!(format!("{before}{word}{behind}")))])?;
    }

    #[test]
    fn a_key_in_the_plural(
        declared in prop::collection::hash_set(select(&["box", "boxes", "city", "cities", "path", "paths", "Path_s"][..]), 1..4),
        required: u8, open: bool,
        written in prop::collection::vec((select(&["box", "boxes", "boxs", "city", "cities", "citys", "path", "paths", "PATH"][..]), 0..2), 1..3),
    ) {
        let mut declared: Vec<&str> = declared.into_iter().collect();
        declared.sort_unstable();
        let properties: Map<String, Value> =
            declared.iter().map(|name| ((*name).to_owned(), json!({"type": "integer"}))).collect();
        let required: Vec<&&str> = declared.iter().enumerate().filter(|(at, _)| required & (1 << at) != 0).map(|(_, name)| name).collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": open});
        let mut fields: Vec<(&str, Value)> = Vec::new();
        for (key, value) in written {
            if fields.iter().all(|(other, _)| *other != key) {
                fields.push((key, json!(value)));
            }
        }
        fields.sort_by_key(|(key, _)| *key);
        same_everywhere(&schema, &fields)?;
    }
    #[test]
    fn a_value_in_a_wrapper(
        kind in select(&["list", "integers", "any list", "objects", "integer", "enum", "boolean or null"][..]),
        wrapper in select(&["item", "item", "0", "00", "value", "other"][..]),
        inner in select(&[
            "[]", "[\"a\"]", "[1,\"2\"]", "[{\"sku\":\"a\"}]", "\"a\"", "\"'a'\"", "5", "\"5\"", "true", "{}", "{\"sku\":\"a\"}",
        ][..]),
        more in select(&[None, None, None, Some("1"), Some("x")][..]),
    ) {
        let field = match kind {
            "list" => json!({"type": "array", "items": {"type": "string"}}),
            "integers" => json!({"type": "array", "items": {"type": "integer"}}),
            "any list" => json!({"type": "array"}),
            "objects" => json!({"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}}),
            "integer" => json!({"type": "integer"}),
            "enum" => json!({"enum": ["a", "b"]}),
            _ => json!({"type": ["boolean", "null"]}),
        };
        let schema = json!({"type": "object", "properties": {"field": field, "n": {"type": "integer"}}});
        let inner: Value = serde_json::from_str(inner).expect("it is JSON");
        let mut object = Map::new();
        object.insert(wrapper.to_owned(), inner.clone());
        if let Some(more) = more {
            object.insert(more.to_owned(), inner);
        }
        let fields = [("field", Value::from(object)), ("n", json!(1))];
        for strict in [false, true] {
            let yaml = outcome("yaml", &schema, &fields, strict);
            // Between tags a value of a wrong type stays text.
            for protocol in ["hermes", "gemma"] {
                let other = outcome(protocol, &schema, &fields, strict);
                prop_assert_eq!(&other, &yaml, "{} and yaml, strict: {}, of {:?}", protocol, strict, fields);
            }
        }
    }
}
