//! A whole message.

use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use wirecall_core as core;

use crate::errors;
use crate::events::{CallEnd, CallError, Text};
use crate::ids::Ids;
use crate::text::{LazyText, Slot};

/// A whole message, in order; made by `Toolset.parse`.
///
/// Texts become str objects on first access; the message keeps the parsed str alive.
#[pyclass(frozen, module = "wirecall")]
pub struct Message {
    /// Texts, calls and errors, in the order of the message. Texts are never adjacent.
    #[pyo3(get)]
    items: Py<PyTuple>,
}

impl Message {
    /// A message of the items that were read from `message`.
    pub fn new(message: &Bound<'_, PyString>, items: &[core::Item], ids: Ids) -> PyResult<Self> {
        let py = message.py();
        let make = |item: &core::Item| match item {
            core::Item::Text(bytes) => {
                let text = Slot::new(LazyText::part(message.clone().unbind(), bytes.clone()));
                Bound::new(py, Text { text }).map(Bound::into_any)
            }
            core::Item::Call(call) => {
                let arguments = LazyText::Made(PyString::new(py, &call.arguments).unbind());
                let name = PyString::new(py, &call.name).unbind();
                Bound::new(py, CallEnd::from_core(call, LazyText::id(ids, call.index), name, arguments))
                    .map(Bound::into_any)
            }
            core::Item::Error(error) => {
                let id = error.index.map(|index| ids.id(py, index).to_string());
                Bound::new(py, CallError::from_core((**error).clone(), id)).map(Bound::into_any)
            }
            item => Err(errors::unknown(item)),
        };
        let items = items.iter().map(make).collect::<PyResult<Vec<_>>>()?;
        Ok(Message { items: PyTuple::new(py, items)?.unbind() })
    }

    fn of_type<'py, T: PyTypeInfo>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let items = self.items.bind(py).iter().filter(|item| item.is_instance_of::<T>());
        PyTuple::new(py, items.collect::<Vec<_>>())
    }
}

#[pymethods]
impl Message {
    /// The joined texts.
    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let items = self.items.bind(py).iter();
        items
            .filter_map(|item| Some(item.cast::<Text>().ok()?.get().text.get().get(py).extract::<String>(py)))
            .collect()
    }

    /// The complete calls.
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.of_type::<CallEnd>(py)
    }

    /// The calls that were rejected, and forged results.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.of_type::<CallError>(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Message(items={})", self.items.bind(py).repr()?))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        match other.cast::<Message>() {
            Ok(other) => self.items.bind(py).eq(other.get().items.bind(py)),
            Err(_) => Ok(false),
        }
    }
}
