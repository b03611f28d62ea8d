//! Grammars of hostile and large schemas are bounded, and errors say what to do. What the grammars accept is tried in
//! `tests/python/test_grammar.py`, by decoders.

use serde_json::{Value, json};
use wirecall_core::{
    Definition, Grammar, GrammarKind, Options, ToolChoice, ToolError, Toolset, native_formats, protocols,
};

const KINDS: [GrammarKind; 4] = [GrammarKind::Gbnf, GrammarKind::Ebnf, GrammarKind::StructuralTag, GrammarKind::Lark];

fn toolset(protocol: &str, tools: &[(&str, Value)]) -> Toolset {
    let definitions = tools.iter().map(|(name, schema)| Definition::new(*name, schema.to_string())).collect();
    let mut options = Options::default();
    options.protocol = protocol.into();
    Toolset::new(definitions, options).expect("the tools can be used")
}

fn weather() -> (&'static str, Value) {
    let properties = json!({"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 7}});
    ("get_weather", json!({"type": "object", "properties": properties, "required": ["city"]}))
}

/// What is listed as unconstrained.
fn listed(grammar: &Grammar) -> Vec<String> {
    grammar.unconstrained.iter().map(ToString::to_string).collect()
}

fn grammar(tools: &Toolset, kind: GrammarKind) -> Result<Grammar, ToolError> {
    tools.grammar(kind, &ToolChoice::Auto, true, None)
}

#[test]
fn the_same_tools_have_the_same_grammar() {
    for kind in KINDS {
        let texts = [(); 2].map(|()| grammar(&toolset("wire", &[weather()]), kind).expect("a grammar").text);
        assert_eq!(texts[0], texts[1]);
        assert!(texts[0].contains("get_weather"), "{}", texts[0]);
    }
}

#[test]
fn structural_tags_are_json() {
    for choice in [ToolChoice::Auto, ToolChoice::Required, ToolChoice::None, ToolChoice::Named("get_weather".into())] {
        for protocol in ["wire", "hermes", "qwen3coder", "deepseek-v3.1"] {
            let tools = toolset(protocol, &[weather()]);
            let text = tools.grammar(GrammarKind::StructuralTag, &choice, true, None).expect("a grammar").text;
            let read: Value = serde_json::from_str(&text).expect("it is JSON");
            assert_eq!(read["type"], "structural_tag");
        }
    }
}

#[test]
fn every_protocol_has_a_grammar_or_says_that_it_has_none() {
    let names = protocols().chain(native_formats().map(|format| format.name));
    let mut with = 0;
    for name in names {
        match grammar(&toolset(name, &[weather()]), GrammarKind::Gbnf) {
            Ok(grammar) => with += usize::from(grammar.text.contains("get_weather")),
            Err(error) => assert!(error.message.contains("docs/grammars.md"), "{name}: {error}"),
        }
    }
    assert!(with >= 50, "{with} protocols have a grammar");
}

#[test]
fn what_cannot_be_is_an_error() {
    let tools = toolset("wire", &[weather()]);
    let named = tools.grammar(GrammarKind::Lark, &ToolChoice::Named("get_wether".into()), true, None);
    assert!(named.expect_err("there is no such tool").message.contains("get_wether"));
    let none = toolset("wire", &[]);
    assert!(grammar(&none, GrammarKind::Lark).is_err());
}

/// Escapes with any number of digits end at the next character that is none, for one library.
#[test]
fn escapes_have_a_fixed_length() {
    for protocol in ["wire", "qwen3coder", "hermes"] {
        for kind in [GrammarKind::Gbnf, GrammarKind::Ebnf] {
            let text = grammar(&toolset(protocol, &[weather()]), kind).expect("a grammar").text;
            assert!(!text.contains("\\x"), "{protocol}: {text}");
        }
    }
}

#[test]
fn text_of_a_structural_tag_has_no_misspelled_call() {
    let text = grammar(&toolset("wire", &[weather()]), GrammarKind::StructuralTag).expect("a grammar").text;
    let tag: Value = serde_json::from_str(&text).expect("it is JSON");
    let excluded = tag["format"]["excludes"].as_array().expect("a list");
    let has = |mark: &str| excluded.iter().any(|one| one == mark);
    assert!(["<Call", "<CALL", "[call]", "<tool-result"].into_iter().all(has), "{excluded:?}");
    // Only a call begins with it.
    assert_eq!(tag["format"]["triggers"], json!(["<call"]));
    assert!(!excluded.iter().any(|mark| mark.as_str().is_some_and(|mark| mark.starts_with("<call"))), "{excluded:?}");
}

#[test]
fn what_is_not_said_is_listed() {
    let code = json!({"type": "string", "pattern": "^[A-Z]+$"});
    let list = json!({"type": "array", "items": {"type": "number", "multipleOf": 0.5}, "uniqueItems": true});
    let schema = json!({"type": "object", "properties": {"code": code, "list": list, "any": {}}});
    let grammar = grammar(&toolset("wire", &[("f", schema)]), GrammarKind::Gbnf).expect("a grammar");
    assert_eq!(listed(&grammar), ["f.code: pattern", "f.list: uniqueItems", "f.list[]: multipleOf", "f.any: type"]);
}

/// Demands that are easily forgotten: of a map's values, of one of two bounds, of literals, of schemas that are joined.
#[test]
fn every_demand_is_listed() {
    let told = |protocol: &str, schema: Value| -> Vec<String> {
        let schema = json!({"type": "object", "properties": {"a": schema}});
        let grammar = grammar(&toolset(protocol, &[("f", schema)]), GrammarKind::Gbnf).expect("a grammar");
        listed(&grammar)
    };
    let word = json!({"type": "string", "pattern": "^x"});
    for (schema, expected) in [
        (json!({"type": "object", "additionalProperties": word}), vec!["f.a: additionalProperties", "f.a.*: pattern"]),
        (
            json!({"type": "array", "items": {"type": "null"}, "minItems": 300, "maxItems": 500}),
            vec!["f.a: minItems", "f.a: maxItems"],
        ),
        (json!({"type": "array", "items": {"type": "null"}, "minItems": 2, "maxItems": 500}), vec!["f.a: maxItems"]),
        (json!({"enum": [-1, 1], "minimum": 0}), vec!["f.a: minimum"]),
        (json!({"enum": [[1]], "minItems": 2}), vec!["f.a: minItems"]),
        (json!({"enum": ["abc"], "maxLength": 2}), vec!["f.a: maxLength"]),
        (json!({"type": ["string", "number"]}), vec!["f.a: type"]),
        (json!({"type": "string", "contentEncoding": "base64"}), vec!["f.a: contentEncoding"]),
        (
            json!({"type": "object", "additionalProperties": false, "allOf": [{"properties": {"b": {"type": "null"}}}]}),
            vec!["f.a: additionalProperties"],
        ),
    ] {
        assert_eq!(told("wire", schema.clone()), expected, "{schema}");
    }
    let either = json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "null"}}]});
    assert_eq!(told("wire", either.clone()), [""; 0]);
    assert_eq!(told("qwen3coder", either), ["f.a: type"]);
}

/// Text and the values of tags exclude different markers, so in GBNF each has an automaton of its own.
#[test]
fn text_and_values_have_automata_of_their_own() {
    let text = grammar(&toolset("qwen3coder", &[weather()]), GrammarKind::Gbnf).expect("a grammar").text;
    let of = |name: &str| {
        let rule = text.lines().find(|line| line.split(" ::= ").next().is_some_and(|rule| rule.contains(name)));
        rule.and_then(|rule| rule.split(" ::= ").nth(1)).expect("the rule").to_owned()
    };
    assert_ne!(of("raw-text"), of("text-outside-calls"), "{text}");
    // A tag with the name of a tool is an error outside of calls.
    let after_tag = text.lines().filter(|line| line.contains("text-outside-calls") && line.contains("[gG]")).count();
    assert!(after_tag > 0, "{text}");
}

/// Markers with letters of both cases, and openers in capitals.
#[test]
fn text_has_no_marker_in_the_letters_of_its_format() {
    for (protocol, mark) in [("deepseek-v3.2", "｜DSML｜"), ("nemotron-nano-v2", "<TOOLCALL")] {
        let text = grammar(&toolset(protocol, &[weather()]), GrammarKind::StructuralTag).expect("a grammar").text;
        let tag: Value = serde_json::from_str(&text).expect("it is JSON");
        let marks = [tag["format"]["excludes"].as_array(), tag["format"]["triggers"].as_array()];
        let marks: Vec<&str> = marks.into_iter().flatten().flatten().filter_map(Value::as_str).collect();
        assert!(marks.iter().any(|one| one.contains(mark)), "{protocol}: {marks:?}");
        let trigger = tag["format"]["triggers"][0].as_str().expect("a trigger");
        assert!(!trigger.ends_with('['), "{protocol}: {trigger}");
    }
}

/// In JSON a tool without parameters may get any, and twice.
#[test]
fn members_that_may_be_repeated_are_listed() {
    let tools = [("f", json!({"type": "object", "properties": {}}))];
    let told = |protocol| listed(&grammar(&toolset(protocol, &tools), GrammarKind::Lark).expect("a grammar"));
    assert_eq!(told("wire"), [""; 0]);
    assert_eq!(told("hermes"), ["f: additionalProperties"]);
}

/// A lexer takes the longest word, and must not take the beginning of one object for that of another.
#[test]
fn objects_of_a_union_begin_with_the_same_word_in_lark() {
    let one = |key: &str| json!({"type": "object", "properties": {(key): {"type": "null"}}, "required": [key]});
    let schema = json!({"type": "object", "properties": {"a": {"anyOf": [one("b"), one("c")]}}});
    let text = grammar(&toolset("hermes", &[("f", schema)]), GrammarKind::Lark).expect("a grammar").text;
    assert!(text.contains(r#""{" "\"b\"" ": " "null" "}""#), "{text}");
}

/// xgrammar takes seconds or more to count the characters of a string, and looks at all tokens for each mask if a rule is one
/// character.
#[test]
fn lengths_that_a_kind_does_not_count_are_listed() {
    let word = json!({"type": "string", "minLength": 3, "maxLength": 9});
    let full = json!({"type": "string", "minLength": 1, "maxLength": 100});
    let list = json!({"type": "array", "items": word});
    let properties = json!({"word": word, "full": full, "list": list});
    let schema = json!({"type": "object", "properties": properties, "required": ["word", "full", "list"]});
    let told = |protocol: &str, kind| -> Vec<String> {
        let grammar = grammar(&toolset(protocol, &[("f", schema.clone())]), kind).expect("a grammar");
        listed(&grammar)
    };
    let both = |field: &str| [format!("f.{field}: minLength"), format!("f.{field}: maxLength")];
    for kind in KINDS {
        let (wire, tags) = match kind {
            GrammarKind::Ebnf | GrammarKind::StructuralTag => {
                let lists = [&both("word")[..], &[both("full")[1].clone()], &both("list[]")].concat();
                (lists, [both("word"), both("full"), both("list[]")].concat())
            }
            _ => (vec![both("full")[1].clone()], [both("word"), both("full")].concat()),
        };
        assert_eq!(told("wire", kind), wire, "{kind:?}");
        assert_eq!(told("qwen3coder", kind), tags, "{kind:?}");
    }
    let ebnf = grammar(&toolset("wire", &[("f", schema.clone())]), GrammarKind::Ebnf).expect("a grammar").text;
    let quoted: Vec<&str> =
        ebnf.lines().filter(|rule| rule.contains("quoted") && rule.contains("::= \"\\\"\"")).collect();
    assert!(!quoted.is_empty(), "{ebnf}");
    assert!(quoted.iter().all(|rule| !rule.contains("_char") && !rule.contains('{')), "{quoted:?}");
}

/// A schema of this size, of several shapes that could explode.
fn hostile(shape: usize, size: usize) -> Value {
    let numbered = |make: &dyn Fn(usize) -> Value| -> Value {
        (0..size).map(|at| (format!("k{at}"), make(at))).collect::<serde_json::Map<_, _>>().into()
    };
    match shape {
        // Many optional members.
        0 => json!({"type": "object", "properties": numbered(&|_| json!({"type": "string"}))}),
        // One large enum.
        1 => {
            json!({"type": "object", "properties": {"a": {"enum": (0..size).map(|at| format!("v{at}")).collect::<Vec<_>>()}}})
        }
        // Definitions that refer to each other, each twice. More levels than 128 are refused.
        2 => {
            let size = size.min(100);
            let next = |at: usize| json!({"$ref": format!("#/$defs/k{}", (at + 1) % size)});
            let defs = numbered(&|at| json!({"type": "object", "properties": {"a": next(at), "b": next(at)}}));
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/k0"}}, "$defs": defs})
        }
        // Deep nesting.
        3 => {
            let deep =
                |inner: Value, _| json!({"type": "object", "properties": {"a": inner, "b": {"type": "integer"}}});
            (0..size.min(60)).fold(json!({"type": "string"}), deep)
        }
        // Bounds of lengths.
        _ => {
            json!({"type": "object", "properties": numbered(&|at| json!({"type": "string", "minLength": at % 40, "maxLength": at % 64 + 40}))})
        }
    }
}

#[test]
fn grammars_grow_with_their_schemas_and_not_faster() {
    for shape in 0..5 {
        for kind in KINDS {
            let size = |size: usize| {
                let mut root = hostile(shape, size);
                let defs = root.as_object_mut().and_then(|root| root.remove("$defs")).unwrap_or(json!({}));
                let schema = json!({"type": "object", "properties": {"root": root}, "$defs": defs});
                match grammar(&toolset("wire", &[("f", schema)]), kind) {
                    Ok(grammar) => grammar.text.len() + grammar.unconstrained.len(),
                    Err(error) => panic!("{shape} {kind:?}: {error}"),
                }
            };
            let (small, large) = (size(40), size(400));
            assert!(large < small * 14, "{shape} {kind:?}: {small} and {large}");
        }
    }
}

#[test]
fn a_grammar_beyond_the_limit_is_an_error_that_says_what_to_do() {
    let schema = json!({"type": "object", "properties": {"a": {"enum": (0..300_000).collect::<Vec<_>>()}}});
    let error = grammar(&toolset("wire", &[("f", schema)]), GrammarKind::Gbnf).expect_err("it is too large");
    assert_eq!(error.tool.as_deref(), Some("f"));
    assert!(error.message.contains("fewer or smaller tools"), "{error}");
}

#[test]
fn a_long_literal_in_many_places_is_written_once() {
    let member = |at: usize| (format!("k{at}"), json!({"$ref": "#/$defs/long"}));
    let properties: serde_json::Map<_, _> = (0..10_000).map(member).collect();
    let long = "x".repeat(100_000);
    let schema = json!({"type": "object", "properties": properties, "$defs": {"long": {"const": long}}});
    for (kind, protocol) in KINDS.into_iter().flat_map(|kind| ["wire", "hermes", "qwen3coder"].map(|of| (kind, of))) {
        let text = grammar(&toolset(protocol, &[("f", schema.clone())]), kind).expect("a grammar").text;
        assert_eq!(text.matches(&long).count(), 1, "{protocol}");
    }
}

/// A tool's name is spelled out in the rules of text.
#[test]
fn a_long_name_is_not_deep() {
    let name = "a".repeat(128);
    for protocol in ["wire", "qwen3coder"] {
        let text = grammar(&toolset(protocol, &[(&name, json!({}))]), GrammarKind::Gbnf).expect("a grammar").text;
        assert!(text.contains(&name), "{protocol}");
    }
}

#[test]
fn a_long_chain_of_types_is_an_error_and_no_overflow() {
    let size = 15_000;
    let next = |at: usize| match at + 1 == size {
        true => json!({"type": "string"}),
        false => json!({"$ref": format!("#/$defs/k{}", at + 1)}),
    };
    let defs: serde_json::Map<_, _> =
        (0..size).map(|at| (format!("k{at}"), json!({"type": "object", "properties": {"a": next(at)}}))).collect();
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/k0"}}, "$defs": defs});
    for kind in KINDS {
        let error = grammar(&toolset("wire", &[("f", schema.clone())]), kind).expect_err("it is too deep");
        assert!(error.message.contains("levels deep"), "{error}");
    }
}

#[test]
fn a_type_with_too_many_alternatives_is_any_value_and_listed() {
    let codes: Vec<Value> = (0..300).map(|code| json!({"const": format!("k{code}")})).collect();
    let list = json!({"type": "array", "items": {"anyOf": codes}});
    let schema = json!({"type": "object", "properties": {"code": {"anyOf": codes}, "codes": list}, "additionalProperties": false});
    for kind in KINDS {
        let made = grammar(&toolset("wire", &[("ship", schema.clone())]), kind).expect("a grammar");
        assert!(made.text.contains("code=") && made.text.contains("codes="), "{}", made.text);
        assert_eq!(listed(&made), ["ship.code: type", "ship.codes[]: type"]);
    }
}

/// Schemas that nothing fits, each in a required member `a`.
fn impossible() -> Vec<Value> {
    let integer = json!({"type": "integer"});
    let endless = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/endless"}}, "required": ["next"]});
    let types = [
        json!({"type": "integer", "minimum": 5, "maximum": 1}),
        json!({"type": "string", "minLength": 1, "maxLength": 0}),
        json!({"type": "array", "prefixItems": [integer], "items": false, "minItems": 2}),
        json!({"type": "array", "items": false, "minItems": 1}),
        json!({"type": "array", "items": integer, "minItems": 2, "maxItems": 1}),
        json!({"type": "array", "minItems": 2, "maxItems": 0}),
        json!({"type": "object", "properties": {"b": integer}, "required": ["b", "z"], "additionalProperties": false}),
        json!({"$ref": "#/$defs/endless"}),
        json!({"const": 5, "enum": [6]}),
        json!(false),
    ];
    let schema =
        |a| json!({"$defs": {"endless": endless}, "type": "object", "properties": {"a": a}, "required": ["a"]});
    types.into_iter().map(schema).collect()
}

#[test]
fn a_tool_that_nothing_fits_is_left_out_and_alone_is_an_error() {
    for schema in impossible() {
        for (kind, protocol) in KINDS.into_iter().flat_map(|kind| ["wire", "hermes", "qwen3coder"].map(|of| (kind, of)))
        {
            let required =
                |tools: &[(&str, Value)]| toolset(protocol, tools).grammar(kind, &ToolChoice::Required, true, None);
            let error = required(&[("never", schema.clone())]).expect_err("it cannot be called");
            assert!(error.message.contains("cannot be called"), "{schema}: {error}");
            let text = required(&[("never", schema.clone()), weather()]).expect("a grammar of the other tool").text;
            assert!(!text.contains("never") && text.contains("get_weather"), "{schema}: {text}");
        }
    }
}

/// An optional member of such a type is left out.
#[test]
fn a_member_that_nothing_fits_is_left_out() {
    for mut schema in impossible() {
        schema["required"] = json!([]);
        for (kind, protocol) in KINDS.into_iter().flat_map(|kind| [(kind, "wire"), (kind, "hermes")]) {
            let made = grammar(&toolset(protocol, &[("f", schema.clone())]), kind).expect("a grammar");
            for written in ["a=", "a.", "\"a\":", "\\\"a\\\":"] {
                assert!(!made.text.contains(written), "{schema}: {}", made.text);
            }
        }
    }
}
