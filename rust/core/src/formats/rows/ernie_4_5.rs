//! Calls as ERNIE 4.5 writes them: one JSON object between two tags. The prompt opens the reasoning. From vLLM,
//! `tool_parsers/ernie45_tool_parser.py` and `reasoning/ernie45_reasoning_parser.py`.

use super::prelude::*;

use crate::formats::rows::shared_marks::{JSON_CALL, RESPONSE_JSON};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("ernie-4.5-*-thinking ernie-4.5-vl-*-thinking", "vLLM, ernie45_tool_parser.py")],
    chat_templates: &[TemplateMarks::of(&[JSON_CALL, &["<response>", "</response>"]])],
    response_templates: &[TemplateMarks::of(&[RESPONSE_JSON, &["open <response>"]])],
    ..Row::new("ernie-4.5", || Arc::new(ERNIE_4_5))
}];

pub(crate) const ERNIE_4_5: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        answer: Some(("<response>", "</response>")),
        starts_in_reasoning: true,
        trim_before_call: true,
        stops: &["<|im_end|>", "</s>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<tool_call>"],
        written: "<tool_call>\n{\"name\": {name}, \"arguments\": {arguments}}\n</tool_call>",
        keys: JsonRules { close: &["</tool_call>"], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("{content|\n}{calls|\n}\n", "{content}"),
};
