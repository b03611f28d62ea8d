//! Python values to the core's, and Python text with lone surrogates to text without.

use std::borrow::Cow;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use smallvec::SmallVec;
use wirecall_core::{Member, Toolset, Value};

use crate::errors;
use crate::exclusive::Exclusive;

/// Memory for the text of a call that is kept for the next one.
const KEPT_BYTES: usize = 4096;

/// The canonical text of a call, written in `out` if nobody has it. Its arguments are a mapping, or JSON text of an object; as deep as the reader takes them back.
pub fn encode<'py>(
    tools: &Toolset,
    name: &str,
    arguments: &Bound<'py, PyAny>,
    out: &Exclusive<String>,
) -> PyResult<Bound<'py, PyString>> {
    let py = arguments.py();
    let (refused, depth) = (|error| errors::encode_error(&error), tools.limits().depth);
    if let Ok(json) = arguments.cast::<PyString>() {
        let value = wirecall_core::parse_json(text(json)?, depth)
            .map_err(|what| PyValueError::new_err(format!("the arguments are no JSON: {what}")))?;
        return tools.encode(name, &value).map(|text| PyString::new(py, &text)).map_err(refused);
    }
    match mapping(arguments)? {
        Some(dict) => {
            let depth = Depth::of(depth).deeper()?;
            // Most calls have few arguments: these stay where they are, on the stack.
            let (mut pairs, mut members) = (SmallVec::<[_; 6]>::new(), SmallVec::<[Member<'_>; 6]>::new());
            // A snapshot, taken before anything else can run: converting a value may run code that changes the dict.
            pairs.extend(dict.iter());
            for (name, item) in &pairs {
                // The outermost keys and strings are not copied, and most arguments have no others.
                let value = match item.cast::<PyString>() {
                    Ok(string) => Value::String(Cow::Borrowed(text(string)?)),
                    Err(_) => value(item, depth)?,
                };
                members.push((Cow::Borrowed(key(name)?), value));
            }
            let (mut kept, mut own) = (out.take(py), String::new());
            let out = kept.as_deref_mut().unwrap_or(&mut own);
            out.clear();
            out.shrink_to(KEPT_BYTES);
            tools.encode_members(name, &members, out).map_err(refused)?;
            Ok(PyString::new(py, out))
        }
        None => {
            let kind = arguments.get_type().qualname()?;
            Err(PyTypeError::new_err(format!("the arguments must be a mapping or JSON text, not {kind}")))
        }
    }
}

/// A mapping as a dict; `None` if it is none.
fn mapping<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    if let Ok(dict) = given.cast::<PyDict>() {
        return Ok(Some(dict.clone()));
    }
    let Ok(mapping) = given.cast::<PyMapping>() else { return Ok(None) };
    let dict = PyDict::new(given.py());
    dict.update(mapping)?;
    Ok(Some(dict))
}

fn surrogate() -> PyErr {
    PyValueError::new_err("a lone surrogate cannot be written; replace it first, for example with U+FFFD")
}

fn text<'a>(string: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    string.to_str().map_err(|_| surrogate())
}

fn key<'a>(key: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    match key.cast::<PyString>() {
        Ok(key) => text(key),
        Err(_) => Err(PyTypeError::new_err(format!("the key {} is no str", key.repr()?))),
    }
}

fn object(dict: &Bound<'_, PyDict>, depth: Depth) -> PyResult<Value<'static>> {
    let depth = depth.deeper()?;
    // A snapshot, here too.
    let pairs: Vec<_> = dict.iter().collect();
    let member = |(name, item): &(Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((Cow::Owned(key(name)?.to_owned()), value(item, depth)?))
    };
    Ok(Value::Object(pairs.iter().map(member).collect::<PyResult<_>>()?))
}

/// How many levels may still come, and how many there may be.
#[derive(Clone, Copy)]
struct Depth {
    left: usize,
    most: usize,
}

impl Depth {
    fn of(most: usize) -> Self {
        Depth { left: most, most }
    }

    fn deeper(self) -> PyResult<Self> {
        let Depth { left, most } = self;
        let left = left.checked_sub(1).ok_or_else(|| {
            let message = format!("the arguments are nested more than {most} levels deep, or contain themselves");
            PyValueError::new_err(message)
        })?;
        Ok(Depth { left, most })
    }
}

/// Any JSON value.
fn value(item: &Bound<'_, PyAny>, depth: Depth) -> PyResult<Value<'static>> {
    if let Ok(string) = item.cast::<PyString>() {
        return Ok(Value::String(Cow::Owned(text(string)?.to_owned())));
    }
    if item.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = item.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if let Ok(int) = item.cast::<PyInt>() {
        // The class's own way to write itself could be anything (enums say their names).
        let digits = match int.extract::<i64>() {
            Ok(small) => small.to_string(),
            Err(_) => item.py().get_type::<PyInt>().call_method1("__repr__", (int,))?.extract()?,
        };
        return Ok(Value::Number(Cow::Owned(digits)));
    }
    if let Ok(float) = item.cast::<PyFloat>() {
        if !float.value().is_finite() {
            return Err(PyValueError::new_err("NaN and infinities are no JSON; send null or a string instead"));
        }
        let digits: String = item.py().get_type::<PyFloat>().call_method1("__repr__", (float,))?.extract()?;
        return Ok(Value::Number(Cow::Owned(digits)));
    }
    if let Ok(list) = item.cast::<PyList>() {
        let depth = depth.deeper()?;
        return Ok(Value::Array(list.iter().map(|item| value(&item, depth)).collect::<PyResult<_>>()?));
    }
    if let Ok(tuple) = item.cast::<PyTuple>() {
        let depth = depth.deeper()?;
        return Ok(Value::Array(tuple.iter().map(|item| value(&item, depth)).collect::<PyResult<_>>()?));
    }
    if let Some(dict) = mapping(item)? {
        return object(&dict, depth);
    }
    let kind = item.get_type().qualname()?;
    Err(PyTypeError::new_err(format!("{kind} is no JSON value; convert it first")))
}

/// Content of a result: text as it is, anything else as compact JSON.
pub fn content(given: &Bound<'_, PyAny>, depth: usize) -> PyResult<String> {
    if let Ok(string) = given.cast::<PyString>() {
        return Ok(clean(string).into_owned());
    }
    let mut out = String::new();
    value(given, Depth::of(depth))?.write(&mut out);
    Ok(out)
}

/// Text with U+FFFD for lone surrogates.
pub fn clean<'a>(text: &'a Bound<'_, PyString>) -> Cow<'a, str> {
    match text.to_str() {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(Surrogates::default().join(text, true)),
    }
}

/// The same, as text that any thread can read while it keeps its `str` alive.
pub fn backed(text: &Bound<'_, PyString>) -> PyResult<PyBackedStr> {
    match text.clone().try_into() {
        Ok(text) => Ok(text),
        Err(_) => PyString::new(text.py(), &clean(text)).try_into(),
    }
}

/// Joins halves of surrogate pairs that come in adjacent chunks.
#[derive(Debug, Default)]
pub struct Surrogates {
    high: Option<u16>,
}

impl Surrogates {
    pub fn is_waiting(&self) -> bool {
        self.high.is_some()
    }

    /// The text without lone surrogates; a high one at its end waits, unless this is the `last`.
    pub fn join(&mut self, text: &Bound<'_, PyString>, last: bool) -> String {
        let mut units: Vec<u16> = self.high.take().into_iter().collect();
        units.extend(code_units(text));
        if !last && units.last().is_some_and(|unit| (0xD800..0xDC00).contains(unit)) {
            self.high = units.pop();
        }
        String::from_utf16_lossy(&units)
    }

    /// The message is over.
    pub fn finish(&mut self) -> &'static str {
        if self.high.take().is_some() { "\u{FFFD}" } else { "" }
    }
}

/// The UTF-16 code units of any `str`. Encoding with `surrogatepass` cannot fail but for memory.
fn code_units(text: &Bound<'_, PyString>) -> Vec<u16> {
    let encoded =
        text.call_method1("encode", ("utf-16-le", "surrogatepass")).and_then(|bytes| bytes.extract::<Vec<u8>>());
    encoded.unwrap_or_default().chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}
