//! A protocol of the host's own: a `wirecall.Protocol`, of which Python methods are called while text is read and written.

use std::cell::RefCell;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple, PyType};
use wirecall_core as core;

use crate::{convert, errors};

thread_local! {
    /// The first exception of a host's method since they were last asked for.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Raises the exception that a host's method has raised, if there is one.
pub(crate) fn raised() -> PyResult<()> {
    RAISED.take().map_or(Ok(()), Err)
}

/// What the protocol is made of.
pub(crate) fn custom(protocol: &Bound<'_, PyAny>) -> PyResult<core::Custom> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if !protocol.is_instance(CLASS.import(protocol.py(), "wirecall._tools.protocol", "Protocol")?)? {
        return Err(errors::wrong_type("protocol must be a str, a wirecall.Format or a wirecall.Protocol", protocol));
    }
    if !protocol.hasattr("header")? {
        let kind = protocol.get_type().qualname()?;
        return Err(PyTypeError::new_err(format!("{kind}.__init__ must call super().__init__(open=…, close=…)")));
    }
    let text = |name: &str| protocol.getattr(name)?.extract::<String>();
    let flag = |name: &str| protocol.getattr(name)?.extract::<bool>();
    let result: (String, String) = protocol.getattr("result")?.extract()?;
    let host = Arc::new(Host { protocol: protocol.clone().unbind() });
    let mut custom = core::Custom::new((text("open")?, text("close")?), result, host);
    custom.header = protocol.getattr("header")?.extract()?;
    custom.begins = flag("_begins")?;
    custom.results = flag("_results")?;
    Ok(custom)
}

#[derive(Debug)]
struct Host {
    protocol: Py<PyAny>,
}

impl Host {
    /// Calls a method; if it raises, that is remembered, and `otherwise` is used.
    fn ask<T>(&self, otherwise: T, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        Python::attach(|py| {
            ask(self.protocol.bind(py)).unwrap_or_else(|error| {
                RAISED.with_borrow_mut(|raised| _ = raised.get_or_insert(error));
                otherwise
            })
        })
    }
}

/// Text that a method returned.
fn written(given: &Bound<'_, PyAny>, method: &str) -> PyResult<String> {
    match given.cast::<PyString>() {
        Ok(text) => Ok(convert::clean(text)?.into_owned()),
        Err(_) => Err(errors::wrong_type(&format!("{method} must return a str"), given)),
    }
}

fn reading(given: PyResult<Bound<'_, PyAny>>, py: Python<'_>) -> PyResult<core::Reading> {
    let given = match given {
        Ok(given) => given,
        Err(error) if error.is_instance_of::<PyValueError>(py) => {
            return Ok(core::Reading::Bad(written(error.value(py).str()?.as_any(), "str")?));
        }
        Err(error) => return Err(error),
    };
    if given.is_none() {
        return Ok(core::Reading::More);
    }
    let wrong = || PyTypeError::new_err("parse must return None, or a name and arguments");
    let call = given.cast::<PyTuple>().ok().filter(|call| call.len() == 2).ok_or_else(wrong)?;
    let name = call.get_item(0)?;
    let name = convert::clean(name.cast::<PyString>().map_err(|_| wrong())?)?.into_owned();
    Ok(core::Reading::Call { name, arguments: convert::arguments(&call.get_item(1)?)? })
}

impl core::Host for Host {
    fn begins(&self, head: &str) -> bool {
        self.ask(false, |protocol| protocol.call_method1("begins", (head,))?.is_truthy())
    }

    fn read(&self, body: &str) -> core::Reading {
        self.ask(core::Reading::Bad(String::new()), |protocol| {
            reading(protocol.call_method1("parse", (body,)), protocol.py())
        })
    }

    fn write_call(&self, name: &str, arguments: &str) -> String {
        self.ask(String::new(), |protocol| {
            written(&protocol.call_method1("format_call", (name, arguments))?, "format_call")
        })
    }

    fn write_result(&self, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
        self.ask(String::new(), |protocol| {
            written(&protocol.call_method1("format_result", (name, content, error, number))?, "format_result")
        })
    }
}
