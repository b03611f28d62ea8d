//! The stream parser.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use smallvec::SmallVec;
use wirecall_core as core;

use crate::convert::{self, Surrogates};
use crate::errors;
use crate::events::{CallEnd, CallError, CallStart, Reasoning};
use crate::exclusive::{Exclusive, Taken};
use crate::ids::Ids;
use crate::protocol;
use crate::recycle::{Part, Recycler};
use crate::text::LazyText;

/// Parses one message from a stream; made by `Toolset.parser`.
///
/// Call `feed` with every chunk, then `finish` once. Both return the events that have become certain. A
/// parser does no I/O. The model's mistakes are events; only the caller's mistakes raise exceptions.
///
/// A parser can be passed between threads. If two threads use it at once, or its own `ids` callable uses it,
/// the second use raises RuntimeError and the first continues. Sections are those of docs/wire-format.md.
#[pyclass(frozen, module = "wirecall")]
#[derive(Debug)]
pub struct Parser(Exclusive<Reader>);

/// What the start of a call and its end share.
#[derive(Debug)]
struct OpenCall {
    index: usize,
    id: Py<PyString>,
    name: Py<PyString>,
}

/// What a parser is between two calls.
#[derive(Debug)]
struct Reader {
    parser: core::Parser,
    in_reasoning: Option<bool>,
    given_ids: Option<Py<PyAny>>,
    /// Made when the first call starts: asking the system for randomness costs as much as reading ten deltas.
    ids: Option<Ids>,
    /// Most calls end before the next one starts; those of a list may all be open.
    open: SmallVec<[OpenCall; 1]>,
    surrogates: Surrogates,
    recycler: Recycler,
    finished: bool,
}

impl Parser {
    pub fn new(tools: Arc<core::Toolset>, ids: Option<Py<PyAny>>, in_reasoning: Option<bool>) -> Self {
        Parser(Exclusive::new(Reader::new(tools, ids, in_reasoning)))
    }

    fn take(&self, py: Python<'_>) -> PyResult<Taken<'_, Reader>> {
        self.0.take(py).ok_or_else(errors::in_use)
    }
}

impl Reader {
    fn new(tools: Arc<core::Toolset>, ids: Option<Py<PyAny>>, in_reasoning: Option<bool>) -> Self {
        Reader {
            parser: core::Parser::new(tools, in_reasoning),
            in_reasoning,
            given_ids: ids,
            ids: None,
            open: SmallVec::new(),
            surrogates: Surrogates::default(),
            recycler: Recycler::default(),
            finished: false,
        }
    }

    /// Feeds a chunk. `give` gets its events; it is inlined where they are made, since most chunks are one piece of text.
    #[inline(always)]
    fn feed<'py, R>(
        &mut self,
        text: &Bound<'py, PyString>,
        give: impl FnOnce(&mut Recycler, Made<'py>) -> PyResult<R>,
    ) -> PyResult<R> {
        let py = text.py();
        if self.finished {
            return Err(errors::finished());
        }
        let text = &*convert::plain(text);
        match convert::well_formed(text)? {
            Some(known) if !self.surrogates.is_waiting() => {
                let Reader { parser, recycler, .. } = self;
                match parser.feed_plain(known) {
                    core::Plain::Text => give(recycler, Made::Part(Part::Text(text.clone().unbind()))),
                    core::Plain::DeltaIsInput { index } => {
                        give(recycler, Made::Part(Part::Delta(index, text.clone().unbind())))
                    }
                    core::Plain::Delta { delta: "", .. } => give(recycler, Made::Nothing),
                    core::Plain::Delta { index, delta } => {
                        give(recycler, Made::Part(Part::Delta(index, PyString::new(py, delta).unbind())))
                    }
                    core::Plain::No => {
                        let made = self.read(py, known, Some(text), None)?;
                        give(&mut self.recycler, made)
                    }
                }
            }
            _ => {
                let joined = self.surrogates.join(text, false)?;
                let made = self.read(py, &joined, None, None)?;
                give(&mut self.recycler, made)
            }
        }
    }

    /// Feeds text, or ends the message. `whole` is the `str` that the text came in.
    fn read<'py>(
        &mut self,
        py: Python<'py>,
        text: &str,
        whole: Option<&Bound<'py, PyString>>,
        finish: Option<Option<bool>>,
    ) -> PyResult<Made<'py>> {
        let Reader { parser, given_ids, ids, open, .. } = self;
        let given_ids = given_ids.as_ref();
        let mut events =
            Events { py, text, whole, given_ids, ids, open, only: None, list: EventList::new(), error: None };
        let mut sink = |event: core::Event<'_>| events.add(event);
        if !text.is_empty() {
            parser.feed(text, &mut sink);
        }
        if let Some(truncated) = finish {
            parser.finish(truncated, &mut sink);
        }
        let Events { only, list, error, .. } = events;
        if let Some(error) = error.or_else(|| protocol::raised().err()) {
            self.finished = true;
            return Err(error);
        }
        Ok(match only {
            Some(part) => Made::Part(part),
            None if list.is_empty() => Made::Nothing,
            None => Made::Events(list),
        })
    }
}

/// With room for a call in one chunk: its start, a delta and its end.
type EventList<'py> = SmallVec<[Bound<'py, PyAny>; 4]>;

/// The events of one call of `feed`.
enum Made<'py> {
    Nothing,
    Part(Part),
    Events(EventList<'py>),
}

impl<'py> Made<'py> {
    #[inline(always)]
    fn list(self, py: Python<'py>, recycler: &mut Recycler) -> PyResult<Bound<'py, PyList>> {
        match self {
            Made::Nothing => Ok(PyList::empty(py)),
            Made::Part(part) => recycler.list_of(py, part),
            Made::Events(events) => PyList::new(py, events),
        }
    }

    #[inline(always)]
    fn append_to(self, list: &Bound<'py, PyList>) -> PyResult<()> {
        match self {
            Made::Nothing => Ok(()),
            Made::Part(part) => list.append(part.into_event(list.py())?),
            Made::Events(events) => events.into_iter().try_for_each(|event| list.append(event)),
        }
    }
}

/// Makes Python events of the core's.
struct Events<'a, 'py> {
    py: Python<'py>,
    text: &'a str,
    whole: Option<&'a Bound<'py, PyString>>,
    given_ids: Option<&'a Py<PyAny>>,
    ids: &'a mut Option<Ids>,
    open: &'a mut SmallVec<[OpenCall; 1]>,
    /// The only event so far, if it is a piece of text.
    only: Option<Part>,
    list: EventList<'py>,
    error: Option<PyErr>,
}

impl<'py> Events<'_, 'py> {
    fn add(&mut self, event: core::Event<'_>) {
        if self.error.is_none() {
            self.error = self.make(event).err();
        }
    }

    /// The text as a `str`; the very one that came in, if it is all of it.
    fn string(&self, text: &str) -> Py<PyString> {
        match self.whole {
            Some(whole) if text == self.text => whole.clone().unbind(),
            _ => PyString::new(self.py, text).unbind(),
        }
    }

    fn part(&mut self, part: Part) -> PyResult<()> {
        if self.only.is_none() && self.list.is_empty() {
            self.only = Some(part);
            return Ok(());
        }
        let event = part.into_event(self.py)?;
        self.push(event)
    }

    fn push(&mut self, event: Bound<'py, PyAny>) -> PyResult<()> {
        if let Some(part) = self.only.take() {
            self.list.push(part.into_event(self.py)?);
        }
        self.list.push(event);
        Ok(())
    }

    /// The call that ends.
    fn close(&mut self, index: usize) -> Option<OpenCall> {
        let at = self.open.iter().position(|open| open.index == index)?;
        Some(self.open.remove(at))
    }

    fn make(&mut self, event: core::Event<'_>) -> PyResult<()> {
        let py = self.py;
        let event = match event {
            core::Event::Text(text) => return self.part(Part::Text(self.string(text))),
            core::Event::Reasoning { text, start, end } => {
                Bound::new(py, Reasoning { text: text.to_owned(), start, end })?.into_any()
            }
            core::Event::Framing(_) => return Ok(()),
            core::Event::ArgumentsDelta { index, delta } => return self.part(Part::Delta(index, self.string(delta))),
            core::Event::CallStart { index, name } => {
                let id = match self.given_ids {
                    Some(given) => given_id(given.bind(py))?,
                    None => self.ids.get_or_insert_with(Ids::new).id(py, index),
                };
                let name = PyString::new(py, name).unbind();
                self.open.push(OpenCall { index, id: id.clone_ref(py), name: name.clone_ref(py) });
                Bound::new(py, CallStart { index, id, name })?.into_any()
            }
            core::Event::CallEnd(mut call) => {
                // Every call that ends has started.
                let Some(OpenCall { id, name, .. }) = self.close(call.index) else {
                    return Err(errors::unknown(&call));
                };
                let arguments = LazyText::owned(py, std::mem::take(&mut call.arguments));
                Bound::new(py, CallEnd::from_core(&call, LazyText::Made(id), name, arguments))?.into_any()
            }
            core::Event::CallError(error) => {
                let id = error.index.and_then(|index| Some(self.close(index)?.id.to_string()));
                CallError::bound(py, *error, id)?
            }
            event => return Err(errors::unknown(&event)),
        };
        self.push(event)
    }
}

fn given_id(given: &Bound<'_, PyAny>) -> PyResult<Py<PyString>> {
    let id = given.call0()?;
    let id = id.cast::<PyString>().map_err(|_| PyTypeError::new_err("the ids callable must return a str"))?;
    let lone = |_| PyValueError::new_err("the ids callable returned a str with a lone surrogate; an id must be text");
    id.to_str().map_err(lone)?;
    Ok(convert::plain(id).into_owned().unbind())
}

#[pymethods]
impl Parser {
    /// Process the next chunk, and return the events that are certain now (section 7).
    ///
    /// How a message is cut affects neither the joined texts and deltas nor the ends and errors. Surrogate
    /// halves in adjacent chunks are joined; lone ones become U+FFFD.
    ///
    /// Args:
    ///     text: The next chunk, of any length, including "".
    ///
    /// Returns:
    ///     `Text`, `Reasoning`, `CallStart`, `ArgumentsDelta`, `CallEnd` and `CallError`, in the order of the
    ///     message; often none. Text that is not certain yet is held back: at most one call and one chunk.
    ///
    /// Raises:
    ///     RuntimeError: The parser is finished, or in use.
    ///     TypeError: `ids` did not return a str.
    ///     ValueError: `ids` returned a str with a lone surrogate. After an exception from `ids`, the parser
    ///         is finished.
    #[pyo3(signature = (text, /))]
    fn feed<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        self.take(py)?.feed(text, |recycler, made| made.list(py, recycler))
    }

    /// Process the next chunk like `feed`, and append the events to a list.
    ///
    /// For hosts that keep the events of a message: it costs less than `feed`, whose lists would be dropped.
    ///
    /// Args:
    ///     text: The next chunk, of any length, including "".
    ///     events: Gets the events that are certain now. After an exception from `ids` it is unchanged.
    ///
    /// Raises:
    ///     RuntimeError: The parser is finished, or in use.
    ///     TypeError: `ids` did not return a str.
    ///     ValueError: `ids` returned a str with a lone surrogate. After an exception from `ids`, the parser
    ///         is finished.
    #[pyo3(signature = (text, events, /))]
    fn feed_into<'py>(&self, text: &Bound<'py, PyString>, events: &Bound<'py, PyList>) -> PyResult<()> {
        self.take(text.py())?.feed(text, |_, made| made.append_to(events))
    }

    /// End the message, and return its last events.
    ///
    /// Args:
    ///     truncated: False only if the message is known to be complete; then a last call without CLOSE may
    ///         be repaired. Otherwise it is an `incomplete_call`; so is, with True, an opening that may
    ///         become a call.
    ///
    /// Returns:
    ///     The text that was held back, and the end or error of an open call.
    ///
    /// Raises:
    ///     RuntimeError: The parser is already finished, or in use.
    #[pyo3(signature = (*, truncated=None))]
    fn finish<'py>(&self, py: Python<'py>, truncated: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyList>> {
        let truncated = convert::perhaps("truncated", truncated)?;
        let mut this = self.take(py)?;
        if this.finished {
            return Err(errors::finished());
        }
        this.finished = true;
        let rest = this.surrogates.finish();
        this.recycler = Recycler::default();
        let made = this.read(py, rest, None, Some(truncated))?;
        made.list(py, &mut this.recycler)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Parser cannot be pickled or copied, because it may be inside a message: keep the text, and feed it to a new parser",
        ))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // SAFETY: the collector has whatever lock the interpreter has, and the token goes no further than to `take`.
        let py = unsafe { Python::assume_attached() };
        let Some(this) = self.0.take(py) else { return Ok(()) };
        visit.call(&this.given_ids)?;
        this.recycler.traverse(&visit)
    }

    fn __clear__(&self, py: Python<'_>) {
        if let Some(mut this) = self.0.take(py) {
            let kept = (this.given_ids.take(), std::mem::take(&mut this.recycler));
            // Dropping them may run any code, which may come back here.
            drop(this);
            drop(kept);
        }
    }

    /// Discard all state, for the next message. `ids` and `in_reasoning` are kept.
    ///
    /// Raises:
    ///     RuntimeError: The parser is in use.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let mut this = self.take(py)?;
        let (tools, ids) = (this.parser.tools().clone(), this.given_ids.take());
        *this = Reader::new(tools, ids, this.in_reasoning);
        Ok(())
    }
}
