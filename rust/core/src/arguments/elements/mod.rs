//! Elements: their content read as typed trees, and their writer.

pub(crate) mod reader;
mod write;

pub(crate) use reader::{ElementReader, Fault, Halt, Rules, UNCLOSED, content, is_member, member};
pub(crate) use write::{ElementWriter, is_nestable};
