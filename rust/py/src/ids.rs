//! Ids of calls: `call_` and 24 random letters and digits.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use pyo3::prelude::*;
use pyo3::types::PyString;

/// The ids of one message's calls. They come from one random seed, so an id costs nothing until it is asked for; the
/// seed is the operating system's, so forked processes do not repeat each other.
#[derive(Clone, Copy, Debug)]
pub struct Ids(u64);

/// One step of SplitMix64 (Steele, Lea, Flood 2014): every bit of the result depends on every bit of the state.
fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Without the system's randomness, time, process and a count are as good as it gets: seeds differ, but can be guessed.
fn without_randomness() -> u64 {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let mut hasher = DefaultHasher::new();
    (SystemTime::now(), std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)).hash(&mut hasher);
    hasher.finish()
}

impl Ids {
    pub fn new() -> Self {
        let mut seed = [0; 8];
        match getrandom::fill(&mut seed) {
            Ok(()) => Ids(u64::from_ne_bytes(seed)),
            Err(_) => Ids(without_randomness()),
        }
    }

    /// Those of the message with this number, for many messages from one seed.
    pub fn of_message(self, number: usize) -> Self {
        Ids(mix(self.0 ^ mix(number as u64)))
    }

    /// The id of the call with this index.
    pub fn id(self, py: Python<'_>, index: usize) -> Py<PyString> {
        const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let mut id = *b"call_........................";
        let mut state = mix(self.0 ^ mix(index as u64));
        for part in id[5..].chunks_exact_mut(8) {
            state = mix(state);
            let mut random = state;
            // 62^8 is far below 2^64, so the first of eight digits is as even as the last.
            for place in part {
                *place = ALPHABET[(random % 62) as usize];
                random /= 62;
            }
        }
        PyString::new(py, str::from_utf8(&id).unwrap_or_default()).unbind()
    }
}
