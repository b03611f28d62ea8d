//! One reading of a message, and what holds for it however it is cut.

use std::collections::HashMap;

use wirecall_core::{CallEnd, CallError, Event, Parser, Toolset};

#[derive(Debug, PartialEq)]
enum Seen {
    Text(String),
    Reasoning(String, usize, usize),
    Framing(String),
    Start(usize, String),
    Deltas(usize, String),
    End(CallEnd),
    Error(CallError),
}

fn read<'c>(
    tools: &Toolset,
    chunks: impl IntoIterator<Item = &'c str>,
    truncated: Option<bool>,
    reasoning: Option<bool>,
) -> Vec<Seen> {
    let mut seen: Vec<Seen> = Vec::new();
    let mut sink = |event: Event<'_>| match (event, seen.last_mut()) {
        (Event::Text(text), Some(Seen::Text(before))) => before.push_str(text),
        (Event::Text(text), _) => seen.push(Seen::Text(text.into())),
        (Event::Framing(text), Some(Seen::Framing(before))) => before.push_str(text),
        (Event::Framing(text), _) => seen.push(Seen::Framing(text.into())),
        (Event::Reasoning { text, start, end }, Some(Seen::Reasoning(before, _, to))) if *to == start => {
            before.push_str(text);
            *to = end;
        }
        (Event::Reasoning { text, start, end }, _) => seen.push(Seen::Reasoning(text.into(), start, end)),
        (Event::ArgumentsDelta { delta, .. }, Some(Seen::Deltas(_, before))) => before.push_str(delta),
        (Event::ArgumentsDelta { index, delta }, _) => seen.push(Seen::Deltas(index, delta.into())),
        (Event::CallStart { index, name }, _) => seen.push(Seen::Start(index, name.into())),
        (Event::CallEnd(end), _) => seen.push(Seen::End(end)),
        (Event::CallError(error), _) => seen.push(Seen::Error(*error)),
        (event, _) => panic!("a new kind of event: {event:?}"),
    };
    let mut parser = Parser::borrowing(tools, reasoning);
    chunks.into_iter().for_each(|chunk| parser.feed(chunk, &mut sink));
    parser.finish(truncated, &mut sink);
    seen
}

fn tiles(message: &str, seen: &[Seen]) {
    let characters: Vec<char> = message.chars().collect();
    let slice = |start: usize, end: usize| characters[start..end].iter().collect::<String>();
    let mut at = 0;
    // The calls of a list may be open at the same time.
    let mut deltas: HashMap<usize, String> = HashMap::new();
    for one in seen {
        match one {
            Seen::Text(text) | Seen::Framing(text) => {
                let end = at + text.chars().count();
                assert_eq!(*text, slice(at, end));
                at = end;
            }
            Seen::Reasoning(text, start, end) => {
                assert_eq!((*start, text), (at, &slice(*start, *end)));
                at = *end;
            }
            Seen::Start(..) => {}
            Seen::Deltas(index, json) => deltas.entry(*index).or_default().push_str(json),
            Seen::End(end) => {
                let all = deltas.get(&end.index).map_or("", String::as_str);
                assert_eq!((end.start, all), (at, end.arguments.as_str()));
                let value: serde_json::Value = serde_json::from_str(&end.arguments).expect("arguments are JSON");
                assert!(value.is_object());
                at = end.end;
            }
            Seen::Error(error) => {
                assert_eq!((error.start, &error.raw), (at, &slice(error.start, error.end)));
                at = error.end;
            }
        }
    }
    assert_eq!(at, characters.len());
}

/// However the message is cut, the events are the same, and its items tile it. Cuts are parts of 256.
pub fn holds(tools: &Toolset, message: &str, truncated: Option<bool>, reasoning: Option<bool>, cuts: &[u8]) {
    let whole = read(tools, [message], truncated, reasoning);
    tiles(message, &whole);
    let ends: Vec<usize> = message.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    let characters = ends.iter().scan(0, |from, end| Some(&message[std::mem::replace(from, *end)..*end]));
    assert_eq!(read(tools, characters, truncated, reasoning), whole);
    if ends.is_empty() {
        return;
    }
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| ends[usize::from(*cut) * ends.len() / 256]).collect();
    cuts.sort_unstable();
    cuts.push(message.len());
    let pieces = cuts.iter().scan(0, |from, end| Some(&message[std::mem::replace(from, *end)..*end]));
    assert_eq!(read(tools, pieces, truncated, reasoning), whole);
}
