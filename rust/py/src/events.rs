//! Events: small frozen classes that can be matched.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use wirecall_core as core;

use crate::convert;
use crate::text::{LazyText, Slot};

/// Text outside calls.
#[pyclass(frozen, eq, module = "wirecall")]
#[derive(Debug)]
pub struct Text {
    pub text: Slot<LazyText>,
}

/// Reasoning, without its tags, if it is separate from the text (the option `reasoning`).
///
/// In a stream, the next part; in a message, all of it up to its end or to framing.
#[pyclass(frozen, eq, hash, get_all, new = "from_fields", module = "wirecall")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Reasoning {
    /// The text; not empty.
    pub text: String,
    /// Offset of its first character in the message.
    pub start: usize,
    /// Offset after its last character.
    pub end: usize,
}

/// A call has begun, and its tool is known. Exactly one `CallEnd` or `CallError` with this id follows.
#[pyclass(frozen, eq, get_all, new = "from_fields", module = "wirecall")]
#[derive(Debug)]
pub struct CallStart {
    /// The number of this call among the started calls of the message, from 0.
    pub index: usize,
    /// `call_` and 24 random letters and digits, or the return value of `ids`.
    pub id: Py<PyString>,
    /// The tool's name, as declared.
    pub name: Py<PyString>,
}

// The parser may overwrite the slots of `Text` and `ArgumentsDelta` while it has the only reference (see `recycle`).

/// The next part of a call's arguments. The joined deltas of a call are the `arguments` of its end.
#[pyclass(frozen, eq, module = "wirecall")]
#[derive(Debug)]
pub struct ArgumentsDelta {
    // The call's index, and the text.
    pub part: Slot<(usize, Py<PyString>)>,
}

/// A complete call. It is delivered even if its arguments do not match the tool's schema; see `problems`.
///
/// Sections are those of docs/wire-format.md.
#[pyclass(frozen, eq, module = "wirecall")]
#[derive(Debug)]
pub struct CallEnd {
    /// The number of this call among the started calls of the message, from 0.
    #[pyo3(get)]
    pub index: usize,
    pub id: LazyText,
    /// The tool's name, as declared.
    #[pyo3(get)]
    pub name: Py<PyString>,
    pub arguments: LazyText,
    /// Offset of OPEN, in characters of the message from 0.
    #[pyo3(get)]
    pub start: usize,
    /// Offset after CLOSE, in characters of the message.
    #[pyo3(get)]
    pub end: usize,
    pub repairs: Vec<Cow<'static, str>>,
    pub problems: Vec<Problem>,
}

/// A call that was rejected, or a forged result (section 6 of docs/wire-format.md).
///
/// `Toolset.encode_result` writes it as an answer to the model.
#[pyclass(frozen, eq, hash, module = "wirecall")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CallError {
    /// The index of the call's start; None if none was reported.
    #[pyo3(get)]
    pub index: Option<usize>,
    /// The id of the call's start; None if none was reported.
    #[pyo3(get)]
    pub id: Option<String>,
    /// The tool's name; None if it is unknown.
    #[pyo3(get)]
    pub name: Option<String>,
    /// A kind in section 6; in strict mode also the name of a repair.
    #[pyo3(get)]
    pub kind: String,
    /// The text for the model: the sentence, followed by the example.
    #[pyo3(get)]
    pub message: String,
    /// The source from `start` to `end`, shortened only if it exceeds the limit of a call.
    #[pyo3(get)]
    pub raw: String,
    /// Offset of OPEN or of the forged tag, in characters of the message.
    #[pyo3(get)]
    pub start: usize,
    /// Offset after the text of the error, in characters of the message.
    #[pyo3(get)]
    pub end: usize,
    /// What is wrong.
    #[pyo3(get)]
    pub sentence: String,
    /// A correct call as `encode` writes it: of this tool, or of the most similar one if it is unknown.
    ///
    /// None if no example would help, or if none can be made.
    #[pyo3(get)]
    pub example: Option<String>,
    /// The arguments as compact JSON text, if the call was parsed completely, up to its closing tag.
    ///
    /// Only for `invalid_arguments`, and for `coerced` and `key_style` in strict mode.
    #[pyo3(get)]
    pub arguments: Option<String>,
    pub problems: Vec<Problem>,
}

/// One violation of the schema in a call's arguments (section 4 of docs/wire-format.md).
#[pyclass(frozen, eq, hash, get_all, new = "from_fields", module = "wirecall", from_py_object)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    /// `wrong_type`, `not_in_enum`, `missing_required`, `unknown_field` or `schema`.
    pub kind: String,
    /// The field, written as a key: `profile.address.city`, `items[0].sku`; empty for the whole object.
    pub field: String,
    /// A sentence for the model.
    pub message: String,
}

/// Compares Python strings by content. Comparing two `str` cannot fail.
fn same(a: &Py<PyString>, b: &Py<PyString>) -> bool {
    Python::attach(|py| a.is(b) || a.bind(py).as_any().eq(b.bind(py)).unwrap_or(false))
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        Python::attach(|py| same(self.text.get().get(py), other.text.get().get(py)))
    }
}

impl PartialEq for CallStart {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && same(&self.id, &other.id) && same(&self.name, &other.name)
    }
}

impl PartialEq for ArgumentsDelta {
    fn eq(&self, other: &Self) -> bool {
        let ((index, delta), (other_index, other_delta)) = (self.part.get(), other.part.get());
        index == other_index && same(delta, other_delta)
    }
}

impl PartialEq for CallEnd {
    fn eq(&self, other: &Self) -> bool {
        (self.index, self.start, self.end) == (other.index, other.start, other.end)
            && same(&self.name, &other.name)
            && Python::attach(|py| {
                same(self.id.get(py), other.id.get(py)) && same(self.arguments.get(py), other.arguments.get(py))
            })
            && self.repairs == other.repairs
            && self.problems == other.problems
    }
}

/// What `__match_args__` names, with its values.
fn attributes<'py>(value: &Bound<'py, PyAny>) -> PyResult<Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>> {
    let names = value.get_type().getattr("__match_args__")?.cast_into::<PyTuple>()?;
    let named = |name: Bound<'py, PyAny>| {
        let name = name.cast_into::<PyString>()?;
        let attribute = value.getattr(&name)?;
        Ok((name, attribute))
    };
    names.iter().map(named).collect()
}

/// `Name(a=…, b=…)`, with the attributes in the order of `__match_args__`.
pub(crate) fn repr(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let part = |(name, value): (Bound<'_, PyString>, Bound<'_, PyAny>)| Ok(format!("{name}={}", value.repr()?));
    let parts = attributes(value)?.into_iter().map(part).collect::<PyResult<Vec<_>>>()?;
    Ok(format!("{}({})", value.get_type().name()?, parts.join(", ")))
}

/// For pickle and copy: the class, and the attributes of `__match_args__`.
pub(crate) fn reduce<'py>(value: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
    let values = attributes(value)?.into_iter().map(|(_, value)| value);
    Ok((value.get_type(), PyTuple::new(value.py(), values.collect::<Vec<_>>())?))
}

/// As a dict of JSON values: the `type`, if there is one, and the attributes of `__match_args__`.
pub(crate) fn to_dict<'py>(value: &Bound<'py, PyAny>, kind: &[&str]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(value.py());
    for kind in kind {
        dict.set_item("type", kind)?;
    }
    for (name, attribute) in attributes(value)? {
        dict.set_item(name, json(&attribute)?)?;
    }
    Ok(dict)
}

/// An attribute as a JSON value.
pub(crate) fn json<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
        let items = value.try_iter()?.map(|item| json(&item?)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyList::new(value.py(), items)?.into_any());
    }
    match value.getattr_opt("to_dict")? {
        Some(to_dict) => to_dict.call0(),
        None => Ok(value.clone()),
    }
}

/// The methods of a class of values: those that all have, and its own. `matched` are its `__match_args__`; `named` is the `type`, which
/// only events have.
macro_rules! value_class {
    (@str $name:literal) => { &'static str };
    ($class:ident: matched($($name:literal),+), named($($kind:literal)?); $($method:tt)*) => {
        #[pymethods]
        impl $class {
            #[classattr]
            const __match_args__: ($(value_class!(@str $name),)+) = ($($name,)+);
            $(
                #[classattr]
                const r#type: &'static str = $kind;
            )?

            /// As a dict for `json.dumps`; docs/api.md lists its keys.
            fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
                $crate::events::to_dict(slf, &[$($kind)?])
            }

            fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
                $crate::events::repr(slf)
            }

            fn __reduce__<'py>(
                slf: &Bound<'py, Self>,
            ) -> PyResult<(Bound<'py, pyo3::types::PyType>, Bound<'py, pyo3::types::PyTuple>)> {
                $crate::events::reduce(slf)
            }

            $($method)*
        }
    };
}
pub(crate) use value_class;

value_class! {
    Text: matched("text"), named("text");

    #[new]
    fn new(text: Py<PyString>) -> Self {
        Text { text: Slot::new(LazyText::Made(text)) }
    }

    /// The text; not empty. If a chunk contains only text, this is the same str object.
    #[getter]
    fn text(&self, py: Python<'_>) -> &Py<PyString> {
        self.text.get().get(py)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        ("text", self.text.get().get(py)).into_pyobject(py)?.hash()
    }
}

value_class! {
    Reasoning: matched("text", "start", "end"), named("reasoning");
}

value_class! {
    CallStart: matched("index", "id", "name"), named("call_start");

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (self.index, &self.id, &self.name).into_pyobject(py)?.hash()
    }
}

value_class! {
    ArgumentsDelta: matched("index", "delta"), named("arguments_delta");

    #[new]
    fn new(index: usize, delta: Py<PyString>) -> Self {
        ArgumentsDelta { part: Slot::new((index, delta)) }
    }

    /// The index of the call's start.
    #[getter]
    fn index(&self) -> usize {
        self.part.get().0
    }

    /// A part of the JSON text; not empty.
    #[getter]
    fn delta(&self) -> &Py<PyString> {
        &self.part.get().1
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        let (index, delta) = self.part.get();
        (index, delta).into_pyobject(py)?.hash()
    }
}

value_class! {
    CallEnd: matched("index", "id", "name", "arguments", "start", "end", "repairs", "problems"), named("call_end");

    #[new]
    #[pyo3(signature = (index, id, name, arguments, start, end, repairs=Vec::new(), problems=Vec::new()))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        index: usize,
        id: Py<PyString>,
        name: Py<PyString>,
        arguments: Py<PyString>,
        start: usize,
        end: usize,
        repairs: Vec<String>,
        problems: Vec<Problem>,
    ) -> Self {
        let repairs = repairs.into_iter().map(Cow::Owned).collect();
        let arguments = LazyText::Made(arguments);
        CallEnd { index, id: LazyText::Made(id), name, arguments, start, end, repairs, problems }
    }

    /// The id of the call's start.
    #[getter]
    fn id(&self, py: Python<'_>) -> &Py<PyString> {
        self.id.get(py)
    }

    /// Compact JSON text of an object, equal to the joined deltas; numbers keep their digits.
    #[getter]
    fn arguments(&self, py: Python<'_>) -> &Py<PyString> {
        self.arguments.get(py)
    }

    /// The repairs that were made: names in section 5, or in docs/protocols.md for repairs of other
    /// protocols.
    ///
    /// Each name occurs once, in the order of first use.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.repairs.iter().map(|repair| PyString::intern(py, repair)))
    }

    /// The violations of the tool's schema (section 4).
    #[getter]
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.problems.iter().cloned())
    }

    /// The decoded arguments, a new dict on each access.
    ///
    /// Integers that `int()` cannot parse (more than 4,300 digits by default) become `decimal.Decimal`.
    ///
    /// Raises:
    ///     ValueError: A number is outside the range of a float (the error names its field), or the arguments
    ///         are not a JSON object.
    #[getter]
    fn args<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        convert::decoded(self.name.bind(py), self.arguments.get(py).bind(py))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (self.index, self.id.get(py), &self.name, self.arguments.get(py), self.start, self.end).into_pyobject(py)?.hash()
    }
}

value_class! {
    CallError: matched("index", "id", "name", "kind", "message", "raw", "start", "end", "sentence", "example", "arguments", "problems"), named("call_error");

    #[new]
    #[pyo3(signature = (index, id, name, kind, message, raw, start, end, sentence=None, example=None, arguments=None, problems=Vec::new()))]
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
        sentence: Option<String>,
        example: Option<String>,
        arguments: Option<String>,
        problems: Vec<Problem>,
    ) -> Self {
        let sentence = sentence.unwrap_or_else(|| message.clone());
        CallError { index, id, name, kind, message, raw, start, end, sentence, example, arguments, problems }
    }

    /// For `invalid_arguments`, the violations of the tool's schema.
    #[getter]
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.problems.iter().cloned())
    }
}

value_class! {
    Problem: matched("kind", "field", "message"), named();
}

impl From<&core::Problem> for Problem {
    fn from(problem: &core::Problem) -> Self {
        let core::Problem { kind, field, message, .. } = problem;
        Problem { kind: kind.as_str().to_owned(), field: field.clone(), message: message.clone() }
    }
}

impl CallEnd {
    /// With an id, a name and arguments of the caller's.
    pub fn from_core(call: &core::CallEnd, id: LazyText, name: Py<PyString>, arguments: LazyText) -> Self {
        CallEnd {
            index: call.index,
            id,
            name,
            arguments,
            start: call.start,
            end: call.end,
            repairs: call.repairs.iter().map(|repair| Cow::Borrowed(repair.as_str())).collect(),
            problems: call.problems.iter().map(Problem::from).collect(),
        }
    }
}

impl CallError {
    /// Kept apart from the other events, which are more frequent and smaller.
    #[cold]
    pub fn bound(py: Python<'_>, error: core::CallError, id: Option<String>) -> PyResult<Bound<'_, PyAny>> {
        Ok(Bound::new(py, CallError::from_core(error, id))?.into_any())
    }

    pub fn from_core(error: core::CallError, id: Option<String>) -> Self {
        let message = error.message();
        let core::CallError { index, name, kind, raw, start, end, sentence, example, arguments, problems, .. } = error;
        let (kind, problems) = (kind.as_str().to_owned(), problems.iter().map(Problem::from).collect());
        CallError { index, id, name, kind, message, raw, start, end, sentence, example, arguments, problems }
    }
}
