//! A whole message.

use crate::event::Item;
use crate::parser::Parser;
use crate::toolset::Toolset;

/// Reads a whole message, with the same result as a [`Parser`]. The items tile the text. `truncated`: `Some(false)` only if the
/// message is known to be complete, `Some(true)` only if it is known to be cut off. `in_reasoning`: whether the message begins inside reasoning, because a template has opened it;
/// `None` for the protocol's default.
pub fn parse(tools: &Toolset, text: &str, truncated: Option<bool>, in_reasoning: Option<bool>) -> Vec<Item> {
    Parser::whole(tools, in_reasoning).read_all(text, truncated)
}

impl Toolset {
    /// The exact substrings of a whole message that are calls, in order.
    pub fn segments<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let calls = parse(self, text, None, None).into_iter().filter_map(|item| match item {
            Item::Call(call) => Some(&text[call.bytes]),
            _ => None,
        });
        calls.collect()
    }
}
