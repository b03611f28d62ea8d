//! The laws over messages made of the pieces that hermes and gemma are made of, and over what is written in them.

#[allow(dead_code)]
mod support;

use proptest::prelude::*;
use proptest::sample::select;
use std::sync::LazyLock;
use support::config;
use support::holding::holds;
use support::reading::{Seen, calls};
use support::toolsets::definition;
use wirecall_core::{Limits, Options, Toolset};

const PROTOCOLS: [(&str, &str, &str); 2] =
    [("hermes", "<tool_call>", "</tool_call>"), ("gemma", "```tool_call", "```")];

/// Where OPEN and CLOSE stand in the pieces of messages.
const OPEN: &str = "«";
const CLOSE: &str = "»";

#[rustfmt::skip]
const PIECES: &[&str] = &[
    OPEN, OPEN, OPEN, CLOSE, CLOSE, CLOSE, "«{\"name\":\"say\",\"arguments\":{\"text\":\"", "\"}}»",
    "«{\"name\":\"say\",\"arguments\":{", "«[{\"name\": \"say\", \"arguments\": {}}, ", "«{\"arguments\":{\"text\":\"a\",\"n\":\"5\"},\"name\":\"say\"}»",
    "{", "}", "[", "]", ",", ":", "\"", "'", "\\", "\\\"", "\\u00", "{}", "}}", "}}}", "\"}", "\", \"", "\": \"", " ", "\n", "   ", "/", "//", "/*", "*/",
    "\"name\"", "\"name\":\"say\"", "\"tool\":\"say\"", "\"name\":\"nobody\"", "\"name\":\"Say\"", "name:'say'", "\"name\":\"\"", "\"name\":5",
    "\"arguments\"", "\"arguments\":{}", "\"arguments\":{\"text\":\"hi\",\"n\":1}", "\"parameters\":{\"n\":\"1\"}", "\"arguments\":null", "\"args\":{\"text\":\"say \"hi\" now\"}",
    "\"arguments\":\"{\\\"text\\\": \\\"x\\\"}\"", "\"arguments\":\"", "\"arguments\":[1]", "\"id\":7", "\"more\":[{},{\"a\":\"b\"}]",
    "\"text\"", "\"text\":", "\"text\":\"", "\"n\":", "\"n\":\"3\"", "\"n\":True", "\"list\":[\"a\", \"b\"]", "\"list\":[\"", "\"pick\":\"RED\"", "\"any\":{\"k\":[null,1.5]}", "text: x",
    "say", "\"say\"", "hello", "don't", "</", "<", "</think>", "<tool_", "</tool_call", "``", "```json", "```", "<json>", "</json>", "<tool_response", "<call>", "<|end|>",
    "Münster", "🌧", "\u{2028}", "\0", "\t", "true", "null", "1", "-", "é",
];

fn toolset(protocol: &str, open: bool, strict: bool, validate: bool, limits: Limits) -> Toolset {
    let say = serde_json::json!({"type": "object", "properties": {
        "text": {"type": "string"}, "n": {"type": "integer"}, "list": {"type": "array", "items": {"type": "string"}},
        "pick": {"enum": ["red", "blue", {"a": 1}]}, "any": {}, "deep": {"$ref": "#"}}, "required": ["text"]});
    let other = serde_json::json!({"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": false});
    let tools = if open { Vec::new() } else { vec![definition("say", &say), definition("other", &other)] };
    let options = Options { protocol: protocol.into(), strict, validate, limits, ..Options::default() };
    Toolset::new(tools, options).expect("the tools are fine")
}

/// Of each protocol, open and not, lenient and strict, validated and not, and with little room.
static TOOLSETS: LazyLock<Vec<(usize, Toolset)>> = LazyLock::new(|| {
    let mut out = Vec::new();
    for (at, (protocol, _, _)) in PROTOCOLS.iter().enumerate() {
        for bits in 0..8 {
            let [open, strict, validate] = [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0];
            out.push((at, toolset(protocol, open, strict, validate, Limits::default())));
        }
        for (depth, calls) in [(1, 1), (2, 2), (3, 4096)] {
            out.push((at, toolset(protocol, false, false, false, Limits { depth, calls, ..Limits::default() })));
        }
    }
    out
});

/// The same with little room for a call.
static SMALL: LazyLock<Vec<(usize, Toolset)>> = LazyLock::new(|| {
    let sizes = [1, 11, 12, 13, 14, 16, 20, 24, 28, 32, 40, 48, 64, 80, 100];
    let sized = |call_bytes| toolset("hermes", false, false, false, Limits { call_bytes, ..Limits::default() });
    sizes.into_iter().map(|call_bytes| (0, sized(call_bytes))).collect()
});

/// Calls as models write them, to be spoilt.
#[rustfmt::skip]
const WHOLE: &[&str] = &[
    "a «{\"name\":\"say\",\"arguments\":{\"text\":\"hi\",\"n\":3}}» b",
    "«\n{\"arguments\": {\"text\": \"hi\", \"n\": \"3\"}, \"name\": \"say\"}\n»«{\"name\":\"other\",\"arguments\":{}}»",
    "«\n[{\"name\": \"say\", \"arguments\": {\"text\": \"a\"}},\n {\"name\": \"other\", \"arguments\": {\"text\": \"b\"}}]\n»",
    "«{\"name\": \"say\", \"arguments\": {\"text\": \"say \"hi\", ok\", \"n\": 1, \"list\": [\"a \"b\" c\", \"d\"]}}»",
    "«{\"name\":\"say\",\"arguments\":\"{\\\"text\\\":\\\"hi\\\",\\\"n\\\":\\\"4\\\"}\"}»",
    "«{name: 'say', // note\n arguments: {text: 'it', /* c */ n: None,}, }»",
    "«{\"name\":\"say\",\"parameters\":{\"any\":{\"k\":[\"x\",{}]},\"deep\":{\"text\":\"t\"},\"pick\":{\"a\":1}}}\n«{\"tool\":\"other\",\"args\":{}}»",
    "«{\"name\":\"say\",\"arguments\":{\"text\":\"a » b « c\"}}</think>",
    "«\n```json\n{\"name\":\"nobody\",\"arguments\":{}}\n```\n» «{\"name\":\"say\"}»",
    "«{\"name\":\"say\",\"arguments\":{\"text\":\"1\"}}\n{\"name\":\"say\",\"arguments\":{\"text\":\"2\"}}»",
];

/// Pieces in any order, or a whole message in which some characters are replaced with pieces.
fn message() -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0..4_usize, prop::option::of(select(PIECES)));
    let spoilt = (select(WHOLE), prop::collection::vec(edit, 0..4)).prop_map(|(whole, edits)| {
        let mut message: Vec<char> = whole.chars().collect();
        for (at, length, piece) in edits {
            let at = at.index(message.len() + 1);
            let end = (at + length).min(message.len());
            message.splice(at..end, piece.unwrap_or("").chars());
        }
        message.into_iter().collect()
    });
    prop_oneof![prop::collection::vec(select(PIECES), 0..16).prop_map(|pieces| pieces.concat()), spoilt]
}

fn written(message: &str, protocol: usize) -> String {
    let (_, open, close) = PROTOCOLS[protocol];
    message.replace(OPEN, open).replace(CLOSE, close)
}

const TRUNCATED: &[Option<bool>] = &[None, Some(false), Some(true)];

proptest! {
    #![proptest_config(config())]

    #[test]
    fn laws_hold(
        message in message(), at in 0..TOOLSETS.len(), truncated in select(TRUNCATED),
        cuts in prop::collection::vec(any::<usize>(), 0..4),
    ) {
        let (protocol, tools) = &TOOLSETS[at];
        holds(tools, &written(&message, *protocol), truncated, &cuts)?;
    }

    #[test]
    fn chunking_does_not_matter_where_a_call_becomes_too_large(
        message in message(), at in 0..SMALL.len(), truncated in select(TRUNCATED),
        cuts in prop::collection::vec(any::<usize>(), 0..4),
    ) {
        let (protocol, tools) = &SMALL[at];
        let message = written(&message, *protocol);
        let whole = support::reading::read(tools, &message, truncated);
        let by_character = support::holding::per_character(&message);
        prop_assert_eq!(&support::reading::read_chunks(tools, by_character, truncated, |_| {}), &whole);
        let places = support::reading::boundaries(&message);
        let mut cuts: Vec<usize> = cuts.iter().filter(|_| !places.is_empty()).map(|cut| places[cut % places.len()]).collect();
        cuts.sort_unstable();
        let chunks = support::reading::pieces(&message, &cuts);
        prop_assert_eq!(&support::reading::read_chunks(tools, chunks, truncated, |_| {}), &whole);
    }

    /// What is cut off is no call: a call ends with CLOSE, or where the message is known to be complete.
    #[test]
    fn nothing_is_completed(message in message(), at in 0..TOOLSETS.len(), truncated in select(&[None, Some(true)][..])) {
        let (protocol, tools) = &TOOLSETS[at];
        let message = written(&message, *protocol);
        let seen = holds(tools, &message, truncated, &[])?;
        for end in calls(&seen) {
            let source: String = message.chars().skip(end.start).take(end.end - end.start).collect();
            let closed = source.ends_with(tools.delimiters.close.as_str());
            // Or the next one begins.
            let followed = seen.iter().any(|one| match one {
                Seen::End(next) => next.start == end.end,
                Seen::Error(next) => next.start == end.end,
                _ => false,
            });
            let opened = message.chars().skip(end.end).collect::<String>().starts_with(tools.delimiters.open.as_str());
            prop_assert!(closed || followed || opened, "{message:?} gave {seen:#?}");
        }
    }
}
