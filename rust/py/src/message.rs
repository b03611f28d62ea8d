//! A whole message.

use std::sync::Mutex;

use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use wirecall_core as core;

use crate::events::{CallEnd, CallError, Id, Text};
use crate::ids::Ids;

/// A whole message: its texts, calls and errors in order.
#[pyclass(frozen, module = "wirecall")]
pub struct Message {
    /// What `items` is made of, until somebody asks for it.
    read: Mutex<Vec<core::Item>>,
    ids: Ids,
    items: PyOnceLock<Py<PyTuple>>,
}

impl Message {
    pub fn new(items: Vec<core::Item>, ids: Ids) -> Self {
        Message { read: Mutex::new(items), ids, items: PyOnceLock::new() }
    }

    /// Makes the items now.
    pub fn make(&self, py: Python<'_>) -> PyResult<()> {
        self.items(py).map(|_| ())
    }

    fn of_type<'py, T: PyTypeInfo>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let items = self.items(py)?.bind(py).iter().filter(|item| item.is_instance_of::<T>());
        PyTuple::new(py, items.collect::<Vec<_>>())
    }
}

#[pymethods]
impl Message {
    /// Texts, calls and errors, in the order of the message.
    #[getter]
    fn items(&self, py: Python<'_>) -> PyResult<&Py<PyTuple>> {
        self.items.get_or_try_init(py, || {
            let read = self.read.lock().map(|mut read| std::mem::take(&mut *read)).unwrap_or_default();
            let ids = self.ids;
            let mut items = Vec::with_capacity(read.len());
            for item in read {
                items.push(match item {
                    core::Item::Text(text) => Bound::new(py, Text { text: text.into() })?.into_any(),
                    core::Item::Call(end) => Bound::new(py, CallEnd::from_core(end, Id::Later(ids)))?.into_any(),
                    core::Item::Error(error) => {
                        let id = error.index.map(|index| ids.id(index));
                        Bound::new(py, CallError::from_core(error, id))?.into_any()
                    }
                });
            }
            Ok(PyTuple::new(py, items)?.unbind())
        })
    }

    /// The texts, joined.
    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let texts = self.of_type::<Text>(py)?;
        texts.iter().map(|item| item.getattr("text")?.extract::<String>()).collect()
    }

    /// The complete calls.
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.of_type::<CallEnd>(py)
    }

    /// The calls that cannot be handed over, and forged results.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.of_type::<CallError>(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Message(items={})", self.items(py)?.bind(py).repr()?))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        match other.cast::<Message>() {
            Ok(other) => self.items(py)?.bind(py).eq(other.get().items(py)?.bind(py)),
            Err(_) => Ok(false),
        }
    }
}
