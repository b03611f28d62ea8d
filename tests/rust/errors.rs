//! Errors of the crate as a host sees them: standard errors with a sentence, which can be sent between threads.

use std::error::Error;

use wirecall_core::{
    CallError, Definition, Document, EncodeError, Item, Limits, Options, Parser, Problem, SchemaError, SyntaxError,
    ToolError, Toolset, XmlSchema, format_xml, parse, parse_json,
};

fn is_error<E: Error + Clone + PartialEq + Send + Sync + 'static>() {}
fn is_shared<T: Send + Sync>() {}
fn is_sent<T: Send + 'static>() {}

#[test]
fn types_are_errors_and_go_between_threads() {
    is_error::<CallError>();
    is_error::<EncodeError>();
    is_error::<Problem>();
    is_error::<SchemaError>();
    is_error::<SyntaxError>();
    is_error::<ToolError>();
    is_shared::<Toolset>();
    is_shared::<XmlSchema>();
    is_sent::<Parser>();
    is_sent::<Document>();
}

/// As `?` gives it to a host.
fn said<T>(result: Result<T, impl Error + 'static>) -> String {
    let boxed: Result<T, Box<dyn Error>> = result.map_err(Into::into);
    boxed.err().expect("an error").to_string()
}

#[test]
fn the_hosts_mistakes_are_sentences() {
    let tool = |schema: &str| Definition::new("t", schema);
    let open = Toolset::new(Vec::new(), Options::default()).expect("no tools are fine");
    let mut unknown = Options::default();
    unknown.protocol = "smoke".into();
    let reference = r##"{"properties": {"a": {"$ref": "#/nowhere"}}}"##;
    assert_eq!(
        said(Toolset::new(Vec::new(), unknown)),
        "there is no protocol \"smoke\"; available: wire, hermes, gemma, xml, yaml, qwen3coder, auto; `wirecall protocols` lists all"
    );
    assert_eq!(
        said(Toolset::new(vec![tool("{}"), tool("{}")], Options::default())),
        "tool \"t\": two tools have this name; rename one"
    );
    let pointed = said(Toolset::new(vec![tool(reference)], Options::default()));
    assert!(pointed.starts_with("tool \"t\", at \"/properties/a"), "{pointed}");
    let pointed = said(XmlSchema::new(Some(reference)));
    assert!(pointed.starts_with("at \"/properties/a"), "{pointed}");
    let list = parse_json("[]", 8).expect("it is JSON");
    assert_eq!(said(open.encode("t", &list)), "the arguments of \"t\" are not a JSON object");
    let any = XmlSchema::new(None).expect("no schema is fine");
    assert_eq!(said(format_xml(&list, &any, Some("a b"))), "\"a b\" is not a valid element name");
    assert!(said(parse_json("[1,\n x]", 8)).ends_with("(line 2, column 2)"));
    let mut document = Document::new(&any, false, Limits::default());
    assert!(said(document.feed("<a>\n</b>").and_then(|()| document.finish())).contains("(line 2, column "));
}

#[test]
fn the_models_mistakes_are_sentences_for_the_model() {
    let schema = r#"{"properties": {"n": {"type": "integer"}}}"#;
    let tools = Toolset::new(vec![Definition::new("t", schema)], Options::default()).expect("the schema is fine");
    let message = "<call>nope n=1</call><call>t n=x</call>";
    let items = parse(&tools, message, Some(false), None);
    let [Item::Error(error), Item::Call(call)] = &items[..] else { panic!("{items:#?}") };
    assert_eq!(error.to_string(), error.message());
    assert_eq!((error.kind.to_string(), error.kind.as_str()), ("unknown_tool".to_owned(), "unknown_tool"));
    let problem = &call.problems[0];
    assert_eq!(problem.to_string(), problem.message);
    assert_eq!(problem.kind.to_string(), "wrong_type");
}

#[test]
fn an_error_is_told_with_its_example_once() {
    let schema = r#"{"properties": {"n": {"type": "integer"}, "m": {"type": "number"}}, "required": ["n", "m"]}"#;
    let mut options = Options::default();
    options.validate = true;
    let tools = Toolset::new(vec![Definition::new("t", schema)], options).expect("the schema is fine");
    for call in ["<call>nope n=1</call>", "<call>t n=x</call>", "<call>t n m</call>", "<call>{}</call>"] {
        let items = parse(&tools, call, Some(false), None);
        let [Item::Error(error)] = &items[..] else { panic!("{items:#?}") };
        let example = error.example.as_deref().expect("a tool has an example");
        for told in [error.message(), error.to_string(), tools.encode_error(error)] {
            assert_eq!(told.matches("For example:").count(), 1, "{told}");
            assert_eq!(told.matches(example).count(), 1, "{told}");
        }
        assert!(tools.encode_error(error).starts_with("<tool-error"));
    }
}

#[test]
fn a_rejected_call_has_its_problems() {
    let schema = r#"{"properties": {"n": {"type": "integer", "maximum": 3}, "m": {"type": "number"}}}"#;
    let mut options = Options::default();
    options.validate = true;
    let tools = Toolset::new(vec![Definition::new("t", schema)], options).expect("the schema is fine");
    let items = parse(&tools, "<call>t n=4 m=x</call><call>t n</call>", Some(false), None);
    let [Item::Error(invalid), Item::Error(malformed)] = &items[..] else { panic!("{items:#?}") };
    let found: Vec<_> = invalid.problems.iter().map(|one| (one.kind.as_str(), one.field.as_str())).collect();
    assert_eq!(found, [("wrong_type", "m"), ("schema", "n")]);
    let sentences: Vec<_> = invalid.problems.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(invalid.sentence, sentences.join("\n"));
    assert_eq!(malformed.problems, []);
}

#[test]
fn a_declared_field_ends_before_what_the_model_wrote() {
    let schema = r#"{"properties": {
        "a": {"type": "object", "properties": {"b": {"type": "integer"}, "c.d": {}, "e f": {}}, "required": ["g"]},
        "l": {"type": "array", "items": {"properties": {"n": {}}}},
        "x.y": {}
    }}"#;
    let tools = Toolset::new(vec![Definition::new("t", schema)], Options::default()).expect("the schema is fine");
    let tool = tools.get("t").expect("it was given");
    for (field, declared) in [
        ("", ""),
        ("a", "a"),
        ("a.b", "a.b"),
        ("a.b.secret", "a.b"),
        ("a.\"c.d\"", "a.\"c.d\""),
        ("a.\"e f\".secret[0]", "a.\"e f\""),
        ("a.g", "a.g"),
        ("a.g.secret", "a.g"),
        ("a.secret.b", "a"),
        ("a[0].b", "a"),
        ("l[12].n", "l[12].n"),
        ("l[12].secret", "l[12]"),
        ("secret", ""),
        ("\"a.b\"", ""),
        ("\"x.y\"", "\"x.y\""),
        ("a.\"b", "a.b"),
        ("[\"x.y\"é", "\"x.y\""),
        ("[\"l\"", "l"),
    ] {
        assert_eq!(tools.declared_field(tool, field), declared, "{field}");
    }
}
