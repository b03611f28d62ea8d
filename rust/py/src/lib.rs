//! The Python module `wirecall._core`.
use pyo3::prelude::*;

/// The compiled part of `wirecall`.
#[pymodule(gil_used = false)]
mod _core {}
