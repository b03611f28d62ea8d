//! XML as models write it: entities, a resumable lexer, and elements read as trees.

mod element;
mod entities;
mod lexer;

pub use element::{Fault, Outcome, Reader, UNCLOSED, content, is_member, member};
pub use entities::{For, decode_part, escape};
pub use lexer::{Lexeme, Lexer, attributes, is_name, name_length};
