//! Calls as K2 Horizon writes them: keys and values in tags, and a type before a value if the prompt asks for types.
//! vLLM, `tool_parsers/k2_horizon_tool_parser.py` and `reasoning/k2_horizon_reasoning_parser.py`.

use crate::protocols::bodies::tagged::{Head, KeyTags, Lines, Tagged, Tags};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks, Section};

const TAGS: Tags = Tags {
    openers: &["<ifm|tool_call>"],
    close: "</ifm|tool_call>",
    argument: "<ifm|arg_key>",
    argument_close: "</ifm|arg_value>",
    head: Head::Text(KeyTags {
        name_close: "",
        key_close: "</ifm|arg_key>",
        kind: Some(("<ifm|arg_type>", "</ifm|arg_type>")),
        value: "<ifm|arg_value>",
    }),
    lines: Lines { key: "\n", ..Lines::EACH },
    ends: &["<ifm|tool_call>", "</ifm|tool_calls>"],
    ..Tags::BASE
};

/// The prompt opens the reasoning, with the word of the effort.
pub(crate) const K2_HORIZON: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[
                ("<ifm|think>", "</ifm|think>"),
                ("<ifm|think_fast>", "</ifm|think_fast>"),
                ("<ifm|think_faster>", "</ifm|think_faster>"),
            ],
            written: ("<ifm|think>\n", "\n</ifm|think>\n"),
            call_ends: CallEnds::Declared,
            ..ReasoningMarks::LINES
        }),
        starts_in_reasoning: true,
        section: Some(Section { begin: &["<ifm|tool_calls>"], end: &["</ifm|tool_calls>"] }),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<|ifm|im_end|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    writing: Writing { begin: "<ifm|tool_calls>\n", end: "\n</ifm|tool_calls>", ..Writing::LINES },
};
