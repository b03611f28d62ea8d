//! A whole message.

use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use wirecall_core as core;

use crate::errors;
use crate::events::{self, CallEnd, CallError, Reasoning, Text};
use crate::ids::Ids;
use crate::text::{LazyText, Slot};

/// A whole message, in order; made by `Toolset.parse`.
///
/// The items and `framing` cover the message: nothing is in two of them, and nothing is left out. Texts
/// become str objects on first access; the message keeps the parsed str alive.
#[pyclass(frozen, module = "wirecall")]
pub struct Message {
    /// Texts, reasoning, calls and errors, in the order of the message.
    ///
    /// Between two adjacent texts, or two adjacent pieces of reasoning, is framing.
    #[pyo3(get)]
    items: Py<PyTuple>,
    /// What is in no item: markers of a native format and of separate reasoning, whitespace around them,
    /// and stop tokens.
    ///
    /// The start and end of each span, in characters of the message, in order. Empty in protocols that are
    /// only prompted, unless reasoning is separate.
    #[pyo3(get)]
    framing: Vec<(usize, usize)>,
}

impl Message {
    /// A message of the items that were read from `message`.
    pub fn new(message: &Bound<'_, PyString>, items: &[core::Item], ids: Ids) -> PyResult<Self> {
        let py = message.py();
        let mut framing = Vec::new();
        let (mut chars, mut counted) = (0, 0);
        let mut span = |bytes: &std::ops::Range<usize>| -> PyResult<(usize, usize)> {
            let whole = message.to_str()?;
            let part = |from: usize, to: usize| whole.get(from..to).map_or(0, |part| part.chars().count());
            let start = chars + part(counted, bytes.start);
            let end = start + part(bytes.start, bytes.end);
            (chars, counted) = (end, bytes.end);
            Ok((start, end))
        };
        let mut make = |item: &core::Item| match item {
            core::Item::Framing(bytes) => span(bytes).map(|span| {
                framing.push(span);
                None
            }),
            core::Item::Reasoning(bytes) => {
                let (start, end) = span(bytes)?;
                let text = message.to_str()?.get(bytes.clone()).unwrap_or_default().to_owned();
                Bound::new(py, Reasoning { text, start, end }).map(Bound::into_any).map(Some)
            }
            core::Item::Text(bytes) => {
                let text = Slot::new(LazyText::part(message.clone().unbind(), bytes.clone()));
                Bound::new(py, Text { text }).map(Bound::into_any).map(Some)
            }
            core::Item::Call(call) => {
                let arguments = LazyText::Made(PyString::new(py, &call.arguments).unbind());
                let name = PyString::new(py, &call.name).unbind();
                Bound::new(py, CallEnd::from_core(call, LazyText::id(ids, call.index), name, arguments))
                    .map(Bound::into_any)
                    .map(Some)
            }
            core::Item::Error(error) => {
                let id = error.index.map(|index| ids.id(py, index).to_string());
                Bound::new(py, CallError::from_core((**error).clone(), id)).map(Bound::into_any).map(Some)
            }
            item => Err(errors::unknown(item)),
        };
        let items = items.iter().filter_map(|item| make(item).transpose()).collect::<PyResult<Vec<_>>>()?;
        Ok(Message { items: PyTuple::new(py, items)?.unbind(), framing })
    }

    fn of_type<'py, T: PyTypeInfo>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let items = self.items.bind(py).iter().filter(|item| item.is_instance_of::<T>());
        PyTuple::new(py, items.collect::<Vec<_>>())
    }
}

#[pymethods]
impl Message {
    #[new]
    #[pyo3(signature = (items, framing=Vec::new()))]
    fn made(py: Python<'_>, items: &Bound<'_, PyAny>, framing: Vec<(usize, usize)>) -> PyResult<Self> {
        let items = items.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        for item in &items {
            let known = item.is_instance_of::<Text>() || item.is_instance_of::<Reasoning>();
            if !known && !item.is_instance_of::<CallEnd>() && !item.is_instance_of::<CallError>() {
                return Err(errors::wrong_type("an item must be a Text, Reasoning, CallEnd or CallError", item));
            }
        }
        Ok(Message { items: PyTuple::new(py, items)?.unbind(), framing })
    }

    /// As a dict for `json.dumps`; docs/api.md lists its keys.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let (py, this) = (slf.py(), slf.get());
        let dict = PyDict::new(py);
        dict.set_item("items", events::json(this.items.bind(py))?)?;
        let spans = this.framing.iter().map(|(start, end)| [*start, *end]);
        dict.set_item("framing", spans.collect::<Vec<_>>())?;
        Ok(dict)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let this = slf.get();
        Ok((slf.get_type(), (&this.items, &this.framing).into_pyobject(slf.py())?))
    }

    /// The joined texts.
    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let items = self.items.bind(py).iter();
        items
            .filter_map(|item| Some(item.cast::<Text>().ok()?.get().text.get().get(py).extract::<String>(py)))
            .collect()
    }

    /// The joined reasoning; empty if there is none, or if it is text (the option `reasoning`).
    #[getter]
    fn reasoning(&self, py: Python<'_>) -> String {
        let items = self.items.bind(py).iter();
        items.filter_map(|item| Some(item.cast::<Reasoning>().ok()?.get().text.clone())).collect()
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
