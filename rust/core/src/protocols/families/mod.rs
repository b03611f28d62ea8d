//! Native formats: one row of data for each, and calls without markers. A new format is a row here and a line in
//! [`registry`](super::registry).

pub(crate) mod apertus;
pub(crate) mod cohere;
pub(crate) mod deepseek;
pub(crate) mod deepseek_v3;
pub(crate) mod firefunction_v2;
pub(crate) mod functionary_v3_1;
pub(crate) mod functionary_v3_2;
pub(crate) mod gemma4;
pub(crate) mod gigachat3;
pub(crate) mod glm;
pub(crate) mod granite_20b_fc;
pub(crate) mod harmony;
pub(crate) mod hermes;
pub(crate) mod hy3;
pub(crate) mod internlm2;
pub(crate) mod jamba;
pub(crate) mod kimi_k2;
pub(crate) mod kimi_k3;
pub(crate) mod laguna;
pub(crate) mod llama_json;
pub(crate) mod llama_pythonic;
pub(crate) mod longcat;
pub(crate) mod minicpm5;
pub(crate) mod minimax_m1;
pub(crate) mod minimax_m2;
pub(crate) mod mistral;
pub(crate) mod muse;
pub(crate) mod nemotron_nano_v2;
pub(crate) mod phi_4_mini;
pub(crate) mod plamo3;
pub(crate) mod qwen3coder;
pub(crate) mod seed_oss;
pub(crate) mod solar_open;
pub(crate) mod unmarked;
pub(crate) mod xlam;
