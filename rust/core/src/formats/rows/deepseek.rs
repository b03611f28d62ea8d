//! Calls as DeepSeek-V3.2 and newer write them (DSML): `<｜DSML｜invoke name="NAME">` with
//! `<｜DSML｜parameter name="KEY" string="true">VALUE</｜DSML｜parameter>` for each argument. GigaChat 3.5 writes the same with another word.

use super::prelude::*;

use crate::formats::bodies::tagged::Lines;
use crate::formats::call::Separators;
use crate::formats::protocol::Protocol;

pub(crate) const ROWS: &[Row] = &[
    Row {
        models: &[Models::of("deepseek-v3.2", "vLLM recipes, models/deepseek-ai/DeepSeek-V3.2.yaml")],
        chat_templates: &[TemplateMarks::of(&[&["｜DSML｜", "'function_calls>", "invoke name=", "parameter name="]])],
        also: &[|| Arc::new(DEEPSEEK_V4)],
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
        also: V4_SPELLINGS,
        ..Row::new("deepseek-v4", || Arc::new(DEEPSEEK_V4))
    },
    Row {
        models: &[Models::of("deepseek-v4.1 deepseek-v4.1-flash deepseek-v4.1-pro", "vLLM, parser/deepseek_v41.py")],
        chat_templates: &[TemplateMarks::of(&[&["｜DSML｜", "' calls>", "parameter name="]])
            .lacks(&["tool_calls>", "function_calls>"])],
        also: V4_1_SPELLINGS,
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

/// A format of these tags: what opens and closes one, up to its word; the words of the tags around calls; and how results are written.
macro_rules! dsml {
    ($open:literal, $close:literal, $begin:literal, $end:literal, $results:expr) => {{
        const TAGS: Tags = tags(
            concat!($open, "invoke name=\"{name}\">\n{args}", $close, "invoke>"),
            concat!($open, "parameter name=\"{key}\" string=\"{kind}\">{value}", $close, "parameter>\n"),
            &[concat!($close, $end, ">")],
        );
        const SEPARATORS: Separators =
            Separators::of(concat!("\n\n", $open, $begin, ">\n{calls|\n}\n", $close, $end, ">"));
        let past_text = PastText { separators: SEPARATORS, ..$results };
        FlatFormat { layout: LAYOUT, call: &Tagged(&TAGS), past_text }.in_section()
    }};
}

/// The prompt opens the reasoning, or closes it.
const LAYOUT: Layout = Layout {
    reasoning: Some(ReasoningMarks::BARE.call_ends(CallEnds::Declared)),
    starts_in_reasoning: true,
    trim_before_call: true,
    special_tokens: true,
    stops: &["<｜end▁of▁sentence｜>"],
    ..Layout::NATIVE
};

const V3_RESULTS: PastText =
    PastText::of("", "\n\n<function_results>\n<result>{content}</result>\n</function_results>")
        .marked("<function_results>");
const V4_RESULTS: PastText = PastText::of("", "<｜User｜><tool_result>{content}</tool_result>").marked("<tool_result>");

pub(crate) const DEEPSEEK_V3_2: FlatFormat =
    dsml!("<｜DSML｜", "</｜DSML｜", "function_calls", "function_calls", V3_RESULTS);
pub(crate) const DEEPSEEK_V4: FlatFormat = dsml!("<｜DSML｜", "</｜DSML｜", "tool_calls", "tool_calls", V4_RESULTS);
/// With a space after the second bar.
pub(crate) const DEEPSEEK_V4_1: FlatFormat = dsml!("<｜DSML｜ ", "</｜DSML｜ ", "calls", "calls", V4_RESULTS);

/// Other spellings that models write: vllm-project/vllm#56141, openclaw/openclaw#128858, diegosouzapw/OmniRoute#13930,
/// local-inference-lab/vllm#417.
const V4_SPELLINGS: &[fn() -> Arc<dyn Protocol>] = &[
    || Arc::new(DEEPSEEK_V3_2),
    || Arc::new(dsml!("<｜DSML｜", "</｜DSML｜", "toolcalls", "tool_calls", V4_RESULTS)),
    || Arc::new(dsml!("<｜DSML｜", "</｜DSML｜", "tool", "tool_calls", V4_RESULTS)),
    || Arc::new(dsml!("<｜｜DSML｜｜", "</｜｜DSML｜｜", "tool_calls", "tool_calls", V4_RESULTS)),
    || Arc::new(dsml!("<|DSML|", "</|DSML|", "tool_calls", "tool_calls", V4_RESULTS)),
];
const V4_1_SPELLINGS: &[fn() -> Arc<dyn Protocol>] = &[
    || Arc::new(DEEPSEEK_V4),
    || Arc::new(dsml!("<｜｜DSML｜｜ ", "</｜｜DSML｜｜ ", "calls", "calls", V4_RESULTS)),
    || Arc::new(dsml!("<｜｜DSML｜｜", "</｜｜DSML｜｜", "tool_calls", "tool_calls", V4_RESULTS)),
    || Arc::new(dsml!("<|DSML|", "</|DSML|", "tool_calls", "tool_calls", V4_RESULTS)),
];

/// GigaChat 3.5, whose prompt opens the reasoning only if the host asks for it.
/// vLLM, `tool_parsers/gigachat35_tool_parser.py` and `reasoning/gigachat35_reasoning_parser.py`.
pub(crate) const GIGACHAT_3_5: FlatFormat = FlatFormat {
    layout: Layout { starts_in_reasoning: false, stops: &["</s>"], ..LAYOUT },
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
