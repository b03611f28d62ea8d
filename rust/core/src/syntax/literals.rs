//! What a notation with its own literals shares with JSON: the same grammar, with other tokens.

use std::borrow::Cow;
use std::fmt::Debug;

use super::json::{JsonLexeme, TokenSet};
use crate::error::Repair;

/// Splits a notation into the lexemes of JSON. It is fed windows as the JSON lexer is. `Plain` is text as it is: it may need
/// escapes in JSON.
pub(crate) trait LiteralLexer: Debug {
    /// A comma before a closing bracket is not part of the notation, and is read as a repair.
    const STRICT_COMMAS: bool;
    /// A word that is not a literal is read as a string, as a repair.
    const BARE_STRINGS: bool;

    /// The next lexeme of `window` from byte `*at`, which moves past it. `declared`: whether a key of this name is expected here.
    fn next<'w>(
        &mut self,
        window: &'w str,
        at: &mut usize,
        tokens: TokenSet,
        declared: &dyn Fn(&str) -> bool,
    ) -> JsonLexeme<'w>;

    /// The repair that the last lexeme needed. A second call returns `None`.
    fn odd(&mut self) -> Option<Repair> {
        None
    }

    /// The JSON of a word that is a literal.
    fn literal<'w>(&self, word: &'w str) -> Option<Cow<'w, str>>;

    /// True for a number with leading zeros, which is not a literal.
    fn is_digits(&self, _word: &str) -> bool {
        false
    }

    /// The key that this word is where the lexer is.
    fn key<'w>(&self, word: &'w str) -> Option<Cow<'w, str>>;

    /// Appends a text that lies entirely in the open string, as JSON, if that is easy to see. Otherwise it does nothing. The
    /// result says which.
    fn push_inside(&self, text: &str, json: &mut String) -> bool;

    /// A sentence that says how arguments are written.
    fn usage(&self) -> Cow<'static, str>;
}
