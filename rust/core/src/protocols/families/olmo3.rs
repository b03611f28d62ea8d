//! Calls as OLMo 3 writes them: in Python with the values as JSON, one on each line, between tags. From the model's chat template and
//! vLLM, `tool_parsers/olmo3_tool_parser.py`.

use crate::protocols::bodies::pycalls::{PyCalls, PyValues};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks};

pub(crate) const OLMO3: FlatFamily = FlatFamily {
    layout: Layout {
        reasoning: Some(ReasoningMarks { breaks_after: true, ..ReasoningMarks::BARE }),
        stops: &["<|im_end|>", "<|endoftext|>"],
        ..Layout::NATIVE
    },
    call: &PyCalls {
        open: &["<function_calls>"],
        close: "</function_calls>",
        list: false,
        bare: false,
        json: None,
        values: PyValues::Json,
    },
    writing: Writing {
        begin: "<function_calls>",
        end: "</function_calls>",
        between: "\n",
        after_content: "",
        result: "{content}",
        result_mark: None,
    },
};

/// The same for the Think models, whose prompt opens the reasoning.
pub(crate) const OLMO3_THINK: FlatFamily =
    FlatFamily { layout: Layout { starts_in_reasoning: true, ..OLMO3.layout }, ..OLMO3 };
