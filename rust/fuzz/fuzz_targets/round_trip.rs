//! What the writer writes, the parser reads back: the same call, in both modes, without repairs or problems.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Number, Value, json};
use wirecall_core::{Definition, Fallback, Item, Options, Syntax, Toolset, parse, parse_json};

/// A schema with a value that is valid against it, drawn together.
fn draw(u: &mut Unstructured<'_>, depth: usize) -> Result<(Value, Value)> {
    let kinds = if depth == 0 { 8 } else { 12 };
    Ok(match u.int_in_range(0..=kinds)? {
        0..=2 => (json!({"type": "string"}), text(u)?),
        3 => (json!({"type": "integer"}), integer(u)?),
        4 => (json!({"type": "number"}), number(u)?),
        5 => (json!({"type": "boolean"}), Value::Bool(u.arbitrary()?)),
        6 => {
            let literals = (0..u.int_in_range(1..=4)?).map(|_| any(u, 1)).collect::<Result<Vec<_>>>()?;
            let chosen = u.choose(&literals)?.clone();
            (json!({ "enum": literals }), chosen)
        }
        7 => {
            let types = ["string", "integer", "number", "boolean", "null"];
            let chosen = (0..3).map(|_| u.choose(&types).copied()).collect::<Result<Vec<_>>>()?;
            let value = match chosen[0] {
                "string" => text(u)?,
                "integer" => integer(u)?,
                "number" => number(u)?,
                "boolean" => Value::Bool(u.arbitrary()?),
                _ => Value::Null,
            };
            let at = u.choose_index(3)?;
            let mut chosen = chosen;
            chosen.rotate_left(at);
            let members: Vec<Value> = chosen.iter().map(|name| json!({ "type": name })).collect();
            (if u.arbitrary()? { json!({ "type": chosen }) } else { json!({ "anyOf": members }) }, value)
        }
        8 => (json!({}), any(u, 3)?),
        9 => {
            let (items, value) = draw(u, depth - 1)?;
            (json!({"type": "array", "items": items}), Value::Array(vec![value; u.int_in_range(0..=2)?]))
        }
        10 => {
            let (schema, value) = draw(u, depth - 1)?;
            (json!({"anyOf": [{"type": "null"}, schema]}), if u.arbitrary()? { value } else { Value::Null })
        }
        _ => object(u, depth - 1)?,
    })
}

fn object(u: &mut Unstructured<'_>, depth: usize) -> Result<(Value, Value)> {
    let (mut properties, mut values) = (Map::new(), Map::new());
    for _ in 0..u.int_in_range(0..=3)? {
        let name: String = u.arbitrary()?;
        let (schema, value) = draw(u, depth)?;
        values.insert(name.clone(), value);
        properties.insert(name, schema);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    match u.int_in_range(0..=2)? {
        0 => schema["additionalProperties"] = Value::Bool(false),
        1 => {
            let name: String = u.arbitrary()?;
            if !values.contains_key(&name) {
                values.insert(name, any(u, 2)?);
            }
        }
        _ => {
            let (others, value) = draw(u, depth.saturating_sub(1))?;
            schema["additionalProperties"] = others;
            let name: String = u.arbitrary()?;
            values.entry(name.clone()).or_insert(value);
        }
    }
    Ok((schema, Value::Object(values)))
}

fn text(u: &mut Unstructured<'_>) -> Result<Value> {
    Ok(Value::String(u.arbitrary()?))
}

fn integer(u: &mut Unstructured<'_>) -> Result<Value> {
    Ok(Value::from(i64::arbitrary(u)?))
}

fn number(u: &mut Unstructured<'_>) -> Result<Value> {
    let digits: u32 = u.arbitrary()?;
    let exponent: i16 = u.arbitrary()?;
    Ok(Value::Number(Number::from_string_unchecked(format!("-{digits}.5e{exponent:+}"))))
}

fn any(u: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    Ok(match u.int_in_range(0..=if depth == 0 { 4 } else { 6 })? {
        0 => Value::Null,
        1 => Value::Bool(u.arbitrary()?),
        2 => integer(u)?,
        3 | 4 => text(u)?,
        5 => Value::Array((0..u.int_in_range(0..=2)?).map(|_| any(u, depth - 1)).collect::<Result<_>>()?),
        _ => {
            let entry = |u: &mut Unstructured<'_>| Ok((u.arbitrary()?, any(u, depth - 1)?));
            Value::Object((0..u.int_in_range(0..=2)?).map(|_| entry(u)).collect::<Result<_>>()?)
        }
    })
}

#[derive(Debug)]
struct Input {
    schema: Value,
    value: Value,
    syntax: Syntax,
    fallback: Fallback,
    delimiters: (&'static str, &'static str),
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let syntax = if u.ratio(1, 4)? { Syntax::Json } else { Syntax::Wire };
        let fallback = if u.arbitrary()? { Fallback::Force } else { Fallback::Complex };
        let delimiters = *u.choose(&[("<call>", "</call>"), ("«call»", "«/call»"), ("<|tool|>", "<|end|>")])?;
        let (schema, value) = object(u, 4)?;
        Ok(Input { schema, value, syntax, fallback, delimiters })
    }
}

fuzz_target!(|input: Input| {
    let Input { schema, value, syntax, fallback, delimiters: (open, close) } = input;
    let tools = [false, true].map(|strict| {
        let delimiters = Some((open.to_owned(), close.to_owned()));
        let definition = Definition::new("t", schema.to_string());
        let mut options = Options::default();
        options.strict = strict;
        options.syntax = syntax;
        options.fallback = fallback;
        options.delimiters = delimiters;
        Toolset::new(vec![definition], options).expect("the tool is fine")
    });
    let arguments = parse_json(&value.to_string(), 64).expect("it is JSON");
    let written = tools[0].encode("t", &arguments).expect("it can be written");
    for tools in &tools {
        match &parse(tools, &written, None, None)[..] {
            [Item::Call(call)] => {
                assert_eq!(parse_json(&call.arguments, 64).as_ref(), Ok(&arguments), "{schema}: {written}");
                assert!(call.repairs.is_empty() && call.problems.is_empty(), "{schema}: {written}: {call:?}");
            }
            items => panic!("{schema}: {written}: {items:?}"),
        }
    }
});
