//! Templates with holes. Those of rows are split while the program is compiled; results are filled when they are written.
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

/// Divides a template at the hole with this name. `None` if it has none.
pub(crate) const fn divided(template: &'static str, name: &str) -> Option<Divided> {
    let mut from = 0;
    while let Some(at) = find(template, name, from) {
        let (before, rest) = template.split_at(at);
        let (_, rest) = rest.split_at(name.len());
        if let ([.., b'{'], [b'}' | b'|', ..], Some(end)) = (before.as_bytes(), rest.as_bytes(), find(rest, "}", 0)) {
            let (text, rest) = rest.split_at(end);
            let text = if text.is_empty() { text } else { text.split_at(1).1 };
            return Some(Divided { before: before.split_at(at - 1).0, text, after: rest.split_at(1).1 });
        }
        from = at + 1;
    }
    None
}

/// What is before and after a hole. Without the hole, all is before it.
pub(crate) const fn cut(template: &'static str, name: &str) -> (&'static str, &'static str) {
    match divided(template, name) {
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

/// The names of the holes in a template, in their order.
pub(crate) fn holes(template: &str) -> impl Iterator<Item = &str> {
    template.match_indices('{').filter_map(|(at, _)| {
        let inner = &template[at + 1..];
        let end = inner.find(|c: char| !(c.is_ascii_lowercase() || c == '_')).filter(|end| *end > 0)?;
        inner[end..].starts_with(['}', '|']).then_some(&inner[..end])
    })
}

/// Appends a text. Instead of each `{key}` in it, `value` appends something and returns true, if it knows the key.
pub(crate) fn fill(text: &str, out: &mut String, value: impl Fn(&str, &mut String) -> bool) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        rest = match after.split_once('}') {
            Some((key, behind)) if value(key, out) => behind,
            _ => {
                out.push('{');
                after
            }
        };
    }
    out.push_str(rest);
}

/// The markers in a text that a template writes: tags and tokens such as `<|end|>`, `</result>` or `[/TOOL_RESULTS]`. Of a tag that
/// contains more than its name, only the beginning.
pub(crate) fn markers(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.char_indices().filter_map(move |(at, c)| {
        let rest = &text[at..];
        match c {
            '<' => {
                let more = |c: char| c.is_ascii_whitespace() || matches!(c, '<' | '{');
                let end = rest[1..].find(|c| c == '>' || more(c))? + 1;
                let length = if rest[end..].starts_with('>') { end + 1 } else { end };
                (end > 1).then_some(&rest[..length])
            }
            '[' => {
                let end = rest.find(']')?;
                let name = rest[1..end].trim_start_matches('/');
                let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
                is_name.then_some(&rest[..=end])
            }
            _ => None,
        }
    })
}
