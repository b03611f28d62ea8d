//! JSON texts as Python values.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyType};
use wirecall_core::{Duplicates, LoadOptions, SyntaxError, Value};

use crate::convert::clean;
use crate::errors;
use crate::toolset::one_of;

/// The least that Python's limit on the digits of integers can be set to.
const DIGITS: usize = 640;

/// Read a JSON text: the value is decoded, as `json.loads` would.
///
/// docs/json.md says what relaxed JSON is, what a tolerant reading does, and what is certain of a cut text.
///
/// Args:
///     text: The text. Lone surrogates, escaped ones too, are read as U+FFFD.
///     relaxed: Also take single quotes, bare keys and words, trailing commas, line breaks in strings,
///         `True` `False` `None`, `//` and `/* */`. Otherwise JSON is what RFC 8259 says: no NaN.
///     duplicates: What a key does that its object has already: "error" raises, "first" keeps the first
///         value, "last" the last.
///     warnings: A list makes reading tolerant: what is malformed is added to it, in the order of the text,
///         as a `JsonWarning` (1000 at most, and a last one that there are more), and the value is the best
///         that can be made of the text; None if there is none in it.
///     partial: The text may stop anywhere: the value is what is certain of it so far. A key without a value
///         and a word, number or escape that could go on are left out, what is open is closed; None if
///         nothing is certain yet.
///
/// Returns:
///     A dict, list, str, int, float, bool or None. Integers are exact.
///
/// Raises:
///     JsonError: The text is malformed, and `warnings` is None; a number is beyond the range of a float, or
///         has more digits than `sys.get_int_max_str_digits()` allows (in a tolerant reading it is its text).
///         In any case if the value is nested more than 512 levels deep.
///     ValueError: `duplicates` is not one of its choices.
///     TypeError: The text is not a str, or `warnings` is not a list.
#[pyfunction]
#[pyo3(signature = (text, *, relaxed=true, duplicates="error", warnings=None, partial=false))]
pub fn loads<'py>(
    text: &Bound<'py, PyString>,
    relaxed: bool,
    duplicates: &str,
    warnings: Option<&Bound<'py, PyList>>,
    partial: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    let choices = [("error", Duplicates::Error), ("first", Duplicates::First), ("last", Duplicates::Last)];
    let duplicates = one_of("duplicates", duplicates, &choices)?;
    let text = clean(text)?;
    let digits = if text.len() > DIGITS { digits(py)? } else { DIGITS };
    let mut faults = warnings.map(|_| Vec::new());
    let read = wirecall_core::loads(&text, &LoadOptions { relaxed, duplicates, partial, digits }, faults.as_mut());
    let value = python(py, &read.map_err(|fault| errors::json_error(py, &fault))?)?;
    if let Some((list, faults)) = warnings.zip(faults) {
        for fault in &faults {
            list.append(warning(py, fault)?)?;
        }
    }
    Ok(value)
}

fn digits(py: Python<'_>) -> PyResult<usize> {
    // The first releases of 3.10 have no limit.
    match py.import("sys")?.getattr_opt("get_int_max_str_digits")? {
        Some(limit) => Ok(match limit.call0()?.extract()? {
            0 => usize::MAX,
            digits => digits,
        }),
        None => Ok(usize::MAX),
    }
}

fn warning<'py>(py: Python<'py>, fault: &SyntaxError) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "wirecall.errors", "JsonWarning")?.call1((fault.line, fault.column, &*fault.message))
}

/// Recursion is bounded by the depth the value was made with.
fn python<'py>(py: Python<'py>, value: &Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(text) => number(py, text)?,
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(members) => {
            let dict = PyDict::new(py);
            for (key, value) in members {
                dict.set_item(PyString::new(py, key), python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

fn number<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(small) = text.parse::<i64>() {
        return Ok(small.into_pyobject(py)?.into_any());
    }
    if text.contains(['.', 'e', 'E']) {
        return Ok(PyFloat::new(py, text.parse()?).into_any());
    }
    py.get_type::<PyInt>().call1((text,))
}
