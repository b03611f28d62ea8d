//! What holds in every protocol is tried in each of them. Families of native formats are rows of data, so that they share their
//! laws (`families.rs`); the protocols that others read as repairs have laws and tokens of their own as well.

use std::thread;

use wirecall_core::{NativeFormat, native_formats};

/// Passes the names of [`with_auto`], and more, to a macro that makes a test of each: `make laws` runs such tests one by one. A
/// macro sees no values, so the names are written here, and nowhere else; `every_protocol_has_its_laws` compares them.
macro_rules! each_protocol {
    ($tests:ident $(, $more:ident)*) => { $tests! { wire, hermes, gemma, xml, yaml, qwen3coder, auto $(, $more)* } };
}

/// The protocols with laws of their own, and `auto`, which reads all of them.
pub(crate) fn with_auto() -> impl Iterator<Item = &'static str> {
    macro_rules! names {
        ($($protocol:ident),*) => { [$(stringify!($protocol)),*] };
    }
    each_protocol!(names).into_iter()
}

/// The same without `auto`.
pub(crate) fn with_laws() -> impl Iterator<Item = &'static str> {
    with_auto().filter(|name| *name != "auto")
}

/// All protocols, all native formats, and `auto`.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    with_laws().chain(families().filter(|name| !with_laws().any(|known| known == *name))).chain(["auto"])
}

/// Protocols that are only for prompting.
pub(crate) const PROMPTED: [&str; 4] = ["wire", "gemma", "xml", "yaml"];

/// The native formats: every row of the registry.
pub(crate) fn families() -> impl Iterator<Item = &'static str> {
    native_formats().map(|format| format.name)
}

/// What is known of a native format.
pub(crate) fn format_of(row: &str) -> NativeFormat {
    native_formats().find(|format| format.name == row).expect("it is a native format")
}

/// Whether calls of a list end together, so that several calls are open at once.
pub(crate) fn has_lists(protocol: &str) -> bool {
    native_formats().any(|format| format.name == protocol && format.lists)
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
