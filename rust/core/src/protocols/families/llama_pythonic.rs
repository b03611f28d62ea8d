//! Calls as Llama 3.2 and 4 write them in Python: `[f(a=1, b='x'), g()]` as the whole message, or between markers.

use crate::protocols::bodies::pycalls::{PyCalls, PyValues};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;

pub(crate) const LLAMA_PYTHONIC: FlatFamily = FlatFamily {
    layout: Layout {
        special_tokens: true,
        stops: &["<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>"],
        ..Layout::NATIVE
    },
    call: &PyCalls {
        open: &["<|python_start|>"],
        close: "<|python_end|>",
        list: true,
        bare: true,
        json: None,
        values: PyValues::Python,
    },
    writing: Writing {
        begin: "[",
        end: "]",
        between: ", ",
        after_content: "<|python_start|>",
        result: "{json}",
        result_mark: None,
    },
};
