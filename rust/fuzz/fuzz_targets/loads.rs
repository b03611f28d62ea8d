//! A JSON text is read in strict mode exactly if serde_json reads it, and to the same value; in relaxed mode too, if in strict;
//! and in a tolerant one always, without warnings exactly if there was no error. Of what is read, every beginning is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value as Json;
use wirecall_core::{Duplicates, LoadOptions, Value, loads};

fn written(value: &Value<'_>) -> String {
    let mut out = String::new();
    value.write(&mut out);
    out
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for duplicates in [Duplicates::Error, Duplicates::First, Duplicates::Last] {
        let (mut relaxed, mut strict) = (LoadOptions::RELAXED, LoadOptions::STRICT);
        (relaxed.duplicates, strict.duplicates) = (duplicates, duplicates);
        let found = [loads(text, &strict, None), loads(text, &relaxed, None)];
        if found[0].is_ok() {
            assert_eq!(found[0], found[1]);
        }
        if duplicates == Duplicates::Last {
            match (&found[0], serde_json::from_str::<Json>(text)) {
                (Ok(value), Ok(expected)) => assert_eq!(written(value).parse::<Json>().ok(), Some(expected)),
                // Lone surrogates are U+FFFD for us; it takes 127 levels, we take more.
                (Ok(_), Err(error)) => {
                    assert!(text.contains("\\u") || error.to_string().contains("recursion"), "{error}")
                }
                (Err(fault), Ok(_)) => assert!(fault.message.contains("float"), "{fault:?}"),
                (Err(_), Err(_)) => {}
            }
        }
        for (options, found) in [strict, relaxed].iter().zip(&found) {
            let mut warnings = Vec::new();
            match loads(text, options, Some(&mut warnings)) {
                Ok(value) => {
                    assert_eq!(warnings.is_empty(), found.is_ok(), "{warnings:?}");
                    assert!(found.is_err() || found.as_ref() == Ok(&value));
                }
                Err(fault) => assert!(fault.message.contains("levels deep"), "{fault:?}"),
            }
            let mut partial = *options;
            partial.partial = true;
            // Every beginning of a long text would be quadratic.
            let ends = (0..=text.len()).filter(|end| text.is_char_boundary(*end) && (*end < 64 || *end == text.len()));
            for end in ends.filter(|_| found.is_ok()) {
                assert!(loads(&text[..end], &partial, None).is_ok(), "{:?}", &text[..end]);
            }
        }
    }
});
