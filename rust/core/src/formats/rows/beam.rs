//! Messages in channels, as Beam writes them: those of gpt-oss, with the arguments of calls in tags.
//! vLLM, `parser/beam.py` and `rust/src/parser/src/unified/beam.rs`; SGLang, `function_call/beam_detector.py`.

use super::prelude::*;

use crate::formats::rows::harmony::CHANNELS;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("beam-1.0 beam", "vLLM recipes, models/reflection/Beam-1.0-501B-A23B.yaml")],
    chat_templates: &[TemplateMarks::of(&[&["<|channel|>", "<rfl:parameter"]])],
    response_templates: &[TemplateMarks::of(&[&["<rfl:parameter name=", "close <|call|>"]])],
    ..Row::new("beam", || Arc::new(BEAM))
}];

const TAGS: Tags = Tags {
    part_ends: CHANNELS.ends,
    ..Tags::of("<|channel|>{name}{args}<|call|>", "<rfl:parameter name=\"{key}\">\n{value}\n</rfl:parameter>\n")
};

/// How results are written is not published.
pub(crate) const BEAM: FlatFormat = FlatFormat {
    layout: Layout {
        parts: Some(&Channels {
            functions: "",
            built_in: &[],
            content: &["final"],
            arguments: TAGS.argument,
            address: " to={name}<|channel|>analysis <|constrain|>xml<|message|>",
            ..CHANNELS
        }),
        special_tokens: true,
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    past_text: PastText::of(
        "{content|<|end|><|start|>assistant}{calls|<|end|><|start|>assistant}<|call|>",
        "{content}",
    ),
};
