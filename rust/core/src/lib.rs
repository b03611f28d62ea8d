//! Tool calls in plain text: read from a stream as it arrives, typed by JSON Schema, and written back.
//!
//! **Theory of operation.** A [`Toolset`] is compiled once. A [`Parser`] is fed text and reports [`Event`]s in order.
//! It has one buffer, which holds only text that cannot be decided yet. Outside calls it looks for the opening marker. After
//! one, the protocol decides whether a call begins, and makes the body that reads it. The body turns text directly into JSON
//! text: there is no tree, and numbers keep their digits. After an error, only the end of the call is looked for, by simpler
//! rules that know quotes and brackets. Whole messages are read by the same parser ([`parse`]).
//!
//! The crate does no I/O, does not depend on Python, and does not panic. Its layers are in `tests/rust/layers.rs`.
#![forbid(unsafe_code)]

mod arguments;
mod document;
mod error;
mod event;
mod keymap;
mod limits;
mod manual;
mod message;
mod parser;
mod protocols;
mod schema;
mod syntax;
mod tools;
mod toolset;

pub use arguments::{beyond_float, may_be_beyond_float};
pub use document::{Document, XmlSchema, format_xml, parse_xml};
pub use error::{EncodeError, ErrorKind, Problem, ProblemKind, Repair, SyntaxError, ToolError};
pub use event::{CallEnd, CallError, Event, Item, fold};
pub use limits::{Limits, RECURSION};
pub use message::parse;
pub use parser::{Parser, Plain};
pub use protocols::{Custom, Host, Reading, names as protocols};
pub use schema::{Descriptions, Field};
pub use syntax::json::{Duplicates, LoadOptions, Member, Value, loads, parse as parse_json};
pub use syntax::scan::Delimiters;
pub use syntax::yaml::{format as format_yaml, parse as parse_yaml};
pub use tools::{Definition, Fallback, Syntax, Tool};
pub use toolset::{CodeMode, Options, Toolset};
