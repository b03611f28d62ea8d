//! Hostile input: nothing panics, every limit gives its error, work and memory grow with the message and no faster.
//!
//! No clock is read. What would be quadratic here would take minutes, and what a reading allocates in total is counted.

mod counting;
mod hermes;
mod qwen3coder;
mod schemas;
mod wire;
mod xml;
mod yaml;
