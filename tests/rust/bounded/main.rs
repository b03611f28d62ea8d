//! Hostile input: nothing panics, every limit gives its error, work and memory grow with the message and no faster.
//!
//! What a reading allocates in total is counted. Only `linear` and some schemas read a clock: scanning again allocates nothing.

mod counting;
mod envelopes;
#[allow(dead_code)]
#[path = "../support/every.rs"]
mod every;
mod hermes;
mod linear;
mod named;
mod nested;
mod notation;
mod qwen3coder;
mod schemas;
mod tagged;
mod wire;
mod xml;
mod yaml;
