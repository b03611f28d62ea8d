//! How a tool's calls are written, as Python sees it.

use pyo3::prelude::*;

use crate::events::value_class;

/// How the calls of one tool are written (section 8 of docs/wire-format.md); made by `Toolset.plan`.
#[pyclass(frozen, eq, get_all, new = "from_fields", module = "wirecall")]
#[derive(Debug, PartialEq)]
pub struct Plan {
    /// The tool's name.
    pub name: String,
    /// "pairs" or "json".
    pub encoding: String,
    /// The keys of its calls.
    pub fields: Vec<Field>,
    /// Why calls are written as JSON although that was not requested.
    pub reason: Option<String>,
}

/// One key of a tool's calls, as the encoder writes it.
#[pyclass(frozen, eq, get_all, new = "from_fields", module = "wirecall", from_py_object)]
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The key, with its dots and quotes.
    pub key: String,
    /// The type as in the manual.
    pub r#type: String,
    /// Whether every call must contain the key.
    pub required: bool,
}

value_class! {
    Plan: matched("name", "encoding", "fields", "reason"), named();
}

value_class! {
    Field: matched("key", "type", "required"), named();
}
