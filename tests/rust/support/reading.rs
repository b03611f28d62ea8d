//! One reading of a message, folded so that two of them can be compared.

use wirecall_core::{CallEnd, CallError, Event, Parser, Plain, Toolset};

/// What was seen, in order; adjacent parts of one kind are joined, and so are adjacent deltas of one call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    Text(String),
    /// With its place in characters.
    Reasoning {
        text: String,
        start: usize,
        end: usize,
    },
    Framing(String),
    Start {
        index: usize,
        name: String,
    },
    Deltas {
        index: usize,
        json: String,
    },
    End(CallEnd),
    Error(CallError),
}

fn fold(seen: &mut Vec<Seen>, event: Event<'_>) {
    match event {
        Event::Text(text) => match seen.last_mut() {
            Some(Seen::Text(before)) => before.push_str(text),
            _ => seen.push(Seen::Text(text.to_owned())),
        },
        Event::Reasoning { text, start, end } => match seen.last_mut() {
            Some(Seen::Reasoning { text: before, end: last, .. }) => {
                assert_eq!(*last, start, "reasoning goes on where it was");
                before.push_str(text);
                *last = end;
            }
            _ => seen.push(Seen::Reasoning { text: text.to_owned(), start, end }),
        },
        Event::Framing(text) => match seen.last_mut() {
            Some(Seen::Framing(before)) => before.push_str(text),
            _ => seen.push(Seen::Framing(text.to_owned())),
        },
        Event::CallStart { index, name } => seen.push(Seen::Start { index, name: name.to_owned() }),
        Event::ArgumentsDelta { index, delta } => match seen.last_mut() {
            Some(Seen::Deltas { index: same, json }) if *same == index => json.push_str(delta),
            _ => seen.push(Seen::Deltas { index, json: delta.to_owned() }),
        },
        Event::CallEnd(end) => seen.push(Seen::End(end)),
        Event::CallError(error) => seen.push(Seen::Error(*error)),
        event => panic!("a new kind of event: {event:?}"),
    }
}

/// Feeds the chunks, the short way where there is one, and finishes; `after` sees what there is so far after each of them.
pub(crate) fn read_chunks<'c>(
    tools: &Toolset,
    chunks: impl IntoIterator<Item = &'c str>,
    truncated: Option<bool>,
    after: impl FnMut(&[Seen]),
) -> Vec<Seen> {
    read_chunks_of(tools, chunks, truncated, Some(false), after)
}

/// The same, with what the host says of reasoning.
pub(crate) fn read_chunks_of<'c>(
    tools: &Toolset,
    chunks: impl IntoIterator<Item = &'c str>,
    truncated: Option<bool>,
    in_reasoning: Option<bool>,
    mut after: impl FnMut(&[Seen]),
) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut parser = Parser::borrowing(tools, in_reasoning);
    for chunk in chunks {
        match parser.feed_plain(chunk) {
            Plain::No => parser.feed(chunk, &mut |event| fold(&mut seen, event)),
            Plain::Text => fold(&mut seen, Event::Text(chunk)),
            Plain::DeltaIsInput { index } => fold(&mut seen, Event::ArgumentsDelta { index, delta: chunk }),
            Plain::Delta { delta: "", .. } => {}
            Plain::Delta { index, delta } => fold(&mut seen, Event::ArgumentsDelta { index, delta }),
        }
        after(&seen);
    }
    parser.finish(truncated, &mut |event| fold(&mut seen, event));
    seen
}

pub(crate) fn read(tools: &Toolset, text: &str, truncated: Option<bool>) -> Vec<Seen> {
    read_chunks(tools, [text], truncated, |_| {})
}

/// The text in pieces, cut at these bytes (each a character's first, in order).
pub(crate) fn pieces<'t>(text: &'t str, cuts: &[usize]) -> Vec<&'t str> {
    let mut from = 0;
    let mut out = Vec::with_capacity(cuts.len() + 1);
    for &cut in cuts {
        out.push(&text[from..cut]);
        from = cut;
    }
    out.push(&text[from..]);
    out
}

/// The bytes at which a text may be cut.
pub(crate) fn boundaries(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).skip(1).collect()
}

pub(crate) fn calls(seen: &[Seen]) -> impl Iterator<Item = &CallEnd> {
    seen.iter().filter_map(|one| match one {
        Seen::End(end) => Some(end),
        _ => None,
    })
}

/// Calls that began, ended or failed.
pub(crate) fn traces(seen: &[Seen]) -> usize {
    seen.iter().filter(|one| !matches!(one, Seen::Text(_) | Seen::Reasoning { .. } | Seen::Framing(_))).count()
}
