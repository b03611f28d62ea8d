//! The cases of `tests/vectors`, which Python reads too (`tests/python/test_vectors.py`); their README says what the
//! fields mean.
//!
//! Each is read whole, character by character, at every two-way split, in random pieces, and with text around it.

use std::fmt::Write as _;

use serde_json::Value;
use wirecall_core::{
    CodeMode, Definition, Descriptions, Event, Fallback, Item, Limits, Options, Parser, ReasoningTags, Syntax, Toolset,
    parse, parse_json,
};

use crate::support::every::{all, has_lists};
use crate::support::plain::{FORMS, Form, Plain, in_pieces, push};

/// It ends in no whitespace, which belongs to the call in some formats.
const BEFORE: &str = "Text before:";
const BEHIND: &str = " Text behind.";
const PIECES: u64 = 8;

/// Files that are about writing; all others are about reading.
const WRITING: [&str; 3] = ["encode", "manual", "results"];

fn folder(protocol: &str) -> String {
    format!("{}/../../tests/vectors/{protocol}", env!("CARGO_MANIFEST_DIR"))
}

/// The names of the files in a folder.
fn files(protocol: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder(protocol)).expect(protocol);
    files.map(|file| file.expect(protocol).path().file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

/// The files of a protocol about reading.
fn reading(protocol: &str) -> Vec<String> {
    files(protocol).into_iter().filter(|name| !WRITING.contains(&name.as_str())).collect()
}

/// The protocols that have vectors: folders with their names.
fn folders() -> impl Iterator<Item = &'static str> {
    all().filter(|protocol| std::path::Path::new(&folder(protocol)).is_dir())
}

/// The cases of a file, if the protocol has it.
fn load(protocol: &str, name: &str) -> Vec<Value> {
    let path = format!("{}/{name}.jsonl", folder(protocol));
    let Ok(text) = std::fs::read_to_string(&path) else { return Vec::new() };
    let case = |line: &str| {
        let mut case: Value = serde_json::from_str(line).expect(line);
        case["options"]["protocol"] = protocol.into();
        case
    };
    text.split_terminator('\n').map(case).collect()
}

fn str_at<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

fn pair(value: &Value) -> (&str, &str) {
    (value[0].as_str().unwrap(), value[1].as_str().unwrap())
}

fn limits(given: &Value) -> Limits {
    let mut limits = Limits::default();
    for (name, value) in given.as_object().into_iter().flatten() {
        let place = match name.as_str() {
            "call_bytes" => &mut limits.call_bytes,
            "depth" => &mut limits.depth,
            "calls" => &mut limits.calls,
            "key_segments" => &mut limits.key_segments,
            other => panic!("unknown limit {other}"),
        };
        *place = usize::try_from(value.as_u64().unwrap()).unwrap();
    }
    limits
}

fn options(case: &Value, strict: bool) -> Options {
    let mut options = Options::default();
    options.strict = strict;
    for (name, value) in case["options"].as_object().into_iter().flatten() {
        match name.as_str() {
            "strict" | "in_reasoning" => {}
            "protocol" => options.protocol = value.as_str().unwrap().into(),
            "recover" => options.recover = value == true,
            "syntax" => options.syntax = if value == "json" { Syntax::Json } else { Syntax::Wire },
            "fallback_to_json" => {
                options.fallback = match value.as_str().unwrap() {
                    "force" => Fallback::Force,
                    "error" => Fallback::Error,
                    _ => Fallback::Complex,
                }
            }
            "code" => options.code = if value == "text" { CodeMode::Text } else { CodeMode::Call },
            "validate" => options.validate = value == "error",
            "descriptions" => {
                options.descriptions = match value.as_str().unwrap() {
                    "none" => Descriptions::None,
                    "tools" => Descriptions::Tools,
                    _ => Descriptions::Full,
                }
            }
            "constraints" => options.constraints = value == true,
            "delimiters" => {
                let (open, close) = pair(value);
                options.delimiters = Some((open.to_owned(), close.to_owned()));
            }
            "reasoning" if value.is_null() => options.reasoning = ReasoningTags::None,
            "reasoning" if value.is_string() => options.separate_reasoning = Some(value == "separate"),
            "reasoning" => {
                let (open, close) = pair(value);
                options.reasoning = ReasoningTags::Tags(open.to_owned(), close.to_owned());
            }
            "limits" => options.limits = limits(value),
            other => panic!("unknown option {other}"),
        }
    }
    options
}

fn toolset(case: &Value, strict: bool) -> Toolset {
    let definition = |tool: &Value| {
        let mut definition = Definition::new(str_at(tool, "name"), tool["parameters"].to_string());
        definition.description = tool["description"].as_str().map(str::to_owned);
        definition
    };
    let tools = case["tools"].as_array().into_iter().flatten().map(definition).collect();
    Toolset::new(tools, options(case, strict)).unwrap_or_else(|error| panic!("{}: {error}", case["id"]))
}

/// Adds text after the message. Whitespace after a call is text if text follows.
fn push_behind(items: &mut Vec<Plain>, behind: &str) {
    let after_call = matches!(&items[..], [.., Plain::Call { .. } | Plain::Error { .. }, Plain::Part(..)]);
    if let Some(Plain::Part(form @ Form::Framing, blank)) = items.last_mut()
        && !behind.is_empty()
        && after_call
        && blank.trim().is_empty()
    {
        *form = Form::Text;
    }
    push(items, Form::Text, behind);
}

/// What a case expects, with offsets for sources, and with text around it.
fn expectation(case: &Value, before: &str, behind: &str) -> Vec<Plain> {
    let mut items = Vec::new();
    let mut at = before.chars().count();
    push(&mut items, Form::Text, before);
    for item in case["expected"].as_array().unwrap() {
        let start = at;
        let mut span = |source: &str| {
            at += source.chars().count();
            (start, at)
        };
        let part = FORMS.iter().find_map(|(name, form)| Some((*form, item[name].as_str()?)));
        if let Some((form, text)) = part {
            span(text);
            push(&mut items, form, text);
        } else if let Some(call) = item.get("call") {
            let strings = |list: &Value| list.as_array().unwrap().iter().map(|v| v.as_str().unwrap().into()).collect();
            let problems = call["problems"].as_array().unwrap().iter().map(pair);
            items.push(Plain::Call {
                name: str_at(call, "name").into(),
                arguments: str_at(call, "arguments").into(),
                at: span(str_at(call, "source")),
                repairs: strings(&call["repairs"]),
                problems: problems.map(|(kind, field)| (kind.into(), field.into())).collect(),
            });
        } else {
            let error = &item["error"];
            items.push(Plain::Error {
                kind: str_at(error, "kind").into(),
                name: error["name"].as_str().map(str::to_owned),
                raw: str_at(error, "source").into(),
                at: span(str_at(error, "source")),
            });
        }
    }
    let message = format!("{before}{}", str_at(case, "text"));
    assert_eq!(at, message.chars().count(), "the items of {} are not its text", case["id"]);
    push_behind(&mut items, behind);
    items
}

/// A linear congruential generator is random enough to cut text.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// Ways to cut a message: in characters, in two, and in random pieces.
fn cuts(message: &str) -> Vec<Vec<&str>> {
    let places: Vec<usize> = message.char_indices().map(|(at, _)| at).chain([message.len()]).collect();
    let mut ways = vec![places.windows(2).map(|w| &message[w[0]..w[1]]).collect::<Vec<_>>()];
    ways.extend(places.iter().map(|at| vec![&message[..*at], &message[*at..]]));
    for seed in 0..PIECES {
        let mut random = Random(seed + message.len() as u64);
        let mut chosen: Vec<usize> = (0..random.below(12)).map(|_| places[random.below(places.len())]).collect();
        chosen.extend([0, message.len()]);
        chosen.sort_unstable();
        ways.push(chosen.windows(2).map(|w| &message[w[0]..w[1]]).collect());
    }
    ways
}

/// Without the sources of errors: only where a call is too large they may be cut.
fn without_raw(items: Vec<Plain>) -> Vec<Plain> {
    let blank = |item| match item {
        Plain::Error { kind, name, at, .. } => Plain::Error { kind, name, at, raw: String::new() },
        other => other,
    };
    items.into_iter().map(blank).collect()
}

/// What is wrong with the reading of a case, if anything.
fn check(case: &Value, strict: bool, before: &str, behind: &str) -> Result<(), String> {
    let tools = toolset(case, strict);
    let message = format!("{before}{}{behind}", str_at(case, "text"));
    let truncated = case["truncated"].as_bool();
    let in_reasoning = case["options"]["in_reasoning"].as_bool();
    let mut wanted = expectation(case, before, behind);
    let mut whole: Vec<Plain> = Vec::new();
    for item in parse(&tools, &message, truncated, in_reasoning) {
        match item {
            Item::Text(bytes) => push(&mut whole, Form::Text, &message[bytes]),
            Item::Reasoning(bytes) => push(&mut whole, Form::Reasoning, &message[bytes]),
            Item::Framing(bytes) => push(&mut whole, Form::Framing, &message[bytes]),
            Item::Call(end) => whole.push(Plain::from(&end)),
            Item::Error(error) => whole.push(Plain::from(&*error)),
            item => panic!("a new kind of item: {item:?}"),
        }
    }
    let too_large = |item: &Plain| matches!(item, Plain::Error { kind, .. } if kind == "too_large");
    if wanted.iter().any(too_large) {
        whole = without_raw(whole);
        wanted = without_raw(wanted);
        return differing(&whole, &wanted, "whole");
    }
    differing(&whole, &wanted, "whole")?;
    for pieces in cuts(&message) {
        let lists = has_lists(str_at(&case["options"], "protocol"));
        let found = in_pieces(&tools, &pieces, truncated, in_reasoning, lists);
        differing(&found, &wanted, &format!("in pieces {pieces:?}"))?;
    }
    Ok(())
}

fn differing(found: &[Plain], wanted: &[Plain], how: &str) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{how}\n  wanted {wanted:?}\n  found  {found:?}")) }
}

/// The modes that a case speaks of: both, unless it says which.
fn modes(case: &Value) -> Vec<bool> {
    case["options"]["strict"].as_bool().map_or(vec![false, true], |strict| vec![strict])
}

fn read_all(protocol: &str) {
    let mut failures = String::new();
    for name in reading(protocol) {
        for case in load(protocol, &name) {
            for strict in modes(&case) {
                let mut result = check(&case, strict, "", "");
                if result.is_ok() && case["alone"] != true {
                    result = check(&case, strict, BEFORE, BEHIND);
                }
                if let Err(what) = result {
                    let _ = writeln!(failures, "{protocol}/{name}/{} strict={strict} {what}", case["id"]);
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Each test reads the vectors of all protocols, whose folders in `tests/vectors` have their names.
mod every_protocol {
    use super::folders;
    use crate::support::every::{every, with_laws};

    /// Folders that no protocol has would not be read.
    #[test]
    fn every_folder_has_a_protocol() {
        let others = ["json", "schemas"];
        for entry in std::fs::read_dir(super::folder("")).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            let known = others.contains(&&*name) || folders().any(|folder| folder == name);
            assert!(known || entry.path().is_file(), "{name} is not a protocol");
        }
        for protocol in with_laws() {
            for name in ["streaming", "code", "encode", "manual", "results", "known"] {
                assert!(!super::load(protocol, name).is_empty(), "{protocol} has no {name}");
            }
        }
    }

    #[test]
    fn reading() {
        every(folders(), super::read_all);
    }

    #[test]
    fn steps() {
        every(folders(), super::steps);
    }

    #[test]
    fn encode() {
        every(folders(), super::encode);
    }

    #[test]
    fn manual() {
        every(folders(), super::manual);
    }

    #[test]
    fn results() {
        every(folders(), super::results);
    }
}

/// What was reported, and what was not, after each chunk.
fn steps(protocol: &str) {
    for case in load(protocol, "streaming") {
        for strict in modes(&case) {
            let tools = toolset(&case, strict);
            let mut parser = Parser::borrowing(&tools, case["options"]["in_reasoning"].as_bool());
            let mut deltas = String::new();
            for step in case["steps"].as_array().unwrap() {
                let (mut text, mut reasoning, mut starts) = (String::new(), String::new(), Vec::new());
                let mut sink = |event: Event<'_>| match event {
                    Event::Text(part) => text.push_str(part),
                    Event::CallStart { name, .. } => {
                        starts.push(Value::from(name));
                        deltas.clear();
                    }
                    Event::ArgumentsDelta { delta, .. } => deltas.push_str(delta),
                    Event::Reasoning { text, .. } => reasoning.push_str(text),
                    Event::Framing(_) | Event::CallEnd(_) | Event::CallError(_) => {}
                    event => panic!("a new kind of event: {event:?}"),
                };
                parser.feed(str_at(step, "feed"), &mut sink);
                let place = format!("{} strict={strict} {step}: {text:?} {reasoning:?} {deltas:?}", case["id"]);
                assert!(step["reasoning"].is_null() || step["reasoning"] == reasoning, "{place}");
                assert!(step["text"].is_null() || step["text"] == text, "{place}");
                assert!(step["starts"].is_null() || step["starts"] == Value::from(starts), "{place}");
                assert!(deltas.starts_with(step["least"].as_str().unwrap_or("")), "{place}");
                assert!(step["most"].as_str().unwrap_or(&deltas).starts_with(&deltas), "{place}");
            }
        }
    }
}

fn encode(protocol: &str) {
    for case in load(protocol, "encode") {
        let (name, given) = (str_at(&case, "name"), str_at(&case, "arguments"));
        let arguments = parse_json(given, 128).unwrap();
        for strict in [false, true] {
            let tools = toolset(&case, strict);
            let written = tools.encode(name, &arguments).unwrap();
            assert_eq!(written, case["text"].as_str().unwrap_or(&written), "{}", case["id"]);
            if case["read"] == false {
                continue;
            }
            let mut items = parse(&tools, &written, None, Some(false));
            // The markers of a section.
            items.retain(|item| !matches!(item, Item::Framing(_)));
            match &items[..] {
                [Item::Call(end)] => {
                    assert_eq!((&*end.name, &end.repairs[..]), (name, &[][..]), "{written}");
                    // Numbers compare by their digits, and members in their order.
                    let (found, wanted): (Value, Value) =
                        (serde_json::from_str(&end.arguments).unwrap(), serde_json::from_str(given).unwrap());
                    assert_eq!(found.to_string(), wanted.to_string(), "{written}");
                }
                other => panic!("{written}: {other:?}"),
            }
        }
    }
}

fn manual(protocol: &str) {
    for case in load(protocol, "manual") {
        let tools = toolset(&case, false);
        assert_eq!(tools.manual(Some(str_at(&case, "header"))), str_at(&case, "manual"), "{}", case["id"]);
        let lines: Vec<String> = tools.tools().map(|tool| tools.signature(tool)).collect();
        assert_eq!(tools.manual(Some("")), lines.join("\n"), "{}", case["id"]);
    }
}

fn results(protocol: &str) {
    for case in load(protocol, "results") {
        let tools = toolset(&case, false);
        let written = match case["failed"].as_str() {
            Some(failed) => match &parse(&tools, failed, Some(false), None)[..] {
                [Item::Error(error)] => tools.encode_error(error),
                other => panic!("{}: {other:?}", case["id"]),
            },
            None => {
                let content = case["content"].as_str().map_or_else(|| case["content"].to_string(), str::to_owned);
                let error = case["error"] == true;
                tools.encode_result(str_at(&case, "name"), &content, error, case["number"].as_u64())
            }
        };
        assert_eq!(written, str_at(&case, "text"), "{}", case["id"]);
    }
}
