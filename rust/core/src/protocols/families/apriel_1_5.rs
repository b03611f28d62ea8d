//! Calls as Apriel 1.5 writes them: a list of JSON objects, with ids in past messages. It reasons after a fixed sentence, up to its
//! final response.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::envelope::marked::MarkedEnvelope;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const APRIEL_1_5: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"), ("<thinking>", "</thinking>")],
            written: ("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n"),
            ..ReasoningMarks::LINES
        }),
        answer: Some(("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]")),
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
