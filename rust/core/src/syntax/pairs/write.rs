//! Writes strings as the lexer of pairs reads them: bare or in quotes.

use crate::syntax::json::unicode_escape;
use crate::syntax::scan::Delimiters;

/// What models write instead of a quote at the start of a value: fences, entities, a here-document. They are not read
/// as quotes.
pub(crate) const LIKE_QUOTES: [&str; 8] = ["```", "&quot;", "&#34;", "&apos;", "&#39;", "<<", "\\\"", "\\'"];

/// What no bare word that is written begins with: brackets, typographic quotes, and the beginnings of [`LIKE_QUOTES`] that a bare word
/// may contain. A grammar can say this with one character.
pub(crate) const NOT_BARE_FIRST: &str = "[{“‘&`";

/// Whether the lexer reads the bare text as this text. Its type depends on coercion.
pub(crate) fn is_bare_safe(text: &str, delimiters: &Delimiters) -> bool {
    !text.is_empty()
        && !text.starts_with(|c| NOT_BARE_FIRST.contains(c))
        && !text.ends_with([',', ';'])
        && delimiters.are_bare(text)
}

/// Bytes that need no escape in either kind of quotes. 0xC2 begins the control characters beyond ASCII, among others.
static SIMPLE: [bool; 256] = {
    let mut table = [true; 256];
    let mut at = 0;
    while at < 256 {
        table[at] = !(at < 0x20 || matches!(at as u8, b'"' | b'\'' | b'\\' | 0x7F | 0xC2));
        at += 1;
    }
    table
};

/// Appends the text in the kind of quotes that needs fewer escapes; in double quotes if both need the same.
pub(crate) fn push_quoted(out: &mut String, text: &str) {
    if text.bytes().all(|byte| SIMPLE[byte as usize]) {
        out.reserve(text.len() + 2);
        out.push('"');
        out.push_str(text);
        out.push('"');
        return;
    }
    let count = |quote: u8| memchr::memchr_iter(quote, text.as_bytes()).count();
    let quote = if count(b'"') <= count(b'\'') { '"' } else { '\'' };
    out.push(quote);
    for (at, c) in text.char_indices() {
        match c {
            '\\' if reads_as_escape(&text[at..]) => out.push_str("\\\\"),
            '\n' | '\r' | '\t' => out.push(c),
            _ if c == quote => {
                out.push('\\');
                out.push(c);
            }
            _ if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            _ => out.push(c),
        }
    }
    out.push(quote);
}

/// Whether the backslash at the start of the text would be read as part of an escape inside quotes.
fn reads_as_escape(text: &str) -> bool {
    match text[1..].chars().next() {
        // The closing quote would follow.
        None => true,
        Some('"' | '\'' | '\\' | 'n' | 'r' | 't') => true,
        Some('u') => unicode_escape(text, true).is_match(),
        Some('\n' | '\r' | '\t') => false,
        // It is written as an escape, so a backslash would follow.
        Some(c) => c.is_control(),
    }
}
