//! The laws of chunking in every protocol, and in those that read others too.
#![no_main]

#[path = "../shared/reading.rs"]
mod reading;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use reading::holds;
use wirecall_core::{CodeMode, Definition, Options, Toolset};

const SCHEMA: &str = r##"{"type":"object","properties":{
    "city":{"type":"string"},"units":{"enum":["metric","Imperial",7,null]},"limit":{"type":["integer","null"]},"deep":{"type":"boolean"},
    "tags":{"type":"array","items":{"type":"string"}},"any":{},"next":{"$ref":"#"},
    "items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"n":{"type":"integer"}}}},
    "by":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}}]}},"required":["city"]}"##;

/// Of each protocol, and of auto: lenient, strict, open, one that recovers calls of the others, and these without code.
static TOOLSETS: LazyLock<Vec<Toolset>> = LazyLock::new(|| {
    let build = |protocol: &str, bits: usize| {
        let (strict, open, recover) = (bits == 1, bits == 2, matches!(bits, 3 | 5) && protocol != "auto");
        let code = if bits > 3 { CodeMode::Text } else { CodeMode::Call };
        let mut options = Options::default();
        options.protocol = protocol.into();
        options.strict = strict;
        options.recover = recover;
        options.code = code;
        let tools = ["create", "ping", "say"].map(|name| {
            let schema = if name == "ping" { r#"{"type":"object"}"# } else { SCHEMA };
            Definition::new(name, schema)
        });
        Toolset::new(if open { Vec::new() } else { tools.into() }, options).expect("the tools are fine")
    };
    let protocols = wirecall_core::protocols().chain(["auto"]);
    protocols.flat_map(|protocol| (0..6).map(move |bits| build(protocol, bits))).collect()
});

/// The message is the beginning of the input, so that seeds are readable; the toolset, a byte of options and the cuts follow.
const TAIL: usize = 6;

fuzz_target!(|data: &[u8]| {
    let (message, tail) = data.split_at(data.len().saturating_sub(TAIL));
    let (Ok(message), [at, bits, cuts @ ..]) = (std::str::from_utf8(message), tail) else { return };
    let tools = &TOOLSETS[usize::from(*at) % TOOLSETS.len()];
    let truncated = [None, Some(false), Some(true), Some(false)][usize::from(bits & 3)];
    holds(tools, message, truncated, (bits & 4 != 0).then_some(true), cuts);
});
