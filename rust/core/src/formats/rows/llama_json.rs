//! A call as Llama 3 writes it: one JSON object as the whole message, or after a tag.

use super::prelude::*;

use crate::formats::rows::shared_marks::LLAMA_TURN;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[
        Models::of("llama-3.1-nemotron-70b", "llama.cpp, docs/function-calling.md"),
        Models::of("llama-3.3", "vLLM, docs/features/tool_calling.md"),
        Models::of("llama-3.2 llama-3.2-*-vision llama-3.1", "vLLM, docs/features/tool_calling.md").chat("instruct"),
    ],
    chat_templates: &[TemplateMarks::of(&[LLAMA_TURN, &[r#"{"name": ""#, r#""parameters": "#, "ipython"]])],
    response_templates: &[TemplateMarks::of(&[&[
        r#"open {"name":"#,
        r#""parameters":"#,
        "<|eot_id|>",
        "content json\n",
    ]])],
    ..Row::new("llama-json", || Arc::new(LLAMA_JSON))
}];

pub(crate) const LLAMA_JSON: FlatFormat = FlatFormat {
    layout: Layout {
        special_tokens: true,
        stops: &["<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<|python_tag|>"],
        openers_at_start: &[""],
        lists: false,
        end_of_message: "<|eom_id|>",
        written: r#"{"name": {name}, "parameters": {arguments}}"#,
        keys: JsonRules { arguments: &["parameters", "arguments"], may_be_text: true, ..JsonRules::USUAL },
    },
    past_text: PastText::of("{content|<|python_tag|>}{calls}", "{json}"),
};
