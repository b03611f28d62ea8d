//! Protocols: how calls are written in text, and read from it. What all share is here; each has a folder, or a row in
//! [`families`]; [`registry`] knows their names.

pub mod bodies;
pub mod body;
pub mod custom;
mod examples;
pub mod families;
pub mod frames;
pub mod protocol;
pub mod registry;
mod results;
pub mod wire;
pub mod xml;
pub mod yaml;

pub use custom::{Custom, Host, Reading};
pub use examples::Examples;
pub use protocol::{Attempt, Bad, Protocol};
pub use registry::{Reads, named, names};
pub use results::{write_error, write_result};
pub use xml::Xml;
