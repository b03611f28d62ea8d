//! The stream parser.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use wirecall_core as core;

use crate::convert::Surrogates;
use crate::errors;
use crate::events::{ArgumentsDelta, CallEnd, CallError, CallStart, Text};
use crate::ids::Ids;

/// Reads one message from a stream.
#[pyclass(module = "wirecall")]
#[derive(Debug)]
pub struct Parser {
    tools: Arc<core::Toolset>,
    parser: core::Parser,
    in_reasoning: bool,
    given_ids: Option<Py<PyAny>>,
    ids: Ids,
    /// Of the call that is open.
    id: String,
    surrogates: Surrogates,
    finished: bool,
}

impl Parser {
    pub fn new(tools: Arc<core::Toolset>, ids: Option<Py<PyAny>>, in_reasoning: bool) -> Self {
        Parser {
            tools,
            parser: core::Parser::new(in_reasoning),
            in_reasoning,
            given_ids: ids,
            ids: Ids::default(),
            id: String::new(),
            surrogates: Surrogates::default(),
            finished: false,
        }
    }

    /// Feeds text, or ends the message. `whole` is the `str` that the text came in.
    fn read<'py>(
        &mut self,
        py: Python<'py>,
        text: &str,
        whole: Option<&Bound<'py, PyString>>,
        finish: Option<Option<bool>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let Parser { tools, parser, given_ids, ids, id, .. } = self;
        let mut events = Events { py, text, whole, given_ids: given_ids.as_ref(), ids, id, list: Vec::new(), error: None };
        let mut sink = |event: core::Event<'_>| events.add(event);
        if !text.is_empty() {
            parser.feed(tools, text, &mut sink);
        }
        if let Some(truncated) = finish {
            parser.finish(tools, truncated, &mut sink);
        }
        match events.error {
            Some(error) => {
                self.finished = true;
                Err(error)
            }
            None => PyList::new(py, events.list),
        }
    }
}

/// Makes Python events of the core's.
struct Events<'a, 'py> {
    py: Python<'py>,
    text: &'a str,
    whole: Option<&'a Bound<'py, PyString>>,
    given_ids: Option<&'a Py<PyAny>>,
    ids: &'a mut Ids,
    id: &'a mut String,
    list: Vec<Bound<'py, PyAny>>,
    error: Option<PyErr>,
}

impl<'py> Events<'_, 'py> {
    fn add(&mut self, event: core::Event<'_>) {
        match self.make(event) {
            Ok(event) => self.list.push(event),
            Err(error) => self.error = self.error.take().or(Some(error)),
        }
    }

    /// The text as a `str`; the very one that came in, if it is all of it.
    fn string(&self, text: &str) -> Py<PyString> {
        match self.whole {
            Some(whole) if text == self.text => whole.clone().unbind(),
            _ => PyString::new(self.py, text).unbind(),
        }
    }

    fn make(&mut self, event: core::Event<'_>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        Ok(match event {
            core::Event::Text(text) => Bound::new(py, Text { text: self.string(text) })?.into_any(),
            core::Event::CallStart { index, name } => {
                *self.id = match self.given_ids {
                    Some(given) => given_id(given.bind(py))?,
                    None => self.ids.next(),
                };
                Bound::new(py, CallStart { index, id: self.id.clone(), name: name.to_owned() })?.into_any()
            }
            core::Event::ArgumentsDelta { index, delta } => {
                Bound::new(py, ArgumentsDelta { index, delta: self.string(delta) })?.into_any()
            }
            core::Event::CallEnd(end) => {
                Bound::new(py, CallEnd::from_core(py, end, std::mem::take(self.id))?)?.into_any()
            }
            core::Event::CallError(error) => {
                let id = error.index.map(|_| std::mem::take(self.id));
                Bound::new(py, CallError::from_core(error, id))?.into_any()
            }
        })
    }
}

fn given_id(given: &Bound<'_, PyAny>) -> PyResult<String> {
    let id = given.call0()?;
    id.extract().map_err(|_| PyTypeError::new_err("the ids callable must return a str"))
}

#[pymethods]
impl Parser {
    /// Reads on. Returns the events that are certain now.
    #[pyo3(signature = (text, /))]
    fn feed<'py>(slf: &Bound<'py, Self>, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
        let mut this = slf.try_borrow_mut().map_err(|_| errors::in_use())?;
        if this.finished {
            return Err(errors::finished());
        }
        let py = slf.py();
        match text.to_str() {
            Ok(known) if !this.surrogates.is_waiting() => this.read(py, known, Some(text), None),
            _ => {
                let joined = this.surrogates.join(text, false);
                this.read(py, &joined, None, None)
            }
        }
    }

    /// The message ends. Returns the last events.
    #[pyo3(signature = (*, truncated=None))]
    fn finish<'py>(slf: &Bound<'py, Self>, truncated: Option<bool>) -> PyResult<Bound<'py, PyList>> {
        let mut this = slf.try_borrow_mut().map_err(|_| errors::in_use())?;
        if this.finished {
            return Err(errors::finished());
        }
        this.finished = true;
        let rest = this.surrogates.finish();
        this.read(slf.py(), rest, None, Some(truncated))
    }

    /// Forgets everything: ready for the next message.
    fn reset(slf: &Bound<'_, Self>) -> PyResult<()> {
        let mut this = slf.try_borrow_mut().map_err(|_| errors::in_use())?;
        let (tools, ids) = (this.tools.clone(), this.given_ids.take());
        *this = Parser::new(tools, ids, this.in_reasoning);
        Ok(())
    }
}
