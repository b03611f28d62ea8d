//! Calls as OLMo 3 writes them: in Python with the values as JSON, one on each line, between tags. From the model's chat template and
//! vLLM, `tool_parsers/olmo3_tool_parser.py`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[
    Row {
        models: &[Models::of("olmo-3.1-*-instruct olmo-3-*-instruct", "vLLM, docs/features/tool_calling.md")],
        ..Row::new("olmo3", || Arc::new(OLMO3))
    },
    Row {
        models: &[Models::of("olmo-3.1-*-think olmo-3-*-think", "the model card of allenai/Olmo-3-32B-Think")],
        ..Row::new("olmo3-think", || Arc::new(OLMO3_THINK))
    },
];

pub(crate) const OLMO3: FlatFormat = FlatFormat {
    layout: Layout {
        reasoning: Some(ReasoningMarks { breaks_after: true, ..ReasoningMarks::BARE }),
        stops: &["<|im_end|>", "<|endoftext|>"],
        ..Layout::NATIVE
    },
    call: &PyCalls {
        open: &["<function_calls>"],
        close: "</function_calls>",
        list: false,
        bare: false,
        json: None,
        values: PyValues::Json,
    },
    past_text: PastText::of("<function_calls>{calls|\n}</function_calls>", "{content}"),
};

/// The same for the Think models, whose prompt opens the reasoning.
pub(crate) const OLMO3_THINK: FlatFormat =
    FlatFormat { layout: Layout { starts_in_reasoning: true, ..OLMO3.layout }, ..OLMO3 };
