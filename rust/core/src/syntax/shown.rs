//! How paths and texts are shown in messages.

use std::sync::LazyLock;

use super::pairs::push_segment;
use super::scan::Delimiters;

/// The path of a member, written like a key.
pub(crate) fn join(path: &str, name: &str) -> String {
    let mut out = String::from(path);
    push_join(&mut out, name);
    out
}

pub(crate) fn push_join(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    static DEFAULT: LazyLock<Delimiters> = LazyLock::new(Delimiters::default);
    push_segment(path, name, &DEFAULT);
}

/// The beginning of a text that may be long, quoted for a sentence.
pub(crate) fn shorten(text: &str) -> String {
    shorten_to(text, 60)
}

/// [`shorten`] with a limit of `chars` characters.
pub(crate) fn shorten_to(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("`{}…`", &text[..at]),
        None => format!("`{text}`"),
    }
}
