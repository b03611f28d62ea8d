//! Native formats: one row of data for each, and calls without markers.

pub mod hermes;
pub mod qwen3coder;
pub mod unmarked;
