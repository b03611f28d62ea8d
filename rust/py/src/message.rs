//! A whole message.

use std::sync::Mutex;

use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};
use pyo3::types::PyTuple;
use wirecall_core as core;

use crate::events::{CallEnd, CallError, Id, Text};
use crate::ids::Ids;

/// A whole message, in order; made by `Toolset.parse`.
///
/// Its events are made when they are first asked for.
#[pyclass(frozen, module = "wirecall")]
pub struct Message {
    parts: Mutex<Parts>,
    ids: Ids,
    items: PyOnceLock<Py<PyTuple>>,
}

/// What the items are made of.
enum Parts {
    Read(Vec<core::Item>),
    Made(Vec<Py<PyAny>>),
}

impl Message {
    pub fn new(items: Vec<core::Item>, ids: Ids) -> Self {
        Message { parts: Mutex::new(Parts::Read(items)), ids, items: PyOnceLock::new() }
    }

    /// Makes the items now.
    pub fn make(&self, py: Python<'_>) -> PyResult<()> {
        self.items(py).map(|_| ())
    }

    /// The events. Making them may set off the garbage collector, and that any code, which may ask for them, too: so no lock
    /// is held meanwhile, they are made from a copy, and the first to be ready win.
    fn parts(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let lock = || self.parts.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner());
        let copies = |made: &[Py<PyAny>]| made.iter().map(|part| part.clone_ref(py)).collect();
        let read = match &*lock() {
            Parts::Read(read) => read.clone(),
            Parts::Made(made) => return Ok(copies(made)),
        };
        let mut made = Vec::with_capacity(read.len());
        for item in read {
            made.push(match item {
                core::Item::Text(text) => Py::new(py, Text { text: text.into() })?.into_any(),
                core::Item::Call(end) => Py::new(py, CallEnd::from_core(end, Id::Later(self.ids)))?.into_any(),
                core::Item::Error(error) => {
                    let id = error.index.map(|index| self.ids.id(index));
                    Py::new(py, CallError::from_core(error, id))?.into_any()
                }
            });
        }
        let mut parts = lock();
        if let Parts::Made(first) = &*parts {
            return Ok(copies(first));
        }
        let result = copies(&made);
        *parts = Parts::Made(made);
        Ok(result)
    }

    fn of_type<'py, T: PyTypeInfo>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let items = self.items(py)?.bind(py).iter().filter(|item| item.is_instance_of::<T>());
        PyTuple::new(py, items.collect::<Vec<_>>())
    }
}

#[pymethods]
impl Message {
    /// Texts, calls and errors, in the order of the message. No two texts follow each other.
    #[getter]
    fn items(&self, py: Python<'_>) -> PyResult<&Py<PyTuple>> {
        if let Some(items) = self.items.get(py) {
            return Ok(items);
        }
        let made = self.parts(py)?;
        // A tuple may set off the garbage collector, and that any code, which may ask for the items, too: so no lock is
        // held here, and the first tuple wins.
        let items = PyTuple::new(py, made)?.unbind();
        Ok(self.items.get_or_init(py, || items))
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
