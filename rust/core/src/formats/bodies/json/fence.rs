//! A Markdown fence, which models put around JSON.

use crate::syntax::scan::{Scan, starts};

pub(crate) const FENCE: &str = "```";
/// Bytes of a fence's language.
const LANGUAGE_BYTES: usize = 16;

/// The length of the start of a fence, with its language, if the text begins with it.
pub(crate) fn fence_length(text: &str) -> Scan<usize> {
    starts(text, FENCE, false).and_then(|()| {
        let after = &text[FENCE.len()..];
        let language =
            after.bytes().take(LANGUAGE_BYTES).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        match language == after.len() && language < LANGUAGE_BYTES {
            true => Scan::Incomplete,
            false => Scan::Match(FENCE.len() + language),
        }
    })
}
