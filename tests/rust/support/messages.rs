//! Messages: prose, calls, near misses of every repair, broken calls, invented results, and soup of all that.

use proptest::prelude::*;
use proptest::sample::select;

use super::text::{prose, soup};
use super::toolsets::{KEYS, NAMES, Setting, settings};

/// Beside those of the tools.
const OTHER_NAMES: &[&str] = &["getWeather", "PING", "nope", "odd§name", "", "[object"];
const OTHER_KEYS: &[&str] = &[
    "max_results",
    "a.c",
    "tags[0]",
    "tags[1]",
    "tags[3]",
    "items[0].sku",
    "items[0].n",
    "items.0.sku",
    "profile.name",
    "profile.address.city",
    "pair[1]",
    "meta.x",
    "root.next.value",
    "root.kids[0].value",
    "other",
    "\"a.b\"",
    "'a b'",
    "\"unclosed",
    "__proto__",
    "x.y.z",
    "a..b",
    "5",
    "é",
];
const VALUES: &[&str] = &[
    "Oslo",
    "5",
    "5.0",
    "4.9",
    "-0",
    "1e3",
    "true",
    "TRUE",
    "null",
    "None",
    "metric",
    "METRIC",
    "imperial",
    "7",
    "a,b",
    "1,2,x",
    "a,",
    ",",
    "New York",
    "New York units",
    "don't",
    "\"Oslo\"",
    "'Oslo'",
    "\"He said \"hi\" to me\"",
    "\"a\\\"b\\u00e9\\n\"",
    "\"x\"y",
    "\"open",
    "'open",
    "\"</call>\"",
    "\"<call>ping</call>\"",
    "\"q\" \"r\"",
    "\"say \"x\" <call>\"",
    "[\"a\",\"b\"]",
    "[1,2]",
    "[1,]",
    "['a', b]",
    "[1 2]",
    "{\"sku\":\"A1\",\"n\":2}",
    "{sku: 'A1', n: None,}",
    "{\"a\":1,\"a\":1}",
    "{\"a\":1,\"a\":2}",
    "[{\"sku\":1}]",
    "{\"a\":{\"b\":[1,{}]}}",
    "[[[",
    "{\"open\":\"",
    "{\"a\":\"\\ud83d\\ude00\\x\"}",
    "",
    "007",
    "a=b",
    "x<y",
    "a<call>b",
    "\\",
    "日本",
    "[[]]",
    "{}",
    "[]",
    "{",
    "]",
];
const BODIES: &[&str] = &[
    "{}",
    "{\"city\":\"Oslo\",\"days\":3}",
    "{'city': 'Oslo', days: 3,}",
    "{\"city\":\"a\\\"b</call>\"}",
    "{\"days\":\"3\",\"city\":null}",
    "{\"city\":\"x\",\"city\":\"x\"}",
    "{\"city\":\"x\",\"city\":\"y\"}",
    "{\"city\":\"line\nbreak\"}",
    "{\"tags\":\"a\",\"items\":{\"sku\":\"A\"}}",
    "{\"q\":\"x\",\"Q\":1,\"limit\":5.0}",
    "{\"city\":\"x\"",
    "{\"city\" \"x\"}",
    "{\"a\":[1,2}}",
    "{\"value\":1e400,\"root\":{\"kids\":[{},{\"value\":\"v\"}]}}",
    "{\"city\":\"x\"} trailing",
    "{\"city\":\"x\"}</json>",
    "{\"a\":tru",
    "{{",
    "{\"maxResults\":01}",
    "{\"n_1\":\"5\",\"x\":[true,null,-1.50]}",
];
const WRAPPERS: &[(&str, &str)] = &[
    ("", ""),
    (" ", ""),
    ("\n", "\n"),
    ("<json>", "</json>"),
    (" <json>\n", "\n</json> "),
    ("\n```json\n", "\n```\n"),
    (" ```", "```"),
];
const CLOSES: &[&str] =
    &["</call>", "</call>", "</call>", " </call>", "\n</call>", "", "\n<call>", ",</call>", " stray</call>", "</cal"];
const EXTRAS: &[&str] = &[
    "<tool-result name=\"x\">1</tool-result>",
    "<tool-error>",
    "<tool-re",
    "<think>",
    "</think>",
    "<call>",
    "</call>",
    "<call>{\"a\":1}</call>",
    "Write <call> like this: ",
    "<call>no call here, see</call>",
    "<call>ping\n<call>ping</call>",
    "<",
    "<ca",
];

fn pairs() -> impl Strategy<Value = String> {
    let equals = prop_oneof![12 => Just("="), 1 => Just(" = "), 1 => Just("= "), 1 => Just(" =")];
    let gap = prop_oneof![10 => Just(" "), 1 => Just("\n"), 1 => Just(", "), 1 => Just(","), 1 => Just("")];
    let key = prop_oneof![1 => select(KEYS), 1 => select(OTHER_KEYS)];
    let pair = (gap, key, equals, prop_oneof![5 => select(VALUES).prop_map(str::to_owned), 1 => soup(3)]);
    prop::collection::vec(pair, 0..5).prop_map(|pairs| {
        pairs.into_iter().map(|(gap, key, equals, value)| [gap, key, equals, &value].concat()).collect()
    })
}

fn object() -> impl Strategy<Value = String> {
    (select(WRAPPERS), select(BODIES)).prop_map(|((before, after), body)| format!("{before}{body}{after}"))
}

fn call() -> impl Strategy<Value = String> {
    let body = prop_oneof![4 => pairs(), 2 => object(), 1 => soup(5)];
    let name = prop_oneof![1 => select(NAMES), 1 => select(OTHER_NAMES)];
    (name, body, select(CLOSES)).prop_map(|(name, body, close)| format!("<call>{name}{body}{close}"))
}

/// A message in the default delimiters.
fn message() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => call(),
        1 => soup(8),
        1 => prose(),
        1 => select(EXTRAS).prop_map(str::to_owned),
    ];
    (
        prop::bool::weighted(0.05),
        prop::collection::vec(part, 0..4),
        any::<prop::sample::Index>(),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(thinks, parts, end, cut)| {
            let mut out = if thinks { "<think>".to_owned() } else { String::new() };
            out.extend(parts);
            if cut {
                let ends: Vec<usize> = out.char_indices().map(|(at, _)| at).chain([out.len()]).collect();
                out.truncate(ends[end.index(ends.len())]);
            }
            out
        })
}

/// A message, what it is read with, and what is said of its end.
#[derive(Debug)]
pub(crate) struct Case {
    pub setting: &'static Setting,
    /// Its number.
    pub at: usize,
    pub message: String,
    pub truncated: Option<bool>,
}

pub(crate) fn case() -> impl Strategy<Value = Case> {
    (message(), 0..settings().len(), select(&[None, Some(false), Some(true)][..])).prop_map(
        |(message, at, truncated)| {
            let setting = &settings()[at];
            let message = match setting.tools.delimiters() {
                ("<call>", _) => message,
                (open, close) => message.replace("<call>", open).replace("</call>", close),
            };
            Case { setting, at, message, truncated }
        },
    )
}
