//! Calls in a section, as Kimi K2 writes them: an id that holds the name, and one JSON object.

use crate::protocols::bodies::named::{Ends, IdForm, NamedFormat};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{CallEnds, Layout, ReasoningMarks, Section};

const LAYOUT: Layout = Layout {
    section: Some(Section { begin: &["<|tool_calls_section_begin|>"], end: &["<|tool_calls_section_end|>"] }),
    stops: &["<|im_end|>"],
    ..Layout::NATIVE
};

/// Of K2-Instruct, which does not reason.
pub(crate) const KIMI_K2: FlatFamily = FlatFamily {
    layout: LAYOUT,
    call: &NamedFormat {
        open: &["<|tool_call_begin|>"],
        prefix: "functions.",
        marks: &["<|tool_call_argument_begin|>"],
        around: ("<|tool_call_argument_begin|>", ""),
        id: IdForm::Indexed,
        ends: &Ends {
            fence: "",
            close: "<|tool_call_end|>",
            before: &["<|tool_call_begin|>", "<|tool_calls_section_end|>"],
        },
        last: "",
        list: None,
    },
    writing: Writing {
        begin: "<|tool_calls_section_begin|>",
        end: "<|tool_calls_section_end|>",
        between: "",
        after_content: "",
        result: "## Return of {id}\n{content}",
        result_mark: None,
    },
};

/// Of K2-Thinking, which opens the reasoning itself.
pub(crate) const KIMI_K2_THINKING: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks { call_ends: CallEnds::Declared, ..ReasoningMarks::BARE }),
        ..LAYOUT
    },
    ..KIMI_K2
};

/// Of K2.5 and later, whose prompt opens the reasoning.
pub(crate) const KIMI_K26: FlatFamily =
    FlatFamily { layout: Layout { starts_in_reasoning: true, ..KIMI_K2_THINKING.layout }, ..KIMI_K2 };
