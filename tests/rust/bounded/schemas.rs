//! Schemas that multiply, circle or nest, and what it costs to validate with them.

use serde_json::json;
use wirecall_core::{Definition, ErrorKind, Event, Options, Parser, Syntax, ToolError, Toolset, parse_json};

use super::counting::{MIB, read, toolset};

#[test]
fn literals_that_are_objects_are_not_read_again_for_each_value() {
    let literals: Vec<_> = (0..300).map(|at| serde_json::json!({ "x": vec![0; 1000], "y": [at, 1.50] })).collect();
    let schema = serde_json::json!({"properties": {"a": {"items": {"enum": literals}}}});
    let tools = toolset(&schema, Options::default());
    let (zeros, begun) = (vec!["0"; 1000].join(","), std::time::Instant::now());
    let message = format!("<call>t a=[{}{{\"y\":[7e0,15e-1],\"x\":[{zeros}]}}]</call>", "{},".repeat(20_000));
    let end = wirecall_core::parse(&tools, &message, None, None);
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    let [wirecall_core::Item::Call(call)] = &end[..] else { panic!("{end:?}") };
    assert!(call.arguments.ends_with("\"y\":[7,1.5]}]}"), "it becomes the literal: {}", &call.arguments[60_000..]);
}

/// Compiles, tells the manual, and reads a call; what matters is that it ends, and soon.
fn compiles(schema: &serde_json::Value) {
    for (validate, syntax) in [(false, Syntax::Wire), (true, Syntax::Json)] {
        let definition = Definition::new("t", schema.to_string());
        let mut options = Options::default();
        options.validate = validate;
        options.syntax = syntax;
        let Ok(tools) = Toolset::new(vec![definition], options) else {
            continue;
        };
        let manual = tools.manual(None);
        assert!(manual.len() < 8 * MIB, "{} bytes of manual", manual.len());
        let value = parse_json("{\"a\":{\"a\":[1]},\"b\":\"x\"}", 8).expect("it is JSON");
        let written = tools.encode("t", &value).expect("it can be written");
        read(&tools, &written, 1, None);
        read(&tools, "<call>t a=1</call><call>t a=x y</call>", 1, None);
    }
}

#[test]
fn hostile_schemas_end() {
    let chain = |keyword: &str, wrap: bool| {
        let step = |at: usize| {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            let said = if wrap { json!([next, {"type": "string"}]) } else { next };
            (format!("d{at}"), if keyword == "$ref" { said } else { json!({ keyword: said }) })
        };
        let mut defs: serde_json::Map<String, serde_json::Value> = (0..5000).map(step).collect();
        defs.insert("d5000".into(), json!({"type": "integer"}));
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs})
    };
    compiles(&chain("$ref", false));
    compiles(&chain("anyOf", true));
    compiles(&chain("allOf", true));
    compiles(&chain("oneOf", true));
    compiles(&chain("items", false));
    // Products of unions, one of which nothing can meet.
    let either = json!({"anyOf": [{"minLength": 1}, {"minLength": 2}]});
    let mut all = vec![either; 40];
    compiles(&json!({"type": "object", "properties": {"a": {"allOf": all}}}));
    all.push(json!({"anyOf": [false]}));
    compiles(&json!({"type": "object", "properties": {"a": {"allOf": all}}}));
    // Circles.
    compiles(&json!({"$ref": "#"}));
    compiles(&json!({"allOf": [{"$ref": "#"}]}));
    compiles(&json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}], "type": "object"}));
    compiles(
        &json!({"type": "object", "properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}}),
    );
    // Wide, and wider at each level.
    let wide: serde_json::Map<String, serde_json::Value> =
        (0..60).map(|at| (format!("k{at}"), json!({"$ref": "#"}))).collect();
    compiles(&json!({"type": "object", "properties": wide}));
    let nested = json!({"n": {"type": "object", "properties": wide.keys().map(|key| (key.clone(), json!({"$ref": "#/$defs/n"}))).collect::<serde_json::Map<_, _>>()}});
    compiles(&json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": nested}));
    let names: Vec<String> = (0..50_000).map(|at| format!("k{at}")).collect();
    let properties: serde_json::Map<String, serde_json::Value> =
        names.iter().map(|name| (name.clone(), json!({}))).collect();
    let half = json!({"properties": properties, "required": names});
    compiles(&json!({"type": "object", "anyOf": [half, half]}));
    compiles(&json!({"type": "object", "properties": {"a": {"enum": names}, "b": {"allOf": [{"type": "string"}]}}}));
    compiles(&json!({"type": "object", "patternProperties": {"(a*)*b": {"type": "integer"}, "^(?=a)": {}}}));
    // Defaults at the end of chains and in circles, and what older drafts call things.
    let mut defaults = chain("anyOf", true);
    defaults["$defs"]["d5000"]["default"] = json!(1);
    let every: serde_json::Map<String, serde_json::Value> =
        (0..5000).map(|at| (format!("k{at}"), json!({"$ref": format!("#/$defs/d{at}")}))).collect();
    (defaults["required"], defaults["properties"]) = (json!(every.keys().collect::<Vec<_>>()), json!(every));
    compiles(&defaults);
    compiles(
        &json!({"properties": {"a": {"$ref": "#/properties/b"}, "b": {"allOf": [{"$ref": "#/properties/a"}, {"default": 1}]}}, "required": ["a"]}),
    );
    compiles(
        &json!({"properties": {"a": {"items": vec![json!({"$ref": "#/properties/a/items/1"}); 5000], "additionalItems": false}}}),
    );
    let outside: serde_json::Map<String, serde_json::Value> = (0..2000)
        .map(|at| (format!("s{at}"), json!({"items": [{"$ref": format!("#/components/s{}", (at + 1) % 2000)}]})))
        .collect();
    compiles(&json!({"properties": {"a": {"$ref": "#/components/s0"}}, "components": outside}));
    // Intersections of long lists, and branches that nothing satisfies.
    compiles(&json!({"properties": {"a": {"allOf": [{"enum": names}, {"enum": names}, {"enum": names}]}}}));
    let never = vec![json!({"type": "string", "allOf": [{"type": "integer"}]}); 200];
    compiles(&json!({"properties": {"a": {"allOf": vec![json!({"anyOf": never}); 3]}}}));
    let mut deep = json!({"type": "integer"});
    for _ in 0..100 {
        deep = json!({"type": "array", "items": deep});
    }
    compiles(&json!({"type": "object", "properties": {"a": deep}}));
}

/// What becomes of one call of a validated tool, in a thread with half the stack that Rust gives one.
fn validated(schema: &serde_json::Value, depth: usize, message: &str) -> Result<Vec<ErrorKind>, ToolError> {
    let definition = Definition::new("t", schema.to_string());
    let mut options = Options::default();
    options.validate = true;
    options.limits.depth = depth;
    let tools = Toolset::new(vec![definition], options)?;
    let read = || read(&tools, message, usize::MAX / 2, None).errors;
    let stack = MIB;
    Ok(std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, read).expect("a thread");
        thread.join().expect("nothing panics")
    }))
}

fn definitions(
    count: usize,
    each: impl Fn(serde_json::Value) -> serde_json::Value,
    last: serde_json::Value,
) -> serde_json::Value {
    let next = |at: usize| json!({"$ref": format!("#/$defs/d{}", at + 1)});
    let mut defs: serde_json::Map<_, _> = (0..count).map(|at| (format!("d{at}"), each(next(at)))).collect();
    defs.insert(format!("d{count}"), last);
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs})
}

#[test]
fn schemas_that_multiply_are_not_validated() {
    let no = json!({"type": "null"});
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let chain = definitions(30, |next| json!({keyword: [next, next]}), no.clone());
        let error = validated(&chain, 128, "").expect_err("two to the thirtieth");
        assert!(
            error.pointer.is_some_and(|at| at.starts_with("/$defs/d"))
                && error.message.contains("too many combinations")
        );
    }
    for each in [
        |next| json!({"if": next, "then": next}),
        |next| json!({"not": next, "$ref": "#/$defs/d29"}),
        |next| json!({"allOf": [next], "unevaluatedProperties": false}),
        |next| json!({"dependentSchemas": {"a": next, "b": next}}),
    ] as [fn(serde_json::Value) -> serde_json::Value; 4]
    {
        let _ = validated(&definitions(30, each, no.clone()), 128, "<call>t a={\"a\":1,\"b\":1}</call>");
    }
    // One more level of the arguments for each of the schema: no place has more than two ways, but the last has 2^30.
    let step = |next| json!({"anyOf": [{"properties": {"a": next}}, {"properties": {"a": next}}]});
    let deep = format!("<call>t a={}1{}</call>", "{\"a\":".repeat(30), "}".repeat(30));
    let kinds = validated(&definitions(30, step, no.clone()), 128, &deep).expect("each place is fine");
    assert_eq!(kinds, [ErrorKind::InvalidArguments]);
    // The same round a circle, which the validator remembers verdicts for, but not errors.
    let tree = json!({"anyOf": [{"required": ["x"], "properties": {"a": {"$ref": "#/$defs/d0"}}},
        {"required": ["x"], "properties": {"a": {"$ref": "#/$defs/d0"}}}]});
    let kinds = validated(&definitions(0, |next| next, tree), 128, &deep).expect("each place is fine");
    assert_eq!(kinds, [ErrorKind::InvalidArguments]);
}

#[test]
fn formats_are_checked_in_linear_time() {
    let formats = [
        "date",
        "time",
        "date-time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "iri-reference",
        "uri-template",
        "json-pointer",
        "relative-json-pointer",
        "uuid",
        "regex",
    ];
    let texts = ["a", "1", "a.", "a@", "\"\"@", "%41", "{a}", "/~0", "(", "[", "xn--a-", "1:", "P1D", "http://a/", "é"];
    for format in formats {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "format": format}}});
        for text in texts {
            let begun = std::time::Instant::now();
            let value = json!({ "a": text.repeat(MIB / text.len()) }).to_string();
            validated(&schema, 128, &format!("<call>t {value}</call>")).expect("it is a schema");
            assert!(begun.elapsed().as_secs() < 5, "{format}, {text}: {:?}", begun.elapsed());
        }
    }
}

#[test]
fn patterns_are_matched_in_linear_time() {
    let tool = |pattern: &str| json!({"type": "object", "properties": {"a": {"pattern": pattern}}});
    for pattern in ["(?=(x+x+)+y)", "(?<!x)y", r"(x+)\1y", "("] {
        let error = validated(&tool(pattern), 128, "").expect_err("it is refused");
        assert_eq!(error.pointer.as_deref(), Some("/properties/a/pattern"));
        assert!(error.message.contains("linear"), "{}", error.message);
    }
    // The automaton of the last one is large, and each `a` enters it again.
    for (pattern, checked) in [("(x+x+)+y", true), ("(a|a)*b", true), ("[ab]*a[ab]{40000}c", false)] {
        let mut definition = Definition::new("t", tool(pattern).to_string());
        definition.strict = true;
        let tools = Toolset::new(vec![definition], Options::default()).expect("a linear pattern");
        let mut message = String::new();
        let mut parser = Parser::borrowing(&tools, None);
        let call = format!("<call>t a=\"{}\"</call>", "xa".repeat(MIB / 2));
        parser.feed(&call, &mut |event| {
            if let Event::CallError(error) = event {
                message = error.message();
            }
        });
        assert_eq!(message.starts_with("a: "), checked, "{pattern}: {message}");
    }
}

#[test]
fn validation_has_stack_enough() {
    let levels = |depth: usize| format!("<call>t a={}1{}</call>", "{\"a\":".repeat(depth - 1), "}".repeat(depth - 1));
    let wraps: [fn(serde_json::Value) -> serde_json::Value; 4] = [
        |next| next,
        |next| json!({"anyOf": [next], "unevaluatedProperties": false}),
        |next| json!({"oneOf": [{"not": {"not": next}}]}),
        |next| json!({"if": {"allOf": [{"type": ["null", "number", "object"]}, next]}, "then": true, "else": false}),
    ];
    let mut validated_at_all = 0;
    for each in wraps {
        for count in [10, 1000, 2000, 20_000] {
            let circle = json!({"type": "null", "properties": {"a": {"$ref": "#/$defs/d0"}}});
            let chain = definitions(count, each, circle);
            for message in [levels(1), levels(100), levels(512)] {
                if let Ok(kinds) = validated(&chain, 512, &message) {
                    assert_eq!(kinds, [ErrorKind::InvalidArguments], "{count}: {}", message.len());
                    validated_at_all += 1;
                }
            }
        }
    }
    assert!(validated_at_all >= 15, "{validated_at_all}");
}

#[test]
fn wide_schemas_compile_in_linear_time() {
    const MANY: usize = 100_000;
    let map = |count: usize, each: &dyn Fn(usize) -> serde_json::Value| {
        (0..count).map(|at| (format!("name_{at}"), each(at))).collect::<serde_json::Map<_, _>>()
    };
    let names: Vec<String> = (0..MANY).map(|at| format!("name_{at}")).collect();
    let reference = |at: usize| json!({"$ref": format!("#/components/name_{at}")});
    let plain = map(MANY, &|_| json!({"type": "string", "default": "x"}));
    let mut wide = json!(map(MANY, &|at| json!(at)));
    wide["type"] = json!("integer");
    for schema in [
        // Names that are looked up in properties, once for each alternative, and once as required.
        json!({"anyOf": [{"properties": plain}, {"properties": plain}], "required": names}),
        json!({"properties": plain, "required": names}),
        // References into a map, from a copy that is changed, too.
        json!({"properties": map(15_000, &|at| reference(MANY - 1 - at)), "components": plain}),
        json!({"properties": map(15_000, &|at| reference(MANY - 1 - at)),
            "components": map(MANY, &|_| json!({"items": [{}], "additionalItems": false}))}),
        // A schema with many keywords, at many places.
        json!({"properties": map(15_000, &|at| json!({"$ref": "#/$defs/w", "title": at})), "$defs": {"w": wide}}),
    ] {
        let begun = std::time::Instant::now();
        compiles(&schema);
        assert!(begun.elapsed().as_secs() < 30, "{:?}: {}", begun.elapsed(), &schema.to_string()[..100]);
    }
}
