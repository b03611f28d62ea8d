//! Calls as Mistral's models write them: `[TOOL_CALLS]` with the name and one JSON object, or with a list of objects before v11.

use crate::protocols::bodies::envelope::NativeEnvelope;
use crate::protocols::bodies::named::{Ends, IdForm, NamedFormat};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

const OPEN: &[&str; 1] = &["[TOOL_CALLS]"];

/// Of v13, which writes no ids. Those of the older versions are read, too.
pub(crate) const MISTRAL: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[("[THINK]", "[/THINK]"), ("<think>", "</think>")],
            written: ("[THINK]", "[/THINK]"),
            ..ReasoningMarks::BARE
        }),
        special_tokens: true,
        stops: &["</s>"],
        ..Layout::NATIVE
    },
    call: &NamedFormat {
        open: OPEN,
        prefix: "",
        marks: &["[CALL_ID]", "[ARGS]", "{"],
        around: ("[ARGS]", ""),
        id: IdForm::Marked { mark: "[CALL_ID]", written: false },
        ends: &Ends { fence: "", close: "", before: OPEN },
        last: "</s>",
        list: Some(NativeEnvelope::USUAL),
    },
    writing: Writing {
        begin: "",
        end: "",
        between: "",
        after_content: "",
        result: "[TOOL_RESULTS]{content}[/TOOL_RESULTS]",
        result_mark: Some("[TOOL_RESULTS]"),
    },
};
