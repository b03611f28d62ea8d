//! Tool calls in plain text: read from a stream as it arrives, typed by JSON Schema, and written back.
//!
//! A [`Toolset`] is compiled once from the definitions of tools. Its [`manual`](Toolset::manual) tells the model how to write
//! calls. A [`Parser`] is fed the model's answer, cut anywhere, and reports [`Event`]s in order:
//!
//! ```
//! use std::sync::Arc;
//! use wirecall_core::{Definition, Event, Options, Parser, ToolError, Toolset};
//!
//! # fn main() -> Result<(), ToolError> {
//! let parameters = r#"{
//!     "type": "object",
//!     "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
//!     "required": ["city"]
//! }"#;
//! let mut weather = Definition::new("get_weather", parameters);
//! weather.description = Some("The forecast for a city.".into());
//! let tools = Arc::new(Toolset::new(vec![weather], Options::default())?);
//! // Without the header, which explains the format.
//! assert_eq!(tools.manual(Some("")), "get_weather city days?:int - The forecast for a city.");
//!
//! let (mut text, mut calls, mut errors) = (String::new(), Vec::new(), Vec::new());
//! let mut on_event = |event: Event<'_>| match event {
//!     Event::Text(part) => text.push_str(part),
//!     Event::CallEnd(call) => calls.push((call.name, call.arguments)),
//!     Event::CallError(error) => errors.push(tools.encode_error(&error)),
//!     // Starts and deltas, for hosts that show calls as they are written.
//!     _ => {}
//! };
//! // One parser for each stream; a stream in another thread takes another clone of the `Arc`.
//! let mut parser = Parser::new(tools.clone(), None);
//! for delta in ["Let me look. <ca", "ll>get_weather city=\"New Y", "ork\" days=3</call>"] {
//!     parser.feed(delta, &mut on_event);
//! }
//! // `Some(false)`: the model has ended its answer, rather than run into a limit.
//! parser.finish(Some(false), &mut on_event);
//!
//! assert_eq!(text, "Let me look. ");
//! assert_eq!(calls, [("get_weather".to_owned(), r#"{"city":"New York","days":3}"#.to_owned())]);
//! assert!(errors.is_empty());
//! // What the tool returned goes back to the model. Nothing in it can be read as a call.
//! let result = tools.encode_result("get_weather", "sunny", false, None);
//! assert_eq!(result, "<tool-result name=\"get_weather\">sunny</tool-result>");
//! # Ok(())
//! # }
//! ```
//!
//! The model's mistakes are events, written for the model ([`CallError`]). The host's mistakes are errors: [`ToolError`],
//! [`EncodeError`], [`SchemaError`], [`SyntaxError`]. A whole message is read by [`parse`], with the same result.
//!
//! **Theory of operation.** A parser has one buffer, which holds only text that cannot be decided yet. Outside calls it looks for
//! the opening marker. After one, the protocol decides whether a call begins, and makes the body that reads it. The body turns
//! text directly into JSON text: there is no tree, and numbers keep their digits. After an error, only the end of the call is
//! looked for, by simpler rules that know quotes and brackets.
//!
//! The crate does no I/O, does not depend on Python, and does not panic. Its layers are in `tests/rust/layers.rs`.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod arguments;
mod constrained;
mod document;
mod error;
mod event;
mod formats;
mod grammar;
mod keymap;
mod limits;
mod manual;
mod message;
mod parser;
mod past;
mod schema;
mod syntax;
mod tools;
mod toolset;
mod trial;

pub use arguments::{beyond_float, may_be_beyond_float};
pub use document::{Document, XmlSchema, format_xml, parse_xml};
pub use error::{EncodeError, ErrorKind, Problem, ProblemKind, Repair, SchemaError, SyntaxError, ToolError};
pub use event::{CallEnd, CallError, Event, Item};
pub use formats::{
    Custom, Format, Host, Models, NativeFormat, Reading, TemplateMarks, names as protocols, native_formats,
};
pub use grammar::{Grammar, GrammarKind, ToolChoice, Unconstrained};
pub use limits::{Limits, RECURSION};
pub use message::parse;
pub use parser::{Parser, Plain};
pub use past::{PastMessage, PastResult, PastToolCall};
pub use schema::{Descriptions, Field};
pub use syntax::json::{Duplicates, LoadOptions, Member, Value, loads, parse as parse_json};
pub use tools::{Definition, Fallback, Syntax, Tool};
pub use toolset::{CodeMode, InvalidTools, Options, ReasoningTags, Toolset, UnknownTools};

// For the tests of the reader that arguments in YAML share. No part of the API: hosts have readers of their own.
#[doc(hidden)]
pub use syntax::yaml::{format as format_yaml, parse as parse_yaml};

/// The example of the README, tried.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
