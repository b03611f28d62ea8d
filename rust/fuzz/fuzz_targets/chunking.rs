//! However a message is cut into chunks, the events are the same, and texts, calls and errors tile it.
#![no_main]

#[path = "../shared/reading.rs"]
mod reading;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use reading::holds;
use wirecall_core::{CodeMode, Definition, Options, Toolset};

const SCHEMA: &str = r##"{"type":"object","properties":{
    "city":{"type":"string"},"units":{"enum":["metric","Imperial",7,null]},"limit":{"type":["integer","null"]},"deep":{"type":"boolean"},
    "maxResults":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}},"a.b":{"type":"string"},"any":{},
    "items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"n":{"type":"integer"}},"required":["sku"],
    "additionalProperties":false}},"next":{"$ref":"#"},"by":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}}]}},
    "required":["city"]}"##;

/// Lenient and strict, validated and not, with tools and without, in two kinds of delimiters, with code and without.
static TOOLSETS: LazyLock<Vec<Toolset>> = LazyLock::new(|| {
    let build = |bits: usize| {
        let (open, close) = if bits & 1 == 0 { ("<call>", "</call>") } else { ("<|t|>", "<|/t|>") };
        let delimiters = Some((open.to_owned(), close.to_owned()));
        let code = if bits & 16 == 0 { CodeMode::Call } else { CodeMode::Text };
        let (strict, validate) = (bits & 2 != 0, bits & 4 != 0);
        let mut options = Options::default();
        options.strict = strict;
        options.validate = validate;
        options.code = code;
        options.delimiters = delimiters;
        let tools = ["create", "ping", "get_weather", "find", "say"].map(|name| {
            let schema = if name == "ping" { r#"{"type":"object","additionalProperties":false}"# } else { SCHEMA };
            Definition::new(name, schema)
        });
        Toolset::new(if bits & 8 == 0 { tools.into() } else { Vec::new() }, options).expect("the tools are fine")
    };
    (0..32).map(build).collect()
});

/// The message is the beginning of the input, so that seeds are readable; one byte of options and the cuts follow.
const TAIL: usize = 5;

fuzz_target!(|data: &[u8]| {
    let (message, tail) = data.split_at(data.len().saturating_sub(TAIL));
    let (Ok(message), Some((&bits, cuts))) = (std::str::from_utf8(message), tail.split_first()) else { return };
    let tools = &TOOLSETS[usize::from(bits & 15 | bits >> 7 << 4)];
    let truncated = [None, Some(false), Some(true), Some(false)][usize::from(bits >> 4 & 3)];
    let reasoning = (bits & 64 != 0).then_some(true);
    holds(tools, message, truncated, reasoning, cuts);
});
