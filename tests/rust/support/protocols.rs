//! What the laws need to know of each protocol. A new one is a line here, and a file with its messages.

use proptest::prelude::*;

use super::{messages, xml};

pub struct Protocol {
    pub name: &'static str,
    pub delimiters: &'static [Option<(&'static str, &'static str)>],
    /// Are calls of undeclared tools calls, where no tool is declared?
    pub open: bool,
    /// A message, in the first delimiters.
    pub message: fn() -> BoxedStrategy<String>,
    /// What opens or closes a result, in lower case.
    pub results: &'static [&'static str],
}

impl std::fmt::Debug for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

pub const WIRE: Protocol = Protocol {
    name: "wire",
    delimiters: &[None, Some(("«call»", "«/call»")), Some(("<|tool|>", "<|end|>"))],
    open: true,
    message: messages::message,
    results: &["<tool-result", "<tool-error", "</tool-result", "</tool-error"],
};

pub const XML: Protocol = Protocol {
    name: "xml",
    delimiters: &[None],
    open: false,
    message: xml::message,
    results: &["<tool_response", "</tool_response"],
};

pub const PROTOCOLS: &[Protocol] = &[WIRE, XML];
