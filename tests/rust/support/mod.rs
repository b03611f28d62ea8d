//! What the laws share: how many cases, toolsets, messages, schemas with their values, and one reading of a message.

pub mod messages;
pub mod protocols;
pub mod reading;
pub mod schemas;
pub mod text;
pub mod toolsets;
pub mod xml;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

/// As many cases as `WIRECALL_LAW_CASES` says, for each law.
pub fn config() -> Config {
    let cases = std::env::var("WIRECALL_LAW_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() }
}

/// Tries a law with as many values.
pub fn hold<S: Strategy>(values: S, law: impl Fn(S::Value) -> TestCaseResult) {
    if let Err(failure) = TestRunner::new(config()).run(&values, law) {
        panic!("{failure}");
    }
}
