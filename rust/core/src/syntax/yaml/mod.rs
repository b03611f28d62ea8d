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

pub use build::{TreeBuilder, YamlFault, parse};
pub use core_schema::json_of;
pub use lexeme::{Lax, NoSurroundings, Surroundings, YamlLexeme};
pub use lexer::YamlLexer;
pub use pair::Pair;
pub use peek::{document_mark, plain_key, quoted_key};
pub use write::{format, write_key, write_value};
