//! Calls as MiniMax M2 writes them: `<invoke name="NAME">` with `<parameter name="KEY">VALUE</parameter>` for each argument.

use crate::protocols::bodies::tagged::{Head, KeyTags, Tagged, Tags};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks, Section};

pub(super) const TAGS: Tags = Tags {
    openers: &["<invoke name=\""],
    close: "</invoke>",
    argument: "<parameter name=\"",
    argument_close: "</parameter>",
    head: Head::Text(KeyTags { name_close: "\">", key_close: "\">", kind: None, value: "" }),
    ends: &["<invoke name=\"", "</minimax:tool_call>"],
    ..Tags::BASE
};

/// The prompt opens the reasoning.
pub(crate) const MINIMAX_M2: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks { call_ends: CallEnds::Declared, ..ReasoningMarks::LINES }),
        starts_in_reasoning: true,
        section: Some(Section { begin: &["<minimax:tool_call>"], end: &["</minimax:tool_call>"] }),
        trim_before_call: true,
        special_tokens: true,
        stops: &["[e~["],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    writing: Writing {
        begin: "\n<minimax:tool_call>\n",
        end: "\n</minimax:tool_call>",
        between: "\n",
        after_content: "",
        result: "<response>{content}</response>",
        result_mark: None,
    },
};
