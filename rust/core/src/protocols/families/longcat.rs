//! Calls as LongCat writes them: one JSON object between two tags. From vLLM, `tool_parsers/longcat_tool_parser.py`.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const LONGCAT: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[("<longcat_think>", "</longcat_think>")],
            written: ("<longcat_think>\n", "\n</longcat_think>\n"),
            ..ReasoningMarks::LINES
        }),
        trim_before_call: true,
        stops: &["</longcat_s>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<longcat_tool_call>"],
        written: "<longcat_tool_call>\n{\"name\": {name}, \"arguments\": {arguments}}\n</longcat_tool_call>",
        rules: NativeEnvelope { close: &["</longcat_tool_call>"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    writing: Writing { begin: "", end: "", between: "\n", after_content: "\n", result: "{content}", result_mark: None },
};
