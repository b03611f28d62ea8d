//! XML as models write it: a resumable lexer, and entities.

mod entities;
mod lexer;

pub(crate) use entities::{For, decode, escape};
pub(crate) use lexer::{XmlLexeme, XmlLexer, attributes, is_name, name_length};
