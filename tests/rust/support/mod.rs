//! What the laws share: how many cases, toolsets, messages, schemas with their values, and one reading of a message.

pub mod checks;
pub mod messages;
pub mod reading;
pub mod schemas;
pub mod text;
pub mod toolsets;
pub mod xml;

use proptest::test_runner::Config;

/// As many cases as `WIRECALL_LAW_CASES` says, for each law.
pub fn config() -> Config {
    let cases = std::env::var("WIRECALL_LAW_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() }
}
