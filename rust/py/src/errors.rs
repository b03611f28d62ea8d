//! Core errors as Python exceptions. The model's mistakes are events, not exceptions; these are the caller's.

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use wirecall_core::{EncodeError, SchemaError, SyntaxError, ToolError};

/// `wirecall.ToolError`, with the tool and the JSON pointer as attributes.
pub(crate) fn tool_error(py: Python<'_>, error: &ToolError) -> PyErr {
    let tool = error.tool.as_deref().filter(|name| !name.is_empty());
    definition_error(py, tool, error.pointer.as_deref(), &error.message)
}

/// The same, for a schema of no tool.
pub(crate) fn schema_error(py: Python<'_>, error: &SchemaError) -> PyErr {
    definition_error(py, None, Some(&error.pointer), &error.message)
}

/// A `ToolError` for a name that no tool has.
pub(crate) fn no_tool(py: Python<'_>, name: &str, names: &[&str]) -> PyErr {
    let message =
        || py.import("wirecall._tools.definitions")?.call_method1("no_tool", (name, names))?.extract::<String>();
    message().map_or_else(|error| error, |message| definition_error(py, None, None, &message))
}

fn definition_error(py: Python<'_>, tool: Option<&str>, pointer: Option<&str>, message: &str) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let raise = || -> PyResult<PyErr> {
        let class = CLASS.import(py, "wirecall.errors", "ToolError")?;
        let details = PyDict::new(py);
        details.set_item("tool", tool)?;
        details.set_item("pointer", pointer)?;
        Ok(PyErr::from_value(class.call((message,), Some(&details))?))
    };
    raise().unwrap_or_else(|other| other)
}

/// `wirecall.JsonError`, with the place as attributes.
pub(crate) fn json_error(py: Python<'_>, error: &SyntaxError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    syntax_error(py, &CLASS, "JsonError", error)
}

/// `wirecall.XmlError`, in the same way.
pub(crate) fn xml_error(py: Python<'_>, error: &SyntaxError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    syntax_error(py, &CLASS, "XmlError", error)
}

fn syntax_error(py: Python<'_>, class: &PyOnceLock<Py<PyType>>, name: &str, error: &SyntaxError) -> PyErr {
    let class = class.import(py, "wirecall.errors", name);
    let raised = class.and_then(|class| class.call1((&*error.message, error.line, error.column)));
    raised.map_or_else(|other| other, PyErr::from_value)
}

/// What a value must be, and what it is.
pub(crate) fn wrong_type(expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let kind = given.get_type().qualname();
    kind.map_or_else(|error| error, |kind| PyTypeError::new_err(format!("{expected}, not {kind}")))
}

pub(crate) fn encode_error(error: &EncodeError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// For what the core reports and the bindings do not know: nothing may be lost silently.
pub(crate) fn unknown(reported: &dyn std::fmt::Debug) -> PyErr {
    PyRuntimeError::new_err(format!("the core reported {reported:?}, which this module does not know"))
}

#[cold]
pub(crate) fn in_use() -> PyErr {
    PyRuntimeError::new_err(
        "this Parser is in use, by another thread or by its own ids callable; use one Parser for each message",
    )
}

#[cold]
pub(crate) fn finished() -> PyErr {
    PyRuntimeError::new_err("this Parser is finished; call reset() before the next message")
}

pub(crate) fn xml_in_use() -> PyErr {
    PyRuntimeError::new_err("this XmlParser is in use by another thread; use one for each document")
}

pub(crate) fn xml_finished() -> PyErr {
    PyRuntimeError::new_err("this XmlParser is finished; create a new one for the next document")
}
