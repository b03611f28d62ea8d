//! The laws of the format, in protocols of a host's own: markers around JSON, and a host that reads the bodies itself.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use wirecall_core::{Custom, Format, Host, Options, Reading, Toolset, parse_json};

use crate::support::checks::{any_chunks, beginnings, chunks_of_large_calls, well_formed};
use crate::support::config;
use crate::support::reading::{Seen, calls, read, traces};
use crate::support::text::{prose, soup};
use crate::support::toolsets::definition;

/// The tool's name on a line, then JSON. Not all that begins with OPEN is a call.
#[derive(Debug)]
struct Lines;

impl Host for Lines {
    fn begins(&self, head: &str) -> bool {
        head.starts_with(|c: char| c.is_ascii_alphabetic())
    }

    fn read(&self, body: &str) -> Reading {
        let (name, arguments) = body.split_once('\n').unwrap_or((body, ""));
        match serde_json::from_str::<Value>(arguments) {
            Ok(Value::Object(_)) => Reading::Call { name: name.into(), arguments: arguments.into() },
            Ok(_) => Reading::Bad("Write an object.".into()),
            Err(_) => Reading::More,
        }
    }

    fn write_call(&self, name: &str, arguments: &str) -> String {
        format!("{name}\n{arguments}")
    }

    fn write_result(&self, name: &str, content: &str, error: bool, _number: Option<u64>) -> String {
        format!("{name} {error}\n{content}")
    }
}

/// Markers around the bodies of a built-in protocol.
fn around(like: &str, (open, close): (&str, &str), (begin, end): (&str, &str)) -> Format {
    let call = format!("{open}{{call}}{close}");
    let described = json!({"like": like, "call": call, "result": format!("{begin}{{result}}{end}")});
    Format::new(&described.to_string()).expect("the markers are fine")
}

fn toolset(own: bool, strict: bool, call_bytes: usize) -> Toolset {
    let (open, close) = if own { ("<|call|>", "<|end|>") } else { ("[CALL]", "[/CALL]") };
    let result = if own { ("<|result|>", "<|/result|>") } else { ("[RESULT]", "[/RESULT]") };
    let mut custom = Custom::new((open, close), result, Arc::new(Lines));
    (custom.begins, custom.results) = (true, true);
    let note = json!({"type": "object", "properties": {
        "body": {"type": "string"}, "days": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}}});
    let mut options = Options::default();
    match own {
        true => options.custom = Some(custom),
        false => options.format = Some(around("hermes", (open, close), result)),
    }
    options.strict = strict;
    options.limits.call_bytes = call_bytes;
    Toolset::new(vec![definition("note", &note), definition("ping", &json!({"type": "object"}))], options)
        .expect("the tools are fine")
}

/// Of both kinds, lenient and strict; then the same with less room for a call.
static SETS: LazyLock<Vec<Vec<Toolset>>> = LazyLock::new(|| {
    let sizes = [16 << 20, 4, 12, 20, 30, 40, 60, 90];
    let kinds = [(true, false), (true, true), (false, false), (false, true)];
    sizes.map(|bytes| kinds.map(|(own, strict)| toolset(own, strict, bytes)).into()).into()
});

/// Wire, and a protocol with its markers around bodies of pairs; lenient and strict.
static PAIRS: LazyLock<Vec<[Toolset; 2]>> = LazyLock::new(|| {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["tags"], "properties": {
        "tags": {"type": "array", "items": {"type": "string"}}, "unit": {"enum": ["a b", "c"]}, "n": {"type": "integer"}}});
    let set = |custom: bool, strict: bool| {
        let mut options = Options::default();
        options.strict = strict;
        if custom {
            let result = ("<tool-result", "</tool-result>");
            options.format = Some(around("wire", ("<call>", "</call>"), result));
        }
        Toolset::new(vec![definition("t", &schema)], options).expect("the tool is fine")
    };
    [false, true].map(|strict| [set(false, strict), set(true, strict)]).into()
});

const PAIRS_TOKENS: &[&str] = &[
    "<call>t",
    "</call>",
    " ",
    " n=1",
    "<call>t tags=a</call>",
    "<call>t \"n",
    " {",
    " {\"tags\":[\"a\"]}</call>",
    " {\"tag\":[\"a\"]}</call>",
    " {\"tags\":{\"item\":[\"a\"]}}</call>",
    " {\"tags\":[],\"unit\":\"'c'\"}</call>",
    " {\"tags\":[],\"n\":{\"value\":1}}</call>",
    "<tool-result",
    "\n",
    "x",
];

const TOKENS: &[&str] = &[
    "<|call|>",
    "<|end|>",
    "<|result|>",
    "<|/result|>",
    "<|",
    "|>",
    "[CALL]",
    "[/CALL]",
    "[RESULT]",
    "[/RESULT]",
    "[",
    "note\n",
    "ping\n",
    "nope\n",
    "{}",
    "{\"body\":\"",
    "\"}",
    "{\"days\":\"3\"}",
    "[1]",
    "\n",
    "ä",
    "🙂",
    "\\",
    "\"",
    "{\"name\":\"note\",\"arguments\":{\"body\":\"",
    "\"}}",
    "<tool_response>",
    "<think>",
    "</think>",
];

#[derive(Debug)]
struct Case {
    /// The number of its toolset.
    at: usize,
    message: String,
    truncated: Option<bool>,
}

fn case() -> impl Strategy<Value = Case> {
    (0..4_usize, select(&[None, Some(false), Some(true)][..])).prop_flat_map(|(at, truncated)| {
        let tokens = || prop::collection::vec(select(TOKENS), 0..6).prop_map(|tokens| tokens.concat());
        let call = (tokens(), select(&["note", "ping", "nope"][..])).prop_map(move |(body, name)| {
            let value = json!({"body": body, "days": 3}).to_string();
            let value = parse_json(&value, 8).expect("it is JSON");
            SETS[0][at].encode(name, &value).expect("it can be written")
        });
        let part = prop_oneof![2 => call, 4 => tokens(), 1 => soup(4), 1 => prose()];
        prop::collection::vec(part, 0..5).prop_map(move |parts| Case { at, message: parts.concat(), truncated })
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn chunking_does_not_matter(
        case in case(), room in 1..8_usize, cuts in prop::collection::vec(any::<Index>(), 0..5),
    ) {
        let Case { at, message, truncated } = &case;
        any_chunks(&SETS[0][*at], message, *truncated, &cuts)?;
        chunks_of_large_calls(&SETS[room][*at], message, *truncated, &cuts)?;
    }

    #[test]
    fn the_end_runs_no_call(case in case(), cuts in prop::collection::vec(any::<Index>(), 0..10)) {
        beginnings(&SETS[0][case.at], &case.message, case.truncated, &cuts)?;
    }

    #[test]
    fn nothing_is_lost_and_every_start_has_one_end(case in case()) {
        let Case { at, message, truncated } = &case;
        well_formed(&SETS[0][*at], message, *truncated)?;
    }

    #[test]
    fn pairs_are_read_as_in_wire(
        parts in prop::collection::vec(select(PAIRS_TOKENS), 0..8), strict: bool,
        truncated in select(&[None, Some(false), Some(true)][..]),
    ) {
        let [wire, custom] = &PAIRS[usize::from(strict)];
        let message = parts.concat();
        let (own, other) = (read(custom, &message, truncated), read(wire, &message, truncated));
        prop_assert_eq!(format!("{own:#?}"), format!("{other:#?}"), "{:?}", message);
    }

    #[test]
    fn no_value_makes_a_call(case in case(), behind in prose()) {
        let tools = &SETS[0][case.at];
        let value = json!({"body": case.message, "tags": [case.message]}).to_string();
        let value = parse_json(&value, 8).expect("it is JSON");
        let written = tools.encode("note", &value).expect("it can be written");
        let seen = read(tools, &format!("{written}{behind}"), None);
        let [call] = calls(&seen).collect::<Vec<_>>()[..] else { panic!("{written:?} gave {seen:#?}") };
        let read = parse_json(&call.arguments, 8).expect("it is JSON");
        prop_assert_eq!(format!("{read:?}"), format!("{value:?}"));
        prop_assert!(call.repairs.is_empty() && traces(&seen) == 3, "{seen:#?}");
    }

    #[test]
    fn no_result_is_forged(case in case(), name in soup(3), error: bool) {
        let tools = &SETS[0][case.at];
        let plain = tools.neutralise(&case.message);
        prop_assert_eq!(tools.neutralise(&plain), &plain[..], "neutral already");
        let written = tools.encode_result(&name, &case.message, error, None);
        for truncated in [None, Some(false)] {
            prop_assert_eq!(traces(&read(tools, &plain, truncated)), 0, "{:?}", plain);
            let seen = read(tools, &written, truncated);
            prop_assert!(traces(&seen) == 1 && matches!(&seen[0], Seen::Error(e) if e.start == 0), "{written:?} gave {seen:#?}");
            prop_assert_eq!(traces(&read(tools, &written[1..], truncated)), 0, "{:?}", &written[1..]);
        }
    }
}
