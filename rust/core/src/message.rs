//! A whole message: feed, finish, fold.

use crate::event::{CallEnd, CallError, Event};
use crate::parser::Parser;
use crate::toolset::Toolset;

/// A part of a message, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Text(String),
    Call(CallEnd),
    Error(CallError),
}

/// Reads a whole message. `truncated`: `Some(false)` only if it is known to be complete.
pub fn parse(tools: &Toolset, text: &str, truncated: Option<bool>, in_reasoning: bool) -> Vec<Item> {
    let mut items = Vec::new();
    let mut parser = Parser::whole(in_reasoning);
    let mut sink = |event: Event<'_>| fold(&mut items, event);
    parser.feed(tools, text, &mut sink);
    parser.finish(tools, truncated, &mut sink);
    items
}

/// Adds an event to the items of a message.
pub fn fold(items: &mut Vec<Item>, event: Event<'_>) {
    match event {
        Event::Text(text) => match items.last_mut() {
            Some(Item::Text(before)) => before.push_str(text),
            _ => items.push(Item::Text(text.to_owned())),
        },
        Event::CallEnd(end) => items.push(Item::Call(end)),
        Event::CallError(error) => items.push(Item::Error(error)),
        Event::CallStart { .. } | Event::ArgumentsDelta { .. } => {}
    }
}

impl Toolset {
    /// The exact substrings of a whole message that are calls, in order.
    pub fn segments(&self, text: &str) -> Vec<String> {
        let calls = parse(self, text, None, false).into_iter().filter_map(|item| match item {
            Item::Call(call) => Some((call.start, call.end)),
            Item::Text(_) | Item::Error(_) => None,
        });
        // Offsets count characters, in order: one walk serves them all.
        let mut rest = text.chars();
        let mut at = 0;
        let mut take = |to: usize| {
            let part: String = rest.by_ref().take(to - at).collect();
            at = to;
            part
        };
        calls
            .map(|(start, end)| {
                take(start);
                take(end)
            })
            .collect()
    }
}
