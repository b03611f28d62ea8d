//! Calls as Hunyuan A13B writes them: a list of JSON objects between two tags. From vLLM, `tool_parsers/hunyuan_a13b_tool_parser.py`
//! and `reasoning/hunyuan_a13b_reasoning_parser.py`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("hunyuan-a13b", "vLLM, docs/features/tool_calling.md")],
    ..Row::new("hunyuan-a13b", || Arc::new(HUNYUAN_A13B))
}];

pub(crate) const HUNYUAN_A13B: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::of("<think>\n{reasoning}\n</think>\n")),
        answer: Some(("<answer>", "</answer>")),
        trim_before_call: true,
        stops: &["<|eos|>"],
        ..Layout::NATIVE
    },
    call: &MarkedJson {
        open: &["<tool_calls>"],
        keys: JsonRules { close: &["</tool_calls>"], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("<tool_calls>[{calls|, }]</tool_calls>", "<tool_response>{content}</tool_response>")
        .marked("<tool_response>"),
};
