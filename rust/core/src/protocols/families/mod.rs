//! Native formats: a row of data for each, over a frame and a body; and calls without any markers.

pub mod hermes;
pub mod qwen3coder;
pub mod unmarked;
