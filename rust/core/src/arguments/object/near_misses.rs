//! What is missing: a comma, or the last bracket.

use super::Object;
use crate::arguments::Input;
use crate::syntax::json::Expect;
use crate::syntax::scan::{Scan, ws_run};

impl Object {
    /// Whether only the last bracket is missing.
    pub(crate) fn lacks_bracket(&self) -> bool {
        self.brackets() == 1 && self.expect == Expect::Comma
    }

    /// Whether a declared key follows a value. Directly after a word, a quote may be part of what is wrong.
    pub(super) fn comma_missing(&self, input: &mut Input<'_>) -> Scan {
        let is_word = |c: char| c.is_alphanumeric() || c == '\\';
        let word = input.rest().starts_with('"') && input.window[..input.at].ends_with(is_word);
        if word || self.lexer.in_comment() || !self.values.in_object() {
            return Scan::NoMatch;
        }
        input.at = ws_run(input.window, input.at);
        self.values.names_field(&input.cx, input.rest(), input.last)
    }
}
