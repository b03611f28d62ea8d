//! Calls as DeepSeek-V3.2 and newer write them (DSML): `<｜DSML｜invoke name="NAME">` with
//! `<｜DSML｜parameter name="KEY" string="true">VALUE</｜DSML｜parameter>` for each argument. GigaChat 3.5 writes the same with another word.

use super::prelude::*;

use crate::formats::bodies::tagged::{Lines, TagAttributes, Tagged, Tags};

pub(crate) const ROWS: &[Row] = &[
    Row {
        models: &[Models::of("deepseek-v3.2", "vLLM recipes, models/deepseek-ai/DeepSeek-V3.2.yaml")],
        chat_templates: &[TemplateMarks::of(&[&["｜DSML｜", "'function_calls>", "invoke name=", "parameter name="]])],
        ..Row::new("deepseek-v3.2", || Arc::new(DEEPSEEK_V3_2))
    },
    Row {
        models: &[
            Models::of("deepseek-v4 deepseek-v4-flash deepseek-v4-pro", "vLLM recipes, models/deepseek-ai"),
            Models::of(
                "deepseek-v4-flash-dspark deepseek-v4-pro-dspark deepseek-v4-flash-vision-exp",
                "vLLM recipes, models/deepseek-ai",
            ),
        ],
        chat_templates: &[TemplateMarks::of(&[&["｜DSML｜", "'tool_calls>", "invoke name=", "parameter name="]])],
        ..Row::new("deepseek-v4", || Arc::new(DEEPSEEK_V4))
    },
    Row {
        models: &[Models::of("deepseek-v4.1 deepseek-v4.1-flash deepseek-v4.1-pro", "vLLM, parser/deepseek_v41.py")],
        chat_templates: &[TemplateMarks::of(&[&["｜DSML｜", "' calls>", "parameter name="]])
            .lacks(&["tool_calls>", "function_calls>"])],
        ..Row::new("deepseek-v4.1", || Arc::new(DEEPSEEK_V4_1))
    },
    Row {
        models: &[Models::of("gigachat3.5", "SGLang, gigachat35_detector.py")],
        chat_templates: &[TemplateMarks::of(&[&["｜GCML｜", "invoke name="]])],
        ..Row::new("gigachat3.5", || Arc::new(GIGACHAT_3_5))
    },
];

const ATTRIBUTES: TagAttributes = TagAttributes {
    empty: Some("/>"),
    kinds: ["true", "false", "false", "false", "false", "false"],
    ..TagAttributes::PLAIN
};

/// Of all versions. A call without arguments has an empty line.
const fn tags(call: &'static str, argument: &'static str, section_ends: &'static [&'static str]) -> Tags {
    let tags = Tags::with_attributes(call, argument, ATTRIBUTES);
    Tags { lines: Lines { empty: "\n", ..tags.lines }, section_ends, ..tags }
}

const CALL: &str = "<｜DSML｜invoke name=\"{name}\">\n{args}</｜DSML｜invoke>";
const ARGUMENT: &str = "<｜DSML｜parameter name=\"{key}\" string=\"{kind}\">{value}</｜DSML｜parameter>\n";

/// The prompt opens the reasoning, or closes it.
pub(crate) const DEEPSEEK_V3_2: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::BARE.call_ends(CallEnds::Declared)),
        starts_in_reasoning: true,
        trim_before_call: true,
        special_tokens: true,
        stops: &["<｜end▁of▁sentence｜>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&tags(CALL, ARGUMENT, &["</｜DSML｜function_calls>"])),
    past_text: PastText::of(
        "\n\n<｜DSML｜function_calls>\n{calls|\n}\n</｜DSML｜function_calls>",
        "\n\n<function_results>\n<result>{content}</result>\n</function_results>",
    )
    .marked("<function_results>"),
}
.in_section();

pub(crate) const DEEPSEEK_V4: FlatFormat = FlatFormat {
    layout: DEEPSEEK_V3_2.layout,
    call: &Tagged(&tags(CALL, ARGUMENT, &["</｜DSML｜tool_calls>"])),
    past_text: PastText::of(
        "\n\n<｜DSML｜tool_calls>\n{calls|\n}\n</｜DSML｜tool_calls>",
        "<｜User｜><tool_result>{content}</tool_result>",
    )
    .marked("<tool_result>"),
}
.in_section();

/// The same with a space after the second bar.
pub(crate) const DEEPSEEK_V4_1: FlatFormat = FlatFormat {
    layout: DEEPSEEK_V4.layout,
    call: &Tagged(&tags(
        "<｜DSML｜ invoke name=\"{name}\">\n{args}</｜DSML｜ invoke>",
        "<｜DSML｜ parameter name=\"{key}\" string=\"{kind}\">{value}</｜DSML｜ parameter>\n",
        &["</｜DSML｜ calls>"],
    )),
    past_text: PastText::of(
        "\n\n<｜DSML｜ calls>\n{calls|\n}\n</｜DSML｜ calls>",
        "<｜User｜><tool_result>{content}</tool_result>",
    )
    .marked("<tool_result>"),
}
.in_section();

/// GigaChat 3.5, whose prompt opens the reasoning only if the host asks for it.
/// vLLM, `tool_parsers/gigachat35_tool_parser.py` and `reasoning/gigachat35_reasoning_parser.py`.
pub(crate) const GIGACHAT_3_5: FlatFormat = FlatFormat {
    layout: Layout { starts_in_reasoning: false, stops: &["</s>"], ..DEEPSEEK_V3_2.layout },
    call: &Tagged(&Tags {
        section_ends: &["</｜GCML｜tool_calls>"],
        ..Tags::with_attributes(
            "<｜GCML｜invoke name=\"{name}\">\n{args}</｜GCML｜invoke>",
            "<｜GCML｜parameter name=\"{key}\" string=\"{kind}\">{value}</｜GCML｜parameter>\n",
            ATTRIBUTES,
        )
    }),
    past_text: PastText::of("\n\n<｜GCML｜tool_calls>\n{calls|\n}\n</｜GCML｜tool_calls>", "{content}"),
}
.in_section();
