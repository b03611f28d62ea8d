//! What the laws share: how many cases, toolsets, messages, schemas with their values, and one reading of a message.

pub(crate) mod checks;
#[macro_use]
pub(crate) mod every;
pub(crate) mod messages;
pub(crate) mod plain;
pub(crate) mod reading;
pub(crate) mod rows;
pub(crate) mod schemas;
pub(crate) mod text;
pub(crate) mod toolsets;
pub(crate) mod xml;

use proptest::test_runner::{Config, RngSeed};

fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// For a law that is tried once: with `WIRECALL_LAW_CASES` cases. The seed is fixed, so that no run fails by chance, unless
/// `WIRECALL_LAW_SEED` gives another: `make laws` does.
pub(crate) fn config() -> Config {
    shared(1)
}

/// For a law that is tried in so many protocols, each by itself: they share the cases, unless `WIRECALL_LAW_EACH` says how
/// many each of them gets.
pub(crate) fn shared(protocols: usize) -> Config {
    let cases = number("WIRECALL_LAW_CASES").unwrap_or(10_000_usize).div_ceil(protocols);
    Config {
        cases: number("WIRECALL_LAW_EACH").unwrap_or(u32::try_from(cases).expect("fewer than 2^32 cases")),
        rng_seed: RngSeed::Fixed(number("WIRECALL_LAW_SEED").unwrap_or(0)),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    }
}
