//! JSON as text: one resumable lexer, strict and relaxed, the compact writer, and whole texts to values. No schema.

mod lexer;
mod loads;
mod number;
mod value;
mod write;

pub use lexer::{Expect, Lexeme, Lexer, Place, plain_string, unicode_escape};
pub use loads::{Duplicates, LoadOptions, loads, parse};
pub use number::{is_beyond_float, is_number, respelled, same_number, whole};
pub use value::{Member, Value, write_object, write_spaced_object};
pub use write::{is_plain, json_string, push_char, push_str, push_string};
