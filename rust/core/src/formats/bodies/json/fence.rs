//! A Markdown fence, which models put around JSON.

use crate::syntax::scan::{Scan, starts};

pub(super) const FENCE: &str = "```";
/// Bytes of a fence's language.
const LANGUAGE_BYTES: usize = 16;

/// The length of the start of a fence, with its language, if the text begins with it.
pub(super) fn fence_length(text: &str) -> Scan<usize> {
    starts(text, FENCE, false).and_then(|()| {
        let after = &text[FENCE.len()..];
        let language = after.bytes().take(LANGUAGE_BYTES).take_while(u8::is_ascii_alphanumeric).count();
        match language == after.len() && language < LANGUAGE_BYTES {
            true => Scan::Incomplete,
            false => Scan::Match(FENCE.len() + language),
        }
    })
}
