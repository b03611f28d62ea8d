//! Parts of messages in the xml protocol: calls, near misses of every repair, broken calls.

use proptest::prelude::*;
use proptest::sample::select;

use super::text::soup;
use super::toolsets::{KEYS, NAMES};

/// What is between, before and after them.
#[rustfmt::skip]
pub(crate) const TOKENS: &[&str] = &[
    "<tool_response>x</tool_response>",
    "<tool_resp",
    "<think>",
    "</think>",
    "<get_weather>",
    "</get_weather>",
    "Use <ping> so: ",
    "<get_weather> is <ping>",
    "<get_weather city=\"x\"/>",
    "<",
    "</",
    "<pi",
    "\nping\n",
    "\nget_weather\n",
    "\nget_weath",
    "<!-- x -->",
    "ping",
    "\nping is a tool\n",
    "<city>", "</city>", "<city>Oslo</city>", "<days>3</days>", "<tags>a</tags>", "<note>", "</note>", "<ping/>", "&amp;", "&lt", "&#65;", "<![CDATA[", "]]>",
    "-->", "<item>", "</item>", "/>", "{\"city\":\"", "\"}", "</Tool_Response>", " ", "\n",
];
/// Beside those of the tools.
const OTHER_NAMES: &[&str] = &["getWeather", "PING", "nope", "tool_response", ""];
const OTHER_KEYS: &[&str] = &[
    "max_results",
    "other",
    "item",
    "0",
    "1",
    "__proto__",
    "é",
    "ping",
    "name",
    "sku",
    "n",
    "next",
    "kids",
    "address",
    "City",
];
#[rustfmt::skip]
const VALUES: &[&str] = &[
    "Oslo",
    "5",
    "5.0",
    " 7\n",
    "-0",
    "1e3",
    "true",
    "TRUE",
    "null",
    "\"null\"",
    "metric",
    "METRIC",
    "a,b",
    "1, 2",
    "",
    " ",
    "don't",
    "\"q\"",
    "[\"a\",\"b\"]",
    "[1,]",
    "[[[",
    "{\"sku\":\"A1\"}",
    "{sku: 'A1',}",
    "{\"a\":1,\"a\":2}",
    "{",
    "&lt;b&gt;",
    "&amp;amp;",
    "&#65;&#x1F600;",
    "&#xD800;",
    "&nbsp;",
    "& ",
    "&am",
    "a < b",
    "<b>bold</b>",
    "</b>",
    "<br/>",
    "<ping/>",
    "</get_weather>",
    "<![CDATA[</city>&amp;]]>",
    "<![CDATA[",
    "]]>",
    "<!-- c -->",
    "<!--",
    "<item>1</item><item>2</item>",
    "<0>1</0><1>2</1>",
    "<0>1</0><2>2</2>",
    "<sku>A</sku><n>2</n>",
    "<name>x</name><address><city>y</city></address>",
    "<a><b>1</b></a>",
    "<next><value>x</value></next>",
    "日本",
    "<tool_response>",
    "\\",
];

fn element(content: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let form = prop_oneof![
        16 => Just(("<", ">", "</", ">")), 1 => Just(("<", ">", "</ ", " >")), 1 => Just(("<", ">", "", "")), 1 => Just(("", "", "</", ">")),
        1 => Just(("<", " id=\"7\" x='a&amp;>'>", "</", ">")), 1 => Just(("<", " id=\"7>", "</", ">")), 1 => Just(("<", "/>", "", "")),
        1 => Just(("< ", ">", "</", ">")),
    ];
    let key = prop_oneof![1 => select(KEYS), 1 => select(OTHER_KEYS)];
    (form, key, content)
        .prop_map(|((open, opened, close, closed), key, content)| {
            let end = if close.is_empty() { String::new() } else { format!("{close}{key}{closed}") };
            let start = if open.is_empty() { String::new() } else { format!("{open}{key}{opened}") };
            if opened == "/>" { start } else { start + &content + &end }
        })
        .boxed()
}

fn fields() -> impl Strategy<Value = String> {
    let value = prop_oneof![6 => select(VALUES).prop_map(str::to_owned), 1 => soup(3)].boxed();
    let inner = prop::collection::vec(element(value.clone()), 1..3).prop_map(|parts| parts.concat()).boxed();
    let field = element(prop_oneof![4 => value, 1 => inner].boxed());
    let gap = prop_oneof![8 => Just(""), 4 => Just("\n  "), 1 => Just(" stray "), 1 => Just("<!-- c -->"), 1 => Just("&amp;")];
    prop::collection::vec((gap, field), 0..5)
        .prop_map(|fields| fields.into_iter().map(|(gap, field)| format!("{gap}{field}")).collect())
}

/// A call, or nearly one.
pub(crate) fn call() -> BoxedStrategy<String> {
    const BODIES: &[&str] = &[
        "{}",
        "{\"city\":\"Oslo\",\"days\":3}",
        "{'city': 'Oslo', days: 3,}",
        "{\"city\":\"a</get_weather>\"}",
        "{\"city\":\"x\"",
        "{\"city\" \"x\"}",
        "\n{\"city\":\"x\"}\n",
        "{\"city\":\"x\"} trailing",
        "just text",
        "text & <b>more</b>",
        "\n",
    ];
    let body = prop_oneof![6 => fields(), 1 => select(BODIES).prop_map(str::to_owned), 1 => soup(5)];
    let form = prop_oneof![
        12 => Just(("<", ">", "</", ">")), 1 => Just(("< ", " >", "</ ", " >")), 1 => Just(("<", "\n", "", "\n/>")), 1 => Just(("<", ">", "", "")),
        1 => Just(("\n", "\n  ", "", "")), 1 => Just(("\n", "\n", "\n</", ">")), 1 => Just(("<", "/>", "", "")), 1 => Just(("<", ">", "</", "")),
    ];
    let name = prop_oneof![1 => select(NAMES), 1 => select(OTHER_NAMES)];
    (form, name, body)
        .prop_map(|((open, opened, close, closed), name, body)| match (opened, close) {
            ("/>", _) => format!("{open}{name}{opened}"),
            (_, "") => format!("{open}{name}{opened}{body}{closed}"),
            _ => format!("{open}{name}{opened}{body}{close}{name}{closed}"),
        })
        .boxed()
}
