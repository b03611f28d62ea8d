//! Python values to the core's, and Python text with lone surrogates to text without.

use std::borrow::Cow;

use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use smallvec::SmallVec;
use wirecall_core::{Member, Toolset, Value, beyond_float, may_be_beyond_float};

use crate::errors;
use crate::exclusive::Exclusive;

type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Memory for the text of a call that is kept for the next one.
const KEPT_BYTES: usize = 4096;

/// The canonical text of a call, written into `out` unless another thread uses it. The arguments are a mapping, or JSON text
/// of an object, and nested at most as deep as the parser accepts.
pub(crate) fn encode<'py>(
    tools: &Toolset,
    name: &str,
    arguments: &Bound<'py, PyAny>,
    out: &Exclusive<String>,
) -> PyResult<Bound<'py, PyString>> {
    let py = arguments.py();
    let (refused, depth) = (|error| errors::encode_error(&error), tools.limits().depth);
    if let Ok(json) = arguments.cast::<PyString>() {
        let value = wirecall_core::parse_json(text(json)?, depth)
            .map_err(|what| PyValueError::new_err(format!("the arguments are not valid JSON: {what}")))?;
        return tools.encode(name, &value).map(|text| PyString::new(py, &text)).map_err(refused);
    }
    let Some(dict) = mapping(arguments)? else {
        return Err(errors::wrong_type("the arguments must be a mapping or JSON text", arguments));
    };
    let depth = Depth::of(depth).deeper()?;
    // Most calls have few arguments: these stay where they are, on the stack.
    let (mut pairs, mut members) = (SmallVec::<[_; 6]>::new(), SmallVec::<[Member<'_>; 6]>::new());
    snapshot(&dict, &mut pairs)?;
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
    // A panic may have left what it wrote.
    out.clear();
    let written = tools.encode_members(name, &members, out).map(|()| PyString::new(py, out));
    // Now, not before the next call: there may be none.
    out.clear();
    out.shrink_to(KEPT_BYTES);
    written.map_err(refused)
}

/// The arguments of a call: a mapping, or JSON text of an object.
pub(crate) fn members<'a>(given: &'a Bound<'_, PyAny>, depth: usize) -> PyResult<Vec<Member<'a>>> {
    let value = match given.cast::<PyString>() {
        Ok(json) => wirecall_core::parse_json(text(json)?, depth)
            .map_err(|what| PyValueError::new_err(format!("the arguments are not valid JSON: {what}")))?,
        Err(_) => match mapping(given)? {
            Some(dict) => object(&dict, Depth::of(depth))?,
            None => return Err(errors::wrong_type("the arguments must be a mapping or JSON text", given)),
        },
    };
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(PyValueError::new_err("the arguments are not a JSON object")),
    }
}

/// A mapping as a dict; `None` for anything else.
fn mapping<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    if let Ok(dict) = given.cast::<PyDict>() {
        return Ok(Some(dict.clone()));
    }
    let Ok(mapping) = given.cast::<PyMapping>() else { return Ok(None) };
    let dict = PyDict::new(given.py());
    dict.update(mapping)?;
    Ok(Some(dict))
}

/// The text of a `str`; `None` if there are lone surrogates in it. Any other reason is want of memory.
#[inline(always)]
pub(crate) fn well_formed<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Option<&'a str>> {
    match string.to_str() {
        Ok(text) => Ok(Some(text)),
        Err(error) => not_well_formed(string.py(), error),
    }
}

#[cold]
fn not_well_formed(py: Python<'_>, error: PyErr) -> PyResult<Option<&'static str>> {
    if error.is_instance_of::<PyUnicodeEncodeError>(py) { Ok(None) } else { Err(error) }
}

fn text<'a>(string: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    let what = "a lone surrogate cannot be written; replace it first, for example with U+FFFD";
    well_formed(string)?.ok_or_else(|| PyValueError::new_err(what))
}

fn key<'a>(key: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    match key.cast::<PyString>() {
        Ok(key) => text(key),
        Err(_) => Err(PyTypeError::new_err(format!("the key {} must be a str", key.repr()?))),
    }
}

/// The members as they are before anything else can run: converting a value may run code that changes the dict.
fn snapshot<'py>(dict: &Bound<'py, PyDict>, pairs: &mut impl Extend<Pair<'py>>) -> PyResult<()> {
    if cfg!(Py_GIL_DISABLED) {
        // Another thread may change it between two steps of an iterator, which would panic.
        pairs.extend(dict.items().extract::<Vec<Pair<'py>>>()?);
    } else {
        pairs.extend(dict.iter());
    }
    Ok(())
}

fn object(dict: &Bound<'_, PyDict>, depth: Depth) -> PyResult<Value<'static>> {
    let depth = depth.deeper()?;
    let mut pairs = Vec::new();
    snapshot(dict, &mut pairs)?;
    let member = |(name, item): &Pair<'_>| Ok((Cow::Owned(key(name)?.to_owned()), value(item, depth)?));
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
            return Err(PyValueError::new_err("NaN and infinities are not valid JSON; send null or a string instead"));
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
    Err(PyTypeError::new_err(format!("{kind} is not a JSON value; convert it first")))
}

/// The same, at most `depth` levels deep.
pub(crate) fn json(given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value<'static>> {
    value(given, Depth::of(depth))
}

/// JSON text, decoded. Integers beyond what `int()` reads are decimals.
pub(crate) fn loads<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = text.py();
    let loads = LOADS.import(py, "json", "loads")?;
    match loads.call1((text,)) {
        Err(error) if error.is_instance_of::<PyValueError>(py) => {
            let integer = wrap_pyfunction!(any_integer, py)?;
            loads.call((text,), Some(&[("parse_int", integer)].into_py_dict(py)?))
        }
        other => other,
    }
}

/// The decoded arguments of a call. Anything wrong with them is a `ValueError`.
pub(crate) fn decoded<'py>(name: &Bound<'py, PyString>, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyDict>> {
    static DECODE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = text.py();
    let refused = |what: &str| PyValueError::new_err(format!("the arguments of {:?} {what}", name.to_string_lossy()));
    let json = text.to_string_lossy();
    if let Some((field, number)) = beyond_float(&json) {
        return Err(refused(&format!("cannot be decoded: {field}: {number:.40} is outside the range of a float")));
    }
    let plain = || -> PyResult<Bound<'py, PyAny>> {
        let decode = DECODE.get_or_try_init(py, || decoder(py, false).map(Bound::unbind))?;
        decode.bind(py).call1((text,))
    };
    let all = || decoder(py, true)?.call1((text,));
    let read = match may_be_beyond_float(&json) {
        true => all(),
        false => plain().or_else(|error| if error.is_instance_of::<PyValueError>(py) { all() } else { Err(error) }),
    };
    match read {
        Ok(value) => value.cast_into().map_err(|_| refused("are not a JSON object")),
        Err(error) if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyRecursionError>(py) => {
            let refused = refused(&format!("are not valid JSON: {}", error.value(py)));
            refused.set_cause(py, Some(error));
            Err(refused)
        }
        Err(error) => Err(error),
    }
}

/// Reads strict JSON. `numbers`: of any size, which takes longer.
fn decoder(py: Python<'_>, numbers: bool) -> PyResult<Bound<'_, PyAny>> {
    let hooks = PyDict::new(py);
    hooks.set_item("parse_constant", wrap_pyfunction!(refuse_constant, py)?)?;
    if numbers {
        hooks.set_item("parse_int", wrap_pyfunction!(any_integer, py)?)?;
        hooks.set_item("parse_float", wrap_pyfunction!(finite, py)?)?;
    }
    py.import("json")?.getattr("JSONDecoder")?.call((), Some(&hooks))?.getattr("decode")
}

/// Python reads `NaN` and `Infinity`; JSON has neither.
#[pyfunction]
fn refuse_constant(word: &str) -> PyResult<()> {
    Err(PyValueError::new_err(format!("{word} is not a JSON value")))
}

/// A float that is not an infinity.
#[pyfunction]
fn finite(digits: &str) -> PyResult<f64> {
    let number = digits.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| PyValueError::new_err(format!("{digits:.40} is outside the range of a float")))
}

/// An int, or a Decimal where the interpreter refuses so many digits.
#[pyfunction]
fn any_integer<'py>(digits: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    static DECIMAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = digits.py();
    match py.get_type::<PyInt>().call1((digits,)) {
        Err(error) if error.is_instance_of::<PyValueError>(py) => {
            DECIMAL.import(py, "decimal", "Decimal")?.call1((digits,))
        }
        other => other,
    }
}

/// An option that counts from 1, of any size that Python can write.
pub(crate) fn positive(option: &str, given: &Bound<'_, PyAny>) -> PyResult<usize> {
    let refused = |what: &str| PyValueError::new_err(format!("{option} is {given}; {what}"));
    match given.extract::<isize>() {
        Ok(number) => {
            usize::try_from(number).ok().filter(|number| *number > 0).ok_or_else(|| refused("it must be at least 1"))
        }
        Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => Err(refused("it is out of range")),
        Err(error) => Err(error),
    }
}

/// The value of an option that is true, false or not given.
pub(crate) fn perhaps(option: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<bool>> {
    let read = |given: &Bound<'_, PyAny>| {
        given.extract::<bool>().map_err(|_| errors::wrong_type(&format!("{option} must be a bool or None"), given))
    };
    given.map(read).transpose()
}

/// The value of an option that counts from 0, which is the default.
pub(crate) fn count(option: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let Some(given) = given else { return Ok(0) };
    given.extract::<usize>().map_err(|error| match error.is_instance_of::<PyOverflowError>(given.py()) {
        true => PyValueError::new_err(format!("{option} is {given}; it must be at least 0, and not out of range")),
        false => errors::wrong_type(&format!("{option} must be an int"), given),
    })
}

/// The JSON text of a call's arguments as a host's protocol has read them: a mapping, or JSON text of an object.
pub(crate) fn arguments(given: &Bound<'_, PyAny>) -> PyResult<String> {
    let said = "the arguments returned by parse";
    if let Ok(json) = given.cast::<PyString>() {
        let json = text(json)?;
        return match wirecall_core::parse_json(json, wirecall_core::RECURSION) {
            Ok(Value::Object(_)) => Ok(json.to_owned()),
            Ok(_) => Err(PyTypeError::new_err(format!("{said} must be a JSON object"))),
            Err(what) => Err(PyValueError::new_err(format!("{said} are not valid JSON: {what}"))),
        };
    }
    let Some(dict) = mapping(given)? else {
        return Err(errors::wrong_type(&format!("{said} must be a mapping or JSON text"), given));
    };
    let mut out = String::new();
    object(&dict, Depth::of(wirecall_core::RECURSION))?.write(&mut out);
    Ok(out)
}

/// Content of a result: text as it is, anything else as compact JSON.
pub(crate) fn content(given: &Bound<'_, PyAny>, depth: usize) -> PyResult<String> {
    if let Ok(string) = given.cast::<PyString>() {
        return Ok(clean(string)?.into_owned());
    }
    let mut out = String::new();
    value(given, Depth::of(depth))?.write(&mut out);
    Ok(out)
}

/// The text as a `str` and nothing more. One of a subclass may refer to anything, and run anything when it is dropped; what
/// keeps it would be for the garbage collector to look into, which events are not.
#[inline(always)]
pub(crate) fn plain<'a, 'py>(text: &'a Bound<'py, PyString>) -> Cow<'a, Bound<'py, PyString>> {
    if text.is_exact_instance_of::<PyString>() { Cow::Borrowed(text) } else { of_subclass(text) }
}

#[cold]
fn of_subclass<'a, 'py>(text: &'a Bound<'py, PyString>) -> Cow<'a, Bound<'py, PyString>> {
    text.to_str().map_or(Cow::Borrowed(text), |text_of_it| Cow::Owned(PyString::new(text.py(), text_of_it)))
}

/// Text with U+FFFD for lone surrogates.
pub(crate) fn clean<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    Ok(match well_formed(text)? {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(Surrogates::default().join(text, true)?),
    })
}

/// The same, as text that any thread can read while it keeps its `str` alive.
pub(crate) fn backed(text: &Bound<'_, PyString>) -> PyResult<PyBackedStr> {
    match well_formed(text)? {
        Some(_) => plain(text).into_owned().try_into(),
        None => PyString::new(text.py(), &clean(text)?).try_into(),
    }
}

/// Joins halves of surrogate pairs that come in adjacent chunks.
#[derive(Debug, Default)]
pub(crate) struct Surrogates {
    high: Option<u16>,
}

impl Surrogates {
    pub(crate) fn is_waiting(&self) -> bool {
        self.high.is_some()
    }

    /// The text without lone surrogates; a high one at its end waits, unless this is the `last`.
    #[cold]
    pub(crate) fn join(&mut self, text: &Bound<'_, PyString>, last: bool) -> PyResult<String> {
        // The class's own way to encode itself could be anything.
        let own = text.py().get_type::<PyString>();
        let fed = own.call_method1("encode", (text, "utf-16-le", "surrogatepass"))?.extract::<Vec<u8>>()?;
        let mut units: Vec<u16> = self.high.take().into_iter().collect();
        units.extend(fed.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
        if !last && units.last().is_some_and(|unit| (0xD800..0xDC00).contains(unit)) {
            self.high = units.pop();
        }
        Ok(String::from_utf16_lossy(&units))
    }

    /// The message is over.
    pub(crate) fn finish(&mut self) -> &'static str {
        if self.high.take().is_some() { "\u{FFFD}" } else { "" }
    }
}
