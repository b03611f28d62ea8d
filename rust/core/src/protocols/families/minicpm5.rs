//! Calls as MiniCPM5 writes them: `<function name="NAME"><param name="KEY">VALUE</param></function>`.

use crate::protocols::bodies::tagged::{Head, KeyTags, Lines, Tagged, Tags, ValueStyle};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks};

const TAGS: Tags = Tags {
    openers: &["<function name=\""],
    close: "</function>",
    argument: "<param name=\"",
    argument_close: "</param>",
    head: Head::Text(KeyTags { name_close: "\">", key_close: "\">", kind: None, value: "" }),
    values: ValueStyle::PythonOrCdata,
    lines: Lines::NONE,
    ..Tags::BASE
};

pub(crate) const MINICPM5: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks { call_ends: CallEnds::Declared, ..ReasoningMarks::LINES }),
        trim_before_call: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    writing: Writing {
        result: "<tool_response>\n{content}\n</tool_response>",
        result_mark: Some("<tool_response>"),
        ..Writing::LINES
    },
};
