//! Calls in a section, as DeepSeek V3, R1 and V3.1 write them: the name, and one JSON object, in a fence in V3.

use crate::protocols::bodies::named::{Ends, IdForm, NamedFormat};
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::{Layout, ReasoningMarks, Section};

const OPEN: &[&str; 1] = &["<｜tool▁call▁begin｜>"];
const CLOSE: &str = "<｜tool▁call▁end｜>";
const BEFORE: &[&str] = &["<｜tool▁call▁begin｜>", "<｜tool▁calls▁end｜>"];

const LAYOUT: Layout = Layout {
    reasoning: Some(ReasoningMarks::LINES),
    section: Some(Section { begin: &["<｜tool▁calls▁begin｜>"], end: &["<｜tool▁calls▁end｜>"] }),
    stops: &["<｜end▁of▁sentence｜>"],
    ..Layout::NATIVE
};

const WRITING: Writing = Writing {
    begin: "<｜tool▁calls▁begin｜>",
    end: "<｜tool▁calls▁end｜>",
    between: "\n",
    after_content: "",
    result: "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜><｜tool▁outputs▁end｜>",
    result_mark: Some("<｜tool▁output"),
};

/// Of V3, V3-0324 and R1-0528.
pub(crate) const DEEPSEEK_V3: FlatFamily = FlatFamily {
    layout: LAYOUT,
    call: &NamedFormat {
        open: OPEN,
        prefix: "function<｜tool▁sep｜>",
        marks: &["\n", "```", "{"],
        around: ("\n```json\n", "\n```"),
        id: IdForm::None,
        ends: &Ends { fence: "```", close: CLOSE, before: BEFORE },
        last: "",
        list: None,
    },
    writing: WRITING,
};

/// The same for models whose prompt opens the reasoning.
pub(crate) const DEEPSEEK_R1: FlatFamily =
    FlatFamily { layout: Layout { starts_in_reasoning: true, ..LAYOUT }, ..DEEPSEEK_V3 };

pub(crate) const DEEPSEEK_V31: FlatFamily = FlatFamily {
    layout: Layout { reasoning: Some(ReasoningMarks::BARE), ..LAYOUT },
    call: &NamedFormat {
        open: OPEN,
        prefix: "",
        marks: &["<｜tool▁sep｜>"],
        around: ("<｜tool▁sep｜>", ""),
        id: IdForm::None,
        ends: &Ends { fence: "", close: CLOSE, before: BEFORE },
        last: "",
        list: None,
    },
    writing: Writing {
        between: "", result: "<｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜>", ..WRITING
    },
};
