//! Native formats: one row of data for each. A new format is a file here and two lines in this one.

pub(crate) mod apertus;
pub(crate) mod apriel;
pub(crate) mod beam;
pub(crate) mod cohere;
pub(crate) mod command_r_plus;
pub(crate) mod deepseek;
pub(crate) mod deepseek_v3;
pub(crate) mod dots;
pub(crate) mod ernie_4_5;
pub(crate) mod firefunction_v2;
pub(crate) mod functionary_v3_1;
pub(crate) mod functionary_v3_2;
pub(crate) mod functiongemma;
pub(crate) mod gemma4;
pub(crate) mod gigachat3;
pub(crate) mod glm;
pub(crate) mod granite_20b_fc;
pub(crate) mod granite_3;
pub(crate) mod harmony;
pub(crate) mod hermes;
pub(crate) mod hunyuan_a13b;
pub(crate) mod hy3;
pub(crate) mod inkling;
pub(crate) mod internlm2;
pub(crate) mod jamba;
pub(crate) mod k2_horizon;
pub(crate) mod kimi_k2;
pub(crate) mod kimi_k3;
pub(crate) mod laguna;
pub(crate) mod lfm2;
pub(crate) mod llama_json;
pub(crate) mod llama_pythonic;
pub(crate) mod longcat;
pub(crate) mod mimo;
pub(crate) mod minicpm5;
pub(crate) mod minimax_m1;
pub(crate) mod minimax_m2;
pub(crate) mod minimax_m3;
pub(crate) mod mistral;
pub(crate) mod muse;
pub(crate) mod nemotron_nano_v2;
pub(crate) mod olmo3;
pub(crate) mod phi_4_mini;
pub(crate) mod plamo3;
mod prelude;
pub(crate) mod qwen3coder;
pub(crate) mod sarashina;
pub(crate) mod seed_oss;
pub(crate) mod shared_marks;
pub(crate) mod solar_open;
pub(crate) mod step3;
pub(crate) mod xlam;

use super::spec::Row;

/// The native formats that are read by other protocols only if they are named.
pub(crate) const ROWS: &[&[Row]] = &[
    apertus::ROWS,
    apriel::ROWS,
    beam::ROWS,
    cohere::ROWS,
    command_r_plus::ROWS,
    deepseek::ROWS,
    deepseek_v3::ROWS,
    dots::ROWS,
    ernie_4_5::ROWS,
    firefunction_v2::ROWS,
    functionary_v3_1::ROWS,
    functionary_v3_2::ROWS,
    functiongemma::ROWS,
    gemma4::ROWS,
    gigachat3::ROWS,
    glm::ROWS,
    granite_20b_fc::ROWS,
    granite_3::ROWS,
    harmony::ROWS,
    hermes::ROWS,
    hunyuan_a13b::ROWS,
    hy3::ROWS,
    inkling::ROWS,
    internlm2::ROWS,
    jamba::ROWS,
    k2_horizon::ROWS,
    kimi_k2::ROWS,
    kimi_k3::ROWS,
    laguna::ROWS,
    lfm2::ROWS,
    llama_json::ROWS,
    llama_pythonic::ROWS,
    longcat::ROWS,
    mimo::ROWS,
    minicpm5::ROWS,
    minimax_m1::ROWS,
    minimax_m2::ROWS,
    minimax_m3::ROWS,
    mistral::ROWS,
    muse::ROWS,
    nemotron_nano_v2::ROWS,
    olmo3::ROWS,
    phi_4_mini::ROWS,
    plamo3::ROWS,
    qwen3coder::ROWS,
    sarashina::ROWS,
    seed_oss::ROWS,
    solar_open::ROWS,
    step3::ROWS,
    xlam::ROWS,
];
