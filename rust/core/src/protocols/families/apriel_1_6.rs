//! Calls as Apriel 1.6 writes them: as 1.5. The prompt opens the reasoning.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const APRIEL_1_6: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]")],
            written: ("", "\n[BEGIN FINAL RESPONSE]\n"),
            prompt: Some("Here are my reasoning steps:\n"),
            ..ReasoningMarks::LINES
        }),
        answer: Some(("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]")),
        starts_in_reasoning: true,
        trim_before_call: true,
        stops: &["<|end|>"],
        ..Layout::NATIVE
    },
    call: &MarkedEnvelope {
        open: &["<tool_calls>"],
        written: r#"{"name": {name}, "arguments": {arguments}, "id": {id}}"#,
        rules: NativeEnvelope { close: &["</tool_calls>"], ..NativeEnvelope::USUAL },
        ..MarkedEnvelope::LIST
    },
    writing: Writing {
        begin: "\n<tool_calls>[",
        end: "]</tool_calls>",
        between: ", ",
        after_content: "",
        result: "{content}",
        result_mark: None,
    },
};
