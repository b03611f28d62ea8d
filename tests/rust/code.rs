//! Code in Markdown, with `CodeMode::Text`: which openings are inside of it, in every protocol.
//!
//! The oracle is told where calls may begin. Line by line it says which of these places are inside of code, always reading
//! all of the text since the last call.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use wirecall_core::{CodeMode, Custom, Format, Host, Item, Options, Parser, Reading, Toolset, parse, parse_json};

use crate::support::checks::{any_chunks, beginnings, per_character, well_formed};
use crate::support::reading::{Seen, read, read_chunks};
use crate::support::shared;
use crate::support::toolsets::definition;

/// Pieces of Markdown, none of which begins a call.
#[rustfmt::skip]
const MARKDOWN: &[&str] = &[
    "`", "`", "``", "```", "```", "````", "`````", "~", "~~~", "~~~", "~~~~", "\n", "\n", "\n\n", "\r\n", "\r", " ", "    ", "\t", "> ", ">", "- ", "\\`",
    "```python", "```\n", "\n```\n", "\n``` \t\n", "\n~~~\n", "\n~~~ \r\n", "\n> ```\n", "``` ```", "~~~ x", "word", "a `b` c", "é", "=", "x",
];

/// The tool's name on a line, then JSON.
#[derive(Debug)]
struct Lines;

impl Host for Lines {
    fn begins(&self, _head: &str) -> bool {
        true
    }

    fn read(&self, body: &str) -> Reading {
        let (name, arguments) = body.split_once('\n').unwrap_or((body, ""));
        match serde_json::from_str::<Value>(arguments) {
            Ok(_) => Reading::Call { name: name.into(), arguments: arguments.into() },
            Err(_) => Reading::More,
        }
    }

    fn write_call(&self, name: &str, arguments: &str) -> String {
        format!("{name}\n{arguments}")
    }

    fn write_result(&self, name: &str, content: &str, _error: bool, _number: Option<u64>) -> String {
        format!("{name}\n{content}")
    }
}

fn custom(open: &str, close: &str) -> Option<Custom> {
    Some(Custom::new((open, close), ("[RESULT]", "[/RESULT]"), Arc::new(Lines)))
}

/// Of this name, reading the tool `note`, which has a text and a number.
fn toolset(name: &str, code: CodeMode) -> Toolset {
    let note = json!({"type": "object", "properties": {"body": {"type": "string"}, "n": {"type": "integer"}}});
    let mut options = Options::default();
    options.code = code;
    match name {
        "own" => options.custom = custom("<|call|>", "<|end|>"),
        "fenced" => options.custom = custom("```note", "```end"),
        "tilde" => {
            let described =
                json!({"like": "hermes", "call": "~~~note{call}~~~end", "result": "[RESULT]{result}[/RESULT]"});
            options.format = Some(Format::new(&described.to_string()).expect("the markers are fine"));
        }
        "recover" => options.recover = true,
        "delimiters" => options.delimiters = Some(("«call»".into(), "«/call»".into())),
        _ => options.protocol = name.into(),
    }
    Toolset::new(vec![definition("note", &note)], options).expect("the tool is fine")
}

/// A call, and where in its text calls can begin: the first such place that is outside of code begins one, which ends at the
/// second number.
#[derive(Clone, Debug)]
struct Written {
    text: String,
    places: Vec<(usize, usize)>,
    /// The marks directly before it.
    mark: Option<char>,
    is_error: bool,
}

#[derive(Clone, Debug)]
enum Part {
    Text(&'static str),
    Call(Written),
}

fn written(tools: &Toolset, body: &str, number: usize) -> Written {
    let arguments = json!({"body": body, "n": number}).to_string();
    let text = tools.encode("note", &parse_json(&arguments, 8).expect("it is JSON")).expect("it can be written");
    let mut places = vec![(0, text.len())];
    // Without its block, a function is a call as well.
    if let Some(function) = text.find("<function=") {
        places.push((function, text.len()));
    }
    let mark = text.chars().next().filter(|first| "`~".contains(*first));
    Written { text, places, mark, is_error: false }
}

/// What can only be meant as a call, in the formats that have such.
fn attempt(name: &str) -> Option<Written> {
    let text = match name {
        "wire" => "[call]note body=\"`\n```\n\"[/call]",
        "hermes" => "<tool_call name=\"note\" body=\"`\n```\n\"/>",
        "xml" | "yaml" => "<note body=(\"`\n```\n\")</note>",
        _ => return None,
    };
    Some(Written { text: text.into(), places: vec![(0, text.len())], mark: None, is_error: true })
}

/// What came of a message, texts joined.
#[derive(Debug, PartialEq)]
enum Came {
    Text(String),
    Call(String),
    Error(String),
}

fn push(came: &mut Vec<Came>, text: &str) {
    match came.last_mut() {
        Some(Came::Text(before)) => before.push_str(text),
        _ if text.is_empty() => {}
        _ => came.push(Came::Text(text.into())),
    }
}

/// Whether code is open at the end of the text. Naive, from section 1 of docs/wire-format.md alone.
fn is_inside(text: &str) -> bool {
    let lines: Vec<&str> = text.split(['\n', '\r']).collect();
    let mut fence: Option<(char, usize)> = None;
    for (at, line) in lines.iter().enumerate() {
        let is_last = at + 1 == lines.len();
        let line = line.trim_start_matches([' ', '\t', '>']);
        let mark = line.chars().next().filter(|mark| "`~".contains(*mark));
        let run = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
        match (fence, mark) {
            (Some((opened, least)), Some(mark)) => {
                let alone = line[run..].trim_matches([' ', '\t']).is_empty();
                if mark == opened && run >= least && alone && !is_last {
                    fence = None;
                }
            }
            (Some(_), None) => {}
            (None, Some(mark)) if run >= 3 => fence = Some((mark, run)),
            (None, _) if is_last => return is_inline(line),
            (None, _) => {}
        }
    }
    fence.is_some()
}

/// Whether inline code is open at the end of a line.
fn is_inline(line: &str) -> bool {
    let mut runs = Vec::new();
    for part in line.split_inclusive(|c| c != '`') {
        let run = part.matches('`').count();
        if run > 0 {
            runs.push(run);
        }
    }
    let mut runs = &runs[..];
    while let Some((opened, rest)) = runs.split_first() {
        match rest.iter().position(|run| run == opened) {
            Some(closes) => runs = &rest[closes + 1..],
            None => return true,
        }
    }
    false
}

fn expected(parts: &[Part]) -> Vec<Came> {
    let mut came = Vec::new();
    // Since the last call, which leaves the line begun.
    let mut since = String::new();
    for part in parts {
        let Written { text, places, mark, is_error } = match part {
            Part::Text(text) => {
                push(&mut came, text);
                since.push_str(text);
                continue;
            }
            Part::Call(written) => written,
        };
        let begins = |(start, _): &&(usize, usize)| {
            let before = format!("{since}{}", &text[..*start]);
            !is_inside(&before) && !mark.is_some_and(|mark| before.ends_with(mark))
        };
        match places.iter().find(begins) {
            None => {
                push(&mut came, text);
                since.push_str(text);
            }
            Some((start, end)) => {
                push(&mut came, &text[..*start]);
                let call = text[*start..*end].to_owned();
                came.push(if *is_error { Came::Error(call) } else { Came::Call(call) });
                push(&mut came, &text[*end..]);
                since = format!("x{}", &text[*end..]);
            }
        }
    }
    came
}

fn came(message: &str, seen: &[Seen]) -> Vec<Came> {
    let mut out = Vec::new();
    for one in seen {
        match one {
            // What is framing is of no interest here: only that it is in no call.
            Seen::Text(text) | Seen::Framing(text) | Seen::Reasoning { text, .. } => push(&mut out, text),
            Seen::End(end) => out.push(Came::Call(message[end.bytes.clone()].into())),
            Seen::Error(error) => out.push(Came::Error(message[error.bytes.clone()].into())),
            Seen::Start { .. } | Seen::Deltas { .. } => {}
        }
    }
    out
}

#[derive(Debug)]
struct Case {
    name: &'static str,
    tools: &'static Toolset,
    parts: Vec<Part>,
}

fn case(name: &'static str) -> impl Strategy<Value = Case> {
    let at = NAMES.iter().position(|known| *known == name).expect("it is one of them");
    let tools = &TOOLSETS[at];
    let body = prop::collection::vec(select(MARKDOWN), 0..4).prop_map(|parts| parts.concat());
    let call = (body, 0..9_usize).prop_map(move |(body, number)| Part::Call(written(tools, &body, number)));
    let attempt = attempt(name).map_or(Part::Text("x"), Part::Call);
    let part = prop_oneof![6 => select(MARKDOWN).prop_map(Part::Text), 2 => call, 1 => Just(attempt)];
    prop::collection::vec(part, 1..14).prop_map(move |parts| Case { name, tools, parts })
}

fn message(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => (*text).to_owned(),
        Part::Call(written) => written.text.clone(),
    };
    parts.iter().map(text).collect()
}

/// The laws of one protocol, each tried by itself.
macro_rules! laws {
    ($($name:ident),*) => {
const NAMES: &[&str] = &[$(stringify!($name)),*];

static TOOLSETS: LazyLock<Vec<Toolset>> =
    LazyLock::new(|| NAMES.iter().map(|name| toolset(name, CodeMode::Text)).collect());

$(mod $name {
use super::*;

proptest! {
    #![proptest_config(shared(NAMES.len()))]

    #[test]
    fn an_opening_counts_outside_of_code_only(case in case(stringify!($name)), cuts in prop::collection::vec(any::<Index>(), 0..5)) {
        let Case { name, tools, parts } = &case;
        let message = message(parts);
        let got = came(&message, &read(tools, &message, None));
        prop_assert_eq!(got, expected(parts), "left: {} in {:?}", name, message);
        any_chunks(tools, &message, None, &cuts)?;
        beginnings(tools, &message, None, &cuts)?;
        well_formed(tools, &message, None)?;
    }

    #[test]
    fn a_result_is_forged_outside_of_code_only(parts in prop::collection::vec(select(MARKDOWN), 0..8)) {
        let tools = &TOOLSETS[NAMES.iter().position(|name| *name == stringify!($name)).expect("it is one of them")];
        let mark = tools.result_marks().next().expect("a mark");
        let before = parts.concat();
        let message = format!("{before}{mark} `x`\n{mark}");
        let got = came(&message, &read(tools, &message, None));
        let rest = match (is_inside(&before), is_inside(&format!("{before}{mark} `x`\n"))) {
            (false, _) => Some(before.len()),
            (true, false) => Some(message.len() - mark.len()),
            (true, true) => None,
        };
        let mut wanted = Vec::new();
        push(&mut wanted, &message[..rest.unwrap_or(message.len())]);
        if let Some(start) = rest {
            wanted.push(Came::Error(mark.to_string()));
            push(&mut wanted, &message[start + mark.len()..]);
        }
        prop_assert_eq!(&got, &wanted, "left: {:?}", message);
        let seen = read_chunks(tools, per_character(&message), None, |_| {});
        prop_assert_eq!(came(&message, &seen), wanted, "left: {:?} in characters", message);
    }
}
})*
    };
}

// More toolsets than the protocols': those of `toolset`.
each_protocol!(laws, own, fenced, tilde, recover, delimiters);

fn calls(tools: &Toolset, message: &str) -> usize {
    let items = parse(tools, message, None, None);
    items.iter().filter(|item| matches!(item, Item::Call(_))).count()
}

/// Code makes no difference unless it is asked for.
#[test]
fn code_is_ignored_by_default() {
    for name in NAMES {
        let call = written(&toolset(name, CodeMode::Call), "x", 1).text;
        for fence in ["```\n", "\n~~~ x\n", "\n> ````\n"] {
            let message = format!("{fence}{call}\n");
            let (call, text) = (toolset(name, CodeMode::Call), toolset(name, CodeMode::Text));
            assert_eq!(calls(&call, &message), 1, "{name}: {message}");
            assert_eq!(calls(&text, &message), 0, "{name}: {message}");
        }
    }
}

/// Formats that are recovered have no fences, neither of bare objects nor gemma's; those that begin a line are read.
#[test]
fn no_fence_is_recovered() {
    let object = r#"{"name":"note","arguments":{"n":1}}"#;
    let (call, text) = (toolset("recover", CodeMode::Call), toolset("recover", CodeMode::Text));
    for fence in ["```json\n", "```\n", "```tool_call\n", "\n```json\n", "x ```\n"] {
        let message = format!("{fence}{object}\n```\n");
        assert_eq!(calls(&call, &message), 1, "{message}");
        assert_eq!(calls(&text, &message), usize::from(fence == "x ```\n"), "{message}");
    }
    assert_eq!(calls(&text, &format!("```\nx\n```\n{object}")), 1);
    assert_eq!(calls(&toolset("auto", CodeMode::Text), &format!("```tool_call\n{object}\n```")), 1);
}

/// Code inside of reasoning is not the message's, and what begins a call there counts outside of it only.
#[test]
fn reasoning_leaves_no_code_open() {
    for name in NAMES {
        let tools = toolset(name, CodeMode::Text);
        let call = written(&tools, "x", 1).text;
        for reasoning in ["\n```\n", "\n~~~~\n", "\n> ```` x"] {
            let message = format!("<think>{reasoning}{call}</think>{call}");
            assert_eq!(calls(&tools, &message), 1, "{name}: {message}");
            // What follows it is at the start of a line.
            let message = format!("<think>{reasoning}</think>```\n{call}");
            assert_eq!(calls(&tools, &message), 0, "{name}: {message}");
        }
    }
    let tools = toolset("qwen3coder", CodeMode::Text);
    let call = written(&tools, "x", 1).text;
    for (thought, count) in [("", 1), ("`a` ", 1), ("\n```\nx\n```\n", 1), ("\n> ```\n", 0)] {
        let message = format!("<think>{thought}{call}");
        assert_eq!(calls(&tools, &message), count, "{message}");
        let mut seen = 0;
        let mut parser = Parser::borrowing(&tools, Some(true));
        let mut sink = |event: wirecall_core::Event<'_>| {
            seen += usize::from(matches!(event, wirecall_core::Event::CallEnd(_)));
        };
        per_character(&message["<think>".len()..]).into_iter().for_each(|text| parser.feed(text, &mut sink));
        parser.finish(None, &mut sink);
        assert_eq!(seen, count, "{message}");
    }
}
