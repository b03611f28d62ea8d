//! A whole message: feed, finish, fold.

use std::ops::Range;

use crate::event::{CallEnd, CallError, Event};
use crate::parser::Parser;
use crate::toolset::Toolset;

/// A part of a message, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Its bytes in the message.
    Text(Range<usize>),
    Call(CallEnd),
    Error(CallError),
}

/// Reads a whole message. `truncated`: `Some(false)` only if it is known to be complete.
pub fn parse(tools: &Toolset, text: &str, truncated: Option<bool>, in_reasoning: bool) -> Vec<Item> {
    let mut items = Vec::new();
    let mut parser = Parser::whole(tools, in_reasoning);
    let mut sink = |event: Event<'_>| fold(&mut items, event);
    parser.feed(text, &mut sink);
    parser.finish(truncated, &mut sink);
    items
}

/// Adds an event to the items of a message, which texts, calls and errors tile.
pub fn fold(items: &mut Vec<Item>, event: Event<'_>) {
    match event {
        Event::Text(text) => {
            let start = match items.last_mut() {
                Some(Item::Text(before)) => return before.end += text.len(),
                Some(Item::Call(CallEnd { bytes, .. }) | Item::Error(CallError { bytes, .. })) => bytes.end,
                None => 0,
            };
            items.push(Item::Text(start..start + text.len()));
        }
        Event::CallEnd(end) => items.push(Item::Call(end)),
        Event::CallError(error) => items.push(Item::Error(*error)),
        Event::CallStart { .. } | Event::ArgumentsDelta { .. } => {}
    }
}

impl Toolset {
    /// The exact substrings of a whole message that are calls, in order.
    pub fn segments<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let calls = parse(self, text, None, false).into_iter().filter_map(|item| match item {
            Item::Call(call) => Some(&text[call.bytes]),
            Item::Text(_) | Item::Error(_) => None,
        });
        calls.collect()
    }
}
