//! Native formats: one row of data for each, and calls without markers. A new format is a row here and a line in
//! [`registry`](super::registry).

pub mod hermes;
pub mod qwen3coder;
pub mod unmarked;
