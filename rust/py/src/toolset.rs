//! Toolsets: compiled tools, and everything that needs no stream.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBool, PyInt, PyString, PyTuple};
use wirecall_core as core;

use crate::events::CallError;
use crate::ids::Ids;
use crate::message::Message;
use crate::parser::Parser;
use crate::{convert, errors};

/// Compiled tools.
#[pyclass(frozen, subclass, module = "wirecall._core")]
#[derive(Debug)]
pub struct Toolset {
    tools: Arc<core::Toolset>,
}

/// How the calls of one tool are written.
#[pyclass(frozen, eq, get_all, module = "wirecall")]
#[derive(Debug, PartialEq)]
pub struct Plan {
    name: String,
    encoding: String,
    fields: Vec<Field>,
    reason: Option<String>,
}

/// One key of a tool, as the encoder writes it.
#[pyclass(frozen, eq, get_all, module = "wirecall", from_py_object)]
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    key: String,
    r#type: String,
    required: bool,
}

#[pymethods]
impl Plan {
    #[classattr]
    const __match_args__: (&'static str, &'static str, &'static str, &'static str) =
        ("name", "encoding", "fields", "reason");

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        crate::events::repr(slf)
    }
}

#[pymethods]
impl Field {
    #[classattr]
    const __match_args__: (&'static str, &'static str, &'static str) = ("key", "type", "required");

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        crate::events::repr(slf)
    }
}

fn one_of<T: Copy>(option: &str, given: &str, choices: &[(&str, T)]) -> PyResult<T> {
    choices.iter().find(|(name, _)| *name == given).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
        PyValueError::new_err(format!("{option} is {given:?}; it must be one of {}", names.join(", ")))
    })
}

fn limits(given: Option<HashMap<String, Bound<'_, PyAny>>>) -> PyResult<core::Limits> {
    let mut limits = core::Limits::default();
    for (name, value) in given.unwrap_or_default() {
        let place = match name.as_str() {
            "call_bytes" => &mut limits.call_bytes,
            "depth" => &mut limits.depth,
            "calls" => &mut limits.calls,
            "key_segments" => &mut limits.key_segments,
            _ => {
                let message = format!("there is no limit {name:?}; there are: call_bytes, depth, calls, key_segments");
                return Err(PyValueError::new_err(message));
            }
        };
        // To Python a bool is an int, but who writes True for a limit means something else.
        if !value.is_instance_of::<PyInt>() || value.is_instance_of::<PyBool>() {
            let kind = value.get_type().qualname()?;
            return Err(PyTypeError::new_err(format!("the limit {name} must be an int, not {kind}")));
        }
        *place =
            value.extract::<usize>().ok().filter(|value| *value > 0).ok_or_else(|| {
                PyValueError::new_err(format!("the limit {name} is {value}; it must be a positive int"))
            })?;
    }
    if limits.depth > core::RECURSION {
        let message = format!("the limit depth is {}; it must be at most {}", limits.depth, core::RECURSION);
        return Err(PyValueError::new_err(message));
    }
    Ok(limits)
}

/// An option that counts from 1, of any size that Python can write.
fn positive(option: &str, given: &Bound<'_, PyAny>) -> PyResult<usize> {
    let refused = |what: &str| PyValueError::new_err(format!("{option} is {given}; {what}"));
    match given.extract::<isize>() {
        Ok(number) => {
            usize::try_from(number).ok().filter(|number| *number > 0).ok_or_else(|| refused("it must be at least 1"))
        }
        Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
            Err(refused("no number of that size can be meant"))
        }
        Err(error) => Err(error),
    }
}

impl Toolset {
    fn tool(&self, name: &str) -> PyResult<&core::Tool> {
        self.tools.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.tools.tools().map(|tool| tool.name.as_str()).collect();
            PyValueError::new_err(format!("there is no tool {name:?}; there are: {}", names.join(", ")))
        })
    }
}

#[pymethods]
impl Toolset {
    #[new]
    #[pyo3(signature = (tools, /, *, protocol="wire", syntax="wire", fallback_to_json="complex", strict=false,
        validate="report", descriptions="full", delimiters=("<call>".into(), "</call>".into()),
        reasoning=Some(("<think>".into(), "</think>".into())), limits=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        tools: Vec<(String, Option<String>, String, bool)>,
        protocol: &str,
        syntax: &str,
        fallback_to_json: &str,
        strict: bool,
        validate: &str,
        descriptions: &str,
        delimiters: (String, String),
        reasoning: Option<(String, String)>,
        limits: Option<HashMap<String, Bound<'_, PyAny>>>,
    ) -> PyResult<Self> {
        let options = core::Options {
            protocol: protocol.to_owned(),
            syntax: one_of("syntax", syntax, &[("wire", core::Syntax::Wire), ("json", core::Syntax::Json)])?,
            fallback: one_of(
                "fallback_to_json",
                fallback_to_json,
                &[
                    ("complex", core::Fallback::Complex),
                    ("error", core::Fallback::Error),
                    ("force", core::Fallback::Force),
                ],
            )?,
            strict,
            validate: one_of("validate", validate, &[("report", false), ("error", true)])?,
            descriptions: one_of(
                "descriptions",
                descriptions,
                &[
                    ("full", core::Descriptions::Full),
                    ("tools", core::Descriptions::Tools),
                    ("none", core::Descriptions::None),
                ],
            )?,
            delimiters: core::Delimiters::new(&delimiters.0, &delimiters.1).map_err(PyValueError::new_err)?,
            reasoning,
            limits: self::limits(limits)?,
        };
        if options.reasoning.as_ref().is_some_and(|(open, close)| open.is_empty() || close.is_empty()) {
            return Err(PyValueError::new_err("a reasoning tag is empty; use reasoning=None for none"));
        }
        let definitions = tools
            .into_iter()
            .map(|(name, description, parameters, strict)| core::Definition { name, description, parameters, strict })
            .collect();
        let tools = core::Toolset::new(definitions, options).map_err(|error| errors::tool_error(py, &error))?;
        Ok(Toolset { tools: Arc::new(tools) })
    }

    /// The tools' names, in the order given.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.tools.tools().map(|tool| tool.name.as_str()).collect::<Vec<_>>())
    }

    /// Reads a whole message.
    #[pyo3(signature = (text, /, *, truncated=None, in_reasoning=false))]
    fn parse(&self, text: &Bound<'_, PyString>, truncated: Option<bool>, in_reasoning: bool) -> Message {
        Message::new(core::parse(&self.tools, &convert::clean(text), truncated, in_reasoning), Ids::new())
    }

    /// Reads many messages at once.
    #[pyo3(signature = (texts, /, *, threads=None, truncated=None, in_reasoning=false))]
    fn parse_many(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        threads: Option<&Bound<'_, PyAny>>,
        truncated: Option<bool>,
        in_reasoning: bool,
    ) -> PyResult<Vec<Message>> {
        if texts.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("parse_many takes a list of str; for one str use parse"));
        }
        let mut borrowed: Vec<PyBackedStr> = Vec::new();
        for text in texts.try_iter()? {
            let text = text?.cast_into::<PyString>()?;
            borrowed.push(match text.clone().try_into() {
                Ok(text) => text,
                Err(_) => PyString::new(py, &convert::clean(&text)).try_into()?,
            });
        }
        let threads = match threads {
            Some(threads) => positive("threads", threads)?,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let read = |text: &PyBackedStr| core::parse(&self.tools, text, truncated, in_reasoning);
        parse_many(py, &borrowed, threads, &read)
    }

    /// A parser for one stream.
    #[pyo3(signature = (*, ids=None, in_reasoning=false))]
    fn parser(&self, py: Python<'_>, ids: Option<Py<PyAny>>, in_reasoning: bool) -> PyResult<Parser> {
        if ids.as_ref().is_some_and(|ids| !ids.bind(py).is_callable()) {
            return Err(PyTypeError::new_err("ids must be a callable without arguments that returns a str"));
        }
        Ok(Parser::new(self.tools.clone(), ids, in_reasoning))
    }

    /// The canonical text of a call.
    #[pyo3(signature = (name, arguments, /))]
    fn encode(&self, name: &str, arguments: &Bound<'_, PyAny>) -> PyResult<String> {
        let arguments = convert::arguments(arguments, self.tools.limits().depth)?;
        self.tools.encode(name, &arguments).map_err(|error| errors::encode_error(&error))
    }

    /// The text of a tool's result; of a `CallError`, its message for the model, with the example as it is to be written.
    #[pyo3(signature = (name, content, /, *, error=false, number=None))]
    fn encode_result(
        &self,
        name: Option<&Bound<'_, PyString>>,
        content: &Bound<'_, PyAny>,
        error: bool,
        number: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let number = number.map(|number| positive("number", number)).transpose()?.map(|number| number as u64);
        let name = name.map(|name| convert::clean(name));
        if let Ok(failed) = content.cast::<CallError>() {
            return Ok(core::write_error(&self.tools, name.as_deref(), &failed.get().message));
        }
        let name = name.as_deref().unwrap_or("unknown");
        Ok(self.tools.encode_result(name, &convert::content(content, self.tools.limits().depth)?, error, number))
    }

    /// What the model is told.
    #[pyo3(signature = (*, header=None))]
    fn manual(&self, header: Option<&str>) -> String {
        self.tools.manual(header)
    }

    /// One tool's line of the manual.
    #[pyo3(signature = (name, /))]
    fn signature(&self, name: &str) -> PyResult<String> {
        Ok(self.tools.signature(self.tool(name)?))
    }

    /// How a tool's calls are written.
    #[pyo3(signature = (name, /))]
    fn plan(&self, name: &str) -> PyResult<Plan> {
        let tool = self.tool(name)?;
        let fields = self.tools.fields(tool).into_iter();
        Ok(Plan {
            name: tool.name.clone(),
            encoding: match tool.syntax {
                core::Syntax::Wire => "pairs".into(),
                core::Syntax::Json => "json".into(),
            },
            fields: fields.map(|core::Field { key, r#type, required }| Field { key, r#type, required }).collect(),
            reason: tool.reason.map(str::to_owned),
        })
    }

    /// The exact substrings that are calls.
    #[pyo3(signature = (text, /))]
    fn segments(&self, text: &Bound<'_, PyString>) -> Vec<String> {
        self.tools.segments(&convert::clean(text))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let names: Vec<&str> = slf.get().tools.tools().map(|tool| tool.name.as_str()).collect();
        Ok(format!("{}([{}])", slf.get_type().name()?, names.join(", ")))
    }
}

/// Each worker takes the next few texts that nobody has. Meanwhile this thread, which alone may, makes Python objects of what
/// is read. Messages come in the order of their texts.
fn parse_many(
    py: Python<'_>,
    texts: &[PyBackedStr],
    threads: usize,
    read: &(dyn Fn(&PyBackedStr) -> Vec<core::Item> + Sync),
) -> PyResult<Vec<Message>> {
    const FEW: usize = 16;
    // More than any machine has cores for; each costs a stack.
    const MOST_THREADS: usize = 256;
    let ids = Ids::new();
    let mut messages: Vec<Option<Message>> = texts.iter().map(|_| None).collect();
    let mut make = |start: usize, few: Vec<Vec<core::Item>>| -> PyResult<()> {
        for (at, items) in (start..).zip(few) {
            let message = Message::new(items, ids.of_message(at));
            message.make(py)?;
            messages[at] = Some(message);
        }
        Ok(())
    };
    let workers = threads.min(texts.len().div_ceil(FEW)).min(MOST_THREADS);
    if workers <= 1 {
        make(0, py.detach(|| texts.iter().map(read).collect()))?;
    } else {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| -> PyResult<()> {
            let (send, mut receive) = mpsc::channel();
            for _ in 0..workers {
                let (send, next) = (send.clone(), &next);
                let work = move || {
                    loop {
                        let start = next.fetch_add(FEW, Ordering::Relaxed);
                        let Some(few) = texts.get(start..texts.len().min(start + FEW)).filter(|few| !few.is_empty())
                        else {
                            return;
                        };
                        // The receiver is gone only if making objects has failed.
                        if send.send((start, few.iter().map(read).collect())).is_err() {
                            return;
                        }
                    }
                };
                // The system may refuse a thread: those that there are do the work.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            drop(send);
            // A receiver may change threads, but not be shared: the closure has to take it whole.
            let mut wait = || {
                let receive: &mut mpsc::Receiver<_> = &mut receive;
                receive.recv()
            };
            while let Ok((start, few)) = py.detach(&mut wait) {
                make(start, few)?;
            }
            // No thread could be had at all: nobody has taken the rest.
            let start = next.fetch_add(texts.len(), Ordering::Relaxed).min(texts.len());
            make(start, py.detach(|| texts[start..].iter().map(read).collect()))
        })?;
    }
    Ok(messages.into_iter().flatten().collect())
}
