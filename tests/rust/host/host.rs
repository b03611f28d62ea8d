//! The core as a host builds it, without features: calls are read and written, and nothing is validated in silence.
#![cfg(test)]

use wirecall_core::{Definition, Item, Options, Toolset, parse, parse_json};

const SCHEMA: &str = r#"{"properties": {"path": {"type": "string", "pattern": "^/"}, "limit": {"type": "integer", "default": 5}},
    "required": ["path", "limit"]}"#;

fn definition(strict: bool) -> Definition {
    Definition { name: "read".into(), description: None, parameters: SCHEMA.into(), strict }
}

#[test]
fn calls_are_read_and_written() {
    for protocol in ["wire", "hermes", "xml", "yaml", "qwen3coder"] {
        let options = Options { protocol: protocol.into(), ..Options::default() };
        let tools = Toolset::new(vec![definition(false)], options).expect("the schema is fine");
        let arguments = parse_json(r#"{"path":"/a b","limit":7}"#, 8).expect("valid JSON");
        let written = tools.encode("read", &arguments).expect("it can be written");
        let items = parse(&tools, &written, Some(false), false);
        let [Item::Call(call)] = &items[..] else { panic!("{protocol}: {items:?}") };
        assert_eq!(call.arguments, r#"{"path":"/a b","limit":7}"#, "{protocol}");
        assert!(tools.manual(None).contains("limit"), "{protocol}");
    }
}

#[test]
fn a_host_that_asks_for_validation_is_told_to_enable_it() {
    for (strict, validate) in [(true, false), (false, true)] {
        let options = Options { validate, ..Options::default() };
        let error = Toolset::new(vec![definition(strict)], options).expect_err("there is no validator");
        assert_eq!((error.tool.as_str(), error.pointer.as_deref()), ("read", None));
        assert!(error.message.contains("enable the feature `validate` of the crate wirecall-core"), "{error}");
    }
    // Without tools there is nothing to validate.
    Toolset::new(Vec::new(), Options { validate: true, ..Options::default() }).expect("an open toolset");
}
