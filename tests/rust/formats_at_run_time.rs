//! Formats as descriptions: every built-in format is written, read, and the same.

use wirecall_core::{Format, native_formats, protocols};

/// Every name, aliases included.
fn names() -> Vec<String> {
    let native = native_formats().flat_map(|format| [format.name].into_iter().chain(format.aliases.iter().copied()));
    protocols().chain(native).map(str::to_owned).collect()
}

#[test]
fn a_built_in_format_is_the_same_after_it_is_written_and_read() {
    for name in names() {
        let format = Format::built_in(&name).expect("a name");
        // With whitespace it is another text, so it is read.
        let read = Format::new(&format!(" {}", format.to_json()))
            .unwrap_or_else(|error| panic!("{name}: {error}\n{}", format.to_json()));
        assert_eq!(read.to_json(), format.to_json(), "{name}");
        assert_eq!(read.data(), format.data(), "{name}: {}", format.to_json());
    }
}
