//! Formats as Python sees them.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use wirecall_core as core;

use crate::{convert, errors};

/// How calls and messages are written and read. Immutable.
///
/// `wirecall.Format` is the public class; it documents the fields of a description.
#[pyclass(frozen, subclass, module = "wirecall._core")]
#[derive(Debug)]
pub struct Format {
    pub(crate) format: core::Format,
}

#[pymethods]
impl Format {
    #[new]
    #[pyo3(signature = (description, /))]
    fn new(py: Python<'_>, description: &Bound<'_, PyString>) -> PyResult<Self> {
        let description = convert::clean(description)?;
        let format = core::Format::new(&description).map_err(|error| errors::tool_error(py, &error))?;
        Ok(Format { format })
    }

    /// The description of a built-in format, as JSON.
    #[classmethod]
    #[pyo3(name = "_built_in", signature = (name, /))]
    fn built_in(class: &Bound<'_, PyType>, name: &Bound<'_, PyString>) -> PyResult<String> {
        let format = core::Format::built_in(&convert::clean(name)?);
        Ok(format.map_err(|error| errors::tool_error(class.py(), &error))?.to_json().to_owned())
    }

    /// The name, for errors and lists.
    #[getter]
    fn name(&self) -> &str {
        self.format.name()
    }

    /// The whole description, as JSON.
    #[getter]
    #[pyo3(name = "_json")]
    fn json(&self) -> &str {
        self.format.to_json()
    }

    /// The same as in `native_formats`; None if it is only for prompting.
    #[getter]
    #[pyo3(name = "_native")]
    fn native<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.format.native().map(|native| native_format(py, native)).transpose()
    }
}

pub(crate) fn native_format(py: Python<'_>, format: core::NativeFormat) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", format.name)?;
    dict.set_item("aliases", format.aliases)?;
    dict.set_item("call", format.call)?;
    dict.set_item("section", format.section)?;
    dict.set_item("reasoning", format.reasoning)?;
    dict.set_item("starts_in_reasoning", format.starts_in_reasoning)?;
    dict.set_item("reasoning_prompt", format.reasoning_prompt)?;
    dict.set_item("reasoning_ends", format.reasoning_ends)?;
    dict.set_item("special_tokens", format.special_tokens)?;
    dict.set_item("lists", format.lists)?;
    dict.set_item("whole_messages", format.whole_messages)?;
    dict.set_item("stops", format.stops)?;
    let models = format.models.iter().map(|models| (models.patterns, models.source, models.chat));
    dict.set_item("models", models.collect::<Vec<_>>())?;
    let marks = |all: &[core::TemplateMarks]| {
        all.iter().map(|one| (one.has.concat(), one.lacks, one.prompt, one.prompt_lacks)).collect::<Vec<_>>()
    };
    dict.set_item("chat_templates", marks(format.chat_templates))?;
    dict.set_item("response_templates", marks(format.response_templates))?;
    Ok(dict)
}
