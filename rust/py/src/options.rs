//! Options of toolsets: their values, checked.

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};
use wirecall_core as core;

use crate::errors;

/// The value of an option's choice.
pub(crate) fn one_of<T: Copy>(option: &str, given: &str, choices: &[(&str, T)]) -> PyResult<T> {
    choices.iter().find(|(name, _)| *name == given).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
        PyValueError::new_err(format!("{option} is {given:?}; it must be one of {}", names.join(", ")))
    })
}

/// The values of `unknown_tools`.
pub(crate) const UNKNOWN_TOOLS: [(&str, core::UnknownTools); 4] = [
    ("auto", core::UnknownTools::Auto),
    ("error", core::UnknownTools::Error),
    ("forward", core::UnknownTools::Forward),
    ("text", core::UnknownTools::Text),
];

/// A tool's name, description, parameters as JSON, and whether it is strict.
pub(crate) type GivenTool = (String, Option<String>, String, bool);

pub(crate) fn definition((name, description, parameters, strict): GivenTool) -> core::Definition {
    let mut definition = core::Definition::new(name, parameters);
    definition.description = description;
    definition.strict = strict;
    definition
}

pub(crate) fn limits(py: Python<'_>, given: Option<HashMap<String, Bound<'_, PyAny>>>) -> PyResult<core::Limits> {
    let mut limits = core::Limits::default();
    for (name, value) in given.unwrap_or_default() {
        let place = match name.as_str() {
            "call_bytes" => &mut limits.call_bytes,
            "depth" => &mut limits.depth,
            "calls" => &mut limits.calls,
            "key_segments" => &mut limits.key_segments,
            _ => {
                let known = ["call_bytes", "depth", "calls", "key_segments"];
                let message =
                    py.import("wirecall._tools.option_types")?.call_method1("unknown", (name, known, "limit"))?;
                return Err(PyValueError::new_err(message.unbind()));
            }
        };
        // In Python, a bool is an int, but True is never meant as a limit.
        if !value.is_instance_of::<PyInt>() || value.is_instance_of::<PyBool>() {
            return Err(errors::wrong_type(&format!("the limit {name} must be an int"), &value));
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

/// `recover`: all formats or none, or the names of some.
#[derive(FromPyObject)]
pub(crate) enum Recover {
    All(bool),
    Named(Vec<String>),
}

/// `reasoning`: its mode, or its tags, or both.
#[derive(FromPyObject)]
pub(crate) enum Reasoning {
    Mode(String),
    Tags((String, String)),
    Both((String, String, String)),
}

impl Reasoning {
    /// The tags, and whether reasoning is separated from the text.
    pub(crate) fn options(given: Option<Reasoning>) -> PyResult<(core::ReasoningTags, Option<bool>)> {
        let (tags, mode) = match given {
            None => return Ok((core::ReasoningTags::None, None)),
            Some(Reasoning::Mode(mode)) => (None, mode),
            Some(Reasoning::Tags(tags)) => (Some(tags), "auto".to_owned()),
            Some(Reasoning::Both((open, close, mode))) => (Some((open, close)), mode),
        };
        let modes = [("auto", None), ("content", Some(false)), ("separate", Some(true))];
        let separate = one_of("reasoning", &mode, &modes)?;
        if tags.as_ref().is_some_and(|(open, close)| open.is_empty() || close.is_empty()) {
            return Err(PyValueError::new_err("a reasoning tag is empty; use reasoning=None to turn reasoning off"));
        }
        let own = core::ReasoningTags::Own;
        Ok((tags.map_or(own, |(open, close)| core::ReasoningTags::Tags(open, close)), separate))
    }
}
