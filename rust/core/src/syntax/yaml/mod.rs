//! YAML 1.2 as text: one resumable lexer, what becomes of its lexemes, and the writer. No schema.
//!
//! A subset: block mappings and sequences, flow collections, all kinds of scalars, comments. Anchors, aliases, tags, directives
//! and several documents are errors that say so; keys are scalars.

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

pub use build::{Builder, Fault, parse};
pub use core_schema::json_of;
pub use lexeme::{Ends, Lax, Lexeme, NoEnds};
pub use lexer::Lexer;
pub use pair::Pair;
pub use peek::{document_mark, plain_key, quoted_key};
pub use write::{format, write_key, write_value};
