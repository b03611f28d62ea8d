//! The Python module `wirecall._core`: the core's types as Python sees them, and nothing else.

mod convert;
mod errors;
#[allow(non_upper_case_globals)]
mod events;
mod exclusive;
mod ids;
mod json;
mod message;
mod parser;
mod protocol;
mod recycle;
mod text;
#[allow(non_upper_case_globals)]
mod toolset;
mod xml;

/// The compiled part of `wirecall`.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::events::{ArgumentsDelta, CallEnd, CallError, CallStart, Problem, Reasoning, Text};
    #[pymodule_export]
    use crate::json::loads;
    #[pymodule_export]
    use crate::message::Message;
    #[pymodule_export]
    use crate::parser::Parser;
    #[pymodule_export]
    use crate::toolset::{Field, Plan, Toolset};
    #[pymodule_export]
    use crate::xml::{XmlParser, format_xml};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let protocols: Vec<&str> = wirecall_core::protocols().collect();
        module.add("PROTOCOLS", pyo3::types::PyTuple::new(module.py(), protocols)?)
    }
}
