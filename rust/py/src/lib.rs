//! The Python module `wirecall._core`: the core's types as Python sees them, and nothing else.

mod convert;
mod errors;
#[allow(non_upper_case_globals)]
mod events;
mod exclusive;
mod format;
mod grammar;
mod ids;
mod json;
mod message;
mod options;
mod parallel;
mod parser;
#[allow(non_upper_case_globals)]
mod plan;
mod protocol;
mod recycle;
mod text;
mod toolset;
mod xml;

/// The compiled part of `wirecall`.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::events::{ArgumentsDelta, CallEnd, CallError, CallStart, Problem, Reasoning, Text};
    #[pymodule_export]
    use crate::format::Format;
    #[pymodule_export]
    use crate::json::loads;
    #[pymodule_export]
    use crate::message::Message;
    #[pymodule_export]
    use crate::parser::Parser;
    #[pymodule_export]
    use crate::plan::{Field, Plan};
    #[pymodule_export]
    use crate::toolset::Toolset;
    #[pymodule_export]
    use crate::xml::{XmlParser, format_xml};

    use pyo3::prelude::*;
    use pyo3::types::PyDict;

    /// What a host or a server must know about each native format: `name`, `aliases`, `call` and `section`
    /// (what opens and closes them), `reasoning` (such pairs), `starts_in_reasoning`, `reasoning_prompt` (the end
    /// of a prompt that opens reasoning, as the official template writes it, or None), `reasoning_ends` (what
    /// closes reasoning: one of these), `special_tokens` (whether the markers are special tokens), `stops`,
    /// `lists` (whether calls are in one list), `whole_messages` (whether messages are divided into parts, or a
    /// call may be a whole message), `models` (patterns of names, source, words of chat models) and the marks of
    /// `chat_templates` and of `response_templates` (has, lacks, prompt, prompt_lacks).
    #[pyfunction]
    fn native_formats(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
        wirecall_core::native_formats().map(|format| crate::format::native_format(py, format)).collect()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let protocols: Vec<&str> = wirecall_core::protocols().collect();
        module.add("PROTOCOLS", pyo3::types::PyTuple::new(module.py(), protocols)?)?;
        let families: Vec<&str> = wirecall_core::native_formats().map(|format| format.name).collect();
        module.add("FAMILIES", pyo3::types::PyTuple::new(module.py(), families)?)?;
        module.add("OPT_LEVEL", env!("WIRECALL_OPT_LEVEL"))
    }
}
