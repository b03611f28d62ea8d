//! What holds for every reading of every message.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseResult;
use serde_json::Value;
use wirecall_core::{Item, Toolset, parse, parse_json};

use super::reading::{Seen, boundaries, calls, pieces, read, read_chunks, read_chunks_of};

/// Messages up to this many characters are cut at every place.
const SHORT: usize = 80;

/// Offsets, in characters, as byte ranges of the message.
pub(crate) fn slice(message: &str, start: usize, end: usize) -> String {
    message.chars().skip(start).take(end - start).collect()
}

/// Texts, reasoning, framing, calls and errors follow each other without a gap, and their sources are the text there.
pub(crate) fn tiles(message: &str, seen: &[Seen]) -> TestCaseResult {
    let mut at = 0;
    for one in seen {
        match one {
            Seen::Reasoning { text, start, end } => {
                prop_assert_eq!(*start, at, "the start of the reasoning");
                prop_assert_eq!(text, &slice(message, *start, *end), "the reasoning that ends at {}", end);
                at = *end;
            }
            Seen::Text(text) | Seen::Framing(text) => {
                let end = at + text.chars().count();
                prop_assert_eq!(text, &slice(message, at, end), "the text that ends at {}", end);
                at = end;
            }
            Seen::End(end) => {
                prop_assert_eq!(end.start, at, "the start of {:?}", end);
                at = end.end;
            }
            Seen::Error(error) => {
                prop_assert_eq!(error.start, at, "the start of {:?}", error);
                prop_assert_eq!(&error.raw, &slice(message, error.start, error.end), "the source of {:?}", error);
                at = error.end;
            }
            Seen::Start { .. } | Seen::Deltas { .. } => {}
        }
    }
    prop_assert_eq!(at, message.chars().count(), "the end of the message");
    Ok(())
}

/// Each start is followed by its deltas and then by its end or error, and by nothing else; indexes count from 0. With `lists`, the
/// next call of a list may start before, and all of them end in their order when the list does.
pub(crate) fn one_end(seen: &[Seen], lists: bool) -> TestCaseResult {
    let mut open: VecDeque<(usize, &str)> = VecDeque::new();
    let mut next = 0;
    let mut ending = false;
    for one in seen {
        match one {
            Seen::Text(text) | Seen::Framing(text) | Seen::Reasoning { text, .. } => {
                prop_assert!(open.is_empty(), "text inside a call");
                prop_assert!(!text.is_empty());
            }
            Seen::Start { index, name } => {
                prop_assert!(open.is_empty() || (lists && !ending), "a call starts in {open:?}");
                prop_assert_eq!(*index, next);
                open.push_back((next, name));
                next += 1;
            }
            Seen::Deltas { index, .. } => {
                prop_assert!(open.iter().any(|(at, _)| at == index), "a part of {index} in {open:?}");
            }
            Seen::End(end) => prop_assert_eq!(open.pop_front(), Some((end.index, end.name.as_str()))),
            Seen::Error(error) if error.index.is_none() && lists => {}
            Seen::Error(error) => {
                prop_assert_eq!(open.front().map(|(at, _)| *at), error.index);
                if let Some((_, name)) = open.pop_front() {
                    prop_assert_eq!(error.name.as_deref(), Some(name));
                }
            }
        }
        ending = !open.is_empty() && (ending || matches!(one, Seen::End(_) | Seen::Error(_)));
    }
    prop_assert!(open.is_empty(), "calls without an end: {open:?}");
    Ok(())
}

/// JSON with its exponents as serde_json keeps them.
fn signed_exponents(json: &str) -> String {
    let (mut out, mut quoted, mut before) = (String::new(), false, ' ');
    for c in json.chars() {
        quoted ^= c == '"' && before != '\\';
        if !quoted && matches!(before, 'e' | 'E') && c.is_ascii_digit() {
            out.push('+');
        }
        out.push(if !quoted && c == 'E' { 'e' } else { c });
        before = if before == '\\' { ' ' } else { c };
    }
    out
}

/// The deltas are the arguments, which are one compact JSON object; those of a failed call never are complete.
pub(crate) fn deltas(seen: &[Seen]) -> TestCaseResult {
    let mut joined: BTreeMap<usize, String> = BTreeMap::new();
    for one in seen {
        match one {
            Seen::Deltas { index, json } => joined.entry(*index).or_default().push_str(json),
            Seen::End(end) => {
                let json = joined.remove(&end.index).unwrap_or_default();
                prop_assert_eq!(&json, &end.arguments);
                let value: Value = serde_json::from_str(&json).unwrap_or_default();
                prop_assert!(value.is_object(), "{json}");
                prop_assert_eq!(value.to_string(), signed_exponents(&json), "compact, and no key twice");
            }
            Seen::Error(error) => {
                let json = error.index.and_then(|index| joined.remove(&index)).unwrap_or_default();
                prop_assert!(serde_json::from_str::<Value>(&json).is_err(), "the arguments of a failed call: {json}");
                if let Some(arguments) = &error.arguments {
                    prop_assert!(arguments.starts_with(&json), "{json} is not the beginning of {arguments}");
                    let value: Value = serde_json::from_str(arguments).unwrap_or_default();
                    prop_assert!(value.is_object(), "{arguments}");
                }
            }
            Seen::Start { .. } | Seen::Text(_) | Seen::Reasoning { .. } | Seen::Framing(_) => {}
        }
    }
    Ok(())
}

/// What a listener holds of the open call is never complete.
pub(crate) fn unfinished(seen: &[Seen]) -> TestCaseResult {
    if let Some(Seen::Deltas { json, .. }) = seen.last() {
        prop_assert!(serde_json::from_str::<Value>(json).is_err(), "complete before its end: {json}");
    }
    Ok(())
}

pub(crate) fn per_character(text: &str) -> Vec<&str> {
    pieces(text, &boundaries(text))
}

/// What holds for what comes of one message, whole and in characters.
pub(crate) fn well_formed(tools: &Toolset, message: &str, truncated: Option<bool>) -> TestCaseResult {
    well_formed_of(tools, message, truncated, Some(false), false)
}

/// The same, with what the host says of reasoning; with `lists`, calls of a list end together.
pub(crate) fn well_formed_of(
    tools: &Toolset,
    message: &str,
    truncated: Option<bool>,
    in_reasoning: Option<bool>,
    lists: bool,
) -> TestCaseResult {
    let mut early = Ok(());
    let watch = |seen: &[Seen]| early = std::mem::replace(&mut early, Ok(())).and(unfinished(seen));
    for seen in [
        read_chunks_of(tools, [message], truncated, in_reasoning, |_| {}),
        read_chunks_of(tools, per_character(message), truncated, in_reasoning, watch),
    ] {
        tiles(message, &seen)?;
        one_end(&seen, lists)?;
        deltas(&seen)?;
    }
    early
}

/// A message is the same in characters, in two parts, in parts as cut, and whole.
pub(crate) fn any_chunks(tools: &Toolset, message: &str, truncated: Option<bool>, cuts: &[Index]) -> TestCaseResult {
    any_chunks_of(tools, message, truncated, Some(false), cuts)
}

/// The same, with what the host says of reasoning.
pub(crate) fn any_chunks_of(
    tools: &Toolset,
    message: &str,
    truncated: Option<bool>,
    in_reasoning: Option<bool>,
    cuts: &[Index],
) -> TestCaseResult {
    let read = |chunks: &[&str]| read_chunks_of(tools, chunks.iter().copied(), truncated, in_reasoning, |_| {});
    let whole = read(&[message]);
    let chunked = |chunks: &[&str]| -> TestCaseResult {
        let got = read(chunks);
        prop_assert_eq!(&got, &whole, "left: in chunks {:?}", chunks);
        Ok(())
    };
    chunked(&per_character(message))?;
    let places = boundaries(message);
    if places.len() < SHORT {
        places.iter().try_for_each(|at| chunked(&pieces(message, &[*at])))?;
    }
    if !places.is_empty() {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut.get(&places)).collect();
        cuts.sort_unstable();
        cuts.insert(0, 0);
        chunked(&pieces(message, &cuts))?;
    }
    let mut at = 0;
    let items: Vec<Item> = whole
        .into_iter()
        .filter_map(|one| {
            let item = match one {
                Seen::Text(text) => Item::Text(at..at + text.len()),
                Seen::Reasoning { text, .. } => Item::Reasoning(at..at + text.len()),
                Seen::Framing(text) => Item::Framing(at..at + text.len()),
                Seen::End(end) => Item::Call(end),
                Seen::Error(error) => Item::Error(Box::new(error)),
                Seen::Start { .. } | Seen::Deltas { .. } => return None,
            };
            at = item.bytes().end;
            Some(item)
        })
        .collect();
    prop_assert_eq!(parse(tools, message, truncated, in_reasoning), items);
    Ok(())
}

/// The same where calls have little room.
pub(crate) fn chunks_of_large_calls(
    tools: &Toolset,
    message: &str,
    truncated: Option<bool>,
    cuts: &[Index],
) -> TestCaseResult {
    let whole = read(tools, message, truncated);
    let places = boundaries(message);
    let cuts = cuts.iter().filter(|_| !places.is_empty());
    let mut cuts: Vec<usize> = cuts.map(|cut| *cut.get(&places)).collect();
    cuts.sort_unstable();
    for chunks in [per_character(message), pieces(message, &cuts)] {
        let got = read_chunks(tools, chunks.iter().copied(), truncated, |_| {});
        prop_assert_eq!(&got, &whole, "left: in chunks {:?}", chunks);
    }
    let mark = tools.result_marks().map(str::len).max().unwrap_or(0);
    for one in &whole {
        match one {
            Seen::End(end) => prop_assert!(slice(message, end.start, end.end).len() <= tools.limits().call_bytes),
            Seen::Error(error) => prop_assert!(error.raw.len() <= tools.limits().call_bytes.max(mark)),
            Seen::Text(_) | Seen::Reasoning { .. } | Seen::Framing(_) | Seen::Start { .. } | Seen::Deltas { .. } => {}
        }
    }
    Ok(())
}

/// Calls with these arguments, with text around them, are read as what was written, in both modes and without repairs.
pub(crate) fn written_is_read(
    lenient: &Toolset,
    strict: &Toolset,
    name: &str,
    schema: &Value,
    values: &[Value],
    around: &[String],
) -> TestCaseResult {
    let mut message = around[0].clone();
    for (at, value) in values.iter().enumerate() {
        let value = parse_json(&value.to_string(), 64).expect("the value is JSON");
        message += &lenient.encode(name, &value).expect("it can be written");
        message += &around[at + 1];
    }
    // So may a number that equals a literal of its type: it becomes that literal.
    let integers = ["integer", "enum", "const"].iter().any(|word| schema.to_string().contains(&format!("\"{word}\"")));
    for tools in [lenient, strict] {
        let seen = read(tools, &message, None);
        prop_assert_eq!(read_chunks(tools, per_character(&message), None, |_| {}), &seen[..]);
        let ends: Vec<_> = calls(&seen).collect();
        prop_assert!(ends.len() == values.len(), "{message:?} gave {seen:#?}");
        prop_assert!(!seen.iter().any(|one| matches!(one, Seen::Error(_))), "{seen:#?}");
        for (end, value) in ends.iter().zip(values) {
            let got = parse_json(&end.arguments, 64).expect("arguments are JSON");
            prop_assert!(same(value, &got, integers), "{value} in {message:?} gave {end:#?}");
            prop_assert!(end.repairs.is_empty() && end.problems.is_empty(), "{message:?} gave {end:#?}");
        }
    }
    Ok(())
}

/// The same JSON, numbers to the digit; only an integer may lose `.0`.
pub(crate) fn same(given: &Value, got: &wirecall_core::Value<'_>, integers: bool) -> bool {
    use wirecall_core::Value as Got;
    match (given, got) {
        (Value::Null, Got::Null) => true,
        (Value::Bool(a), Got::Bool(b)) => a == b,
        (Value::String(a), Got::String(b)) => a == b,
        (Value::Number(a), Got::Number(b)) => {
            let a = a.to_string();
            let whole = a.split_once('.').filter(|(_, zeros)| zeros.bytes().all(|digit| digit == b'0'));
            a == *b || (integers && whole.is_some_and(|(whole, _)| whole == b))
        }
        (Value::Array(a), Got::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, integers)),
        (Value::Object(a), Got::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b, integers))
        }
        _ => false,
    }
}

fn made(tools: &Toolset, message: &str, truncated: Option<bool>, in_reasoning: Option<bool>) -> Vec<(String, String)> {
    let seen = read_chunks_of(tools, [message], truncated, in_reasoning, |_| {});
    calls(&seen).map(|end| (end.name.clone(), end.arguments.clone())).collect()
}

/// What a message begins with runs the first of its calls, and no other; that it is known to be complete takes none away.
pub(crate) fn beginnings(tools: &Toolset, message: &str, truncated: Option<bool>, cuts: &[Index]) -> TestCaseResult {
    beginnings_of(tools, message, truncated, Some(false), cuts)
}

/// The same, with what the host says of reasoning.
pub(crate) fn beginnings_of(
    tools: &Toolset,
    message: &str,
    truncated: Option<bool>,
    in_reasoning: Option<bool>,
    cuts: &[Index],
) -> TestCaseResult {
    let places = boundaries(message);
    let mut cuts = match places.len() {
        0..SHORT => places,
        _ => cuts.iter().map(|cut| *cut.get(&places)).collect(),
    };
    cuts.sort_unstable();
    let mut before = Vec::new();
    for end in cuts.into_iter().chain([message.len()]) {
        let now = made(tools, &message[..end], truncated.filter(|cut_off| *cut_off), in_reasoning);
        prop_assert!(now.starts_with(&before), "{:?} has {now:?}, less of it {before:?}", &message[..end]);
        before = now;
    }
    let complete = made(tools, message, Some(false), in_reasoning);
    prop_assert!(complete.starts_with(&before), "{message:?} has {before:?}, complete {complete:?}");
    Ok(())
}
