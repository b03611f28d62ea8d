//! `rust/core/examples/embed.rs`: streams do not disturb each other, and nothing that comes in stops the server.

#[allow(dead_code)]
#[path = "../../rust/core/examples/embed.rs"]
mod example;

use example::{Server, toolset};
use serde_json::{Value, json};

/// What the server writes for these lines, and after the last.
fn served<'l>(lines: impl IntoIterator<Item = &'l str>) -> Vec<Value> {
    let (mut server, mut out) = (Server::new(toolset().expect("the schema is fine")), Vec::new());
    for line in lines {
        server.line(line, &mut out).expect("a Vec can be written to");
    }
    server.close(&mut out).expect("a Vec can be written to");
    let out = String::from_utf8(out).expect("UTF-8");
    out.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

const ANSWERS: [&str; 3] = [
    "Let me look. <call>get_weather city=\"New York\" days=3</call> Done.",
    "<call>get_weather days=soon</call><call>get_weather city=a city=b</call><call>get_wether city=Oslo</call>",
    "größer <call>get_weather city=Zürich",
];

/// The lines of one stream, in deltas of so many characters.
fn lines(stream: usize, size: usize) -> Vec<String> {
    let characters: Vec<char> = ANSWERS[stream].chars().collect();
    let deltas = characters.chunks(size).map(|delta| {
        let delta: String = delta.iter().collect();
        json!({"stream": stream.to_string(), "delta": delta}).to_string()
    });
    let end = json!({"stream": stream.to_string(), "end": if stream == 2 { "length" } else { "stop" }});
    deltas.chain([end.to_string()]).collect()
}

#[test]
fn interleaved_streams_are_read_as_if_each_were_alone() {
    for size in [1, 3, 7, 1000] {
        let streams = [lines(0, size), lines(1, size), lines(2, size)];
        let longest = streams.iter().map(Vec::len).max().unwrap_or(0);
        let turns = (0..longest).flat_map(|at| streams.iter().filter_map(move |lines| lines.get(at)));
        let together = served(turns.map(String::as_str));
        for (stream, lines) in streams.iter().enumerate() {
            let own = |line: &&Value| line["stream"].as_str() == Some(&stream.to_string());
            let alone = served(lines.iter().map(String::as_str));
            assert_eq!(together.iter().filter(own).collect::<Vec<_>>(), alone.iter().collect::<Vec<_>>());
        }
    }
}

#[test]
fn events_are_lines() {
    let lines = lines(0, 1000);
    let wanted = [
        json!({"stream": "0", "text": "Let me look. "}),
        json!({"stream": "0", "start": 0, "name": "get_weather"}),
        json!({"stream": "0", "call": 0, "delta": "{\"city\":\"New York\",\"days\":3}"}),
        json!({"stream": "0", "end": 0, "name": "get_weather", "arguments": "{\"city\":\"New York\",\"days\":3}", "problems": []}),
        json!({"stream": "0", "text": " Done."}),
    ];
    assert_eq!(served(lines.iter().map(String::as_str)), wanted);
    let wrong = |stream: usize| -> Vec<Value> {
        let lines = self::lines(stream, 5);
        let told = served(lines.iter().map(String::as_str)).into_iter().filter_map(|line| {
            let problems = line["problems"].as_array().map(|problems| problems.len().into());
            problems.or_else(|| Some(line["failed"].clone()).filter(Value::is_string))
        });
        told.collect()
    };
    assert_eq!(wrong(0), [json!(0)]);
    assert_eq!(wrong(1), [json!(2), json!("duplicate_argument"), json!("unknown_tool")]);
    assert_eq!(wrong(2), [json!("incomplete_call")]);
}

#[test]
fn bad_lines_are_answered_and_change_nothing() {
    let bad = [
        "",
        "{",
        "[1]",
        "{\"stream\": 1, \"delta\": \"x\"}",
        "{\"delta\": \"x\"}",
        "{\"stream\": \"0\"}",
        "{\"stream\": \"0\", \"delta\": \"x\", \"end\": \"stop\"}",
        "{\"stream\": \"unknown\", \"end\": \"stop\"}",
        "{\"stream\": [[[[[[\"deep\"]]]]]]}",
    ];
    let good = lines(0, 4);
    let mixed = good.iter().flat_map(|line| bad.into_iter().chain([line.as_str()]));
    let (errors, rest): (Vec<_>, Vec<_>) = served(mixed).into_iter().partition(|line| line["error"].is_string());
    assert_eq!(errors.len(), bad.len() * good.len());
    assert_eq!(rest, served(good.iter().map(String::as_str)));
}

#[test]
fn the_number_of_streams_is_bounded() {
    let lines: Vec<String> = (0..10_001)
        .map(|at| json!({"stream": at.to_string(), "delta": "<call>get_weather city=Oslo "}).to_string())
        .collect();
    let served = served(lines.iter().map(String::as_str));
    assert_eq!(served.iter().filter(|line| line["error"] == "too many streams are open").count(), 1);
    assert_eq!(served.iter().filter(|line| line["failed"] == "incomplete_call").count(), 10_000);
}
