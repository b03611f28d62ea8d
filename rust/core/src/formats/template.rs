//! Templates with holes, read while the program is compiled.
//!
//! A hole is `{NAME}` or `{NAME|TEXT}`; the text says what is written beside what fills it. Any other brace is literal.

/// Where a text begins in another one, from byte `at` on.
const fn find(text: &str, part: &str, mut at: usize) -> Option<usize> {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    while at + part.len() <= text.len() {
        let mut same = 0;
        while same < part.len() && text[at + same] == part[same] {
            same += 1;
        }
        if same == part.len() {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// A template, divided at a hole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divided {
    pub before: &'static str,
    /// The text in the hole.
    pub text: &'static str,
    pub after: &'static str,
}

/// Divides a template at the hole that begins with `{name` or `{name|`. `None` if it has none.
pub(crate) const fn divided(template: &'static str, hole: &str) -> Option<Divided> {
    let Some(at) = find(template, hole, 0) else { return None };
    let (before, rest) = template.split_at(at);
    let (_, rest) = rest.split_at(hole.len());
    let Some(end) = find(rest, "}", 0) else { return None };
    let (text, rest) = rest.split_at(end);
    let text = if let [b'|', ..] = text.as_bytes() { text.split_at(1).1 } else { text };
    Some(Divided { before, text, after: rest.split_at(1).1 })
}

/// What is before and after a hole. Without the hole, all is before it.
pub(crate) const fn cut(template: &'static str, hole: &str) -> (&'static str, &'static str) {
    match divided(template, hole) {
        Some(found) => (found.before, found.after),
        None => (template, ""),
    }
}

/// A text and the whitespace around it. Whitespace alone is after an empty text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spaced {
    pub before: &'static str,
    pub text: &'static str,
    pub after: &'static str,
}

pub(crate) const fn spaced(text: &'static str) -> Spaced {
    let bytes = text.as_bytes();
    let (mut begin, mut end) = (0, bytes.len());
    while end > 0 && bytes[end - 1].is_ascii_whitespace() {
        end -= 1;
    }
    while begin < end && bytes[begin].is_ascii_whitespace() {
        begin += 1;
    }
    let (text, after) = text.split_at(end);
    let (before, text) = text.split_at(begin);
    Spaced { before, text, after }
}

/// Splits a text before its second `<`.
pub(crate) const fn tags(text: &'static str) -> (&'static str, &'static str) {
    match find(text, "<", 1) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    }
}

/// Splits what precedes the value of an attribute, `<tag key="`: what is before the key, and the key.
pub(crate) const fn attribute(text: &'static str) -> (&'static str, &'static str) {
    let mut at = text.len();
    while at > 0 && text.as_bytes()[at - 1] != b' ' {
        at -= 1;
    }
    let (before, key) = text.split_at(at);
    match find(key, "=", 0) {
        Some(end) => (before, key.split_at(end).0),
        None => (before, key),
    }
}
