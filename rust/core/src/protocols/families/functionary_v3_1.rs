//! Calls as Functionary 3.1 and Llama 4's custom form write them: the name in a tag, and one JSON object.

use crate::protocols::bodies::named::{Ends, IdForm, NamedFormat};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;

pub(crate) const FUNCTIONARY_V3_1: FlatFamily = FlatFamily {
    layout: Layout { stops: &["<|eom_id|>", "<|eot_id|>", "<|eom|>", "<|eot|>"], ..Layout::NATIVE },
    call: &NamedFormat {
        open: &["<function="],
        prefix: "",
        marks: &[">"],
        around: (">", ""),
        id: IdForm::None,
        ends: &Ends { fence: "", close: "</function>", before: &["<function="] },
        last: "",
        list: None,
    },
    writing: Writing { begin: "", end: "", between: "", after_content: "", result: "{content}", result_mark: None },
};
