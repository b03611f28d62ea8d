//! Calls as Phi-4-mini writes them: a list of JSON objects after a word, or between two tokens. From vLLM,
//! `tool_parsers/phi4mini_tool_parser.py`.

use std::sync::Arc;

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;
use crate::protocols::row::{Models, Row};

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("phi-4-mini", "vLLM, phi4mini_tool_parser.py")],
    ..Row::new("phi-4-mini", || Arc::new(PHI_4_MINI))
}];

pub(crate) const PHI_4_MINI: FlatFamily = FlatFamily {
    layout: Layout { trim_before_call: true, stops: &["<|end|>", "<|endoftext|>"], ..Layout::NATIVE },
    call: &MarkedEnvelope {
        open: &["functools[", "<|tool_call|>"],
        rules: NativeEnvelope { close: &["<|/tool_call|>"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    writing: Writing::of("{content|\n}functools[{calls|, }]", "{content}"),
};
