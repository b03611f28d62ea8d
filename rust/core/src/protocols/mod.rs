//! Protocols: how calls are written in text and read from it. Each protocol has a folder, or a row in [`families`], and a line in
//! [`registry`].

pub mod bodies;
pub mod body;
pub mod custom;
pub mod families;
pub mod frames;
pub mod named_tags;
pub mod protocol;
pub mod registry;
pub mod wire;
pub mod xml;
pub mod yaml;

pub use custom::{Custom, Host, Reading};
pub use protocol::{Attempt, BadCall, CallResult, Examples, Prompt, Protocol, Settings};
pub use registry::names;
pub use xml::Xml;
