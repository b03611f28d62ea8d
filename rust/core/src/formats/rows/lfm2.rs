//! Calls as LFM2 and LFM2.5 write them: a list in Python, `[f(a='x', b={"c": true}), g()]`, or of JSON objects, between markers.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    aliases: &["lfm2.5"],
    models: &[
        Models::of("lfm2.5-*-thinking lfm2.5-*-jp-202606 lfm2.5", "vLLM recipes, models/LiquidAI"),
        Models::of("lfm2-*-tool lfm2", "vLLM, lfm2_tool_parser.py"),
    ],
    chat_templates: &[TemplateMarks::of(&[&["<|tool_call_start|>[", "]<|tool_call_end|>"]])],
    response_templates: &[TemplateMarks::of(&[&["<|tool_call_start|>[", "]<|tool_call_end|>", "content xml-inline"]])],
    ..Row::new("lfm2", || Arc::new(LFM2))
}];

pub(crate) const LFM2: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks::BARE),
        special_tokens: true,
        stops: &["<|im_end|>"],
        ..Layout::NATIVE
    },
    call: &PyCalls {
        open: &["<|tool_call_start|>"],
        close: "<|tool_call_end|>",
        list: true,
        bare: false,
        json: Some(JsonRules::USUAL),
        values: PyValues::Unescaped,
    },
    past_text: PastText::of("<|tool_call_start|>[{calls|, }]<|tool_call_end|>", "{content}"),
};
