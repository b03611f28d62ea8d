//! Messages to recipients, as Functionary 3.2 writes them: the name on a line of its own, and one JSON object.

use super::prelude::*;

use crate::formats::rows::shared_marks::LLAMA_TURN;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("functionary-small-v3.2 functionary-medium-v3.2", "llama.cpp, docs/function-calling.md")],
    chat_templates: &[TemplateMarks::of(&[LLAMA_TURN, &["'>>>all\n'", "'>>>' + "]])],
    ..Row::new("functionary-v3.2", || Arc::new(FUNCTIONARY_V3_2))
}];

const OPEN: &[&str; 1] = &[">>>"];

pub(crate) const FUNCTIONARY_V3_2: FlatFormat = FlatFormat {
    layout: Layout {
        parts: Some(&Recipients { mark: OPEN[0], content: "all" }),
        stops: &["<|eot_id|>", "<|eom_id|>"],
        ..Layout::NATIVE
    },
    call: &NamedJson {
        open: OPEN,
        name_terminators: &["\n"],
        around_arguments: ("\n", ""),
        ends: &Ends { fence: "", close: "", implicit_closers: OPEN },
        end_of_message: "<|eot_id|>",
        ..NamedJson::PLAIN
    },
    past_text: PastText::of("{calls}", "{content}"),
};
