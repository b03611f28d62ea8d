//! XML as models write it: entities, a resumable lexer, elements read as trees, documents, and the writer.

mod document;
mod element;
mod entities;
mod lexer;
mod write;

pub use document::{Document, XmlError, XmlSchema, format_xml, parse_xml};
pub use entities::{Entity, decode, decode_part, entity};
