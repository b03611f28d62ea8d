//! Messages to recipients, as Muse writes them: ` to=NAME<|message|>`, and calls in tags to each tool.

use crate::protocols::bodies::tagged::{Tagged, Tags};
use crate::protocols::frames::channels::Channels;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, Section};

const ENDS: &[&str] = &["</atem:function_calls>", "<|eot|>", "<|eom|>"];

const TAGS: Tags = Tags {
    openers: &["<atem:invoke name=\""],
    close: "</atem:invoke>",
    argument: "<atem:parameter name=\"",
    argument_close: "</atem:parameter>",
    ends: &["<atem:invoke name=\"", ENDS[0]],
    ..super::minimax_m2::TAGS
};

pub(crate) const MUSE: FlatFamily = FlatFamily {
    layout: Layout {
        parts: Some(&Channels {
            start: "<|start|>",
            channel: "",
            constrain: "<|constrain|>",
            separator: "<|message|>",
            ends: &["<|eot|>", "<|eom|>"],
            recipient: "to=",
            functions: "",
            built_in: &[],
            reasoning: "self",
            content: &["user"],
            address: " to={name}<|message|><atem:function_calls>\n",
        }),
        section: Some(Section { begin: &["<atem:function_calls>"], end: ENDS }),
        special_tokens: true,
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    writing: Writing {
        begin: "",
        end: "\n</atem:function_calls><|eot|>",
        between: "\n</atem:function_calls><|eom|><|start|>assistant",
        after_content: "<|eom|><|start|>assistant",
        result: "<tool_output name=\"{name}\">\n{content}\n</tool_output>",
        result_mark: Some("<tool_output"),
    },
};
