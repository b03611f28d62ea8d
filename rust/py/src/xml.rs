//! XML as models write it: read whole or in parts, and written.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString, PyType};
use wirecall_core as core;

use crate::convert::{self, Surrogates};
use crate::errors;
use crate::exclusive::{Exclusive, Taken};

/// Parses one XML document in parts.
///
/// `wirecall.XmlParser` is the public class; it accepts schemas and documents the options.
#[pyclass(frozen, subclass, module = "wirecall._core")]
#[derive(Debug)]
pub struct XmlParser(Exclusive<State>);

#[derive(Debug)]
struct State {
    document: core::Document,
    surrogates: Surrogates,
    finished: bool,
}

fn schema(py: Python<'_>, text: Option<&str>) -> PyResult<core::XmlSchema> {
    core::XmlSchema::new(text).map_err(|error| errors::schema_error(py, &error))
}

impl XmlParser {
    fn take(&self, py: Python<'_>) -> PyResult<Taken<'_, State>> {
        self.0.take(py).ok_or_else(errors::xml_in_use)
    }
}

#[pymethods]
impl XmlParser {
    #[new]
    #[pyo3(signature = (schema, /, *, repair, max_bytes, max_depth))]
    fn new(
        py: Python<'_>,
        schema: Option<&str>,
        repair: bool,
        max_bytes: &Bound<'_, PyAny>,
        max_depth: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let mut limits = core::Limits::default();
        limits.call_bytes = convert::positive("max_bytes", max_bytes)?;
        limits.depth = convert::positive("max_depth", max_depth)?;
        let document = core::Document::new(&self::schema(py, schema)?, repair, limits);
        Ok(XmlParser(Exclusive::new(State { document, surrogates: Surrogates::default(), finished: false })))
    }

    /// Process the next part of the text, cut anywhere.
    ///
    /// Raises:
    ///     XmlError: The text cannot be parsed; raised at the latest when the defect is complete.
    ///     RuntimeError: The parser is finished, or in use by another thread.
    #[pyo3(signature = (text, /))]
    fn feed(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<()> {
        let mut state = self.take(py)?;
        let State { document, surrogates, finished } = &mut *state;
        if *finished {
            return Err(errors::xml_finished());
        }
        let read = match convert::well_formed(text)? {
            Some(text) if !surrogates.is_waiting() => document.feed(text),
            _ => document.feed(&surrogates.join(text, false)?),
        };
        read.map_err(|error| errors::xml_error(py, &error))
    }

    /// End the document.
    ///
    /// Returns:
    ///     The value, as `wirecall.parse_xml` returns it.
    ///
    /// Raises:
    ///     XmlError: The text cannot be parsed.
    ///     RuntimeError: The parser is finished, or in use by another thread.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut state = self.take(py)?;
        let State { document, surrogates, finished } = &mut *state;
        if std::mem::replace(finished, true) {
            return Err(errors::xml_finished());
        }
        let json = document.feed(surrogates.finish()).and_then(|()| document.finish());
        convert::loads(&PyString::new(py, &json.map_err(|error| errors::xml_error(py, &error))?))
    }

    /// The value so far, as if everything open were closed here.
    ///
    /// Each call processes the whole text so far.
    ///
    /// Returns:
    ///     None before the first element.
    ///
    /// Raises:
    ///     XmlError: The text cannot be parsed.
    ///     RuntimeError: The parser is finished, or in use by another thread.
    fn partial<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = self.take(py)?;
        if state.finished {
            return Err(errors::xml_finished());
        }
        match state.document.partial() {
            None => Ok(py.None().into_bound(py)),
            Some(Ok(json)) => convert::loads(&PyString::new(py, &json)),
            Some(Err(error)) => Err(errors::xml_error(py, &error)),
        }
    }

    /// The first 100 repairs and schema violations, in order.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let state = self.take(py)?;
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let class = CLASS.import(py, "wirecall.errors", "XmlWarning")?;
        let faults = state.document.faults().iter();
        PyList::new(
            py,
            faults
                .map(|fault| class.call1((fault.line, fault.column, &*fault.message)))
                .collect::<PyResult<Vec<_>>>()?,
        )
    }
}

/// Format a value as XML elements; `wirecall.format_xml` is the public function.
#[pyfunction]
#[pyo3(signature = (value, schema, root, /))]
pub(crate) fn format_xml(
    py: Python<'_>,
    value: &Bound<'_, PyAny>,
    schema: Option<&str>,
    root: Option<&Bound<'_, PyString>>,
) -> PyResult<String> {
    let value = convert::json(value, core::Limits::default().depth)?;
    let root = root.map(|root| convert::clean(root)).transpose()?;
    core::format_xml(&value, &self::schema(py, schema)?, root.as_deref()).map_err(|error| errors::encode_error(&error))
}
