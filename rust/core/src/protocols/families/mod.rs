//! Native formats: one row of data for each, and calls without markers. A new format is a row here and a line in
//! [`registry`](super::registry).

pub(crate) mod deepseek;
pub(crate) mod deepseek_v3;
pub(crate) mod functiongemma;
pub(crate) mod gemma4;
pub(crate) mod glm;
pub(crate) mod harmony;
pub(crate) mod hermes;
pub(crate) mod kimi_k2;
pub(crate) mod kimi_k3;
pub(crate) mod lfm2;
pub(crate) mod llama_json;
pub(crate) mod llama_pythonic;
pub(crate) mod minimax_m3;
pub(crate) mod mistral;
pub(crate) mod olmo3;
pub(crate) mod qwen3coder;
pub(crate) mod unmarked;
