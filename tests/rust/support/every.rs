//! What holds in every protocol is tried in each of them.

use std::thread;

use wirecall_core::protocols;

/// All protocols, and `auto`, which reads all of them.
pub(crate) fn with_auto() -> impl Iterator<Item = &'static str> {
    protocols().chain(["auto"])
}

/// Passes the names of [`with_auto`], and more, to a macro that makes a test of each: `make laws` runs such tests one by one. A
/// macro sees no values, so the names are written here, and nowhere else; `every_protocol_has_its_laws` compares them.
#[allow(unused_macros)]
macro_rules! each_protocol {
    ($tests:ident $(, $more:ident)*) => { $tests! { wire, hermes, gemma, xml, yaml, qwen3coder, auto $(, $more)* } };
}

/// Tries a law with each of these names, in a thread of that name: what a failure prints begins with the name, and no failure
/// hides another.
pub(crate) fn every(names: impl Iterator<Item = &'static str>, law: impl Fn(&'static str) + Sync) {
    let law = &law;
    let failed: Vec<&str> = thread::scope(|scope| {
        let run = |name: &'static str| thread::Builder::new().name(name.into()).spawn_scoped(scope, move || law(name));
        let runs: Vec<_> = names.map(|name| (name, run(name).expect("a thread can be started"))).collect();
        runs.into_iter().filter_map(|(name, run)| run.join().is_err().then_some(name)).collect()
    });
    assert!(failed.is_empty(), "it fails in {}", failed.join(", "));
}
