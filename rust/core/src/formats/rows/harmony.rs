//! Messages in channels, as gpt-oss writes them: `<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>`.

use super::prelude::*;

use crate::formats::bodies::json::part::JsonPart;

const CHANNELS_CALL: &[&str] = &["<|channel|>", "'<|channel|>commentary ", "functions.", "<|call|>"];

pub(crate) const ROWS: &[Row] = &[
    Row {
        aliases: &["gpt-oss"],
        models: &[Models::of("gpt-oss gpt-oss-safeguard", "vLLM recipes, models/openai")],
        chat_templates: &[TemplateMarks::of(&[CHANNELS_CALL])],
        response_templates: &[TemplateMarks::of(&[&[
            "to=functions.",
            "<|channel|>commentary",
            "close <|call|>",
            "content json\n",
        ]])],
        ..Row::new("harmony", || Arc::new(HARMONY))
    },
    Row {
        models: &[Models::of(
            "llm-jp-4.1-*-thinking llm-jp-4.1",
            "llama.cpp, models/templates/llm-jp-llm-jp-4.1-8b-thinking.jinja",
        )],
        chat_templates: &[TemplateMarks::of(&[CHANNELS_CALL, &["'<|constrain|> json'"]])],
        ..Row::new("llm-jp-4.1", || Arc::new(LLM_JP))
    },
];

const WRITING: PastText = PastText::of(
    "{content|<|end|><|start|>assistant}{calls|<|call|><|start|>assistant}<|call|>",
    "<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{content}<|end|>",
);

pub(super) const CHANNELS: Channels = Channels {
    start: "<|start|>",
    channel: "<|channel|>",
    constrain: "<|constrain|>",
    separator: "<|message|>",
    ends: &["<|end|>", "<|call|>", "<|return|>"],
    recipient: "to=",
    functions: "functions.",
    built_in: &["browser", "python", "container"],
    reasoning: "analysis",
    content: &["final", "commentary"],
    address: " to=functions.{name}<|channel|>commentary <|constrain|>json<|message|>",
    spaced: false,
    arguments: "{",
};

pub(crate) const HARMONY: FlatFormat = FlatFormat {
    layout: Layout { parts: Some(&CHANNELS), special_tokens: true, ..Layout::NATIVE },
    call: &JsonPart { open: &["<|channel|>"], close: "<|call|>", ends: CHANNELS.ends },
    past_text: WRITING,
};

/// Of llm-jp-4.1, which ends only the last of several calls as a call.
pub(crate) const LLM_JP: FlatFormat = FlatFormat {
    layout: Layout {
        parts: Some(&Channels {
            address: " to=functions.{name}<|channel|>commentary <|constrain|> json<|message|>",
            spaced: true,
            ..CHANNELS
        }),
        ..HARMONY.layout
    },
    past_text: PastText::of(
        "{content|<|end|><|start|>assistant}{calls|<|end|><|start|>assistant}<|call|>",
        "<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{json}<|end|>",
    ),
    ..HARMONY
};
