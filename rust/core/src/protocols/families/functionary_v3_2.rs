//! Messages to recipients, as Functionary 3.2 writes them: the name on a line of its own, and one JSON object.

use crate::protocols::bodies::named::{Ends, IdForm, NamedFormat};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::frames::recipients::Recipients;
use crate::protocols::layout::Layout;

const OPEN: &[&str; 1] = &[">>>"];

pub(crate) const FUNCTIONARY_V3_2: FlatFamily = FlatFamily {
    layout: Layout {
        parts: Some(&Recipients { mark: OPEN[0], content: "all" }),
        stops: &["<|eot_id|>", "<|eom_id|>"],
        ..Layout::NATIVE
    },
    call: &NamedFormat {
        open: OPEN,
        prefix: "",
        marks: &["\n"],
        around: ("\n", ""),
        id: IdForm::None,
        ends: &Ends { fence: "", close: "", before: OPEN },
        last: "<|eot_id|>",
        list: None,
    },
    writing: Writing { begin: "", end: "", between: "", after_content: "", result: "{content}", result_mark: None },
};
