//! What all kinds of grammar write alike: rules, and in them sequences, alternatives and repetition.

use std::fmt::Write;

use super::rules::{Chars, Expr, GrammarRules, Rule};

/// What a kind of grammar writes in its own way.
pub(super) trait GrammarNotation {
    /// Between the name of a rule and its right side.
    const IS: &'static str;

    fn name(&self, rule: &Rule) -> String;

    /// Literals, which follow each other.
    fn text(&self, text: &str) -> Vec<String>;

    fn chars(&self, chars: &Chars) -> String;

    /// Any text without these marks.
    fn without(&self, marks: &[String]) -> String;
}

/// The rule `name`, and all others that it needs.
pub(super) fn rules_from(rules: &GrammarRules, notation: &impl GrammarNotation, name: &str, root: &Expr) -> String {
    let mut writer = ExprWriter { notation, rules, out: String::new() };
    writer.rule(name, root);
    for id in rules.used([root]) {
        let rule = rules.get(id);
        writer.rule(&notation.name(rule), &rule.expr);
    }
    writer.out
}

/// A character class, in which each kind escapes others.
pub(super) fn class(chars: &Chars, mut write: impl FnMut(char, &mut String)) -> String {
    let mut out = String::from(if chars.negated { "[^" } else { "[" });
    for (first, last) in &chars.ranges {
        write(*first, &mut out);
        if first != last {
            out.push('-');
            write(*last, &mut out);
        }
    }
    out.push(']');
    out
}

/// Where an expression is, which decides whether it needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExprPlace {
    Whole,
    Part,
    Repeated,
}

struct ExprWriter<'w, N> {
    notation: &'w N,
    rules: &'w GrammarRules,
    out: String,
}

impl<N: GrammarNotation> ExprWriter<'_, N> {
    fn rule(&mut self, name: &str, expr: &Expr) {
        self.out.extend([name, N::IS]);
        self.expr(expr, ExprPlace::Whole);
        self.out.push('\n');
    }

    fn expr(&mut self, expr: &Expr, place: ExprPlace) {
        let is_repeated = place == ExprPlace::Repeated;
        match expr {
            Expr::Text(text) => {
                let parts = self.notation.text(text);
                self.parts(&parts, " ", is_repeated && parts.len() > 1, |writer, part| writer.out.push_str(part));
            }
            Expr::Chars(chars) => self.out.push_str(&self.notation.chars(chars)),
            Expr::Without(marks) => self.out.push_str(&self.notation.without(marks)),
            Expr::Rule(id) => self.out.push_str(&self.notation.name(self.rules.get(*id))),
            Expr::Seq(parts) if parts.is_empty() => self.out.push_str("\"\""),
            Expr::Seq(parts) => {
                self.parts(parts, " ", is_repeated, |writer, part| writer.expr(part, ExprPlace::Part));
            }
            Expr::Choice(options) => {
                let group = place != ExprPlace::Whole;
                self.parts(options, " | ", group, |writer, option| writer.expr(option, ExprPlace::Part));
            }
            Expr::Repeat(inner, least, most) => self.parts(&[inner], "", is_repeated, |writer, inner| {
                writer.expr(inner, ExprPlace::Repeated);
                writer.times(*least, *most);
            }),
        }
    }

    /// Parts with something between them, in parentheses if they are a group.
    fn parts<P>(&mut self, parts: &[P], between: &str, group: bool, mut write: impl FnMut(&mut Self, &P)) {
        self.out.push_str(if group { "(" } else { "" });
        for (at, part) in parts.iter().enumerate() {
            self.out.push_str(if at > 0 { between } else { "" });
            write(self, part);
        }
        self.out.push_str(if group { ")" } else { "" });
    }

    fn times(&mut self, least: usize, most: Option<usize>) {
        _ = match (least, most) {
            (0, Some(1)) => self.out.write_str("?"),
            (0, None) => self.out.write_str("*"),
            (1, None) => self.out.write_str("+"),
            (least, None) => write!(self.out, "{{{least},}}"),
            (least, Some(most)) => write!(self.out, "{{{least},{most}}}"),
        };
    }
}
