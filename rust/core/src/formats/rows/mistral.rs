//! Calls as Mistral's models write them: `[TOOL_CALLS]` with the name and one JSON object, or with a list of objects before v11.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[
        Models::of(
            "mistral-small-4 mistral-small-3.2 mistral-small-3.1 mistral-small-3",
            "vLLM recipes, models/mistralai",
        ),
        Models::of("mistral-medium-3.5 mistral-large-3", "vLLM recipes, models/mistralai"),
        Models::of("ministral-3 ministral-3-*-reasoning", "vLLM recipes, models/mistralai"),
        Models::of(
            "devstral-2 devstral-small-2 devstral-small devstral",
            "SGLang cookbook, docs/autoregressive/Mistral/Devstral-2.md",
        ),
        Models::of("magistral-small magistral", "canitoolcall, docs/formats"),
        Models::of("mistral-nemo mistral-large mistral-7b-*-v0.3", "llama.cpp, docs/function-calling.md")
            .chat("instruct"),
        Models::of("mistral-small", "SGLang cookbook, data/models/src/v0.5.6/mistral.yaml"),
    ],
    chat_templates: &[TemplateMarks::of(&[&["[TOOL_CALLS]", "[TOOL_RESULTS]", "[AVAILABLE_TOOLS]"]])],
    ..Row::new("mistral", || Arc::new(MISTRAL))
}];

const OPEN: &[&str; 1] = &["[TOOL_CALLS]"];

/// Of v13, which writes no ids. Those of the older versions are read, too.
pub(crate) const MISTRAL: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            also: &[("<think>", "</think>")],
            ..ReasoningMarks::of("[THINK]{reasoning}[/THINK]")
        }),
        special_tokens: true,
        stops: &["</s>"],
        ..Layout::NATIVE
    },
    call: &NamedJson {
        open: OPEN,
        name_terminators: &["[CALL_ID]", "[ARGS]", "{"],
        around_arguments: ("[ARGS]", ""),
        id: IdForm::Marked { mark: "[CALL_ID]", written: false },
        ends: &Ends { fence: "", close: "", implicit_closers: OPEN },
        end_of_message: "</s>",
        json_list: Some(JsonRules::USUAL),
        ..NamedJson::PLAIN
    },
    past_text: PastText::of("{calls}", "[TOOL_RESULTS]{content}[/TOOL_RESULTS]").marked("[TOOL_RESULTS]"),
};
