//! Messages as Cohere's models write them: reasoning, content, and a list of calls, each in an element.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[
    Row {
        models: &[
            Models::of("command-a-reasoning command-a", "vLLM, docs/features/tool_calling.md"),
            Models::of("command-r7b", "llama.cpp, docs/function-calling.md"),
        ],
        chat_templates: &[TemplateMarks::of(&[&[
            "<|START_ACTION|>",
            r#""tool_name""#,
            r#""parameters""#,
            "<|START_RESPONSE|>",
        ]])],
        response_templates: &[TemplateMarks::of(&[&[
            "open <|START_ACTION|>",
            "{tool_name}",
            "{parameters}",
            "open <|START_RESPONSE|>",
        ]])],
        ..Row::new("cohere", || Arc::new(COHERE))
    },
    Row {
        models: &[Models::of("command-a-plus north-mini-code north-mini-code-1.0", "vLLM, parser/cohere_command.py")],
        chat_templates: &[TemplateMarks::of(&[&[
            "<|START_ACTION|>",
            r#""tool_name""#,
            r#""parameters""#,
            "<|START_TEXT|>",
        ]])],
        response_templates: &[TemplateMarks::of(&[&[
            "open <|START_ACTION|>",
            "{tool_name}",
            "{parameters}",
            "open <|START_TEXT|>",
        ]])],
        ..Row::new("cohere-command4", || Arc::new(COHERE_COMMAND4))
    },
];

const RESPONSE: (&str, &str) = ("<|START_RESPONSE|>", "<|END_RESPONSE|>");
const TEXT: (&str, &str) = ("<|START_TEXT|>", "<|END_TEXT|>");

const ELEMENTS: Elements = Elements {
    reasoning: ("<|START_THINKING|>", "<|END_THINKING|>"),
    content: &[RESPONSE, TEXT],
    calls: ("<|START_ACTION|>", "<|END_ACTION|>"),
    tags: &["<|START_", "<|END_"],
    ..Elements::PLAIN
};

const LAYOUT: Layout =
    Layout { parts: Some(&ELEMENTS), special_tokens: true, stops: &["<|END_OF_TURN_TOKEN|>"], ..Layout::NATIVE };

/// Of Command R7B and Command A.
pub(crate) const COHERE: FlatFormat = FlatFormat {
    layout: LAYOUT,
    call: &MarkedJson {
        open: &[ELEMENTS.calls.0],
        written: r#"{"tool_call_id": {id}, "tool_name": {name}, "parameters": {arguments}}"#,
        keys: JsonRules {
            name: NameKey::Under("tool_name"),
            arguments: &["parameters"],
            id: "tool_call_id",
            close: &[ELEMENTS.calls.1],
            ..JsonRules::USUAL
        },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("<|START_ACTION|>[\n    {calls|,\n    }\n]<|END_ACTION|>", concat!(
            "<|START_TOOL_RESULT|>[\n    {\n        \"tool_call_id\": \"{id}\",\n        \"results\": {\n            \"0\": {json}\n        },\n",
            "        \"is_error\": null\n    }\n]<|END_TOOL_RESULT|>"
        )).marked("<|START_TOOL_RESULT|>"),
};

/// Of newer models, whose prompt opens the reasoning.
pub(crate) const COHERE_COMMAND4: FlatFormat = FlatFormat {
    layout: Layout {
        parts: Some(&Elements { content: &[TEXT, RESPONSE], ..ELEMENTS }),
        starts_in_reasoning: true,
        ..LAYOUT
    },
    past_text: PastText::of("<|START_ACTION|>[\n    {calls|,\n    }\n]<|END_ACTION|>", concat!(
            "<|START_TOOL_RESULT|>[\n    {\n        \"tool_call_id\": \"{id}\",\n        \"results\": {\n            \"0\": {\"content\": {json}}\n        },\n",
            "        \"is_error\": null\n    }\n]<|END_TOOL_RESULT|>"
        )).marked("<|START_TOOL_RESULT|>"),
    ..COHERE
};
