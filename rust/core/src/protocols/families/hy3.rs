//! Calls as Hunyuan Hy3 and Hy4 write them: keys and values in tags with a suffix, which is that of the checkpoint.

use crate::protocols::bodies::tagged::{Head, KeyTags, Lines, Tagged, Tags};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks, Section};

const TAGS: Tags = Tags {
    openers: &["<tool_call:opensource>"],
    close: "</tool_call:opensource>",
    argument: "<arg_key:opensource>",
    argument_close: "</arg_value:opensource>",
    head: Head::Text(KeyTags {
        name_close: "<tool_sep:opensource>",
        key_close: "</arg_key:opensource>",
        kind: None,
        value: "<arg_value:opensource>",
    }),
    lines: Lines { key: "\n", ..Lines::EACH },
    ends: &["<tool_call:opensource>", "</tool_calls:opensource>"],
    ..Tags::BASE
};

/// The prompt opens the reasoning, or closes it if the host does not ask for it.
pub(crate) const HY3: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[("<think:opensource>", "</think:opensource>")],
            written: ("<think:opensource>", "</think:opensource>"),
            call_ends: CallEnds::Declared,
            ..ReasoningMarks::BARE
        }),
        section: Some(Section { begin: &["<tool_calls:opensource>"], end: &["</tool_calls:opensource>"] }),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<｜hy_eos:opensource｜>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    writing: Writing {
        begin: "<tool_calls:opensource>\n",
        end: "\n</tool_calls:opensource>",
        between: "\n",
        after_content: "",
        result: "<tool_response:opensource>\n{content}\n</tool_response:opensource>",
        result_mark: Some("<tool_response:opensource>"),
    },
};

/// Hy4, which has no tag after the name. vLLM, `tool_parsers/hy_v4_tool_parser.py`; the suffix is that of Hy4-preview.
pub(crate) const HY4: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[("<think:6124c78e>", "</think:6124c78e>")],
            written: ("<think:6124c78e>", "</think:6124c78e>"),
            call_ends: CallEnds::Declared,
            ..ReasoningMarks::BARE
        }),
        section: Some(Section { begin: &["<tool_calls:6124c78e>"], end: &["</tool_calls:6124c78e>"] }),
        stops: &["<｜hy_eos:6124c78e｜>"],
        ..HY3.layout
    },
    call: &Tagged(&Tags {
        openers: &["<tool_call:6124c78e>"],
        close: "</tool_call:6124c78e>",
        argument: "<arg_key:6124c78e>",
        argument_close: "</arg_value:6124c78e>",
        head: Head::Text(KeyTags {
            name_close: "",
            key_close: "</arg_key:6124c78e>",
            kind: None,
            value: "<arg_value:6124c78e>",
        }),
        ends: &["<tool_call:6124c78e>", "</tool_calls:6124c78e>"],
        ..TAGS
    }),
    writing: Writing {
        begin: "<tool_calls:6124c78e>\n",
        end: "\n</tool_calls:6124c78e>",
        result: "<tool_response:6124c78e>\n{content}\n</tool_response:6124c78e>",
        result_mark: Some("<tool_response:6124c78e>"),
        ..HY3.writing
    },
};
