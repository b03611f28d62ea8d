//! The laws of the format, in the other protocols. `WIRECALL_LAW_CASES` says how many of each.
//!
//! A message is made of calls as they are written and of a format's own tokens, and is then cut and mended at random: so all
//! near misses come up that the tokens can make.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use wirecall_core::{Limits, Options, Syntax, Toolset, parse_json, protocols};

use crate::support::checks::{any_chunks, beginnings, chunks_of_large_calls, well_formed, written_is_read};
use crate::support::every::with_laws;
use crate::support::reading::{Seen, boundaries, calls, pieces, read, read_chunks, traces};
use crate::support::schemas::root;
use crate::support::shared;
use crate::support::text::{prose, soup};
use crate::support::toolsets::{Setting, definition, limits, options_of, settings_of};
use crate::support::xml as elements;

struct Format {
    name: &'static str,
    tokens: &'static [&'static str],
    /// Calls and near misses with more order in them than tokens have.
    call: Option<Call>,
    /// Are calls of undeclared tools calls, where no tool is declared?
    open: bool,
    settings: Vec<Setting>,
    /// The same, each time with less room for a call.
    limited: Vec<Vec<Setting>>,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// JSON in markers.
macro_rules! envelopes {
    ($open:literal, $close:literal) => {
        &[
$open, $open, $close, $close,
concat!($open, "{\"name\":\"get_weather\",\"arguments\":{\"city\":\""),
concat!($open, "\n{\"arguments\": {\"city\": \"hi\", \"days\": \"3\"}, \"name\": \"get_weather\"}\n", $close),
concat!($open, "[{\"name\": \"ping\", \"arguments\": {}}, {\"name\":\"search\",\"arguments\":{\"q\":\"b\"}}]", $close),
concat!($open, "{\"name\": \"any\", \"arguments\": {\"text\": \"say \"hi\", ok\", \"n_1\": 1, \"list\": [\"a \"b\" c\", \"d\"]}}", $close),
concat!($open, "{\"name\":\"create\",\"arguments\":\"{\\\"tags\\\":[\\\"a\\\"],\\\"ids\\\":[\\\"4\\\"]}\"}", $close),
concat!($open, "{name: 'get_weather', // note\n arguments: {city: 'it', /* c */ days: None,}, }", $close),
concat!($open, "{\"name\":\"ping\"}\n", $open, "{\"tool\":\"nope\",\"args\":{}}", $close),
concat!($open, "{\"name\":\"ping\"}\n{\"name\":\"search\",\"arguments\":{\"q\":\"2\"}}", $close),
concat!($open, "\n```json\n{\"name\":\"ping\"}\n```\n", $close),
"\"}}", "{", "}", "[", "]", ",", ":", "\"", "'", "\\", "\\\"", "\\u00", "}}", "}}}", "\"}", "\", \"", "\": \"", " ", "\n", "/", "//", "/*", "*/",
"\"name\"", "\"name\":\"search\"", "\"tool\":\"search\"", "\"name\":\"nope\"", "\"name\":\"Get-Weather\"", "name:'ping'", "\"name\":\"\"", "\"name\":5",
"\"arguments\"", "\"arguments\":{}", "\"arguments\":{\"city\":\"hi\",\"days\":1}", "\"parameters\":{\"q\":1}", "\"arguments\":null",
"\"args\":{\"q\":\"say \"hi\" now\"}", "\"arguments\":\"", "\"arguments\":[1]", "\"id\":7", "\"more\":[{},{\"a\":\"b\"}]",
"\"city\":\"", "\"days\":", "\"days\":\"3\"", "\"deep\":True", "\"tags\":[\"a\", \"b\"]", "\"tags\":[\"", "\"units\":\"METRIC\"", "\"units\":\"'imperial'\"",
"\"tags\":{\"item\":[\"a\", ", "\"days\":{\"value\":", "\"items\":{\"0\":{\"sku\":\"b\"}}", "\"items\":{\"item\":[{\"skus\":'c'}]}",
"\"by\":[]", "\"root\":{\"next\":{\"kids\":[{}]}}", "q: x", "hello", "don't", "</", "<", "</think>", "<tool_", "</tool_call", "``", "```json", "<json>",
"</json>", "<tool_response", "<call>",
        ]
    };
}

type Call = fn() -> BoxedStrategy<String>;

const TOKENS: &[(&str, &[&str], Option<Call>, bool)] = &[
    ("hermes", HERMES, None, true),
    ("gemma", GEMMA, None, true),
    ("qwen3coder", QWEN, None, true),
    ("yaml", YAML, None, false),
    ("xml", elements::TOKENS, Some(elements::call), false),
];

const HERMES: &[&str] = envelopes!("<tool_call>", "</tool_call>");
const GEMMA: &[&str] = envelopes!("```tool_call", "```");

const QWEN: &[&str] = &[
    "<tool_call>",
    "\n<tool_call>\n",
    "</tool_call>",
    "\n</tool_call>",
    "<Tool_Call>",
    "<tool_call name=\"ping\">",
    "<function=get_weather>",
    "<function=create>\n",
    "<function=\"search\">",
    "<function name='search'>",
    "<function=nope>",
    "<function=PING/>",
    "<invoke name=\"tree\">",
    "</invoke>",
    "<function>any</function>",
    "<function><name>any</name>",
    "<name>ping</name>",
    "function=ping>",
    "<ping>",
    "<get_weather>",
    "</get_weather>",
    "get_weather\n",
    "</function>",
    "\n  </function >\n",
    "<function=",
    "<parameter=city>",
    "<parameter=city>Oslo</parameter>",
    "<parameter=days>3</parameter>",
    "<parameter=days>\n 5.0\n</parameter>",
    "<parameter=units>METRIC</parameter>",
    "<parameter=tags>a</parameter>",
    "<parameter=tags>a, b</parameter>",
    "<parameter=tags>[\"a\"]</parameter>",
    "<parameter=ids>1</parameter>",
    "<parameter=items>{\"sku\":\"A\"}</parameter>",
    "<parameter=profile>{name: 'x'}</parameter>",
    "<parameter=pair>",
    "<parameter=q>",
    "<parameter=when>null</parameter>",
    "<parameter=x y>",
    "<parameter=n_1>",
    "<parameter=max_results>",
    "<param name=\"q\">",
    "</param>",
    "<parameter>city</parameter>\n",
    "<parameter=city/>",
    "<arg=value>",
    "<city>",
    "</city>",
    "</parameter>",
    "\n</parameter>\n",
    "</parameter >",
    "</parameter",
    "parameter=days>",
    "<get_weather city=\"Oslo\">",
    "<invoke name=\"tree\" q='",
    "<tool_call id=\"1\">",
    "<function=get_weather city=\"",
    " days=\"3\"",
    " fast",
    "/>",
    "\n<parameter=city>\n",
    "\n<parameter=days>\n",
    "\n</function>\n</tool_call>",
    "True",
    "None",
    "{\"city\":\"</function>\",\"days\":\"3\"}",
    "{\"city\":",
    "}",
    "&lt;",
    "&",
    "<tool_response>",
    "</tool_response>",
    "<toolbar>",
    "\"",
    "`",
    " ",
    "\n",
    "\n    ",
];

const YAML: &[&str] = &[
    "<get_weather>\n",
    "<create>\n",
    "<search>\n",
    "<tree>",
    "<any>\n",
    "<ping/>",
    "<PING>",
    "<nope>\n",
    "<get_weather\n",
    "\n/>",
    "/>",
    "</get_weather>",
    "\n</get_weather>",
    "</create>",
    "\n</search>",
    "</any>",
    "\n</tree>",
    "</ get_weather >",
    "</ping>",
    "<",
    "</",
    "city: ",
    "city: Oslo\n",
    "\ncity: ",
    "city:\n",
    "units: METRIC\n",
    "days: ",
    "days: 3\n",
    "deep: True\n",
    "max_results: 0x1F\n",
    "\"city\": ",
    "tags:\n  - a\n",
    "tags: a, b\n",
    "tags: [a, 'b', ",
    "ids:\n- 1\n",
    "items:\n  - sku: A\n    n: 1\n",
    "profile: {name: x}\n",
    "profile:\n  name: ",
    "pair: ",
    "q: ",
    "\nq: ",
    "when: ~\n",
    "by: ",
    "a.b: x\n",
    "'a.b': ",
    "n_1: 012\n",
    "odd: ",
    "root:\n  value: |\n    ",
    "? ",
    "- ",
    ": ",
    ":",
    "#",
    " # c\n",
    "\"",
    "'",
    "''",
    "\\",
    "\\n",
    "\\x4",
    "\\u00e9",
    "|",
    "|\n  ",
    "|-\n    ",
    ">+\n ",
    "|2\n",
    "> ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "{\"city\": \"",
    "\"}",
    "---\n",
    "...",
    "&x ",
    "*y",
    "!!str ",
    "%",
    "@",
    "foo: bar",
    "word ",
    "\n",
    "\n",
    "\n  ",
    "\n    ",
    "\n ",
    "\t",
    "\r\n",
    "\r",
    "null",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "`",
];

static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
    let sizes = [1, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160];
    let format = |(name, tokens, call, open): &(&'static str, &'static [&'static str], Option<Call>, bool)| Format {
        name,
        tokens,
        call: *call,
        open: *open,
        settings: settings_of(name, Limits::default()),
        limited: sizes.map(|call_bytes| settings_of(name, limits(call_bytes))).into(),
    };
    TOKENS.iter().map(format).collect()
});

/// Arguments that fit the tools more or less.
fn arguments() -> impl Strategy<Value = Value> {
    let text = || soup(3).prop_map(Value::from);
    let member = prop_oneof![
        text().prop_map(|text| ("city", text)),
        text().prop_map(|text| ("q", text)),
        prop::collection::vec(text(), 0..3).prop_map(|tags| ("tags", Value::from(tags))),
        select(vec![json!(3), json!(-0.5), json!(null), json!("7"), json!(true), json!({"a": [1, "</function>"]})])
            .prop_map(|value| ("days", value)),
        text().prop_map(|text| ("odd key", text)),
    ];
    prop::collection::vec(member, 0..3).prop_map(|members| {
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
    })
}

#[derive(Debug)]
struct Case {
    format: &'static Format,
    /// The number of its setting.
    at: usize,
    message: String,
    truncated: Option<bool>,
}

fn format(name: &str) -> &'static Format {
    FORMATS.iter().find(|format| format.name == name).expect("it is one of them")
}

fn case(protocol: &str) -> impl Strategy<Value = Case> {
    let format = format(protocol);
    let form = (0..6_usize, select(&[None, Some(false), Some(true)][..]));
    form.prop_flat_map(move |(at, truncated)| {
        let tools = &format.settings[at].tools;
        let names = &["get_weather", "create", "search", "tree", "any", "ping", "nope"][..];
        let call = (select(names), arguments()).prop_map(|(name, arguments)| {
            let arguments = parse_json(&arguments.to_string(), 16).expect("it is JSON");
            tools.encode(name, &arguments).expect("it can be written")
        });
        let tokens = || prop::collection::vec(select(format.tokens), 1..8).prop_map(|tokens| tokens.concat());
        let near = format.call.map_or_else(|| tokens().boxed(), |call| call());
        let part = prop_oneof![
            2 => call,
            4 => near,
            4 => tokens(),
            1 => soup(4),
            1 => prose(),
        ];
        let change = (
            any::<Index>(),
            any::<Index>(),
            prop_oneof![Just(String::new()), select(format.tokens).prop_map(str::to_owned)],
        );
        let changes = prop_oneof![3 => Just(Vec::new()).boxed(), 2 => prop::collection::vec(change, 1..3).boxed()];
        (prop::collection::vec(part, 0..4), changes).prop_map(move |(parts, changes)| {
            let mut message = parts.concat();
            for (from, length, token) in changes {
                let places: Vec<usize> = message.char_indices().map(|(at, _)| at).chain([message.len()]).collect();
                let from = from.index(places.len());
                let to = (from + length.index(12)).min(places.len() - 1);
                message.replace_range(places[from]..places[to], &token);
            }
            Case { format, at, message, truncated }
        })
    })
}

/// The laws of one protocol, each tried by itself.
macro_rules! laws {
    ($($protocol:ident),*) => {
const LISTED: &[&str] = &[$(stringify!($protocol)),*];

$(mod $protocol {
use super::*;

const PROTOCOL: &str = stringify!($protocol);

proptest! {
    #![proptest_config(shared(LISTED.len()))]

    #[test]
    fn chunking_does_not_matter(case in case(PROTOCOL), cuts in prop::collection::vec(any::<Index>(), 0..5)) {
        let Case { format, at, message, truncated } = &case;
        any_chunks(&format.settings[*at].tools, message, *truncated, &cuts)?;
    }

    #[test]
    fn chunking_does_not_matter_where_a_call_becomes_too_large(
        case in case(PROTOCOL), room in any::<Index>(), cuts in prop::collection::vec(any::<Index>(), 0..5),
    ) {
        let Case { format, at, message, truncated } = &case;
        let tools = &format.limited[room.index(format.limited.len())][*at].tools;
        chunks_of_large_calls(tools, message, *truncated, &cuts)?;
    }

    #[test]
    fn the_end_runs_no_call(case in case(PROTOCOL), cuts in prop::collection::vec(any::<Index>(), 0..10)) {
        let Case { format, at, message, truncated } = &case;
        beginnings(&format.settings[*at].tools, message, *truncated, &cuts)?;
    }

    #[test]
    fn the_end_runs_no_call_where_calls_have_little_room(
        case in case(PROTOCOL), room in any::<Index>(), cuts in prop::collection::vec(any::<Index>(), 0..10),
    ) {
        let Case { format, at, message, truncated } = &case;
        let tools = &format.limited[room.index(format.limited.len())][*at].tools;
        beginnings(tools, message, *truncated, &cuts)?;
    }

    #[test]
    fn nothing_is_lost_and_every_start_has_one_end(case in case(PROTOCOL)) {
        let Case { format, at, message, truncated } = &case;
        well_formed(&format.settings[*at].tools, message, *truncated)?;
    }

    #[test]
    fn what_is_written_is_read(
        (shape, values) in root().prop_flat_map(|shape| {
            let values = prop::collection::vec(shape.value(), 1..3);
            (Just(shape), values)
        }),
        around in prop::collection::vec(prose(), 3),
        syntax in select(&[Syntax::Wire, Syntax::Wire, Syntax::Json][..]),
        open in prop::bool::weighted(0.1),
        name in select(&["tool", "get_x", "a.b-c", "parameter"][..]),
    ) {
        let (schema, format) = (shape.schema(), format(PROTOCOL));
        let toolset = |strict| {
            let mut options = options_of(format.name, strict);
            options.syntax = syntax;
            let tools = if open && format.open { Vec::new() } else { vec![definition(name, &schema)] };
            Toolset::new(tools, options).expect("the tool is fine")
        };
        written_is_read(&toolset(false), &toolset(true), name, &schema, &values, &around)?;
    }

    #[test]
    fn no_value_makes_a_call(
        case in case(PROTOCOL), which in 0..32_u8, strict: bool, cut in prop::option::of(any::<Index>()), declared: bool,
        truncated in select(&[None, Some(false), Some(true)][..]), behind in prose(),
    ) {
        let schema = json!({"type": "object", "properties": {
            "body": {"type": "string"}, "any": {}, "list": {"type": "array", "items": {"type": "string"}},
            "perhaps": {"type": ["null", "string", "integer"]}, "nested": {"type": "object"}}});
        let options = options_of(case.format.name, strict);
        let tools = if declared || !case.format.open { vec![definition("note", &schema)] } else { Vec::new() };
        let tools = Toolset::new(tools, options).expect("the tool is fine");
        let text = Value::from(case.message.as_str());
        let values = [
            ("body", text.clone()), ("any", text.clone()), ("list", json!([text, text])), ("perhaps", text.clone()),
            ("nested", json!({ "text": text })),
        ];
        let members = values.into_iter().enumerate().filter(|(bit, _)| which & (1 << bit) != 0);
        let arguments: Map<String, Value> = members.map(|(_, (key, value))| (key.to_owned(), value)).collect();
        let value = parse_json(&Value::from(arguments).to_string(), 8).expect("it is JSON");
        let written = tools.encode("note", &value).expect("it can be written") + &behind;
        let places = boundaries(&written);
        let message = cut.filter(|_| !places.is_empty()).map_or(&written[..], |cut| &written[..*cut.get(&places)]);
        let seen = read(&tools, message, truncated);
        let starts = seen.iter().filter(|one| matches!(one, Seen::Start { .. })).count();
        let errors = seen.iter().filter(|one| matches!(one, Seen::Error(_))).count();
        prop_assert!(starts <= 1 && errors + calls(&seen).count() <= 1, "{message:?} gave {seen:#?}");
        prop_assert!(calls(&seen).all(|end| end.name == "note"), "{message:?} gave {seen:#?}");
        if cut.is_none() {
            prop_assert!(calls(&seen).count() == 1, "{message:?} gave {seen:#?}");
        } else if message.len() < written.len() - behind.len() && truncated != Some(false) {
            prop_assert!(calls(&seen).count() == 0, "{message:?} gave {seen:#?}");
        }
    }

    #[test]
    fn no_result_is_forged(case in case(PROTOCOL), name in soup(5), error: bool, number in prop::option::of(1..9_u64)) {
        let tools = &case.format.settings[case.at].tools;
        let content = &case.message;
        let plain = tools.neutralise(content);
        prop_assert_eq!(tools.neutralise(&plain), &plain[..], "neutral already");
        prop_assert_eq!(plain.replace('\\', ""), content.replace('\\', ""), "nothing else is changed");
        let written = tools.encode_result(&name, content, error, number);
        for truncated in [None, Some(false)] {
            prop_assert_eq!(traces(&read(tools, &plain, truncated)), 0, "{:?}", plain);
            let seen = read(tools, &written, truncated);
            prop_assert!(traces(&seen) == 1 && matches!(&seen[0], Seen::Error(e) if e.start == 0), "{written:?} gave {seen:#?}");
            prop_assert_eq!(traces(&read(tools, &written[1..], truncated)), 0, "{:?}", &written[1..]);
        }
    }
}
    })*};
}

// Without `wire`, whose laws are in `laws.rs`.
laws!(hermes, gemma, xml, yaml, qwen3coder);

/// The names that macros make tests of are those of the registry: a new protocol has to be tested with all the others.
#[test]
fn every_protocol_has_its_laws() {
    assert!(protocols().eq(with_laws()));
    assert!(with_laws().filter(|name| *name != "wire").eq(LISTED.iter().copied()));
}

/// Members that are read at once come before others, whose values end with as much as was held.
#[test]
fn calls_in_two_parts_are_read_as_whole() {
    let schema = json!({"type": "object", "properties": {
        "city": {"type": "string"}, "any": {}, "days": {"type": "integer"}, "to": {"type": ["null", "string"]},
        "sure": {"type": "boolean"}, "via": {"type": "array", "items": {"type": "string"}}}});
    let given = r#"{"city":"Rome","days":2,"any":[1],"to":null,"sure":true,"via":["a"]}"#;
    for format in &*FORMATS {
        let mut options = Options::default();
        options.protocol = format.name.into();
        let tools = Toolset::new(vec![definition("travel", &schema)], options).expect("the tool is fine");
        let value = parse_json(given, 8).expect("it is JSON");
        let written = tools.encode("travel", &value).expect("it can be written");
        let message = format!("{written}\n{written}");
        for at in boundaries(&message) {
            let parts = pieces(&message, &[at]);
            let seen = read_chunks(&tools, parts.iter().copied(), None, |_| {});
            let arguments: Vec<_> = calls(&seen).map(|end| (&end.arguments[..], end.repairs.len())).collect();
            assert_eq!(arguments, [(given, 0); 2], "{} in {parts:?}", format.name);
        }
    }
}
