//! XML as models write it: entities, a resumable lexer, and elements read as trees.

mod element;
mod entities;
mod lexer;

pub use element::{Fault, Outcome, Reader, UNCLOSED, content, is_member, member};
pub use entities::{Entity, For, decode_part, entity, escape};
pub use lexer::{Lexeme, Lexer, is_name, name_length};
