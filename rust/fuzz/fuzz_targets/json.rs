//! JSON in a call, as a field's value and as the whole body, is read in strict mode exactly if serde_json reads it, and to
//! the same value: nesting beyond the limit and repeated keys aside.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use wirecall_core::{CallEnd, ErrorKind, Item, Options, Toolset, parse};

static STRICT: LazyLock<Toolset> = LazyLock::new(|| {
    let mut options = Options::default();
    options.strict = true;
    Toolset::new(Vec::new(), options).expect("an open toolset")
});

/// The one call that is the whole message; an error is one only if serde_json finds one too.
fn read(message: &str, json: &str) -> Option<CallEnd> {
    let valid = serde_json::from_str::<Value>(json).is_ok();
    match &parse(&STRICT, message, Some(false), None)[..] {
        [Item::Call(call)] => Some(call.clone()),
        [Item::Error(error)] if matches!(error.kind, ErrorKind::DuplicateArgument | ErrorKind::TooDeep) => None,
        items => {
            assert!(!valid, "{message:?} gave {items:?}");
            None
        }
    }
}

fn same(call: &CallEnd, got: &Value, json: &str) {
    assert!(call.repairs.is_empty() && call.problems.is_empty(), "{call:?}");
    match serde_json::from_str::<Value>(json) {
        Ok(expected) => assert_eq!(got.to_string(), expected.to_string()),
        // A lone surrogate is U+FFFD for us, and an error for serde_json, as is what is nested 128 levels deep.
        Err(error) => assert!(json.contains("\\u") || error.to_string().contains("recursion"), "{error}: {json}"),
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let object = format!("{{\"v\":{text}}}");
    if let Some(call) = read(&format!("<call>t {object}</call>"), &object) {
        same(&call, &serde_json::from_str(&call.arguments).expect("arguments are JSON"), &object);
    }
    // Some other values are not JSON in a field: bare words.
    if !text.starts_with(['{', '[']) {
        return;
    }
    if let Some(call) = read(&format!("<call>t v={text}</call>"), text) {
        let got: Value = serde_json::from_str(&call.arguments).expect("arguments are JSON");
        // The text may continue with more pairs.
        if got.as_object().is_some_and(|members| members.len() == 1) {
            same(&call, &got["v"], text);
        }
    }
});
