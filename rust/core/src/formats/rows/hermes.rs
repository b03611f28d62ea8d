//! Calls as JSON objects between two markers: `<tool_call>{"name":…,"arguments":{…}}</tool_call>`, or in a fence for Gemma.

use super::prelude::*;

use crate::formats::frames::envelope::EnvelopeFormat;
use crate::formats::rows::shared_marks::{JSON_CALL, RESPONSE_JSON, THINKS};
use crate::syntax::misspelled::{Spelling, Spellings};

const JSON_IN_TAGS: &str = "<tool_call>\n{\"name\": \"";

pub(crate) const HERMES_ROW: Row = Row {
    aliases: &["json"],
    models: &[
        Models::of("qwen3-next-*-instruct", "vLLM recipes, models/Qwen"),
        Models::of("qwen3-vl", "SGLang cookbook, docs/autoregressive/Qwen/Qwen3-VL.md"),
        Models::of("qwen3", "vLLM recipes, models/Qwen"),
        Models::of("qwq-*-preview", "llama.cpp, docs/function-calling.md"),
        Models::of("qwen2.5-coder qwen2.5-math qwen2.5-vl qwen2.5", "llama.cpp, docs/function-calling.md")
            .chat("instruct"),
        Models::of("ling-2.5", "SGLang cookbook, docs/autoregressive/InclusionAI/Ling-2.5-1T.md"),
        Models::of("mellum2", "vLLM recipes, models/JetBrains/Mellum2-12B-A2.5B-Instruct.yaml"),
        Models::of("reka-edge", "llama.cpp, models/templates/Reka-Edge.jinja"),
        Models::of("mimo-vl mimo-vl-*-rl mimo-vl-*-sft", "llama.cpp, models/templates/MiMo-VL.jinja"),
        Models::of("bielik-11b-v3.0", "llama.cpp, models/templates/Bielik-11B-v3.0-Instruct.jinja"),
        Models::of("falcon3", "llama.cpp, docs/function-calling.md"),
        Models::of("kolibri-1", "vLLM, docs/features/tool_calling.md"),
        Models::of("hermes-4", "the model cards of NousResearch/Hermes-4"),
        Models::of("hermes-3 hermes-3-llama-3.1 hermes-3-llama-3.2", "vLLM, docs/features/tool_calling.md"),
        Models::of("hermes-2-pro hermes-2-pro-llama-3 hermes-2-pro-mistral", "vLLM, docs/features/tool_calling.md"),
        Models::of("hermes-2-theta hermes-2-theta-llama-3", "vLLM, docs/features/tool_calling.md"),
        Models::of("granite-4.1", "llama.cpp, models/templates/ibm-granite-granite-4.1.jinja"),
        Models::of(
            "granite-4.0 granite-4.0-micro granite-4.0-tiny granite-4.0-small",
            "vLLM, docs/features/tool_calling.md",
        ),
        Models::of(
            "granite-4.0-h granite-4.0-h-micro granite-4.0-h-tiny granite-4.0-h-small",
            "vLLM, docs/features/tool_calling.md",
        ),
        Models::of(
            "granite4 granite4-micro granite4-micro-h granite4-tiny-h granite4-small-h",
            "vLLM, docs/features/tool_calling.md",
        ),
    ],
    chat_templates: &[
        TemplateMarks::of(&[&[JSON_IN_TAGS], JSON_CALL]),
        TemplateMarks::of(&[&["'<tool_call>\n'", r#"'{"name": "'"#], JSON_CALL]),
        TemplateMarks::of(&[&[r#"{"name": <function-name>, "arguments": <args-dict>}"#], JSON_CALL]),
    ],
    response_templates: &[TemplateMarks::of(&[RESPONSE_JSON]).lacks(&["assistant\n<think>"])],
    taught: || Arc::new(MARKED_JSON),
    ..Row::new("hermes", || Arc::new(HERMES))
};

pub(crate) const GEMMA_ROW: Row = Row::new("gemma", || Arc::new(GEMMA));

pub(crate) const ROWS: &[Row] = &[
    Row {
        models: &[
            Models::of("qwen3-next-*-thinking", "SGLang cookbook, docs/autoregressive/Qwen/Qwen3-Next.md"),
            Models::of("qwen3-vl-*-thinking", "SGLang cookbook, docs/autoregressive/Qwen/Qwen3-VL.md"),
            Models::of("qwen3-*-thinking", "SGLang cookbook, docs/autoregressive/Qwen/Qwen3.md"),
            Models::of("qwq", "llama.cpp, models/templates/Qwen-QwQ-32B.jinja"),
            Models::of("ring-2.5", "SGLang cookbook, docs/autoregressive/InclusionAI/Ring-2.5-1T.md"),
        ],
        chat_templates: &[TemplateMarks::of(&[&[JSON_IN_TAGS, "<|im_start|>"], JSON_CALL]).prompt(&[THINKS])],
        response_templates: &[TemplateMarks::of(&[RESPONSE_JSON, &["assistant\n<think>\n"]])],
        ..Row::new("qwen3-thinking", || Arc::new(QWEN3_THINKING))
    },
    Row {
        models: &[Models::of("trinity-nano trinity-mini", "SGLang, trinity_detector.py")],
        ..Row::new("trinity", || Arc::new(TRINITY))
    },
];

/// What Hermes, Qwen 2.5 and 3 write.
pub(crate) const HERMES: EnvelopeFormat = EnvelopeFormat {
    open: "<tool_call>",
    close: "</tool_call>",
    spellings: Spellings {
        opens: &[Spelling { open: "<tool_call>", closers: &["</tool_call>"], foreign: false }],
        tag: Some("<tool_call"),
    },
    alone: false,
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        trim_before_call: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
};

/// The same for prompting, between markers that the host chooses.
pub(crate) const MARKED_JSON: EnvelopeFormat = EnvelopeFormat { layout: Layout::PROMPTED, ..HERMES };

/// The same for models whose prompt opens the reasoning.
pub(crate) const QWEN3_THINKING: EnvelopeFormat =
    EnvelopeFormat { layout: Layout { starts_in_reasoning: true, ..HERMES.layout }, ..HERMES };

/// The same for Arcee's Trinity, which also calls tools before the reasoning is closed (SGLang, `trinity_detector.py`).
pub(crate) const TRINITY: EnvelopeFormat = EnvelopeFormat {
    layout: Layout { reasoning: Some(ReasoningMarks::LINES.call_ends(CallEnds::Always)), ..HERMES.layout },
    ..HERMES
};

/// For prompting: Gemma models do not write it by themselves.
pub(crate) const GEMMA: EnvelopeFormat = EnvelopeFormat {
    open: "```tool_call",
    close: "```",
    spellings: Spellings { opens: &[Spelling { open: "```tool_call", closers: &["```"], foreign: false }], tag: None },
    alone: true,
    layout: Layout::PROMPTED,
};
