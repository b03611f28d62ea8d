//! What events hold: text that may become a `str` later, and a place whose content can be replaced.

use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use crate::ids::Ids;

/// A `str`, or a text that becomes one on first access.
pub enum LazyText {
    Made(Py<PyString>),
    Later { of: Source, made: PyOnceLock<Py<PyString>> },
}

pub enum Source {
    Own(Mutex<String>),
    /// These bytes of a message.
    Part(Py<PyString>, Range<usize>),
    /// The id of the call with this index.
    Id(Ids, usize),
}

/// Texts of at least this many bytes become a `str` only on first access. For shorter ones, that would cost more.
const LAZY_BYTES: usize = 4096;

impl LazyText {
    pub fn owned(py: Python<'_>, text: String) -> Self {
        if text.len() < LAZY_BYTES {
            return LazyText::Made(PyString::new(py, &text).unbind());
        }
        LazyText::Later { of: Source::Own(Mutex::new(text)), made: PyOnceLock::new() }
    }

    pub fn part(message: Py<PyString>, bytes: Range<usize>) -> Self {
        LazyText::Later { of: Source::Part(message, bytes), made: PyOnceLock::new() }
    }

    pub fn id(ids: Ids, index: usize) -> Self {
        LazyText::Later { of: Source::Id(ids, index), made: PyOnceLock::new() }
    }

    pub fn get(&self, py: Python<'_>) -> &Py<PyString> {
        match self {
            LazyText::Made(text) => text,
            LazyText::Later { of, made } => made.get_or_init(py, || {
                match of {
                    Source::Own(text) => {
                        let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
                        let made = PyString::new(py, &text);
                        // Only after the `str` exists: making it can fail when memory is short, and may then be tried again.
                        *text = String::new();
                        made.unbind()
                    }
                    // It was read from there, so it is there.
                    Source::Part(message, bytes) => {
                        let text = message.to_str(py).unwrap_or_default();
                        PyString::new(py, text.get(bytes.clone()).unwrap_or_default()).unbind()
                    }
                    Source::Id(ids, index) => ids.id(py, *index),
                }
            }),
        }
    }
}

impl std::fmt::Debug for LazyText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LazyText")
    }
}

/// What an event holds. Only the recycler may replace it, while it has the only reference to the event.
#[derive(Debug)]
pub struct Slot<T>(UnsafeCell<T>);

// SAFETY: it is only read through shared references, except in `replace`, whose caller has the only reference.
unsafe impl<T: Sync> Sync for Slot<T> {}

impl<T> Slot<T> {
    pub fn new(value: T) -> Self {
        Slot(UnsafeCell::new(value))
    }

    pub fn get(&self) -> &T {
        // SAFETY: the value is not replaced while it is read, which `replace` requires of its caller.
        unsafe { &*self.0.get() }
    }

    /// Puts a value into the place of another, which it returns.
    ///
    /// # Safety
    ///
    /// No reference that [`Slot::get`] gave is alive, and no other thread can reach the slot before this returns.
    pub unsafe fn replace(&self, value: T) -> T {
        // SAFETY: the caller's promise.
        unsafe { std::mem::replace(&mut *self.0.get(), value) }
    }
}
