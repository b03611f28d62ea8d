//! Lark, with the extensions of llguidance: a lazy terminal ends where it can, and `~` is every other text.

use std::fmt::Write;

use super::language::Language;
use super::notation::{GrammarNotation, class, rules_from};
use super::rules::{Chars, Rule};
use crate::error::ToolError;
use crate::syntax::json::json_string;

pub(super) fn write(mut language: Language) -> Result<String, ToolError> {
    let mut out = String::from("%llguidance {}\n\n");
    if let Some(message) = language.message()? {
        out.push_str(&rules_from(&language.rules, &LarkNotation, "start", &message));
        return Ok(out);
    }
    if language.calls.is_empty() {
        out.push_str("start: TEXT?\n");
    } else {
        let again = if language.repeats() { "*" } else { "?" };
        _ = writeln!(out, "start: (text_and_opener after_opener){again} TEXT?");
        let call = language.call();
        let call = language.rules.named("call", call)?;
        out.push_str(&rules_from(&language.rules, &LarkNotation, "after_opener", &language.unit(&call)));
        // Text must not swallow the opener, so the terminal ends with it.
        _ = writeln!(out, "text_and_opener[lazy]: OPENED\nOPENED: (TEXT)? {}", string(&language.opener()));
    }
    _ = writeln!(out, "TEXT: /(?s:.+)/ & {}", without(&language.frame.marks));
    Ok(out)
}

struct LarkNotation;

impl GrammarNotation for LarkNotation {
    const IS: &'static str = ": ";

    fn name(&self, rule: &Rule) -> String {
        let name = rule.name.replace('-', "_");
        if rule.terminal { name.to_uppercase() } else { name }
    }

    fn text(&self, text: &str) -> Vec<String> {
        lexemes(text).into_iter().map(string).collect()
    }

    fn chars(&self, chars: &Chars) -> String {
        format!("/{}/", class(chars, in_class))
    }

    fn without(&self, marks: &[String]) -> String {
        without(marks)
    }
}

/// The parts of a text that a lexer reads one by one: it takes the longest terminal and never goes back. So what could be
/// several terminals of JSON must not be one.
fn lexemes(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in text.char_indices() {
        let end = at
            + match c {
                '{' | '}' | '[' | ']' if !quoted => 1,
                ',' | ':' if !quoted => 1 + usize::from(text[at + 1..].starts_with(' ')),
                _ => 0,
            };
        if end > at {
            out.extend([&text[start..at], &text[at..end]]);
            start = end;
        }
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && quoted && !escaped;
    }
    out.push(&text[start..]);
    out.retain(|part| !part.is_empty());
    if out.is_empty() { vec![""] } else { out }
}

/// A string literal, with the escapes of JSON. Control characters are escaped, too.
fn string(text: &str) -> String {
    let mut out = String::new();
    for c in json_string(text).chars() {
        match c.is_control() {
            true => _ = write!(out, "\\u{:04x}", c as u32),
            false => out.push(c),
        }
    }
    out
}

fn in_class(c: char, out: &mut String) {
    match c {
        c if c.is_ascii_alphanumeric() || !(c.is_ascii() || c.is_control()) => out.push(c),
        c => _ = write!(out, "\\x{:02X}", c as u32),
    }
}

/// Any text without these marks.
fn without(marks: &[String]) -> String {
    let marks: Vec<String> = marks.iter().map(|mark| escape(mark)).collect();
    // Without the first part, it would also match invalid UTF-8.
    format!("/(?s:.*)/ & ~/(?s:.*)(?i:{})(?s:.*)/", marks.join("|"))
}

/// A text in a regular expression.
fn escape(text: &str) -> String {
    regex::escape(text).replace('/', "\\/")
}
