//! The laws of chunking in every native format, and that stop tokens at the end of a message change nothing.
#![no_main]

#[path = "../shared/reading.rs"]
mod reading;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use reading::holds;
use wirecall_core::{Definition, Options, Toolset};

const SCHEMA: &str = r##"{"type":"object","properties":{
    "city":{"type":"string"},"units":{"enum":["metric","Imperial",7,null]},"limit":{"type":["integer","null"]},"deep":{"type":"boolean"},
    "tags":{"type":"array","items":{"type":"string"}},"any":{},"next":{"$ref":"#"},
    "by":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}}]}},"required":["city"]}"##;

/// Of each native format: lenient, strict and open.
static TOOLSETS: LazyLock<Vec<Toolset>> = LazyLock::new(|| {
    let build = |protocol: &str, bits: usize| {
        let mut options = Options::default();
        options.protocol = protocol.into();
        options.strict = bits == 1;
        let tools = ["create", "ping", "say"].map(|name| {
            let schema = if name == "ping" { r#"{"type":"object"}"# } else { SCHEMA };
            Definition::new(name, schema)
        });
        Toolset::new(if bits == 2 { Vec::new() } else { tools.into() }, options).expect("the tools are fine")
    };
    let families = wirecall_core::protocols().filter(|name| !["wire", "xml", "yaml", "gemma"].contains(name));
    families.flat_map(|protocol| (0..3).map(move |bits| build(protocol, bits))).collect()
});

/// The message is the beginning of the input, so that seeds are readable; the toolset, a byte of options and the cuts follow.
const TAIL: usize = 6;

fuzz_target!(|data: &[u8]| {
    let (message, tail) = data.split_at(data.len().saturating_sub(TAIL));
    let (Ok(message), [at, bits, cuts @ ..]) = (std::str::from_utf8(message), tail) else { return };
    let tools = &TOOLSETS[usize::from(*at) % TOOLSETS.len()];
    let truncated = [None, Some(false), Some(true), Some(false)][usize::from(bits & 3)];
    let reasoning = [None, Some(false), Some(true), None][usize::from(bits >> 2 & 3)];
    holds(tools, message, truncated, reasoning, cuts);
});
