//! Calls as Functionary 3.1 and Llama 4's custom form write them: the name in a tag, and one JSON object.

use std::sync::Arc;

use crate::protocols::bodies::named::{Ends, IdForm, NamedFormat};
use crate::protocols::families::templates::LLAMA_TURN;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;
use crate::protocols::row::{Models, Row, TemplateMarks};

pub(crate) const ROWS: &[Row] = &[Row {
    aliases: &["llama4-custom"],
    models: &[Models::of("functionary-small-v3.1 functionary-medium-v3.1", "llama.cpp, docs/function-calling.md")],
    templates: &[TemplateMarks::of(&[LLAMA_TURN, &["'<function='", "'</function>'"]])],
    ..Row::new("functionary-v3.1", || Arc::new(FUNCTIONARY_V3_1))
}];

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
    writing: Writing::of("{calls}", "{content}"),
};
