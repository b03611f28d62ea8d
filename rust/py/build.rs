//! Tells the crate which Python it is built for (`Py_GIL_DISABLED`), and its level of optimisation.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo::rustc-env=WIRECALL_OPT_LEVEL={level}");
}
