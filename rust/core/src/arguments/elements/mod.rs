//! Elements: their content read as typed trees, and their writer.

pub mod reader;
mod write;

pub use reader::{ElementReader, Fault, Halt, Rules, UNCLOSED, content, is_member, member};
pub use write::{ElementWriter, is_nestable};
