//! Calls as Qwen3-Coder writes them: a function with its parameters, each as raw text in a tag.

use super::prelude::*;

use crate::formats::frames::params::ParamsFormat;
use crate::formats::rows::shared_marks::THINKS;
use crate::syntax::tags::QWEN3CODER as TAGS;

/// A call in the code of the template.
const TAGGED_CALL: &[&str] =
    &["<tool_call>\n<function='", "<parameter='", "\n</parameter>", "</function>\n</tool_call>"];

/// The example of a call that most templates show.
const SHOWN_CALL: &[&str] = &["\n\n<tool_call>\n<function="];
/// Thinking is off unless it is asked for.
const OFF: &str = "enable_thinking is true";
const RESPONSE_TAGS: &[&str] =
    &["open <tool_call><function=", "close </tool_call>", "content xml-inline", "tag <parameter="];

pub(crate) const QWEN3CODER_ROW: Row = Row {
    models: &[
        Models::of("qwen3.5-0.8b qwen3.5-2b", "TRL, trl/chat_templates/README.md"),
        Models::of("minicpm-v-4.6", "vLLM recipes, models/openbmb/MiniCPM-V-4.6.yaml"),
        Models::of("qwen3-coder-next qwen3-coder", "vLLM recipes, models/Qwen"),
    ],
    chat_templates: &[
        TemplateMarks::of(&[TAGGED_CALL, SHOWN_CALL]).prompt(&["'<think>\n'", OFF]),
        TemplateMarks::of(&[TAGGED_CALL]).prompt(&["assistant\n'"]).prompt_lacks("<think>"),
    ],
    response_templates: &[TemplateMarks::of(&[RESPONSE_TAGS]).lacks(&["assistant\n<think>"])],
    ..Row::new("qwen3coder", || Arc::new(QWEN3CODER))
};

pub(crate) const ROWS: &[Row] = &[
    Row {
        aliases: &["granite-4.2", "nanbeige", "step-5"],
        models: &[
            Models::of("granite-4.2", "vLLM, parser/granite_thinking.py"),
            Models::of("nemotron-3.5-super-vl nemotron-3.5-lightning", "vLLM recipes, models/nvidia"),
            Models::of("nemotron-3-nano nemotron-3-super nemotron-3-ultra", "vLLM recipes, models/nvidia"),
            Models::of("nemotron-3-nano-omni-*-reasoning", "vLLM recipes, models/nvidia"),
        ],
        chat_templates: &[TemplateMarks::of(&[TAGGED_CALL, &["</tool_call>\n'", "<think></think>"]])],
        response_templates: &[TemplateMarks::of(&[RESPONSE_TAGS, &["assistant\n<think>(?:\n|</think>)?"]])],
        ..Row::new("nemotron-3", || Arc::new(NEMOTRON_3))
    },
    Row {
        aliases: &["qwen3.6", "qwen3.8"],
        models: &[
            Models::of("qwen3.8-flash-next qwen3.8 qwen3.6 qwen3.5", "vLLM recipes, models/Qwen"),
            Models::of("intern-s2-preview intern-s2", "vLLM recipes, models/internlm"),
            Models::of("trinity-large-thinking", "vLLM recipes, models/arcee-ai/Trinity-Large-Thinking.yaml"),
            Models::of("minicpm-v-4.6-thinking", "vLLM recipes, models/openbmb/MiniCPM-V-4.6.yaml"),
        ],
        chat_templates: &[TemplateMarks::of(&[TAGGED_CALL, SHOWN_CALL]).prompt(&["'<think>\n'"]).prompt_lacks(OFF)],
        response_templates: &[TemplateMarks::of(&[RESPONSE_TAGS, &["assistant\n<think>\n"]])],
        ..Row::new("qwen3.5", || Arc::new(QWEN35))
    },
    Row {
        models: &[Models::of("k-exaone-2.0", "ai-sdk-tool-call-middleware, k-exaone-2-protocol.ts")],
        chat_templates: &[TemplateMarks::of(&[TAGGED_CALL, &["<tool_result>"]])],
        ..Row::new("k-exaone-2", || Arc::new(K_EXAONE_2))
    },
    Row {
        aliases: &["step-3.7"],
        models: &[Models::of("step-3.7-flash step-3.5-flash", "vLLM recipes, models/stepfun-ai")],
        chat_templates: &[TemplateMarks::of(&[TAGGED_CALL, &["<im_patch>"]]).prompt(&[THINKS])],
        ..Row::new("step-3.5", || Arc::new(STEP_3_5))
    },
];

pub(crate) const QWEN3CODER: ParamsFormat = ParamsFormat {
    row: &TAGS,
    fixed: "the tags of qwen3coder are fixed, so it has no delimiters",
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES.call_ends(CallEnds::Always)),
        trim_before_call: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
    past_text: PastText::of("{content|\n\n}{calls|\n}", "<tool_response>\n{content}\n</tool_response>")
        .marked("<tool_response>"),
};

/// The same for models whose prompt opens the reasoning.
pub(crate) const QWEN35: ParamsFormat =
    ParamsFormat { layout: Layout { starts_in_reasoning: true, ..QWEN3CODER.layout }, ..QWEN3CODER };

/// Line breaks around the reasoning as NVIDIA's and StepFun's templates write them.
const REASONING: Option<ReasoningMarks> =
    Some(ReasoningMarks::of("<think>\n{reasoning}\n</think>\n").call_ends(CallEnds::Always));

/// Of Nemotron 3, with each call on lines of its own.
pub(crate) const NEMOTRON_3: ParamsFormat = ParamsFormat {
    layout: Layout { reasoning: REASONING, ..QWEN35.layout },
    past_text: PastText::of("{content|\n}{calls|\n}\n", "<tool_response>\n{content}\n</tool_response>")
        .marked("<tool_response>"),
    ..QWEN35
};

/// Of Step 3.5 and 3.7, with nothing around calls.
pub(crate) const STEP_3_5: ParamsFormat = ParamsFormat {
    layout: Layout { reasoning: REASONING, ..QWEN35.layout },
    past_text: PastText::of("{calls}", "<tool_response>{content}</tool_response>").marked("<tool_response>"),
    ..QWEN35
};

/// Of K-EXAONE 2, with other tags around results.
/// [minpeter/ai-sdk-tool-call-middleware](https://github.com/minpeter/ai-sdk-tool-call-middleware), `src/core/protocols/k-exaone-2-protocol.ts`.
pub(crate) const K_EXAONE_2: ParamsFormat = ParamsFormat {
    layout: Layout { stops: &["[|endofturn|]"], ..QWEN3CODER.layout },
    past_text: PastText::of("{content|\n\n}{calls|\n}", "<tool_result>{content}</tool_result>").marked("<tool_result>"),
    ..QWEN3CODER
};
