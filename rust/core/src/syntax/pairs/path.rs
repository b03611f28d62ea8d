//! Where a value is, as a key would be written.

use std::sync::LazyLock;

use super::push_segment;
use crate::syntax::scan::Delimiters;

/// A member's path, as a key would be written.
pub fn join(path: &str, name: &str) -> String {
    let mut out = String::from(path);
    push_join(&mut out, name);
    out
}

pub fn push_join(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    static DEFAULT: LazyLock<Delimiters> = LazyLock::new(Delimiters::default);
    push_segment(path, name, &DEFAULT);
}
