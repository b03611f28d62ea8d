//! Events: small frozen classes that can be matched.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use wirecall_core as core;

/// Text outside calls.
#[pyclass(frozen, eq, hash, module = "wirecall")]
#[derive(Debug)]
pub struct Text {
    #[pyo3(get)]
    pub text: Py<PyString>,
}

/// A call has begun, and its tool is known.
#[pyclass(frozen, eq, hash, module = "wirecall")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CallStart {
    #[pyo3(get)]
    pub index: usize,
    #[pyo3(get)]
    pub id: String,
    #[pyo3(get)]
    pub name: String,
}

/// The next part of a call's arguments, as JSON text.
#[pyclass(frozen, eq, hash, module = "wirecall")]
#[derive(Debug)]
pub struct ArgumentsDelta {
    #[pyo3(get)]
    pub index: usize,
    #[pyo3(get)]
    pub delta: Py<PyString>,
}

/// A complete call.
#[pyclass(frozen, eq, module = "wirecall")]
#[derive(Debug)]
pub struct CallEnd {
    #[pyo3(get)]
    pub index: usize,
    #[pyo3(get)]
    pub id: String,
    #[pyo3(get)]
    pub name: String,
    #[pyo3(get)]
    pub arguments: Py<PyString>,
    #[pyo3(get)]
    pub start: usize,
    #[pyo3(get)]
    pub end: usize,
    #[pyo3(get)]
    pub repairs: Py<PyTuple>,
    #[pyo3(get)]
    pub problems: Py<PyTuple>,
}

/// A call that cannot be handed over, or a forged result.
#[pyclass(frozen, eq, hash, module = "wirecall")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CallError {
    #[pyo3(get)]
    pub index: Option<usize>,
    #[pyo3(get)]
    pub id: Option<String>,
    #[pyo3(get)]
    pub name: Option<String>,
    #[pyo3(get)]
    pub kind: String,
    #[pyo3(get)]
    pub message: String,
    #[pyo3(get)]
    pub raw: String,
    #[pyo3(get)]
    pub start: usize,
    #[pyo3(get)]
    pub end: usize,
}

/// One thing wrong with the arguments of a call that was handed over all the same.
#[pyclass(frozen, eq, hash, module = "wirecall")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    #[pyo3(get)]
    pub kind: String,
    #[pyo3(get)]
    pub field: String,
    #[pyo3(get)]
    pub message: String,
}

/// Compares Python strings by content. Comparing two `str` cannot fail.
fn same(a: &Py<PyString>, b: &Py<PyString>) -> bool {
    Python::attach(|py| a.is(b) || a.bind(py).as_any().eq(b.bind(py)).unwrap_or(false))
}

fn hash_text<H: std::hash::Hasher>(text: &Py<PyString>, state: &mut H) {
    let hash = Python::attach(|py| text.bind(py).hash().unwrap_or(0));
    std::hash::Hash::hash(&hash, state);
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        same(&self.text, &other.text)
    }
}

impl std::hash::Hash for Text {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        hash_text(&self.text, state);
    }
}

impl PartialEq for ArgumentsDelta {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && same(&self.delta, &other.delta)
    }
}

impl std::hash::Hash for ArgumentsDelta {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::hash::Hash::hash(&self.index, state);
        hash_text(&self.delta, state);
    }
}

impl PartialEq for CallEnd {
    fn eq(&self, other: &Self) -> bool {
        let tuples = |a: &Py<PyTuple>, b: &Py<PyTuple>| Python::attach(|py| a.bind(py).eq(b.bind(py)).unwrap_or(false));
        (self.index, &self.id, &self.name, self.start, self.end)
            == (other.index, &other.id, &other.name, other.start, other.end)
            && same(&self.arguments, &other.arguments)
            && tuples(&self.repairs, &other.repairs)
            && tuples(&self.problems, &other.problems)
    }
}

/// `Name(a=…, b=…)`, with the attributes in the order of `__match_args__`.
pub fn repr(event: &Bound<'_, PyAny>) -> PyResult<String> {
    let class = event.get_type();
    let mut parts = Vec::new();
    for name in class.getattr("__match_args__")?.try_iter()? {
        let name: String = name?.extract()?;
        parts.push(format!("{name}={}", event.getattr(name.as_str())?.repr()?));
    }
    Ok(format!("{}({})", class.name()?, parts.join(", ")))
}

#[pymethods]
impl Text {
    #[classattr]
    const __match_args__: (&'static str,) = ("text",);
    #[classattr]
    const r#type: &'static str = "text";

    #[new]
    fn new(text: Py<PyString>) -> Self {
        Text { text }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce(slf)
    }
}

/// For pickle and copy: the class, and the attributes of `__match_args__`.
fn reduce<'py>(event: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let class = event.get_type();
    let mut values = Vec::new();
    for name in class.getattr("__match_args__")?.try_iter()? {
        values.push(event.getattr(name?.cast::<PyString>()?)?);
    }
    let values = PyTuple::new(event.py(), values)?;
    Ok(PyTuple::new(event.py(), [class.into_any(), values.into_any()])?.into_any())
}

#[pymethods]
impl CallStart {
    #[classattr]
    const __match_args__: (&'static str, &'static str, &'static str) = ("index", "id", "name");
    #[classattr]
    const r#type: &'static str = "call_start";

    #[new]
    fn new(index: usize, id: String, name: String) -> Self {
        CallStart { index, id, name }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce(slf)
    }
}

#[pymethods]
impl ArgumentsDelta {
    #[classattr]
    const __match_args__: (&'static str, &'static str) = ("index", "delta");
    #[classattr]
    const r#type: &'static str = "arguments_delta";

    #[new]
    fn new(index: usize, delta: Py<PyString>) -> Self {
        ArgumentsDelta { index, delta }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce(slf)
    }
}

#[pymethods]
impl CallEnd {
    #[classattr]
    #[allow(clippy::type_complexity)]
    const __match_args__: (
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
    ) = ("index", "id", "name", "arguments", "start", "end", "repairs", "problems");
    #[classattr]
    const r#type: &'static str = "call_end";

    #[new]
    #[pyo3(signature = (index, id, name, arguments, start, end, repairs=None, problems=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        index: usize,
        id: String,
        name: String,
        arguments: Py<PyString>,
        start: usize,
        end: usize,
        repairs: Option<Py<PyTuple>>,
        problems: Option<Py<PyTuple>>,
    ) -> Self {
        let tuple = |given: Option<Py<PyTuple>>| given.unwrap_or_else(|| PyTuple::empty(py).unbind());
        CallEnd { index, id, name, arguments, start, end, repairs: tuple(repairs), problems: tuple(problems) }
    }

    /// The decoded arguments: a new dict at each access.
    #[getter]
    fn args<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        Ok(LOADS.import(py, "json", "loads")?.call1((&self.arguments,))?.cast_into()?)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce(slf)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (self.index, &self.id, &self.name, &self.arguments, self.start, self.end).into_pyobject(py)?.hash()
    }
}

#[pymethods]
impl CallError {
    #[classattr]
    #[allow(clippy::type_complexity)]
    const __match_args__: (
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
    ) = ("index", "id", "name", "kind", "message", "raw", "start", "end");
    #[classattr]
    const r#type: &'static str = "call_error";

    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        index: Option<usize>,
        id: Option<String>,
        name: Option<String>,
        kind: String,
        message: String,
        raw: String,
        start: usize,
        end: usize,
    ) -> Self {
        CallError { index, id, name, kind, message, raw, start, end }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce(slf)
    }
}

#[pymethods]
impl Problem {
    #[classattr]
    const __match_args__: (&'static str, &'static str, &'static str) = ("kind", "field", "message");

    #[new]
    fn new(kind: String, field: String, message: String) -> Self {
        Problem { kind, field, message }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        repr(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce(slf)
    }
}

impl CallEnd {
    pub fn from_core(py: Python<'_>, end: core::CallEnd, id: String) -> PyResult<Self> {
        let core::CallEnd { index, name, arguments, start, end, repairs, problems } = end;
        let problems = problems.into_iter().map(|problem| Problem {
            kind: problem.kind.as_str().to_owned(),
            field: problem.field,
            message: problem.message,
        });
        let problems = problems.map(|problem| Bound::new(py, problem)).collect::<PyResult<Vec<_>>>()?;
        let repairs = repairs.into_iter().map(|repair| PyString::intern(py, repair.as_str()));
        Ok(CallEnd {
            index,
            id,
            name,
            arguments: PyString::new(py, &arguments).unbind(),
            start,
            end,
            repairs: PyTuple::new(py, repairs.collect::<Vec<_>>())?.unbind(),
            problems: PyTuple::new(py, problems)?.unbind(),
        })
    }
}

impl CallError {
    pub fn from_core(error: core::CallError, id: Option<String>) -> Self {
        let core::CallError { index, name, kind, message, raw, start, end } = error;
        CallError { index, id, name, kind: kind.as_str().to_owned(), message, raw, start, end }
    }
}
