//! A value that one thread or call uses at a time. Others are refused meanwhile.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::Python;

/// Like a mutex that is never waited for. Under the GIL, taking it needs no locked instruction, which would cost as much as
/// reading a delta.
#[derive(Debug, Default)]
pub(crate) struct Exclusive<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through a `Taken` only, of which there is at most one at a time: see `take`.
unsafe impl<T: Send> Sync for Exclusive<T> {}

/// Access to the value, until it is dropped. It stays with the thread that took it: another thread might return it without
/// the GIL, and sharing it would share a value that need not be `Sync`.
#[derive(Debug)]
pub(crate) struct Taken<'a, T>(&'a Exclusive<T>, PhantomData<*mut T>);

impl<T> Exclusive<T> {
    pub(crate) fn new(value: T) -> Self {
        Exclusive { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// The value, unless it is taken.
    #[inline]
    pub(crate) fn take(&self, _: Python<'_>) -> Option<Taken<'_, T>> {
        // With the GIL, which the token proves, no other thread runs between the load and the store. A thread that took it and
        // released the GIL has stored that, and the GIL's handover orders that store before this load.
        let taken = if cfg!(Py_GIL_DISABLED) {
            self.taken.swap(true, Ordering::Acquire)
        } else {
            let taken = self.taken.load(Ordering::Relaxed);
            self.taken.store(true, Ordering::Relaxed);
            taken
        };
        (!taken).then(|| Taken(self, PhantomData))
    }
}

impl<T> Drop for Taken<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::Release);
    }
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this is the only `Taken`.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the only `Taken`.
        unsafe { &mut *self.0.value.get() }
    }
}
