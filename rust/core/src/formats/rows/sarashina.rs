//! Calls as Sarashina writes them: a list of objects after a token, as JSON or as Python prints it.
//! [smg-project/smg](https://github.com/smg-project/smg), `crates/tool_parser/src/parsers/sarashina.rs`.

use super::prelude::*;

pub(crate) const ROWS: &[Row] = &[Row {
    models: &[Models::of("sarashina", "smg, crates/tool_parser/src/factory.rs")],
    ..Row::new("sarashina", || Arc::new(SARASHINA))
}];

pub(crate) const SARASHINA: FlatFormat = FlatFormat {
    layout: Layout { trim_before_call: true, special_tokens: true, stops: &["</s>"], ..Layout::NATIVE },
    call: &MarkedJson { open: &["<|tool_calls|>"], end_of_message: "</s>", ..MarkedJson::LIST },
    past_text: PastText::of("{content}<|tool_calls|>[{calls|, }]", "{content}"),
};
