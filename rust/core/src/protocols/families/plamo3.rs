//! Calls in a section, as PLaMo 3 writes them: the name and one JSON object, each with its markers. From vLLM, `parser/plamo3.py`.

use crate::protocols::bodies::named::{Ends, IdForm, NamedFormat};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks, Section};

const BEGIN: &str = "<|plamo:begin_tool_requests:plamo|>";
const END: &str = "<|plamo:end_tool_requests:plamo|>";
const OPEN: &[&str; 1] = &["<|plamo:begin_tool_request:plamo|>"];

pub(crate) const PLAMO3: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks {
            pairs: &[("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>")],
            written: ("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
            call_ends: CallEnds::Declared,
            ..ReasoningMarks::BARE
        }),
        starts_in_reasoning: true,
        section: Some(Section { begin: &[BEGIN], end: &[END] }),
        stops: &["<|plamo:tag|>"],
        ..Layout::NATIVE
    },
    call: &NamedFormat {
        open: OPEN,
        prefix: "<|plamo:begin_tool_name:plamo|>",
        marks: &["<|plamo:end_tool_name:plamo|>", "<|plamo:msg|>"],
        around: (
            "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>",
            "",
        ),
        // The type of the arguments is where others have an id.
        id: IdForm::Marked { mark: "<|plamo:end_tool_name:plamo|>", written: false },
        ends: &Ends {
            fence: "",
            close: "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
            before: &[OPEN[0], END],
        },
        last: "",
        list: None,
    },
    writing: Writing { begin: BEGIN, end: END, between: "", after_content: "", result: "{content}", result_mark: None },
};
