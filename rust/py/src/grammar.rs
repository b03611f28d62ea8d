//! Grammars, as Python gets them.

use pyo3::prelude::*;
use wirecall_core::{GrammarKind, ToolChoice, Toolset};

use crate::errors;
use crate::options::one_of;

/// The text, and for each demand that it does not enforce the tool, the field and the keyword.
pub(crate) type WrittenGrammar = (String, Vec<(String, String, &'static str)>);

/// Writes the grammar of this kind. A `tool_choice` that is no mode is the name of a tool.
pub(crate) fn write(
    py: Python<'_>,
    tools: &Toolset,
    kind: &str,
    tool_choice: &str,
    parallel: bool,
    longest: Option<usize>,
) -> PyResult<WrittenGrammar> {
    let kinds = [
        ("gbnf", GrammarKind::Gbnf),
        ("ebnf", GrammarKind::Ebnf),
        ("structural_tag", GrammarKind::StructuralTag),
        ("lark", GrammarKind::Lark),
    ];
    let kind = one_of("kind", kind, &kinds)?;
    let choice = match tool_choice {
        "auto" => ToolChoice::Auto,
        "required" => ToolChoice::Required,
        "none" => ToolChoice::None,
        tool => ToolChoice::Named(tool.to_owned()),
    };
    let grammar = py.detach(|| tools.grammar(kind, &choice, parallel, longest));
    let grammar = grammar.map_err(|error| errors::tool_error(py, &error))?;
    Ok((grammar.text, grammar.unconstrained.into_iter().map(|one| (one.tool, one.field, one.keyword)).collect()))
}
