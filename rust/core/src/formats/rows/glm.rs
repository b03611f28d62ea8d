//! Calls as GLM-4.5 and newer write them: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>`. The models
//! differ in the line breaks, which are read in any case, and in how the prompt ends. Ling, Spark and IQuest write the same.

use super::prelude::*;

use crate::formats::rows::shared_marks::KEY_TAGS;

const RESPONSE_KEYS: &[&str] = &["open <tool_call>", "close </tool_call>", "content xml-inline", "tag <arg_key>"];

pub(crate) const ROWS: &[Row] = &[
    Row {
        aliases: &["glm-4.6"],
        models: &[
            Models::of("glm-4.6v glm-4.6v-flash glm-4.6", "vLLM recipes, models/zai-org"),
            Models::of("glm-4.5v glm-4.5-air glm-4.5", "vLLM, docs/features/tool_calling.md"),
        ],
        chat_templates: &[TemplateMarks::of(&[KEY_TAGS, &["<|observation|>", "}}</arg_key>\n<arg_value>"]])],
        response_templates: &[TemplateMarks::of(&[RESPONSE_KEYS, &["</arg_key>\n<arg_value>"]])],
        ..Row::new("glm-4.5", || Arc::new(GLM_4_5))
    },
    Row {
        aliases: &["glm-5.3"],
        models: &[
            Models::of("glm-5.3-flash glm-5.3 glm-5.2 glm-5.1 glm-5", "vLLM recipes, models/zai-org"),
            Models::of("glm-4.7 glm-4.7-flash", "vLLM, docs/features/tool_calling.md"),
            Models::of("laguna-s-2.1", "llama.cpp, models/templates/poolside-Laguna-S-2.1.jinja"),
        ],
        chat_templates: &[
            TemplateMarks::of(&[KEY_TAGS, &["'<assistant>'", "</assistant>", "'</arg_key>'"]]),
            TemplateMarks::of(&[KEY_TAGS, &["<|observation|>", "%}<arg_key>{{", "}}</arg_key><arg_value>"]]),
        ],
        response_templates: &[TemplateMarks::of(&[RESPONSE_KEYS, &["</arg_key><arg_value>"]])],
        ..Row::new("glm-4.7", || Arc::new(GLM_4_7))
    },
    Row {
        models: &[Models::of("iquest-q1", "SGLang, iquest_q1_detector.py")],
        chat_templates: &[TemplateMarks::of(&[&["<iquest_tool_call>", "<arg_key>"]])],
        ..Row::new("iquest-q1", || Arc::new(IQUEST_Q1))
    },
    Row {
        models: &[Models::of(
            "ling-3.1-flash ling-3.0-flash-vl ling-3.0-flash ling-3.0-tiny ling-3.0",
            "vLLM recipes, models/inclusionAI",
        )],
        chat_templates: &[TemplateMarks::of(&[KEY_TAGS, &["<role>ASSISTANT</role>", "<|role_end|>"]])],
        ..Row::new("ling-3", || Arc::new(LING_3))
    },
    Row {
        models: &[Models::of("spark-2.5", "SGLang, function_call_parser.py")],
        chat_templates: &[TemplateMarks::of(&[KEY_TAGS, &["<|Bot|>"]])],
        ..Row::new("spark-2.5", || Arc::new(SPARK_2_5))
    },
];

const REASONING: ReasoningMarks =
    ReasoningMarks { breaks_after: true, call_ends: CallEnds::Declared, ..ReasoningMarks::BARE };

/// GLM-4.5 and 4.6.
pub(crate) const GLM_4_5: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks { written: ("\n<think>", "</think>\n"), ..REASONING }),
        trim_before_call: true,
        breaks_at_start: true,
        stops: &["<|user|>", "<|observation|>", "<|endoftext|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&Tags::of(
        "<tool_call>{name}\n{args}</tool_call>",
        "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n",
    )),
    past_text: PastText::of("{content|\n}{calls|\n}", "<|observation|>\n<tool_response>\n{content}\n</tool_response>")
        .marked("<tool_response>"),
};

/// GLM-4.7 and newer. The prompt opens the reasoning.
pub(crate) const GLM_4_7: FlatFormat = FlatFormat {
    layout: Layout { reasoning: Some(REASONING), starts_in_reasoning: true, ..GLM_4_5.layout },
    call: &Tagged(&Tags::of(
        "<tool_call>{name}{args}</tool_call>",
        "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
    )),
    past_text: PastText::of("{calls}", "<|observation|><tool_response>{content}</tool_response>")
        .marked("<tool_response>"),
};

/// Ling 3. The prompt opens the reasoning.
pub(crate) const LING_3: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks { written: ("\n<think>", "</think>"), ..REASONING }),
        starts_in_reasoning: true,
        stops: &["<|role_end|>"],
        ..GLM_4_5.layout
    },
    call: &Tagged(&Tags::of(
        "<tool_call>{name}\n{args}\n</tool_call>",
        "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>",
    )),
    past_text: PastText::of("{content|\n}{calls|\n}", "<tool_response>\n{content}\n</tool_response>")
        .marked("<tool_response>"),
};

/// Spark 2.5. The prompt opens the reasoning.
pub(crate) const SPARK_2_5: FlatFormat = FlatFormat {
    layout: Layout { stops: &["<｜end▁of▁sentence｜>"], ..GLM_4_7.layout },
    past_text: PastText::of("{calls}", "<tool_response>{content}</tool_response>").marked("<tool_response>"),
    ..GLM_4_7
};

/// IQuest Q1. The prompt opens the reasoning. SGLang, `function_call/iquest_q1_detector.py`.
pub(crate) const IQUEST_Q1: FlatFormat = FlatFormat {
    layout: Layout { special_tokens: true, stops: &["<|iquest_end|>"], ..GLM_4_7.layout },
    call: &Tagged(&Tags::of(
        "<iquest_tool_call>{name}{args}</iquest_tool_call>",
        "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
    )),
    past_text: PastText::of("{calls}", "<tool_response>{content}</tool_response>").marked("<tool_response>"),
};
