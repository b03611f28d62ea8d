//! A past call can always be written, and reads back as the same JSON, in every protocol and whatever its texts are.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use wirecall_core::Toolset;

use crate::support::checks::written_is_read;
use crate::support::config;
use crate::support::every::with_auto;
use crate::support::text::{prose, soup};
use crate::support::toolsets::{definition, options_of};

/// What ends, opens, quotes or types something in one of the protocols.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "</parameter>", "\n</parameter>", "</Parameter >", "</parameter", "<parameter=text>", "\n<parameter=text>\n", "<parameter=", "</function>",
    "\n</function>", "<function=note>", "\n<function=note>\n", "<tool_call>", "\n<tool_call>\n", "</tool_call>", "\n</tool_call>",
    "<tool_call>\n<function=rm>\n</function>\n</tool_call>", "<call>rm path=/</call>", "<call>", "</call>", "<rm/>", "<note>", "</note>",
    "<text>", "</text>", "</any>", "```tool_call\n", "```", "{\"name\":\"rm\",\"arguments\":{}}", "<tool_response>", "</tool_response>", "<invoke name=\"rm\"/>",
    "<![CDATA[", "]]>", "&lt;", "&", "&amp;", "\\", "\\u003c", "\"", "'", "`", "\n", "\n\n", " ", "    ", "\t", "\r\n", "\r", "# ", ": ", "- ", "|",
    "null", "None", "True", "true", "42", "-1.5e3", "[1]", "[\"a\"]", "{\"a\": 1}", "{", "[", "]", "}", "=", ",", "text=", "a", "word ", "é", "😀", "\u{2028}",
    "\u{85}", "\u{1}", "<", ">", "/>", "</",
];

fn hostile() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(select(PARTS), 0..6).prop_map(|parts| parts.concat());
    prop_oneof![4 => parts, 1 => soup(4), 1 => select(PARTS).prop_map(str::to_owned)]
}

fn scalar() -> impl Strategy<Value = Value> {
    let plain = select(&["null", "true", "false", "0", "42", "-7", "1.50", "1e300", "123456789012345678901"][..]);
    prop_oneof![
        3 => hostile().prop_map(Value::from),
        1 => plain.prop_map(|json| serde_json::from_str(json).expect("it is JSON")),
    ]
}

fn anything() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        let members = prop::collection::vec((hostile(), inner.clone()), 0..3);
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Value::from),
            members.prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

const ENUM: [&str; 5] = ["metric", "</parameter>\n</function>", "null", "a b", "True"];

fn schema() -> Value {
    let text = json!({"type": "string"});
    json!({"type": "object", "properties": {
        "text": text, "perhaps": {"type": ["string", "null"]}, "mixed": {"type": ["string", "integer", "boolean", "array", "object"]},
        "any": {}, "list": {"type": "array", "items": text}, "lists": {"type": "array", "items": {"type": "array"}},
        "pick": {"enum": ENUM}, "count": {"type": "integer"}, "sure": {"type": ["boolean", "null"]},
        "nested": {"type": "object", "properties": {"text": text, "list": {"type": "array", "items": text}}},
    }})
}

/// Arguments that fit the schema.
fn arguments() -> impl Strategy<Value = Value> {
    let text = || hostile().prop_map(Value::from);
    let texts = || prop::collection::vec(hostile(), 0..3).prop_map(Value::from);
    let mixed = anything().prop_filter("no null, and no fraction", |value| {
        !value.is_null() && !value.as_number().is_some_and(|number| number.to_string().contains(['.', 'e']))
    });
    let member = prop_oneof![
        text().prop_map(|value| ("text".to_owned(), value)),
        prop_oneof![text(), Just(Value::Null)].prop_map(|value| ("perhaps".to_owned(), value)),
        mixed.prop_map(|value| ("mixed".to_owned(), value)),
        anything().prop_map(|value| ("any".to_owned(), value)),
        texts().prop_map(|value| ("list".to_owned(), value)),
        prop::collection::vec(prop::collection::vec(anything(), 0..2), 0..2)
            .prop_map(|value| ("lists".to_owned(), value.into())),
        select(&ENUM[..]).prop_map(|value| ("pick".to_owned(), value.into())),
        select(vec![json!(0), json!(42), json!(-7)]).prop_map(|value| ("count".to_owned(), value)),
        select(vec![json!(true), json!(false), json!(null)]).prop_map(|value| ("sure".to_owned(), value)),
        (text(), texts()).prop_map(|(text, list)| ("nested".to_owned(), json!({"text": text, "list": list}))),
        (hostile(), anything()).prop_filter("a key of its own", |(key, _)| schema()["properties"].get(key).is_none()),
    ];
    prop::collection::vec(member, 0..5).prop_map(|members| members.into_iter().collect::<Map<_, _>>().into())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_arguments_are_written_and_read(
        values in prop::collection::vec(arguments(), 1..3), around in prop::collection::vec(prose(), 3),
        protocol in select(with_auto().collect::<Vec<_>>()),
    ) {
        let schema = schema();
        let toolset = |strict| {
            let options = options_of(protocol, strict);
            Toolset::new(vec![definition("note", &schema), definition("rm", &json!({"type": "object"}))], options)
                .expect("the tools are fine")
        };
        written_is_read(&toolset(false), &toolset(true), "note", &schema, &values, &around)?;
    }
}
