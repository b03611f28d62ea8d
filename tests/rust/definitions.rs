//! The JSON text of a tool's parameters: what is read, and what is wrong with what is not; and what the README says a host can name.

use wirecall_core::{Definition, Options, ToolError, Toolset, XmlSchema, native_formats, protocols};

fn tool(parameters: &str, options: Options) -> Result<Toolset, ToolError> {
    let mut definition = Definition::new("t", parameters);
    definition.strict = options.validate;
    Toolset::new(vec![definition], options)
}

fn validating(validate: bool) -> Options {
    let mut options = Options::default();
    options.validate = validate;
    options
}

/// The tool's line of the manual in wire, and in hermes, which shows the schema.
fn lines(parameters: &str) -> [String; 2] {
    ["wire", "hermes"].map(|protocol| {
        let mut options = Options::default();
        options.protocol = protocol.into();
        let tools = tool(parameters, options).expect("the schema is fine");
        tools.signature(tools.get("t").expect("it was given"))
    })
}

#[test]
fn what_is_not_json_is_an_error_with_its_line_and_column() {
    for (text, place) in [
        ("", "(line 1, column 1)"),
        ("{\"type\": \"object\",\n  }", "(line 2, column 3)"),
        ("{'type': 'object'}", "(line 1, column 2)"),
        ("{} {}", "(line 1, column 4)"),
        ("{\"properties\":{\"a\":{\"minimum\":01}}}", "(line 1, column 31)"),
        ("{\"default\":NaN}", "(line 1, column 12)"),
        ("\u{FEFF}{}", "(line 1, column 1)"),
        ("{// comment\n}", "(line 1, column 2)"),
    ] {
        for validate in [false, true] {
            let error = tool(text, validating(validate)).expect_err(text);
            assert_eq!((error.tool.as_deref(), error.pointer.as_deref()), (Some("t"), Some("")), "{text}");
            assert!(error.message.starts_with("the schema is not valid JSON: "), "{text}: {error}");
            assert!(error.message.ends_with(place), "{text}: {error}");
        }
        let error = XmlSchema::new(Some(text)).expect_err(text);
        assert!(error.pointer.is_empty() && error.message.ends_with(place), "{text}: {error}");
    }
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| {
        let depth = depth / 2;
        format!("{{\"type\":\"object\",\"a\":{}1{}}}", "{\"a\":[".repeat(depth), "]}".repeat(depth))
    };
    for validate in [false, true] {
        let options = validating(validate);
        tool(&nested(126), options.clone()).expect("127 levels");
        let error = tool(&nested(128), options).expect_err("129 levels");
        assert!(error.message.contains("more than 127 levels"), "{error}");
    }
}

#[test]
fn of_equal_keys_the_last_counts_at_the_place_of_the_first() {
    let [wire, hermes] = lines(
        r#"{"properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "\u0061": {"type": "number"}},
            "type": "string", "type": "object"}"#,
    );
    assert_eq!(wire, "t a?:number b?:bool");
    assert!(
        hermes.ends_with(r#"{"properties":{"a":{"type":"number"},"b":{"type":"boolean"}},"type":"object"}}"#),
        "{hermes}"
    );
}

#[test]
fn numbers_keep_their_digits() {
    let schema =
        r#"{"properties":{"a":{"enum":[1.50,12345678901234567890123]},"b":{"type":"number","default":1e400}}}"#;
    let [wire, hermes] = lines(schema);
    assert_eq!(wire, "t a?:1.50|12345678901234567890123 b?:number=1e400");
    assert!(hermes.ends_with(&format!("{schema}}}")), "{hermes}");
}

#[test]
fn numbers_of_examples_are_written_as_json_writes_them() {
    for (bounds, shown) in [
        ("\"minimum\":0.00002,\"maximum\":0.00002", "a=0.00002"),
        ("\"minimum\":2e-6,\"maximum\":2e-6", "a=2e-6"),
        ("\"minimum\":1.5e20,\"maximum\":1.5e20", "a=1.5e+20"),
        ("\"minimum\":1e15,\"maximum\":1e15", "a=1000000000000000.0"),
        ("\"minimum\":-7,\"maximum\":-7", "a=-7"),
    ] {
        let schema = format!(r#"{{"properties":{{"a":{{"type":"number",{bounds}}}}},"required":["a"]}}"#);
        let examples = tool(&schema, Options::default()).expect("the schema is fine").examples();
        assert!(examples.iter().any(|call| call.contains(&format!("{shown}</call>"))), "{bounds}: {examples:?}");
    }
}

/// The names in code in a part of the crate's README.
fn names_in_readme(after: &str, before: &str) -> Vec<&'static str> {
    let (_, rest) = include_str!("../../rust/core/README.md").split_once(after).expect(after);
    let (part, _) = rest.split_once(before).expect(before);
    part.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_readme_lists_the_prompted_formats_and_names_native_ones() {
    let prompted = names_in_readme("the manual teaches the model: ", ".\n");
    assert_eq!(prompted, protocols().filter(|&name| name != "auto").collect::<Vec<_>>());
    let named = names_in_readme("models were trained on, such as ", " are native");
    assert_eq!(named.len(), 5);
    let known: Vec<_> = native_formats().map(|format| format.name).collect();
    assert!(named.iter().all(|name| known.contains(name)), "{named:?}");
}

#[test]
fn the_readme_names_a_path_while_the_crate_is_not_published() {
    let readme = include_str!("../../rust/core/README.md");
    assert!(readme.contains("The crate is not published yet."));
    assert!(readme.contains("wirecall-core = { path = "));
    assert!(!readme.contains("wirecall-core = \""), "a version is not found on crates.io");
}
