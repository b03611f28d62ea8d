//! The list and the event of the last `feed`, used again where the caller has dropped them.
//!
//! Most deltas are one piece of text: one list with one event. Allocating and freeing both costs more than reading
//! the text. An object that only the parser refers to cannot be seen by anybody, so changing it is like making a new
//! one; CPython's own `zip` and `enumerate` do the same with their tuples. A caller's loop variable still holds the event
//! before, so the one before that is kept, too.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::events::{ArgumentsDelta, Text};
use crate::text::{LazyText, Slot};

/// A piece of text on its way to an event.
#[derive(Debug)]
pub enum Part {
    Text(Py<PyString>),
    Delta(usize, Py<PyString>),
}

impl Part {
    pub fn into_event(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
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
pub struct Recycler {
    list: Option<Py<PyList>>,
    spare: Option<Py<PyAny>>,
}

/// Does nobody but the one holder that we know of refer to the object?
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
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.list)?;
        visit.call(&self.spare)
    }

    /// A list with one event.
    pub fn list_of<'py>(&mut self, py: Python<'py>, part: Part) -> PyResult<Bound<'py, PyList>> {
        let Some(list) =
            self.list.as_ref().map(|list| list.bind(py)).filter(|list| is_ours(list, 1) && list.len() == 1)
        else {
            let list = PyList::new(py, [part.into_event(py)?])?;
            self.list = Some(list.clone().unbind());
            return Ok(list);
        };
        let last = list.get_item(0)?;
        // One reference is the list's, one is `last`.
        let part = match is_ours(&last, 2) {
            // SAFETY: it is ours.
            true => match unsafe { part.write_over(&last) } {
                Ok(()) => return Ok(list.clone()),
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
        list.set_item(0, event)?;
        self.spare = Some(last.unbind());
        Ok(list.clone())
    }
}
