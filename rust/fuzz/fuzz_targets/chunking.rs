//! However a message is cut into chunks, the events are the same, and texts, calls and errors tile it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use wirecall_core::{CallEnd, CallError, Definition, Event, Options, Parser, Toolset};

const SCHEMA: &str = r##"{"type":"object","properties":{
    "city":{"type":"string"},"units":{"enum":["metric","Imperial",7,null]},"limit":{"type":["integer","null"]},"deep":{"type":"boolean"},
    "maxResults":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}},"a.b":{"type":"string"},"any":{},
    "items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"n":{"type":"integer"}},"required":["sku"],
    "additionalProperties":false}},"next":{"$ref":"#"},"by":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}}]}},
    "required":["city"]}"##;

/// Lenient and strict, validated and not, with tools and without, in two kinds of delimiters.
static TOOLSETS: LazyLock<Vec<Toolset>> = LazyLock::new(|| {
    let build = |bits: usize| {
        let (open, close) = if bits & 1 == 0 { ("<call>", "</call>") } else { ("<|t|>", "<|/t|>") };
        let delimiters = Some((open.to_owned(), close.to_owned()));
        let options = Options { strict: bits & 2 != 0, validate: bits & 4 != 0, delimiters, ..Options::default() };
        let tools = ["create", "ping", "get_weather", "find", "say"].map(|name| Definition {
            name: name.into(),
            description: None,
            parameters: if name == "ping" {
                r#"{"type":"object","additionalProperties":false}"#.into()
            } else {
                SCHEMA.into()
            },
            strict: false,
        });
        Toolset::new(if bits & 8 == 0 { tools.into() } else { Vec::new() }, options).expect("the tools are fine")
    };
    (0..16).map(build).collect()
});

#[derive(Debug, PartialEq)]
enum Seen {
    Text(String),
    Start(usize, String),
    Deltas(usize, String),
    End(CallEnd),
    Error(CallError),
}

fn read<'c>(
    tools: &Toolset,
    chunks: impl IntoIterator<Item = &'c str>,
    truncated: Option<bool>,
    reasoning: bool,
) -> Vec<Seen> {
    let mut seen: Vec<Seen> = Vec::new();
    let mut sink = |event: Event<'_>| match (event, seen.last_mut()) {
        (Event::Text(text), Some(Seen::Text(before))) => before.push_str(text),
        (Event::Text(text), _) => seen.push(Seen::Text(text.into())),
        (Event::ArgumentsDelta { delta, .. }, Some(Seen::Deltas(_, before))) => before.push_str(delta),
        (Event::ArgumentsDelta { index, delta }, _) => seen.push(Seen::Deltas(index, delta.into())),
        (Event::CallStart { index, name }, _) => seen.push(Seen::Start(index, name.into())),
        (Event::CallEnd(end), _) => seen.push(Seen::End(end)),
        (Event::CallError(error), _) => seen.push(Seen::Error(error)),
    };
    let mut parser = Parser::new(reasoning);
    chunks.into_iter().for_each(|chunk| parser.feed(tools, chunk, &mut sink));
    parser.finish(tools, truncated, &mut sink);
    seen
}

fn tiles(message: &str, seen: &[Seen]) {
    let characters: Vec<char> = message.chars().collect();
    let slice = |start: usize, end: usize| characters[start..end].iter().collect::<String>();
    let mut at = 0;
    let mut deltas = "";
    for one in seen {
        match one {
            Seen::Text(text) => {
                let end = at + text.chars().count();
                assert_eq!(*text, slice(at, end));
                at = end;
            }
            Seen::Start(..) => deltas = "",
            Seen::Deltas(_, json) => deltas = json,
            Seen::End(end) => {
                assert_eq!((end.start, deltas), (at, end.arguments.as_str()));
                let value: serde_json::Value = serde_json::from_str(&end.arguments).expect("arguments are JSON");
                assert!(value.is_object());
                at = end.end;
            }
            Seen::Error(error) => {
                assert_eq!((error.start, &error.raw), (at, &slice(error.start, error.end)));
                at = error.end;
            }
        }
    }
    assert_eq!(at, characters.len());
}

/// The message is the front of the input, so that seeds stay readable; one byte of options and the cuts are behind it.
const TAIL: usize = 5;

fuzz_target!(|data: &[u8]| {
    let (message, tail) = data.split_at(data.len().saturating_sub(TAIL));
    let (Ok(message), Some((&bits, cuts))) = (std::str::from_utf8(message), tail.split_first()) else { return };
    let tools = &TOOLSETS[usize::from(bits & 15)];
    let truncated = [None, Some(false), Some(true), Some(false)][usize::from(bits >> 4 & 3)];
    let reasoning = bits & 64 != 0;
    let whole = read(tools, [message], truncated, reasoning);
    tiles(message, &whole);
    let ends: Vec<usize> = message.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    let characters = ends.iter().scan(0, |from, end| Some(&message[std::mem::replace(from, *end)..*end]));
    assert_eq!(read(tools, characters, truncated, reasoning), whole);
    if ends.is_empty() {
        return;
    }
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| ends[usize::from(*cut) * ends.len() / 256]).collect();
    cuts.sort_unstable();
    cuts.push(message.len());
    let pieces = cuts.iter().scan(0, |from, end| Some(&message[std::mem::replace(from, *end)..*end]));
    assert_eq!(read(tools, pieces, truncated, reasoning), whole);
});
