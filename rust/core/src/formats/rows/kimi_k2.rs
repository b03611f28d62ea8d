//! Calls in a section, as Kimi K2 writes them: an id that holds the name, and one JSON object.

use super::prelude::*;

use crate::formats::call::Separators;

const K2_CALL: &[&str] = &["<|tool_calls_section_begin|>", "<|tool_call_argument_begin|>"];

pub(crate) const ROWS: &[Row] = &[
    Row {
        models: &[
            Models::of("kimi-k2", "vLLM, docs/features/tool_calling.md"),
            Models::of("kimi-linear", "SGLang cookbook, docs/autoregressive/Moonshotai/Kimi-Linear.md"),
        ],
        chat_templates: &[TemplateMarks::of(&[K2_CALL])],
        also: &[|| Arc::new(singular(KIMI_K2))],
        ..Row::new("kimi-k2", || Arc::new(KIMI_K2))
    },
    Row {
        models: &[Models::of("kimi-k2-thinking", "vLLM recipes, models/moonshotai/Kimi-K2-Thinking.yaml")],
        chat_templates: &[TemplateMarks::of(&[K2_CALL, &["<think></think>{{", "<think>{{", "}}</think>{{"]])],
        also: &[|| Arc::new(singular(KIMI_K2_THINKING))],
        ..Row::new("kimi-k2-thinking", || Arc::new(KIMI_K2_THINKING))
    },
    Row {
        aliases: &["kimi-k2.5", "kimi-k2.7"],
        models: &[Models::of("kimi-k2.7 kimi-k2.7-code kimi-k2.6 kimi-k2.5", "vLLM recipes, models/moonshotai")],
        chat_templates: &[TemplateMarks::of(&[K2_CALL]).prompt(&["assistant<|im_middle|>{%", "<think>"])],
        also: &[|| Arc::new(singular(KIMI_K26))],
        ..Row::new("kimi-k2.6", || Arc::new(KIMI_K26))
    },
];

const LAYOUT: Layout = Layout { special_tokens: true, stops: &["<|im_end|>"], ..Layout::NATIVE };

/// Of K2-Instruct, which does not reason.
pub(crate) const KIMI_K2: FlatFormat = FlatFormat {
    layout: LAYOUT,
    call: &NamedJson {
        open: &["<|tool_call_begin|>"],
        prefix: "functions.",
        name_terminators: &["<|tool_call_argument_begin|>"],
        around_arguments: ("<|tool_call_argument_begin|>", ""),
        id: IdForm::Indexed,
        ends: &Ends {
            fence: "",
            close: "<|tool_call_end|>",
            implicit_closers: &["<|tool_call_begin|>", "<|tool_calls_section_end|>"],
        },
        ..NamedJson::PLAIN
    },
    past_text: PastText::of(
        "<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>",
        "## Return of {id}\n{content}",
    ),
}
.in_section();

/// Of K2-Thinking, which opens the reasoning itself.
pub(crate) const KIMI_K2_THINKING: FlatFormat = FlatFormat {
    layout: Layout { reasoning: Some(ReasoningMarks::BARE.call_ends(CallEnds::Declared)), ..LAYOUT },
    ..KIMI_K2
}
.in_section();

/// Of K2.5 and later, whose prompt opens the reasoning.
pub(crate) const KIMI_K26: FlatFormat =
    FlatFormat { layout: Layout { starts_in_reasoning: true, ..KIMI_K2_THINKING.layout }, ..KIMI_K2 }.in_section();

/// Another spelling of a format: its section in the singular. ai-dynamo/dynamo, `kimi_k2_parser.rs`.
fn singular(format: FlatFormat) -> FlatFormat {
    let separators = Separators::of("<|tool_call_section_begin|>{calls}<|tool_call_section_end|>");
    FlatFormat { past_text: PastText { separators, ..format.past_text }, ..format }.in_section()
}
