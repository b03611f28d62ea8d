//! Lark, with the extensions of llguidance: a lazy word ends where it can, and `~` is every other text.

use std::fmt::Write;

use super::language::Language;
use super::rules::{Chars, Expr, GrammarRules};
use crate::error::ToolError;
use crate::syntax::json::json_string;

pub(super) fn write(mut language: Language) -> Result<String, ToolError> {
    let tool = language.tools();
    let tool = language.rules.rule("call", false, |_| Ok(tool))?;
    let calls = language.calls_after_opener(&tool);
    let mut out = String::from("%llguidance {}\n\n");
    let writer = LarkWriter { rules: &language.rules };
    if !language.text {
        let message = Expr::seq([Expr::text(language.first()), calls]);
        out.push_str("start: ");
        writer.line(&message, &mut out);
        writer.rules_of(&message, &mut out);
        return Ok(out);
    }
    if language.calls.is_empty() {
        out.push_str("start: TEXT?\n");
    } else {
        let again = if language.parallel && !language.is_section() { "*" } else { "?" };
        _ = writeln!(out, "start: (text_and_opener after_opener){again} TEXT?");
        out.push_str("after_opener: ");
        let after = if language.is_section() { calls } else { tool };
        writer.line(&after, &mut out);
        writer.rules_of(&after, &mut out);
        // Text must not swallow the opener, so the word ends with it.
        out.push_str("text_and_opener[lazy]: OPENED\nOPENED: (TEXT)? ");
        string(language.first(), &mut out);
        out.push('\n');
    }
    out.push_str("TEXT: /(?s:.+)/ & ");
    out.push_str(&without(&language.frame.marks));
    out.push('\n');
    Ok(out)
}

struct LarkWriter<'r> {
    rules: &'r GrammarRules,
}

impl LarkWriter<'_> {
    fn rules_of(&self, root: &Expr, out: &mut String) {
        for id in self.rules.used([root]) {
            let rule = self.rules.get(id);
            out.push_str(&self.name(&rule.name, rule.word));
            out.push_str(": ");
            self.line(&rule.expr, out);
        }
    }

    fn name(&self, name: &str, word: bool) -> String {
        let name = name.replace('-', "_");
        if word { name.to_uppercase() } else { name }
    }

    /// The right side of a rule, and the end of the line.
    fn line(&self, expr: &Expr, out: &mut String) {
        self.expr(expr, true, out);
        out.push('\n');
    }

    fn expr(&self, expr: &Expr, whole: bool, out: &mut String) {
        match expr {
            Expr::Text(text) => match &lexemes(text)[..] {
                [] | [_] => string(text, out),
                several => {
                    out.push_str(if whole { "" } else { "(" });
                    for (at, lexeme) in several.iter().enumerate() {
                        out.push_str(if at > 0 { " " } else { "" });
                        string(lexeme, out);
                    }
                    out.push_str(if whole { "" } else { ")" });
                }
            },
            Expr::Without(marks) => out.push_str(&without(marks)),
            Expr::Chars(one) => _ = write!(out, "/{}/", class(one)),
            Expr::Rule(id) => {
                let rule = self.rules.get(*id);
                out.push_str(&self.name(&rule.name, rule.word));
            }
            Expr::Seq(parts) if parts.is_empty() => out.push_str("\"\""),
            Expr::Seq(parts) => {
                out.push_str(if whole { "" } else { "(" });
                for (at, part) in parts.iter().enumerate() {
                    out.push_str(if at > 0 { " " } else { "" });
                    self.expr(part, false, out);
                }
                out.push_str(if whole { "" } else { ")" });
            }
            Expr::Choice(options) => {
                out.push_str(if whole { "" } else { "(" });
                for (at, option) in options.iter().enumerate() {
                    out.push_str(if at > 0 { " | " } else { "" });
                    self.expr(option, false, out);
                }
                out.push_str(if whole { "" } else { ")" });
            }
            Expr::Repeat(inner, least, most) => {
                out.push('(');
                self.expr(inner, false, out);
                out.push(')');
                match (least, most) {
                    (0, Some(1)) => out.push('?'),
                    (0, None) => out.push('*'),
                    (1, None) => out.push('+'),
                    (least, None) => _ = write!(out, "{{{least},}}"),
                    (least, Some(most)) => _ = write!(out, "{{{least},{most}}}"),
                }
            }
        }
    }
}

/// The parts of a text that a lexer reads one by one: it takes the longest word and never goes back. So what could be several words
/// of JSON must not be one.
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
    out
}

/// A string literal, with the escapes of JSON. No control character may be in it.
fn string(text: &str, out: &mut String) {
    for c in json_string(text).chars() {
        match c.is_control() {
            true => _ = write!(out, "\\u{:04x}", c as u32),
            false => out.push(c),
        }
    }
}

fn class(chars: &Chars) -> String {
    let mut out = String::from(if chars.negated { "[^" } else { "[" });
    for (first, last) in &chars.ranges {
        out.push_str(&in_class(*first));
        if first != last {
            out.push('-');
            out.push_str(&in_class(*last));
        }
    }
    out.push(']');
    out
}

fn in_class(c: char) -> String {
    match c {
        c if c.is_ascii_alphanumeric() => c.into(),
        c if c.is_ascii() || c.is_control() => format!("\\x{:02X}", c as u32),
        c => c.into(),
    }
}

/// Any text without these marks.
fn without(marks: &[String]) -> String {
    let marks: Vec<String> = marks.iter().map(|mark| escape(mark)).collect();
    // Without the first part, it would also be bytes that are no text.
    format!("/(?s:.*)/ & ~/(?s:.*)(?i:{})(?s:.*)/", marks.join("|"))
}

/// A text in a regular expression.
fn escape(text: &str) -> String {
    regex::escape(text).replace('/', "\\/")
}
