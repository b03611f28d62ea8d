//! Calls as GLM-4.5 and newer write them: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>`. The models
//! differ in the line breaks, which are read in any case, and in how the prompt ends. Ling, Spark and IQuest write the same.

use crate::protocols::bodies::tagged::{Head, KeyTags, Lines, Tagged, Tags, ValueStyle};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks};

const TAGS: Tags = Tags {
    openers: &["<tool_call>"],
    close: "</tool_call>",
    argument: "<arg_key>",
    argument_close: "</arg_value>",
    spaced: true,
    head: Head::Text(KeyTags { name_close: "", key_close: "</arg_key>", kind: None, value: "<arg_value>" }),
    values: ValueStyle::Json,
    line_breaks: false,
    lines: Lines { key: "\n", ..Lines::EACH },
    ends: &[],
};

const REASONING: ReasoningMarks =
    ReasoningMarks { breaks_after: true, call_ends: CallEnds::Declared, ..ReasoningMarks::BARE };

/// GLM-4.5 and 4.6.
pub(crate) const GLM_4_5: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks { written: ("\n<think>", "</think>\n"), ..REASONING }),
        trim_before_call: true,
        breaks_at_start: true,
        stops: &["<|user|>", "<|observation|>", "<|endoftext|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    writing: Writing {
        begin: "",
        end: "",
        between: "\n",
        after_content: "\n",
        result: "<|observation|>\n<tool_response>\n{content}\n</tool_response>",
        result_mark: Some("<tool_response>"),
    },
};

/// GLM-4.7 and newer. The prompt opens the reasoning.
pub(crate) const GLM_4_7: FlatFamily = FlatFamily {
    layout: Layout { reasoning: Some(REASONING), starts_in_reasoning: true, ..GLM_4_5.layout },
    call: &Tagged(&Tags { lines: Lines::NONE, ..TAGS }),
    writing: Writing {
        between: "",
        after_content: "",
        result: "<|observation|><tool_response>{content}</tool_response>",
        ..GLM_4_5.writing
    },
};

/// Ling 3. The prompt opens the reasoning.
pub(crate) const LING_3: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks { written: ("\n<think>", "</think>"), ..REASONING }),
        starts_in_reasoning: true,
        stops: &["<|role_end|>"],
        ..GLM_4_5.layout
    },
    call: &Tagged(&Tags { lines: Lines { head: "\n", key: "\n", close: "\n", ..Lines::NONE }, ..TAGS }),
    writing: Writing { result: "<tool_response>\n{content}\n</tool_response>", ..GLM_4_5.writing },
};

/// Spark 2.5. The prompt opens the reasoning.
pub(crate) const SPARK_2_5: FlatFamily = FlatFamily {
    layout: Layout { stops: &["<｜end▁of▁sentence｜>"], ..GLM_4_7.layout },
    writing: Writing { result: "<tool_response>{content}</tool_response>", ..GLM_4_7.writing },
    ..GLM_4_7
};

/// IQuest Q1. The prompt opens the reasoning. SGLang, `function_call/iquest_q1_detector.py`.
pub(crate) const IQUEST_Q1: FlatFamily = FlatFamily {
    layout: Layout { special_tokens: true, stops: &["<|iquest_end|>"], ..GLM_4_7.layout },
    call: &Tagged(&Tags { openers: &["<iquest_tool_call>"], close: "</iquest_tool_call>", lines: Lines::NONE, ..TAGS }),
    writing: Writing { result: "<tool_response>{content}</tool_response>", ..GLM_4_7.writing },
};
