//! What Gemma 4 writes: `<|tool_call>call:name{key:<|"|>text<|"|>,list:[1,true]}<tool_call|>`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[
        Models::of("gemma-4-26b-a4b-nvfp4", "vLLM recipes, models/Google/gemma-4-26B-A4B-it.yaml"),
        Models::of("gemma-4 diffusiongemma", "vLLM recipes, models/Google").chat("it"),
    ],
    chat_templates: &[TemplateMarks::of(&[&["<|tool_call>call:", "<tool_call|>", r#"<|"|>"#]])],
    response_templates: &[TemplateMarks::of(&[&["open <|tool_call>call:", "close <tool_call|>", r#"<|"|>"#]])],
    ..Row::new("gemma4", || Arc::new(GEMMA4))
}];

pub(crate) const GEMMA4: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pair: ("<|channel>thought\n", "<channel|>"),
            break_after_open: false,
            call_ends: CallEnds::Declared,
            ..ReasoningMarks::of("<|channel>thought\n{reasoning}\n<channel|>")
        }),
        special_tokens: true,
        stops: &["<turn|>", "<|tool_response>", "<eos>"],
        ..Layout::NATIVE
    },
    call: &NotationFormat { open: &["<|tool_call>"], close: &["<tool_call|>"], quote: "<|\"|>" },
    past_text: PastText::of(
        "{calls}{content}",
        "<|tool_response>response:{name}{value:<|\"|>{content}<|\"|>}<tool_response|>",
    ),
};
