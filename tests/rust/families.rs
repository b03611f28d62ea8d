//! The laws of native formats: each holds for every row of the registry, so a new row is tested with all others.
//!
//! A message is made of calls as `encode` writes them, of pieces of such calls, of the markers of all families, of whitespace and of
//! prose, and is then cut and mended at random. It is read from each start state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use wirecall_core::{Limits, PastMessage, PastToolCall, Toolset, native_formats, parse_json};

use crate::support::checks::{
    any_chunks_of, beginnings_of, chunks_of_large_calls, same, well_formed_of, written_is_read,
};
use crate::support::config;
use crate::support::every::{families, format_of, has_lists};
use crate::support::reading::{Seen, boundaries, calls, read, read_chunks_of, traces};
use crate::support::rows::{USUAL, encoded, row, row_but, settings_with};
use crate::support::schemas::root;
use crate::support::text::{prose, soup};
use crate::support::toolsets::{Setting, definition, limits, options_of, settings_of};

/// Stop tokens of these rows end parts of messages, too.
const STOPS_END_PARTS: &[&str] = &["beam", "harmony", "llm-jp-4.1", "muse", "solar-open"];
/// The prompt ends with what begins a part of a message, so a header at the start of a message may have no marker to neutralise.
const BEGUN: &[&str] = &["functionary-v3.2"];
/// The templates of these rows sort keys, without regard to case.
const SORTED: &[&str] = &["functiongemma", "gemma4"];

/// The templates of these rows leave out members that are null.
const NULLS_LEFT_OUT: &[&str] = &["minimax-m3"];

/// Openers, separators and closers, halves of them, and what may be between them.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "<think>", "<think>\n", "</think>", "\n</think>\n\n", "</think>\n", "[THINK]", "[/THINK]", "<|channel>thought\n", "<channel|>",
    "<tool_call>", "<tool_call>\n", "\n</tool_call>", "</tool_call>", "<function=get_weather>", "<parameter=city>", "</parameter>", "</function>",
    "<tool_call>get_weather", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<arg_key>city</arg_key><arg_value>",
    "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>", "function", "\n```json\n", "\n```",
    "<｜DSML｜function_calls>", "</｜DSML｜function_calls>", "<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>", "<｜DSML｜ calls>", "</｜DSML｜ calls>",
    "<｜DSML｜invoke name=\"ping\">", "<｜DSML｜invoke name=\"ping\"/>", "</｜DSML｜invoke>", "<｜DSML｜ invoke name=\"ping\">", "</｜DSML｜ invoke>",
    "<｜DSML｜parameter name=\"city\" string=\"true\">", "</｜DSML｜parameter>", "<｜DSML｜ parameter name=\"days\" string=\"false\">", "</｜DSML｜ parameter>",
    "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>", "functions.ping:0", "<|tool_call_argument_begin|>", "<|tool_call_end|>",
    "<|open|>think<|sep|>", "<|close|>think<|sep|>", "<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|open|>tools<|sep|>", "<|close|>tools<|sep|>",
    "<|open|>call tool=\"ping\" index=\"1\"<|sep|>", "<|close|>call<|sep|>", "<|open|>argument key=\"city\" type=\"string\"<|sep|>", "<|close|>argument<|sep|>",
    "<|close|>message<|sep|>", "<|python_tag|>", "<|python_start|>", "<|python_end|>", "[ping()]", "[get_weather(city='", "')]", ", ", "{\"name\": \"ping\", \"parameters\": {}}",
    "[TOOL_CALLS]", "[TOOL_CALLS] [", "[ARGS]", "[CALL_ID]abcdefghi", "ping", "ping[ARGS]{}", "{\"name\": \"ping\", \"arguments\": {}}", "]",
    "<|start|>assistant", "<|channel|>analysis", "<|channel|>commentary", "<|channel|>final", " to=functions.ping", "<|constrain|>json", " <|constrain|> json", "<|message|>", "<|call|>",
    "<|tool_call>", "<|tool_call>call:ping{", "}<tool_call|>", "<tool_call|>", "<|\"|>", "city:<|\"|>",
    "<function=get_weather>{", "<function=ping>{}</function>",
    "<|begin|>assistant", "<|think|>", "<|content|>", "<|end|>", "<|tool_calls|>", "<|calls|>", "<|tool_call:begin|>", "<|tool_call:name|>ping", "<|tool_call:args|>", "<|tool_call:end|>",
    "<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>", "<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>",
    "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>ping", "<|plamo:end_tool_name:plamo|>", "<|plamo:begin_tool_arguments:plamo|>", "<|plamo:constrain|>json<|plamo:msg|>",
    "<|plamo:end_tool_arguments:plamo|>", "<|plamo:end_tool_request:plamo|>",
    "<|function_call|>", "<|message_sep|>\n\nfunction call<|role_sep|>\n", "<|message_sep|>",
    "<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>", "<|START_ACTION|>", "<|START_ACTION|>[\n    ", "\n]<|END_ACTION|>",
    "{\"tool_call_id\": \"0\", \"tool_name\": \"ping\", \"parameters\": {}}",
    ">>>", ">>>all\n", ">>>ping\n{}", "all\n", "ping\n{", "get_weather\n",
    "<minimax:tool_call>", "</minimax:tool_call>", "<invoke name=\"ping\">", "</invoke>", "<parameter name=\"city\">", "[e~[",
    "<seed:think>", "</seed:think>", "<seed:tool_call>", "</seed:tool_call>", "<function=ping>", "<parameter=city>",
    "<function name=\"ping\">", "<param name=\"city\">", "</param>", "<![CDATA[", "]]>", "]]></param>",
    "<tool_calls:opensource>", "</tool_calls:opensource>", "<tool_call:opensource>ping<tool_sep:opensource>", "<arg_key:opensource>city</arg_key:opensource>",
    "<arg_value:opensource>", "</arg_value:opensource>", "</tool_call:opensource>", "<think:opensource>", "</think:opensource>",
    " to=self<|message|>", " to=user<|message|>", " to=ping<|message|>", "<atem:function_calls>\n", "</atem:function_calls>", "<atem:invoke name=\"ping\">", "</atem:invoke>", "<atem:parameter name=\"city\">", "</atem:parameter>",
    "<TOOLCALL>", "<TOOLCALL>[", "]</TOOLCALL>", "</TOOLCALL>", "<tool_calls>", "<tool_calls>\n", "</tool_calls>", "{\"name\": \"ping\"}\n",
    "functools[", "functools", "functools[{\"name\": \"ping\"",
    "<|tools_prefix|>", "<|tools_prefix|>[", "<|tools_suffix|>", "<|inner_prefix|>", "<|inner_suffix|>", "{\"ping\": {}}",
    "<function_call>", "<function_call> {\"name\": \"ping\"", "<function_response>",
    "<|tool_call|>", "<|tool_call|>[", "<|/tool_call|>",
    "<|action_start|><|plugin|>", "<|action_start|> <|plugin|>\n", "<|action_end|>", "<|action_start|>",
    "```json\n[", "\n```", "<tool_call>[", "[TOOL_CALLS][{\"name\": \"ping\"",
    "<longcat_tool_call>", "<longcat_tool_call>\n", "</longcat_tool_call>", "<longcat_think>", "</longcat_think>",
    "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]", "<thinking>", "</thinking>", "\n[BEGIN FINAL RESPONSE]\n",
    "<answer>", "<answer>\n", "\n</answer>", "</answer>",
    "<response>", "\n<response>\n", "</response>\n", "</response>",
    "<|tool_call|> [", "<tool_call>[{\"name\": \"ping\"",
    "<tool_calls:6124c78e>", "<tool_call:6124c78e>ping", "<arg_key:6124c78e>city</arg_key:6124c78e>", "<arg_value:6124c78e>", "</arg_value:6124c78e>",
    "<iquest_tool_call>ping", "</iquest_tool_call>",
    "<｜GCML｜tool_calls>", "</｜GCML｜tool_calls>", "<｜GCML｜invoke name=\"ping\">", "<｜GCML｜parameter name=\"city\" string=\"true\">", "</｜GCML｜parameter>",
    "<dots_function_call>", "</dots_function_call>", "\n</parameter>",
    "<｜tool_calls_begin｜>", "<｜tool_call_begin｜>function<｜tool_sep｜>", "<steptml:invoke name=\"ping\">", "<steptml:parameter name=\"city\">", "</steptml:parameter>", "</steptml:invoke>",
    "<ifm|tool_calls>", "<ifm|tool_call>ping", "<ifm|arg_key>city</ifm|arg_key>", "<ifm|arg_type>string</ifm|arg_type>", "<ifm|arg_value>", "</ifm|arg_value>", "</ifm|tool_call>",
    "Action:\n```json\n[\n", "Action:", "Action: ```json\n[", "{\"tool_name\": \"ping\", \"parameters\": {}}", "\n]```",
    "<|message_model|>", "<|content_thinking|>", "<|content_text|>", "<|content_invoke_tool_json|>", "ping<|content_invoke_tool_json|>", "{\"name\":\"ping\",\"args\":{}}", "<|end_message|>",
    "<|tool_call_start|>[", "[{\"name\": \"ping\", \"arguments\": {", "]<|tool_call_end|>", "<function_calls>", "ping()\n", "</function_calls>",
    "<start_function_call>call:ping{", "}<end_function_call>", "<escape>",
    "<mm:think>", "</mm:think>", "]<]minimax[>[", "]<]minimax[>[<tool_call>", "]<]minimax[>[</tool_call>", "]<]minimax[>[<invoke name=\"ping\">",
    "]<]minimax[>[</invoke>", "]<]minimax[>[<city>", "]<]minimax[>[</city>", "]<]minimax[>[<item>", "]<]minimax[>[</item>",
    "{", "}", "\"", "'", "\\", "{\"city\": \"", "\"}", ":", ",", "<", "</", "<|", "|>", "<｜", "[", "null", "True", "1", "é", "word",
];
/// These, and the markers that the rows name.
static MARKERS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let named = native_formats().flat_map(|format| {
        let pairs = [Some((&*format.call.0, &*format.call.1)), format.section].into_iter().flatten();
        let pairs = pairs.chain(format.reasoning.iter().copied());
        pairs.flat_map(|(open, close)| [open.to_owned(), close.to_owned()]).collect::<Vec<_>>()
    });
    let all: BTreeSet<String> = named.chain(PIECES.iter().map(|piece| (*piece).to_owned())).collect();
    all.into_iter().filter(|mark| !mark.is_empty()).collect()
});
/// What a server may leave at the end of a message, in any row.
static STOPS: LazyLock<Vec<&str>> =
    LazyLock::new(|| native_formats().flat_map(|format| format.stops).collect::<BTreeSet<_>>().into_iter().collect());
const BLANKS: &[&str] = &["\n", "\n\n", " ", "  ", "\t", "\r\n", "\n  "];

/// The settings of each row, and the same with little room for a call.
static SETTINGS: LazyLock<BTreeMap<&str, [Vec<Setting>; 2]>> = LazyLock::new(|| {
    families().map(|row| (row, [Limits::default(), limits(48)].map(|limits| settings_with(row, limits)))).collect()
});
fn settings(row: &str) -> &'static [Vec<Setting>; 2] {
    &SETTINGS[row]
}

/// Texts as long as the limits of names, keys and openings, or nearly so.
fn long() -> impl Strategy<Value = String> {
    (select(&[16_usize, 64, 128, 256, 1024][..]), 0..3_usize, select(&["k", "é", "<", " "][..]))
        .prop_map(|(limit, more, text)| text.repeat(limit - 1 + more))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::collection::vec(select(&MARKERS[..]), 0..4).prop_map(|parts| parts.concat()),
        1 => soup(3),
        1 => select(&MARKERS[..]),
    ]
}

/// Arguments that fit the tools more or less.
fn arguments() -> impl Strategy<Value = Value> {
    let string = || text().prop_map(Value::from);
    let member = prop_oneof![
        string().prop_map(|text| ("city", text)),
        string().prop_map(|text| ("q", text)),
        prop::collection::vec(string(), 0..3).prop_map(|tags| ("tags", Value::from(tags))),
        select(vec![json!(3), json!(-0.5), json!(null), json!("7"), json!(true), json!({"a": [1, "</arg_value>"]})])
            .prop_map(|value| ("days", value)),
        string().prop_map(|text| ("odd key", text)),
    ];
    prop::collection::vec(member, 0..3).prop_map(|members| {
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
    })
}

/// Calls of one message; one after another if the row cannot write them so.
fn together(tools: &Toolset, calls: &[(&str, Value)]) -> String {
    let arguments: Vec<_> = calls.iter().map(|(_, arguments)| parsed(arguments)).collect();
    let past: Vec<_> = calls.iter().zip(&arguments).map(|((name, _), arguments)| past_call(name, arguments)).collect();
    let mut message = PastMessage::default();
    message.calls = &past;
    let alone = || calls.iter().map(|(name, arguments)| encoded(tools, name, arguments)).collect();
    tools.encode_message(&message).unwrap_or_else(|_| alone())
}

fn parsed(arguments: &Value) -> wirecall_core::Value<'static> {
    parse_json(&arguments.to_string(), 64).expect("it is JSON")
}

fn past_call<'a>(name: &'a str, arguments: &'a wirecall_core::Value<'a>) -> PastToolCall<'a> {
    PastToolCall::new(name, arguments.as_object().expect("arguments are an object"))
}

/// With its keys in the order in which the row writes them, and without the members that it leaves out.
fn as_written(row: &str, value: Value) -> Value {
    match value {
        Value::Object(members) if NULLS_LEFT_OUT.contains(&row) => {
            let members = members.into_iter().filter(|(_, value)| !value.is_null());
            members.map(|(key, value)| (key, as_written(row, value))).collect::<Map<_, _>>().into()
        }
        Value::Object(members) if SORTED.contains(&row) => {
            let mut members: Vec<_> = members.into_iter().map(|(key, value)| (key, as_written(row, value))).collect();
            members.sort_by_key(|(key, _)| key.to_lowercase());
            members.into_iter().collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.into_iter().map(|item| as_written(row, item)).collect(),
        other => other,
    }
}

fn places(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

#[derive(Debug)]
struct Case {
    row: &'static str,
    /// The number of its setting.
    at: usize,
    message: String,
    truncated: Option<bool>,
    in_reasoning: Option<bool>,
}

impl Case {
    fn tools(&self) -> &'static Toolset {
        &settings(self.row)[0][self.at].tools
    }

    fn in_little_room(&self) -> &'static Toolset {
        &settings(self.row)[1][self.at].tools
    }

    /// Whether calls of a list end together, in the row or in a format that is read with it.
    fn has_lists(&self) -> bool {
        has_lists(self.row) || settings(self.row)[0][self.at].name.contains("recovers")
    }
}

fn message(row: &'static str, at: usize) -> impl Strategy<Value = String> {
    let tools = &settings(row)[0][at].tools;
    let names = &["get_weather", "create", "search", "any", "ping", "nope"][..];
    let call = || (select(names), arguments()).prop_map(|(name, arguments)| encoded(tools, name, &arguments));
    let calls = || prop::collection::vec((select(names), arguments()), 2..4).prop_map(|calls| together(tools, &calls));
    let piece = (prop_oneof![call(), calls()], any::<Index>(), any::<Index>()).prop_map(|(call, from, to)| {
        let places = places(&call);
        let (from, to) = (from.index(places.len()), to.index(places.len()));
        call[places[from.min(to)]..places[from.max(to)]].to_owned()
    });
    let part = prop_oneof![
        3 => call(),
        2 => calls(),
        3 => piece,
        4 => select(&MARKERS[..]),
        2 => select(BLANKS).prop_map(str::to_owned),
        1 => select(&STOPS[..]).prop_map(str::to_owned),
        1 => soup(4),
        1 => prose(),
    ];
    let token = prop_oneof![4 => Just(String::new()), 4 => select(&MARKERS[..]), 1 => long()];
    let changes = prop::collection::vec((any::<Index>(), any::<Index>(), token), 0..3);
    (prop::collection::vec(part, 0..6), changes).prop_map(|(parts, changes)| {
        let mut message = parts.concat();
        for (from, length, token) in changes {
            let places = places(&message);
            let from = from.index(places.len());
            let to = (from + length.index(12)).min(places.len() - 1);
            message.replace_range(places[from]..places[to], &token);
        }
        message
    })
}

fn case() -> impl Strategy<Value = Case> {
    case_of(row(), usize::MAX)
}

/// Of all rows but these, with the usual settings.
fn case_but(others: &'static [&str]) -> impl Strategy<Value = Case> {
    case_of(row_but(others), USUAL)
}

/// With the first so many settings.
fn case_of(row: impl Strategy<Value = &'static str>, settings: usize) -> impl Strategy<Value = Case> {
    let truncated = select(&[None, Some(false), Some(true)][..]);
    let in_reasoning = select(&[None, Some(false), Some(true)][..]);
    (row, any::<Index>(), truncated, in_reasoning).prop_flat_map(move |(row, at, truncated, in_reasoning)| {
        let at = at.index(self::settings(row)[0].len().min(settings));
        message(row, at).prop_map(move |message| Case { row, at, message, truncated, in_reasoning })
    })
}

/// The joined text and reasoning, the calls, and the kinds of the errors.
fn meaning(seen: &[Seen]) -> (String, String, Vec<(String, String)>, Vec<String>) {
    let (mut text, mut reasoning, mut calls, mut errors) = (String::new(), String::new(), Vec::new(), Vec::new());
    for one in seen {
        match one {
            Seen::Text(part) => text.push_str(part),
            Seen::Reasoning { text, .. } => reasoning.push_str(text),
            Seen::End(end) => calls.push((end.name.clone(), end.arguments.clone())),
            Seen::Error(error) => errors.push(format!("{:?} {:?}", error.kind, error.name)),
            Seen::Framing(_) | Seen::Start { .. } | Seen::Deltas { .. } => {}
        }
    }
    (text, reasoning, calls, errors)
}

/// What the row takes for a stop token.
fn stops(row: &str) -> Vec<&'static str> {
    let tools = &settings(row)[0][0].tools;
    let is_stop = |stop: &&&str| {
        let seen = read(tools, &format!("a{stop}"), None);
        matches!(&seen[..], [Seen::Text(text), Seen::Framing(_)] if text == "a")
    };
    STOPS.iter().filter(is_stop).copied().collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn chunking_does_not_matter(case in case(), cuts in prop::collection::vec(any::<Index>(), 0..5)) {
        any_chunks_of(case.tools(), &case.message, case.truncated, case.in_reasoning, &cuts)?;
    }

    #[test]
    fn chunking_does_not_matter_where_a_call_becomes_too_large(
        case in case(), cuts in prop::collection::vec(any::<Index>(), 0..5),
    ) {
        chunks_of_large_calls(case.in_little_room(), &case.message, case.truncated, &cuts)?;
    }

    #[test]
    fn items_tile_the_message_and_every_start_has_one_end(case in case()) {
        well_formed_of(case.tools(), &case.message, case.truncated, case.in_reasoning, case.has_lists())?;
    }

    #[test]
    fn the_end_runs_no_call(case in case(), cuts in prop::collection::vec(any::<Index>(), 0..10)) {
        beginnings_of(case.tools(), &case.message, case.truncated, case.in_reasoning, &cuts)?;
    }

    #[test]
    fn stop_tokens_at_the_end_change_nothing(
        case in case_but(STOPS_END_PARTS), which in prop::collection::vec((any::<Index>(), select(&["", "", "\n", " "][..])), 1..3),
    ) {
        let Case { row, message, truncated, in_reasoning, .. } = &case;
        let stops = stops(row);
        // Half a stop token at the end belongs to what is open there.
        let half = |stop: &&str| (1..stop.len()).any(|end| stop.is_char_boundary(end) && message.ends_with(&stop[..end]));
        let message = &if stops.iter().any(half) { format!("{message}.") } else { message.clone() };
        let run: String = which.iter().map(|(at, blank)| format!("{}{blank}", stops[at.index(stops.len())])).collect();
        let with = format!("{message}{run}");
        let bare = read_chunks_of(case.tools(), [&message[..]], *truncated, *in_reasoning, |_| {});
        let seen = read_chunks_of(case.tools(), [&with[..]], *truncated, *in_reasoning, |_| {});
        prop_assert_eq!(meaning(&seen), meaning(&bare), "{:?} and {:?}", with, message);
    }

    #[test]
    fn what_is_written_is_read(
        row in row(),
        (shape, values) in root().prop_flat_map(|shape| {
            let values = prop::collection::vec(shape.value(), 1..3);
            (Just(shape), values)
        }),
        around in prop::collection::vec(prose(), 3),
        name in select(&["tool", "get_x", "get_tool"][..]),
    ) {
        let schema = shape.schema();
        let toolset = |strict| {
            Toolset::new(vec![definition(name, &schema)], options_of(row, strict)).expect("the tool is fine")
        };
        let (lenient, strict) = (toolset(false), toolset(true));
        // What a format cannot hold is written as a visible note.
        let values = values.into_iter().filter(|value| !encoded(&lenient, name, value).contains("[called "));
        // A required field that is left out is read as null after all others.
        let moves = NULLS_LEFT_OUT.contains(&row) && schema.to_string().contains("\"required\"");
        let values: Vec<Value> = values.filter(|value| !(moves && value.to_string().contains("null"))).collect();
        let values: Vec<Value> = values.into_iter().map(|value| as_written(row, value)).collect();
        // Then there is no text around a call, and one call after another is more than two messages.
        let alone = format_of(row).whole_messages;
        let values = &values[..if alone { values.len().min(1) } else { values.len() }];
        let around = if alone { vec![String::new(); 3] } else { around };
        written_is_read(&lenient, &strict, name, &schema, values, &around)?;
    }

    #[test]
    fn no_value_makes_a_call(
        row in row(), texts in prop::collection::vec(text(), 5), which in 0..32_u8, strict: bool, cut in prop::option::of(any::<Index>()),
        truncated in select(&[None, Some(false), Some(true)][..]),
    ) {
        let schema = json!({"type": "object", "properties": {
            "body": {"type": "string"}, "any": {}, "list": {"type": "array", "items": {"type": "string"}},
            "perhaps": {"type": ["null", "string", "integer"]}, "nested": {"type": "object"}}});
        let tools = ["note", "ping"].map(|name| definition(name, &schema)).into();
        let tools = Toolset::new(tools, options_of(row, strict)).expect("the tools are fine");
        let values = [
            ("body", json!(texts[0])), ("any", json!(texts[1])), ("list", json!([texts[2], texts[2]])), ("perhaps", json!(texts[3])),
            ("nested", json!({ "text": texts[4] })),
        ];
        let members = values.into_iter().enumerate().filter(|(bit, _)| which & (1 << bit) != 0);
        let arguments: Value = members.map(|(_, (key, value))| (key.to_owned(), value)).collect::<Map<_, _>>().into();
        let written = encoded(&tools, "note", &arguments);
        let places = boundaries(&written);
        let message = cut.filter(|_| !places.is_empty()).map_or(&written[..], |cut| &written[..*cut.get(&places)]);
        let seen = read(&tools, message, truncated);
        prop_assert!(calls(&seen).count() <= 1 && calls(&seen).all(|end| end.name == "note"), "{message:?} gave {seen:#?}");
        if message.len() == written.len() && !written.contains("[called ") {
            let [end] = &calls(&seen).collect::<Vec<_>>()[..] else { return Err(TestCaseError::fail(format!("{message:?} gave {seen:#?}"))) };
            let got = parse_json(&end.arguments, 64).expect("arguments are JSON");
            prop_assert!(same(&as_written(row, arguments), &got, false), "{message:?} gave {seen:#?}");
        }
    }

    #[test]
    fn neutral_text_has_no_call(case in case_but(BEGUN)) {
        let tools = case.tools();
        let plain = tools.neutralise(&case.message);
        prop_assert_eq!(tools.neutralise(&plain), &plain[..], "neutral already");
        prop_assert_eq!(plain.replace('\\', ""), case.message.replace('\\', ""), "nothing else is changed");
        prop_assert_eq!(traces(&read(tools, &plain, case.truncated)), 0, "{:?}", plain);
    }
}

/// The markers in a text that a row writes: tags, tokens and names in brackets.
fn markers_in(text: &str) -> Vec<&str> {
    let markers = text.match_indices(['<', '[']).filter_map(|(at, open)| {
        let rest = &text[at..];
        let end = rest.find(if open == "<" { '>' } else { ']' })?;
        let name = &rest[1..end];
        let fits = match open {
            "<" => !name.is_empty() && !name.contains([' ', '\n', '<']),
            _ => !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || b"/_".contains(&byte)),
        };
        fits.then_some(&rest[..=end])
    });
    markers.collect()
}

/// A token of a template that no row knows.
const ROLES: &[&str] = &["<|assistant|>", "<|system|>", "<｜Assistant｜>", "<|im_start|>user"];

/// Texts of markers, of what the row writes around results, and of prose.
fn hostile(row: &'static str) -> impl Strategy<Value = String> {
    let tools = &settings(row)[0][0].tools;
    let frame = tools.encode_result("ping", " ", false, None);
    let mut own: Vec<_> = markers_in(&frame).into_iter().map(str::to_owned).collect();
    own.extend([frame.clone(), encoded(tools, "ping", &json!({}))]);
    let part = prop_oneof![
        3 => select(own),
        3 => select(&MARKERS[..]),
        2 => select(&STOPS[..]).prop_map(str::to_owned),
        1 => select(ROLES).prop_map(str::to_owned),
        1 => select(BLANKS).prop_map(str::to_owned),
        1 => prose(),
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_content_closes_or_leaves_a_result((row, text, name) in row().prop_flat_map(|row| (Just(row), hostile(row), hostile(row)))) {
        let tools = &settings(row)[0][0].tools;
        let frame = tools.encode_result("ping", "", false, None);
        for (name, text) in [("ping", &text[..]), (&name, ""), (&name, &text)] {
            let written = tools.encode_result(name, text, false, None);
            let own = markers_in(&frame).into_iter();
            for mark in own.chain(stops(row)).chain(ROLES.iter().copied()) {
                let (got, known) = (written.matches(mark).count(), frame.matches(mark).count());
                prop_assert_eq!(got, known, "{}: {} in {:?}", row, mark, written);
            }
        }
    }

    #[test]
    fn a_quoted_text_makes_no_call((row, text) in row().prop_flat_map(|row| (Just(row), hostile(row)))) {
        let tools = &settings(row)[0][0].tools;
        let content = format!("The page says: {} and so on.", tools.neutralise(&text));
        let mut message = PastMessage::default();
        message.content = &content;
        let written = tools.encode_message(&message).expect("there are no calls");
        for message in [&written, &content] {
            let seen = read_chunks_of(tools, [&message[..]], None, Some(false), |_| {});
            prop_assert_eq!(traces(&seen), 0, "{}: {:?} gave {:#?}", row, message, seen);
        }
    }
}

/// The arguments and the closer of a call beyond the limit are not content, nor is what follows it.
#[test]
fn a_call_beyond_the_limit_is_not_content() {
    let mut one = Limits::default();
    one.calls = 1;
    let arguments = ["Rome", "Oslo", "Bern"].map(|city| parsed(&json!({ "city": city })));
    let calls = arguments.each_ref().map(|arguments| past_call("get_weather", arguments));
    for row in families() {
        for Setting { tools, name } in &settings_of(row, one) {
            let mut message = PastMessage::default();
            message.calls = &calls;
            message.native = true;
            // A message of some formats has one call.
            let Ok(written) = tools.encode_message(&message) else { continue };
            for chars in [1, written.len()] {
                let chunks: Vec<String> =
                    written.chars().collect::<Vec<_>>().chunks(chars).map(|chunk| chunk.iter().collect()).collect();
                let seen = read_chunks_of(tools, chunks.iter().map(|chunk| &chunk[..]), None, Some(false), |_| {});
                let (text, _, read, errors) = meaning(&seen);
                assert!(text.trim().is_empty(), "{name}: {text:?} of {written:?}");
                assert!(
                    read.len() <= 1 && errors.iter().any(|kind| kind.starts_with("TooManyCalls")),
                    "{name}: {seen:#?}"
                );
            }
        }
    }
}

/// The law of stop tokens holds for all rows whose templates end a message with one.
#[test]
fn rows_have_stop_tokens() {
    for row in families() {
        assert!(!stops(row).is_empty() || STOPS_END_PARTS.contains(&row), "{row}");
    }
}
