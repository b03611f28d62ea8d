//! Calls as Seed-OSS writes them: a function with its parameters, each as raw text in a tag. Each call is in a section of its own.

use crate::protocols::bodies::tagged::{Head, KeyTags, Tagged, Tags, ValueStyle};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks, Section};

pub(super) const TAGS: Tags = Tags {
    openers: &["<function="],
    close: "</function>",
    argument: "<parameter=",
    argument_close: "</parameter>",
    head: Head::Text(KeyTags { name_close: ">", key_close: ">", kind: None, value: "" }),
    values: ValueStyle::Python,
    ends: &["<function=", "</seed:tool_call>"],
    ..Tags::BASE
};

pub(crate) const SEED_OSS: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[("<seed:think>", "</seed:think>")],
            written: ("<seed:think>", "</seed:think>\n"),
            breaks_after: true,
            call_ends: CallEnds::Declared,
            ..ReasoningMarks::BARE
        }),
        section: Some(Section { begin: &["<seed:tool_call>"], end: &["</seed:tool_call>"] }),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<seed:eos>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    writing: Writing {
        begin: "<seed:tool_call>\n",
        end: "\n</seed:tool_call>",
        between: "\n</seed:tool_call>\n<seed:tool_call>\n",
        after_content: "\n\n",
        result: "{content}",
        result_mark: None,
    },
};
