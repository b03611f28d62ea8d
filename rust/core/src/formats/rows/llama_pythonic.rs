//! Calls as Llama 3.2 and 4 write them in Python: `[f(a=1, b='x'), g()]` as the whole message, or between markers.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[
        Models::of("llama-4-scout llama-4-maverick llama4", "vLLM, docs/features/tool_calling.md").chat("instruct"),
        Models::of("toolace-8b", "vLLM, docs/features/tool_calling.md"),
    ],
    ..Row::new("llama-pythonic", || Arc::new(LLAMA_PYTHONIC))
}];

pub(crate) const LLAMA_PYTHONIC: FlatFormat = FlatFormat {
    layout: Layout {
        special_tokens: true,
        stops: &["<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>"],
        ..Layout::NATIVE
    },
    call: &PyCalls {
        open: &["<|python_start|>"],
        close: "<|python_end|>",
        list: true,
        bare: true,
        json: None,
        values: PyValues::Python,
    },
    past_text: PastText::of("{content|<|python_start|>}[{calls|, }]", "{json}"),
};
