//! Calls as Kimi K3 writes them: elements with attributes, each opened and closed by its name.

use crate::protocols::bodies::tagged::{Head, TagAttributes, Tagged, Tags};

const TAGS: Tags = Tags {
    openers: &["<|open|>call "],
    close: "<|close|>call<|sep|>",
    argument: "<|open|>argument ",
    argument_close: "<|close|>argument<|sep|>",
    spaced: false,
    head: Head::Attributes(TagAttributes {
        end: "<|sep|>",
        empty: None,
        tool: "tool",
        index: Some("index"),
        key: "key",
        kind: "type",
        kinds: ["string", "number", "boolean", "null", "array", "object"],
        escaped: true,
    }),
    line: "",
    ends: &["<|open|>call ", "<|close|>tools<|sep|>"],
};

/// A call in the element `tools`.
pub(crate) const KIMI_K3_CALL: Tagged = Tagged(&TAGS);
