//! Formats that models were trained on.

pub mod bare;
pub mod hermes;
pub mod qwen3coder;
