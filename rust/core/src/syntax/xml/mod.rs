//! XML as models write it: a resumable lexer, and entities.

mod entities;
mod lexer;

pub use entities::{For, decode, escape};
pub use lexer::{XmlLexeme, XmlLexer, attributes, is_name, name_length};
