//! JSON as text: a resumable lexer for strict and relaxed JSON, a reader of whole texts, and the compact writer.

mod lexer;
mod loads;
mod number;
mod options;
mod value;
mod write;

pub(crate) use lexer::{Expect, JsonLexeme, JsonLexer, TokenSet, hex_digits, is_literal, plain_string, unicode_escape};
pub(crate) use loads::parse_with;
pub use loads::{loads, parse};
pub(crate) use number::{is_beyond_float, is_number, respelled, same_number, whole};
pub use options::{Duplicates, LoadOptions};
pub use value::{Member, Value};
pub(crate) use value::{write_object, write_spaced_object};
pub(crate) use write::{is_plain, json_string, plain_end, push_char, push_str, push_string, verbatim_end};
