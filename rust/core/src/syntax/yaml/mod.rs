//! YAML 1.2 as text: a resumable lexer, a builder of values, and the writer.
//!
//! A subset is supported: block mappings and sequences, flow collections, all kinds of scalars, and comments. Keys must
//! be scalars. Anchors, aliases, tags, directives and multiple documents are errors with a message.

mod block;
mod build;
mod core_schema;
mod lexeme;
mod lexer;
mod nodes;
mod pair;
mod peek;
mod plain;
mod quoted;
mod text;
mod window;
mod write;

pub use build::parse;
pub(crate) use build::{TreeBuilder, YamlFault};
pub(crate) use core_schema::json_of;
pub(crate) use lexeme::{Lax, NoSurroundings, Surroundings, YamlLexeme};
pub(crate) use lexer::YamlLexer;
pub(crate) use pair::Pair;
pub(crate) use peek::{document_mark, plain_key, quoted_key};
pub use write::format;
pub(crate) use write::{write_key, write_value};
