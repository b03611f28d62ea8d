//! Calls as DeepSeek-V3.2 and newer write them (DSML): `<｜DSML｜invoke name="NAME">` with
//! `<｜DSML｜parameter name="KEY" string="true">VALUE</｜DSML｜parameter>` for each argument. GigaChat 3.5 writes the same with another word.

use crate::protocols::bodies::tagged::{Head, Lines, TagAttributes, Tagged, Tags, ValueStyle};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks, Section};

const ATTRIBUTES: TagAttributes = TagAttributes {
    end: ">",
    empty: Some("/>"),
    tool: "name",
    index: None,
    key: "name",
    kind: "string",
    kinds: ["true", "false", "false", "false", "false", "false"],
    escaped: false,
};

const TAGS: Tags = Tags {
    openers: &["<｜DSML｜invoke "],
    close: "</｜DSML｜invoke>",
    argument: "<｜DSML｜parameter ",
    argument_close: "</｜DSML｜parameter>",
    spaced: true,
    head: Head::Attributes(ATTRIBUTES),
    values: ValueStyle::Json,
    line_breaks: false,
    lines: Lines { empty: "\n", ..Lines::EACH },
    ends: &["<｜DSML｜invoke ", "</｜DSML｜function_calls>"],
};

/// The prompt opens the reasoning, or closes it.
pub(crate) const DEEPSEEK_V3_2: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks { call_ends: CallEnds::Declared, ..ReasoningMarks::BARE }),
        starts_in_reasoning: true,
        section: Some(Section { begin: &["<｜DSML｜function_calls>"], end: &["</｜DSML｜function_calls>"] }),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<｜end▁of▁sentence｜>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    writing: Writing {
        begin: "\n\n<｜DSML｜function_calls>\n",
        end: "\n</｜DSML｜function_calls>",
        between: "\n",
        after_content: "",
        result: "\n\n<function_results>\n<result>{content}</result>\n</function_results>",
        result_mark: Some("<function_results>"),
    },
};

pub(crate) const DEEPSEEK_V4: FlatFamily = FlatFamily {
    layout: Layout {
        section: Some(Section { begin: &["<｜DSML｜tool_calls>"], end: &["</｜DSML｜tool_calls>"] }),
        ..DEEPSEEK_V3_2.layout
    },
    call: &Tagged(&Tags { ends: &["<｜DSML｜invoke ", "</｜DSML｜tool_calls>"], ..TAGS }),
    writing: Writing {
        begin: "\n\n<｜DSML｜tool_calls>\n",
        end: "\n</｜DSML｜tool_calls>",
        result: "<｜User｜><tool_result>{content}</tool_result>",
        result_mark: Some("<tool_result>"),
        ..DEEPSEEK_V3_2.writing
    },
};

/// The same with a space after the second bar.
pub(crate) const DEEPSEEK_V4_1: FlatFamily = FlatFamily {
    layout: Layout {
        section: Some(Section { begin: &["<｜DSML｜ calls>"], end: &["</｜DSML｜ calls>"] }),
        ..DEEPSEEK_V4.layout
    },
    call: &Tagged(&Tags {
        openers: &["<｜DSML｜ invoke "],
        close: "</｜DSML｜ invoke>",
        argument: "<｜DSML｜ parameter ",
        argument_close: "</｜DSML｜ parameter>",
        ends: &["<｜DSML｜ invoke ", "</｜DSML｜ calls>"],
        ..TAGS
    }),
    writing: Writing { begin: "\n\n<｜DSML｜ calls>\n", end: "\n</｜DSML｜ calls>", ..DEEPSEEK_V4.writing },
};

/// GigaChat 3.5, whose prompt opens the reasoning only if the host asks for it.
/// vLLM, `tool_parsers/gigachat35_tool_parser.py` and `reasoning/gigachat35_reasoning_parser.py`.
pub(crate) const GIGACHAT_3_5: FlatFamily = FlatFamily {
    layout: Layout {
        starts_in_reasoning: false,
        section: Some(Section { begin: &["<｜GCML｜tool_calls>"], end: &["</｜GCML｜tool_calls>"] }),
        stops: &["</s>"],
        ..DEEPSEEK_V3_2.layout
    },
    call: &Tagged(&Tags {
        openers: &["<｜GCML｜invoke "],
        close: "</｜GCML｜invoke>",
        argument: "<｜GCML｜parameter ",
        argument_close: "</｜GCML｜parameter>",
        lines: Lines::EACH,
        ends: &["<｜GCML｜invoke ", "</｜GCML｜tool_calls>"],
        ..TAGS
    }),
    writing: Writing {
        begin: "\n\n<｜GCML｜tool_calls>\n",
        end: "\n</｜GCML｜tool_calls>",
        result: "{content}",
        result_mark: None,
        ..DEEPSEEK_V3_2.writing
    },
};
