//! JSON texts to values: the vectors of tests/vectors/json, which Python reads too, and `serde_json` as referee.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value as Json;
use wirecall_core::{Duplicates, LoadOptions, RECURSION, SyntaxError, Value, loads, parse_json};

use crate::support::config;

const STRICT: LoadOptions = LoadOptions::STRICT;
const RELAXED: LoadOptions = LoadOptions::RELAXED;

fn cases(name: &str) -> Vec<Json> {
    let path = format!("{}/../../tests/vectors/json/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.split_terminator('\n').map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn text(case: &Json) -> &str {
    case["text"].as_str().expect("a text")
}

fn options(case: &Json) -> LoadOptions {
    if case["relaxed"] == false { STRICT } else { RELAXED }
}

fn written(value: &Value<'_>) -> String {
    let mut out = String::new();
    value.write(&mut out);
    out
}

/// The value, with its numbers by value.
fn same(value: &Value<'_>, expected: &Json) -> bool {
    value.equals(&parse_json(&expected.to_string(), RECURSION).expect("serde_json writes JSON"))
}

/// Does `serde_json` read it, and as what? It keeps the last of equal keys, and digits of any number as they are.
fn by_serde(text: &str) -> Option<Json> {
    serde_json::from_str(text).ok()
}

#[test]
fn suite() {
    for case in cases("suite") {
        for (options, mode) in [(&STRICT, "strict"), (&RELAXED, "relaxed")] {
            let id = case["id"].as_str().expect("an id");
            let expected = if id.starts_with("y_") { by_serde(text(&case)) } else { case.get(mode).cloned() };
            match (loads(text(&case), options, None), expected) {
                // What is a float in Python is a number as it is written here.
                (Ok(value), Some(_)) if id.starts_with("i_number") => {
                    assert!(matches!(value, Value::Array(_)), "{case}");
                }
                (Ok(value), Some(expected)) => assert!(same(&value, &expected), "{mode} {case}: {value:?}"),
                (Err(_), None) => {}
                (found, expected) => panic!("{mode} {case}: {found:?}, not {expected:?}"),
            }
        }
    }
}

#[test]
fn tolerant() {
    for case in cases("tolerant") {
        let mut warnings = Vec::new();
        let value = loads(text(&case), &options(&case), Some(&mut warnings)).expect("nothing is raised");
        assert!(same(&value, &case["value"]), "{case}: {value:?}");
        let told = |SyntaxError { line, column, message, .. }: SyntaxError| serde_json::json!([line, column, message]);
        let warnings: Vec<Json> = warnings.into_iter().map(told).collect();
        assert_eq!(Json::Array(warnings), case["warnings"], "{case}");
    }
}

#[test]
fn partial() {
    for case in cases("partial") {
        let mut options = options(&case);
        options.partial = true;
        let value = loads(text(&case), &options, None);
        assert!(value.as_ref().is_ok_and(|value| same(value, &case["value"])), "{case}: {value:?}");
    }
}

const TOKENS: [&str; 40] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "\\",
    "/",
    "//",
    "/*",
    "*/",
    "\n",
    " ",
    "\r",
    "\t",
    "\\n",
    "\\u00e9",
    "\\ud83d\\ude00",
    "0",
    "1",
    "-",
    ".",
    "e",
    "E",
    "+",
    "true",
    "null",
    "True",
    "NaN",
    "a",
    "\"a\"",
    "\"b\":",
    "'c'",
    "{\"a\":",
    "é",
    "\u{1f600}",
    "\0",
    "\u{feff}",
];

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_filter("JSON has no others", |value| value.is_finite()).prop_map(Json::from),
        ".{0,8}".prop_map(Json::from),
        vec(select(&TOKENS[..]), 0..4).prop_map(|tokens| tokens.concat().into()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::from),
            vec((".{0,3}", inner), 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// JSON with something put into it, or taken from it, or tokens in any order.
fn noise() -> impl Strategy<Value = String> {
    let edited = (json(), vec((any::<prop::sample::Index>(), 0..3_usize, select(&TOKENS[..])), 0..3)).prop_map(
        |(value, edits)| {
            let mut chars: Vec<String> = value.to_string().chars().map(String::from).collect();
            for (at, taken, put) in edits {
                let from = at.index(chars.len() + 1);
                let to = (from + taken).min(chars.len());
                chars.splice(from..to, [put.to_owned()]);
            }
            chars.concat()
        },
    );
    prop_oneof![edited, vec(select(&TOKENS[..]), 0..16).prop_map(|tokens| tokens.concat())]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_serde_json_writes_is_read(value in json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        for options in [&STRICT, &RELAXED] {
            let found = loads(&text, options, None).map(|value| written(&value));
            prop_assert_eq!(found, Ok(value.to_string()));
        }
    }

    #[test]
    fn strict_agrees_with_serde_json(text in noise()) {
        let mut options = STRICT;
        options.duplicates = Duplicates::Last;
        match (loads(&text, &options, None), by_serde(&text)) {
            (Ok(value), Some(expected)) => prop_assert_eq!(by_serde(&written(&value)), Some(expected)),
            (Err(_), None) => {}
            // Numbers are never rounded there.
            (Err(fault), Some(_)) => prop_assert!(fault.message.contains("float"), "{:?}", fault),
            // Lone surrogates are U+FFFD here, and errors there.
            (Ok(value), None) => prop_assert!(text.contains("\\u"), "{:?}", value),
        }
    }

    #[test]
    fn relaxed_reads_what_strict_does_and_tolerant_everything(text in noise()) {
        let strict = loads(&text, &STRICT, None);
        let relaxed = loads(&text, &RELAXED, None);
        if strict.is_ok() {
            prop_assert_eq!(&strict, &relaxed);
        }
        for (options, wanted) in [(STRICT, strict), (RELAXED, relaxed)] {
            let mut warnings = Vec::new();
            let found = loads(&text, &options, Some(&mut warnings));
            prop_assert!(found.is_ok());
            prop_assert_eq!(warnings.is_empty(), wanted.is_ok());
            if wanted.is_ok() {
                prop_assert_eq!(found, wanted);
            }
            let mut partial = options;
            partial.partial = true;
            prop_assert!(loads(&text, &partial, Some(&mut warnings)).is_ok());
        }
    }

    #[test]
    fn every_beginning_is_read(value in json(), at in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let mut end = at.index(text.len() + 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        for options in [STRICT, RELAXED] {
            let mut options = options;
            options.partial = true;
            prop_assert!(loads(&text[..end], &options, None).is_ok());
        }
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for partial in [false, true] {
        let mut options = RELAXED;
        options.partial = partial;
        assert!(loads(&nested(RECURSION), &options, None).is_ok());
        assert!(loads(&nested(RECURSION + 1), &options, None).is_err());
        assert!(loads(&"{a:".repeat(100_000), &options, Some(&mut Vec::new())).is_err());
    }
}

#[test]
fn digits_are_bounded() {
    let text = format!("[-{}]", "1".repeat(701));
    let mut options = RELAXED;
    options.digits = 700;
    let fault = loads(&text, &options, None).unwrap_err();
    assert_eq!((fault.line, fault.column), (1, 2));
    assert!(fault.message.contains("701 digits"), "{fault:?}");
    assert_eq!(loads(&text, &RELAXED, None).map(|value| written(&value)), Ok(text.clone()));
}
