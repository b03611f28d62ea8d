//! Calls as Phi-4-mini writes them: a list of JSON objects after a word, or between two tokens. From vLLM,
//! `tool_parsers/phi4mini_tool_parser.py`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("phi-4-mini", "vLLM, phi4mini_tool_parser.py")],
    ..Row::new("phi-4-mini", || Arc::new(PHI_4_MINI))
}];

pub(crate) const PHI_4_MINI: FlatFormat = FlatFormat {
    layout: Layout { trim_before_call: true, stops: &["<|end|>", "<|endoftext|>"], ..Layout::NATIVE },
    call: &MarkedJson {
        open: &["functools[", "functools{", "<|tool_call|>"],
        keys: JsonRules { close: &["<|/tool_call|>"], ..JsonRules::USUAL },
        ..MarkedJson::LIST
    },
    past_text: PastText::of("{content|\n}functools[{calls|, }]", "{content}"),
};
