//! The list and the event of the last `feed`, used again where the caller has dropped them.
//!
//! Most deltas are one piece of text: one list with one event. Allocating and freeing both costs more than reading
//! the text. Nothing else can see an object that only the parser refers to, so changing it is like making a new
//! one; CPython's own `zip` and `enumerate` do the same with their tuples. A caller's loop variable still holds the previous event,
//! so the one before that is kept, too.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::events::{ArgumentsDelta, Text};
use crate::text::{LazyText, Slot};

/// A piece of text on its way to an event.
#[derive(Debug)]
pub(crate) enum Part {
    Text(Py<PyString>),
    Delta(usize, Py<PyString>),
}

impl Part {
    pub(crate) fn into_event(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(match self {
            Part::Text(text) => Bound::new(py, Text { text: Slot::new(LazyText::Made(text)) })?.into_any(),
            Part::Delta(index, delta) => Bound::new(py, ArgumentsDelta { part: Slot::new((index, delta)) })?.into_any(),
        })
    }

    /// Makes a used event this one. Gives the part back if it is of another class.
    ///
    /// # Safety
    ///
    /// Nobody but the caller and what it owns refers to the event.
    unsafe fn write_over(self, used: &Bound<'_, PyAny>) -> Result<(), Part> {
        match self {
            Part::Text(text) => match used.cast_exact::<Text>() {
                // SAFETY: nobody reads it without a reference to the event, and no Python code has run since the caller
                // looked for references; what was in it is dropped when it is out.
                Ok(event) => drop(unsafe { event.get().text.replace(LazyText::Made(text)) }),
                Err(_) => return Err(Part::Text(text)),
            },
            Part::Delta(index, delta) => match used.cast_exact::<ArgumentsDelta>() {
                // SAFETY: the same.
                Ok(event) => drop(unsafe { event.get().part.replace((index, delta)) }),
                Err(_) => return Err(Part::Delta(index, delta)),
            },
        }
        Ok(())
    }
}

/// What the parser keeps of earlier calls.
#[derive(Debug, Default)]
pub(crate) struct Recycler {
    /// The last list, and the event in it.
    last: Option<(Py<PyList>, Py<PyAny>)>,
    spare: Option<Py<PyAny>>,
}

/// Whether only the known holders refer to the object.
fn is_ours(object: &Bound<'_, PyAny>, references: isize) -> bool {
    // Without the GIL another thread's reference may not be counted yet.
    if cfg!(Py_GIL_DISABLED) {
        return false;
    }
    // SAFETY: `object` is a live object, and the interpreter is attached as long as it is bound.
    let count = unsafe { pyo3::ffi::Py_REFCNT(object.as_ptr()) };
    count == references
}

impl Recycler {
    /// For the garbage collector: a caller may have put anything into the list.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some((list, event)) = &self.last {
            visit.call(list)?;
            visit.call(event)?;
        }
        visit.call(&self.spare)
    }

    /// A list with one event.
    pub(crate) fn list_of<'py>(&mut self, py: Python<'py>, part: Part) -> PyResult<Bound<'py, PyList>> {
        let Some((list, last)) = self.last.as_mut().filter(|(list, event)| is_as_it_was(list.bind(py), event)) else {
            let event = part.into_event(py)?;
            let list = PyList::new(py, [&event])?;
            self.last = Some((list.clone().unbind(), event.unbind()));
            return Ok(list);
        };
        // One reference is the list's, one is ours.
        let part = match is_ours(last.bind(py), 2) {
            // SAFETY: it is ours.
            true => match unsafe { part.write_over(last.bind(py)) } {
                Ok(()) => return Ok(list.bind(py).clone()),
                Err(part) => part,
            },
            false => part,
        };
        let spare = self.spare.take().map(|spare| spare.into_bound(py)).filter(|spare| is_ours(spare, 1));
        let event = match spare {
            // SAFETY: it is ours.
            Some(spare) => match unsafe { part.write_over(&spare) } {
                Ok(()) => spare,
                Err(part) => part.into_event(py)?,
            },
            None => part.into_event(py)?,
        };
        list.bind(py).set_item(0, &event)?;
        self.spare = Some(std::mem::replace(last, event.unbind()));
        Ok(list.bind(py).clone())
    }
}

/// Whether only the parser refers to the list, and it contains the event and nothing else.
fn is_as_it_was(list: &Bound<'_, PyList>, event: &Py<PyAny>) -> bool {
    // SAFETY: the list has an item 0. The reference to it is borrowed, and no code runs before it is compared.
    is_ours(list, 1) && list.len() == 1 && unsafe { pyo3::ffi::PyList_GetItem(list.as_ptr(), 0) == event.as_ptr() }
}
