//! XML as models write it: entities, a resumable lexer.

mod entities;
mod lexer;

pub use entities::{For, decode, decode_part, escape};
pub use lexer::{Lexeme, Lexer, attributes, is_name, name_length};
