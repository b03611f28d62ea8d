//! JSON texts as Python values.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyType};
use wirecall_core::{Duplicates, LoadOptions, SyntaxError, Value};

use crate::convert::clean;
use crate::errors;
use crate::options::one_of;

/// The least that Python's limit on the digits of integers can be set to.
const DIGITS: usize = 640;

/// Parse JSON text into Python values, as `json.loads` does.
///
/// docs/json.md describes relaxed JSON, tolerant parsing, and what is certain in a truncated text.
///
/// Args:
///     text: The text. Lone surrogates, including escaped ones, become U+FFFD.
///     relaxed: Also accept single quotes, bare keys and words, trailing commas, line breaks in strings,
///         `True`, `False`, `None`, `//` and `/* */`. Otherwise only JSON as in RFC 8259, without NaN.
///     duplicates: How to treat a key that an object already has: "error" raises an exception, "first" keeps
///         the first value, "last" the last.
///     warnings: A list enables tolerant parsing. It receives a `JsonWarning` for each defect, in the order
///         of the text (at most 1000, and a last one if there are more). The result is the best possible
///         value, or None if there is no value in the text.
///     partial: The text may be truncated anywhere. The result is the value that is certain so far: keys
///         without values and incomplete words, numbers and escapes are left out, and everything open is
///         closed. None if nothing is certain yet.
///
/// Returns:
///     A dict, list, str, int, float, bool or None. Integers are exact.
///
/// Raises:
///     JsonError: The text is malformed, and `warnings` is None; a number is outside the range of a float, or
///         has more digits than `sys.get_int_max_str_digits()` allows (in tolerant parsing it becomes its
///         text). Always if the value is nested more than 512 levels deep.
///     ValueError: `duplicates` is not one of its choices.
///     TypeError: The text is not a str, or `warnings` is not a list.
#[pyfunction]
#[pyo3(signature = (text, *, relaxed=true, duplicates="error", warnings=None, partial=false))]
pub(crate) fn loads<'py>(
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
    let mut options = if relaxed { LoadOptions::RELAXED } else { LoadOptions::STRICT };
    (options.duplicates, options.partial, options.digits) = (duplicates, partial, digits);
    let read = wirecall_core::loads(&text, &options, faults.as_mut());
    let value = python(py, &read.map_err(|fault| errors::json_error(py, &fault))?)?;
    if let Some((list, faults)) = warnings.zip(faults) {
        for fault in &faults {
            list.append(warning(py, fault)?)?;
        }
    }
    Ok(value)
}

fn digits(py: Python<'_>) -> PyResult<usize> {
    Ok(match py.import("sys")?.call_method0("get_int_max_str_digits")?.extract()? {
        0 => usize::MAX,
        digits => digits,
    })
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
            let items = items.iter().map(|item| python(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
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
