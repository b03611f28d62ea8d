//! Calls as Step 3 writes them: `<steptml:invoke name="NAME">` with `<steptml:parameter name="KEY">VALUE</steptml:parameter>` for
//! each argument. SGLang, `function_call/step3_detector.py`; vLLM, `reasoning/step3_reasoning_parser.py`.

use crate::protocols::bodies::tagged::{Head, KeyTags, Tagged, Tags};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks, Section};

/// What stands around a call in the section is passed over.
const TAGS: Tags = Tags {
    openers: &["<steptml:invoke name=\""],
    close: "</steptml:invoke>",
    argument: "<steptml:parameter name=\"",
    argument_close: "</steptml:parameter>",
    head: Head::Text(KeyTags { name_close: "\">", key_close: "\">", kind: None, value: "" }),
    ends: &["<steptml:invoke name=\"", "<｜tool_call_end｜>", "<｜tool_calls_end｜>"],
    ..Tags::BASE
};

/// The prompt opens the reasoning.
pub(crate) const STEP_3: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks::LINES),
        starts_in_reasoning: true,
        section: Some(Section { begin: &["<｜tool_calls_begin｜>"], end: &["<｜tool_calls_end｜>"] }),
        trim_before_call: true,
        special_tokens: true,
        stops: &["<|EOT|>"],
        ..Layout::NATIVE
    },
    call: &Tagged(&TAGS),
    writing: Writing {
        begin: "<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>",
        end: "<｜tool_call_end｜>\n<｜tool_calls_end｜>",
        between: "<｜tool_call_end｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>",
        ..Writing::LINES
    },
};
