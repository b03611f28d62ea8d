//! Calls in a section, as DeepSeek V3, R1 and V3.1 write them: the name, and one JSON object, in a fence in V3.

use super::prelude::*;

const V3_CALL_HEAD: &[&str] = &["<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"];
const V3_FENCE: &str = "'```json'";

pub(crate) const ROWS: &[Row] = &[
    Row {
        models: &[Models::of(
            "deepseek-r1 deepseek-r1-distill-qwen deepseek-r1-distill-llama",
            "llama.cpp, docs/function-calling.md",
        )],
        chat_templates: &[TemplateMarks::of(&[V3_CALL_HEAD, &[V3_FENCE]]).prompt(&["<｜Assistant｜><think>\n'"])],
        ..Row::new("deepseek-r1", || Arc::new(DEEPSEEK_R1))
    },
    Row {
        aliases: &["deepseek-v3-0324", "deepseek-r1-0528"],
        models: &[
            Models::of("deepseek-r1-*-0528 deepseek-r1-*-0528-qwen3", "vLLM, docs/features/tool_calling.md"),
            Models::of("deepseek-v3", "vLLM recipes, models/deepseek-ai/DeepSeek-V3.yaml"),
        ],
        chat_templates: &[TemplateMarks::of(&[V3_CALL_HEAD, &[V3_FENCE]])],
        ..Row::new("deepseek-v3", || Arc::new(DEEPSEEK_V3))
    },
    Row {
        models: &[Models::of(
            "deepseek-v3.1 deepseek-v3.1-terminus",
            "SGLang cookbook, docs/autoregressive/DeepSeek/DeepSeek-V3_1.md",
        )],
        chat_templates: &[TemplateMarks::of(&[V3_CALL_HEAD]).lacks(&[V3_FENCE, "function<｜tool▁sep｜>"])],
        ..Row::new("deepseek-v3.1", || Arc::new(DEEPSEEK_V31))
    },
];

const OPEN: &[&str; 1] = &["<｜tool▁call▁begin｜>"];
const CLOSE: &str = "<｜tool▁call▁end｜>";
const BEFORE: &[&str] = &["<｜tool▁call▁begin｜>", "<｜tool▁calls▁end｜>"];

const LAYOUT: Layout = Layout {
    reasoning: Some(ReasoningMarks::LINES),
    special_tokens: true,
    stops: &["<｜end▁of▁sentence｜>"],
    ..Layout::NATIVE
};

const WRITING: PastText = PastText::of(
    "<｜tool▁calls▁begin｜>{calls|\n}<｜tool▁calls▁end｜>",
    "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜><｜tool▁outputs▁end｜>",
)
.marked("<｜tool▁output");

/// Of V3, V3-0324 and R1-0528.
pub(crate) const DEEPSEEK_V3: FlatFormat = FlatFormat {
    layout: LAYOUT,
    call: &NamedJson {
        open: OPEN,
        prefix: "function<｜tool▁sep｜>",
        name_terminators: &["\n", "```", "{"],
        around_arguments: ("\n```json\n", "\n```"),
        ends: &Ends { fence: "```", close: CLOSE, implicit_closers: BEFORE },
        ..NamedJson::PLAIN
    },
    past_text: WRITING,
}
.in_section();

/// The same for models whose prompt opens the reasoning.
pub(crate) const DEEPSEEK_R1: FlatFormat =
    FlatFormat { layout: Layout { starts_in_reasoning: true, ..LAYOUT }, ..DEEPSEEK_V3 }.in_section();

pub(crate) const DEEPSEEK_V31: FlatFormat = FlatFormat {
    layout: Layout { reasoning: Some(ReasoningMarks::BARE), ..LAYOUT },
    call: &NamedJson {
        open: OPEN,
        name_terminators: &["<｜tool▁sep｜>"],
        around_arguments: ("<｜tool▁sep｜>", ""),
        ends: &Ends { fence: "", close: CLOSE, implicit_closers: BEFORE },
        ..NamedJson::PLAIN
    },
    past_text: PastText::of(
        "<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>",
        "<｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜>",
    )
    .marked("<｜tool▁output"),
}
.in_section();
