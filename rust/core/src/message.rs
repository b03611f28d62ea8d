//! A whole message: feed, finish, fold.

use crate::event::{Event, Item, fold};
use crate::parser::Parser;
use crate::toolset::Toolset;

/// Reads a whole message. `truncated`: `Some(false)` only if it is known to be complete.
pub fn parse(tools: &Toolset, text: &str, truncated: Option<bool>, in_reasoning: bool) -> Vec<Item> {
    let mut items = Vec::new();
    let mut parser = Parser::whole(tools, in_reasoning);
    let mut on_event = |event: Event<'_>| fold(&mut items, event);
    parser.feed(text, &mut on_event);
    parser.finish(truncated, &mut on_event);
    items
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
