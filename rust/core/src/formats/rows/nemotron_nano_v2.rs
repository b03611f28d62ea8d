//! Calls as NVIDIA's Nemotron Nano v2 writes them: a list of JSON objects between two tags. The prompt opens the reasoning.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("nemotron-nano-*-v2 nemotron-nano-*-v2-japanese", "vLLM recipes, models/nvidia")],
    chat_templates: &[TemplateMarks::of(&[&["<TOOLCALL>[", "]</TOOLCALL>", r#""name": "#, r#""arguments": "#]])],
    ..Row::new("nemotron-nano-v2", || Arc::new(NEMOTRON_NANO_V2))
}];

pub(crate) const NEMOTRON_NANO_V2: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        starts_in_reasoning: true,
        trim_before_call: true,
        stops: &["<SPECIAL_12>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<TOOLCALL>"],
        keys: JsonRules { close: &["</TOOLCALL>"], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of(
        "{content|\n}<TOOLCALL>[{calls|, }]</TOOLCALL>",
        "<TOOL_RESPONSE>[{content}]</TOOL_RESPONSE>",
    )
    .marked("<TOOL_RESPONSE>"),
};
