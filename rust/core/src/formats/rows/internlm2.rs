//! Calls as InternLM2 and Intern-S1 write them: two tokens before each JSON object, and one after it. From vLLM,
//! `tool_parsers/internlm2_tool_parser.py`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    aliases: &["intern-s1"],
    models: &[
        Models::of("intern-s1 intern-s1-mini", "vLLM recipes, models/internlm/Intern-S1.yaml"),
        Models::of("internlm2.5-*-chat internlm2-chat", "vLLM, docs/features/tool_calling.md"),
    ],
    chat_templates: &[TemplateMarks::of(&[&["<|action_start|>", "<|plugin|>", "<|action_end|>"]])],
    ..Row::new("internlm2", || Arc::new(INTERNLM2))
}];

pub(crate) const INTERNLM2: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"],
        written: "<|action_start|><|plugin|>\n{\"name\": {name}, \"parameters\": {arguments}}<|action_end|>",
        keys: JsonRules { arguments: &["parameters", "arguments"], close: &["<|action_end|>"], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("{calls}", "{content}"),
};
