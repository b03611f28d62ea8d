//! Native formats: one row of data for each, and calls without markers. A new format is a row here and a line in
//! [`registry`](super::registry).

pub(crate) mod apertus;
pub(crate) mod apriel_1_5;
pub(crate) mod apriel_1_6;
pub(crate) mod deepseek;
pub(crate) mod deepseek_v3;
pub(crate) mod ernie_4_5;
pub(crate) mod firefunction_v2;
pub(crate) mod gemma4;
pub(crate) mod glm;
pub(crate) mod granite_20b_fc;
pub(crate) mod granite_3;
pub(crate) mod harmony;
pub(crate) mod hermes;
pub(crate) mod hunyuan_a13b;
pub(crate) mod internlm2;
pub(crate) mod jamba;
pub(crate) mod kimi_k2;
pub(crate) mod kimi_k3;
pub(crate) mod llama_json;
pub(crate) mod llama_pythonic;
pub(crate) mod longcat;
pub(crate) mod minimax_m1;
pub(crate) mod mistral;
pub(crate) mod nemotron_nano_v2;
pub(crate) mod phi_4_mini;
pub(crate) mod qwen3coder;
pub(crate) mod unmarked;
pub(crate) mod xlam;
