//! Calls as Apertus writes them: a list of JSON objects, in which the name is the only key, between two tokens. Calls also end reasoning.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("apertus", "vLLM, docs/features/tool_calling.md").chat("instruct")],
    chat_templates: &[TemplateMarks::of(&[&["<|tools_prefix|>", "<|tools_suffix|>"]])],
    ..Row::new("apertus", || Arc::new(APERTUS))
}];

pub(crate) const APERTUS: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::of("<|inner_prefix|>{reasoning}<|inner_suffix|>").call_ends(CallEnds::Always)),
        special_tokens: true,
        stops: &["<|assistant_end|>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<|tools_prefix|>"],
        written: "{{name}: {arguments}}",
        keys: JsonRules { name: NameKey::NameIsKey, close: &["<|tools_suffix|>"], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("<|tools_prefix|>[{calls|, }]<|tools_suffix|>", "[{content}]"),
};
