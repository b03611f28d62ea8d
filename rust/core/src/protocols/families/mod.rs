//! Native formats: one row of data for each, and calls without markers. A new format is a row here and a line in
//! [`registry`](super::registry).

pub(crate) mod gemma4;
pub(crate) mod harmony;
pub(crate) mod hermes;
pub(crate) mod llama_pythonic;
pub(crate) mod qwen3coder;
pub(crate) mod unmarked;
