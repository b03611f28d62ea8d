//! Calls as Kimi K3 writes them: elements with attributes, each opened and closed by its name.

use crate::protocols::bodies::tagged::{Head, Lines, TagAttributes, Tagged, Tags, ValueStyle};
use crate::protocols::frames::elements::Elements;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, Section};

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
    values: ValueStyle::Json,
    line_breaks: false,
    lines: Lines::NONE,
    ends: &["<|open|>call ", "<|close|>tools<|sep|>"],
};

const ELEMENTS: Elements = Elements {
    reasoning: ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    content: &[("<|open|>response<|sep|>", "<|close|>response<|sep|>")],
    calls: ("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
    join: "",
    close: "<|close|>message<|sep|>",
    tags: &["<|open|>", "<|close|>"],
    all: true,
    named: false,
};

pub(crate) const KIMI_K3: FlatFamily = FlatFamily {
    layout: Layout {
        parts: Some(&ELEMENTS),
        starts_in_reasoning: true,
        section: Some(Section { begin: &[ELEMENTS.calls.0], end: &[ELEMENTS.calls.1] }),
        special_tokens: true,
        stops: &["<|end_of_msg|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    writing: Writing {
        begin: ELEMENTS.calls.0,
        end: ELEMENTS.calls.1,
        between: "",
        after_content: "",
        result: "<|open|>message role=\"tool\" tool=\"{name}\" index=\"{index}\"<|sep|>{content}<|close|>message<|sep|>",
        result_mark: None,
    },
};
