//! Formats: how calls are written in text and read from it. A prompted protocol has a folder and a line in [`registry`]; a native format
//! has a row in [`rows`].

pub(crate) mod attempt;
pub(crate) mod bodies;
pub(crate) mod body;
pub(crate) mod call;
pub(crate) mod commitment;
pub(crate) mod custom;
pub(crate) mod description;
pub(crate) mod format;
pub(crate) mod frames;
pub(crate) mod layout;
pub(crate) mod marks;
pub(crate) mod named_tags;
pub(crate) mod parts;
pub(crate) mod protocol;
pub(crate) mod registry;
pub(crate) mod results;
pub(crate) mod rows;
pub(crate) mod settings;
pub(crate) mod spec;
pub(crate) mod teaching;
pub(crate) mod template;
pub(crate) mod unmarked;
pub(crate) mod wire;
pub(crate) mod written_form;
pub(crate) mod xml;
pub(crate) mod yaml;

pub(crate) use attempt::{Attempt, BadCall};
pub(crate) use call::PastCall;
pub use custom::{Custom, Host, Reading};
pub use format::Format;
pub(crate) use protocol::{CallResult, Protocol};
pub use registry::{NativeFormat, names, native_formats};
pub(crate) use settings::Settings;
pub use spec::{Models, TemplateMarks};
pub(crate) use teaching::{Examples, Prompt};
pub(crate) use written_form::WrittenForm;
pub(crate) use xml::Xml;
