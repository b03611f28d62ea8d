//! The core as a host builds it, without features: calls are read and written, and nothing is validated in silence.
#![cfg(test)]

use wirecall_core::{Definition, Item, Options, Toolset, parse, parse_json};

const SCHEMA: &str = r#"{"properties": {"path": {"type": "string", "pattern": "^/"}, "limit": {"type": "integer", "default": 5}},
    "required": ["path", "limit"]}"#;

fn definition(strict: bool) -> Definition {
    let mut definition = Definition::new("read", SCHEMA);
    definition.strict = strict;
    definition
}

fn validating(validate: bool) -> Options {
    let mut options = Options::default();
    options.validate = validate;
    options
}

#[test]
fn calls_are_read_and_written() {
    for protocol in ["wire", "hermes", "xml", "yaml", "qwen3coder"] {
        let mut options = Options::default();
        options.protocol = protocol.into();
        let tools = Toolset::new(vec![definition(false)], options).expect("the schema is fine");
        let arguments = parse_json(r#"{"path":"/a b","limit":7}"#, 8).expect("valid JSON");
        let written = tools.encode("read", &arguments).expect("it can be written");
        let items = parse(&tools, &written, Some(false), None);
        let [Item::Call(call)] = &items[..] else { panic!("{protocol}: {items:?}") };
        assert_eq!(call.arguments, r#"{"path":"/a b","limit":7}"#, "{protocol}");
        assert!(tools.manual(None).contains("limit"), "{protocol}");
    }
}

#[test]
fn a_host_that_asks_for_validation_is_told_to_enable_it() {
    for (strict, validate) in [(true, false), (false, true)] {
        let error = Toolset::new(vec![definition(strict)], validating(validate)).expect_err("there is no validator");
        assert_eq!((error.tool.as_deref(), error.pointer.as_deref()), (Some("read"), None));
        assert!(error.message.contains("enable the feature `validate` of the crate wirecall-core"), "{error}");
    }
    // Without tools there is nothing to validate.
    Toolset::new(Vec::new(), validating(true)).expect("an open toolset");
}
