//! GBNF, and EBNF of xgrammar. They differ in names of rules, and in text without marks: xgrammar has an expression for it, which it
//! compiles a hundred times as fast as the rules of an automaton.

use std::fmt::Write;

use super::language::Language;
use super::rules::{Chars, Expr, GrammarRules};
use crate::error::ToolError;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BnfNotation {
    Gbnf,
    Ebnf,
}

pub(super) fn write(mut language: Language, notation: BnfNotation) -> Result<String, ToolError> {
    let root = message(&mut language)?;
    if notation == BnfNotation::Gbnf {
        language.rules.spell_out()?;
    }
    Ok(rules_of(&language.rules, &root, notation))
}

/// A whole message.
fn message(language: &mut Language) -> Result<Expr, ToolError> {
    let tool = language.tools();
    let first = language.first().to_owned();
    if !language.text {
        let calls = language.calls_after_opener(&tool);
        return Ok(Expr::seq([Expr::text(first), calls]));
    }
    let prose = language.prose()?;
    if language.calls.is_empty() {
        return Ok(prose);
    }
    let call = match language.is_section() {
        true => Expr::seq([Expr::text(first), language.calls_after_opener(&tool)]),
        false => Expr::seq([Expr::text(&language.frame.open), tool]),
    };
    let call = language.rules.rule("call", false, |_| Ok(call))?;
    let call = Expr::seq([call, prose.clone()]);
    let calls = if language.parallel && !language.is_section() { call.many() } else { call.optional() };
    Ok(Expr::seq([prose, calls]))
}

/// The rules that `root` needs, with it as the rule `root`.
pub(super) fn rules_of(rules: &GrammarRules, root: &Expr, notation: BnfNotation) -> String {
    let mut out = String::from("root ::= ");
    BnfWriter { rules, notation }.expr(root, BnfPlace::Whole, &mut out);
    for id in rules.used([root]) {
        let rule = rules.get(id);
        out.push('\n');
        BnfWriter { rules, notation }.name(&rule.name, &mut out);
        out.push_str(" ::= ");
        BnfWriter { rules, notation }.expr(&rule.expr, BnfPlace::Whole, &mut out);
    }
    out.push('\n');
    out
}

/// Where an expression is, which decides whether it needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BnfPlace {
    Whole,
    Part,
    Repeated,
}

struct BnfWriter<'r> {
    rules: &'r GrammarRules,
    notation: BnfNotation,
}

impl BnfWriter<'_> {
    fn name(&self, name: &str, out: &mut String) {
        match self.notation {
            BnfNotation::Gbnf => out.push_str(name),
            BnfNotation::Ebnf => out.push_str(&name.replace('-', "_")),
        }
    }

    fn expr(&self, expr: &Expr, place: BnfPlace, out: &mut String) {
        match expr {
            Expr::Text(text) => self.text(text, out),
            Expr::Chars(chars) => self.chars(chars, out),
            Expr::Rule(id) => self.name(&self.rules.get(*id).name, out),
            // Only whole rules are such texts, and for GBNF they were spelled out.
            Expr::Without(marks) => {
                out.push_str("TagDispatch(loop_after_dispatch=false, excludes=(");
                for (at, mark) in marks.iter().flat_map(|mark| spellings(mark)).enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    self.text(&mark, out);
                }
                out.push_str("))");
            }
            Expr::Seq(parts) if parts.is_empty() => out.push_str("\"\""),
            Expr::Seq(parts) => {
                let group = place == BnfPlace::Repeated;
                out.push_str(if group { "(" } else { "" });
                for (at, part) in parts.iter().enumerate() {
                    out.push_str(if at > 0 { " " } else { "" });
                    self.expr(part, BnfPlace::Part, out);
                }
                out.push_str(if group { ")" } else { "" });
            }
            Expr::Choice(options) => {
                let group = place != BnfPlace::Whole;
                out.push_str(if group { "(" } else { "" });
                for (at, option) in options.iter().enumerate() {
                    out.push_str(if at > 0 { " | " } else { "" });
                    self.expr(option, BnfPlace::Part, out);
                }
                out.push_str(if group { ")" } else { "" });
            }
            Expr::Repeat(inner, least, most) => {
                self.expr(inner, BnfPlace::Repeated, out);
                match (least, most) {
                    (0, Some(1)) => out.push('?'),
                    (0, None) => out.push('*'),
                    (1, None) => out.push('+'),
                    (least, None) => _ = write!(out, "{{{least},}}"),
                    (least, Some(most)) if least == most => _ = write!(out, "{{{least}}}"),
                    (least, Some(most)) => _ = write!(out, "{{{least},{most}}}"),
                }
            }
        }
    }

    fn text(&self, text: &str, out: &mut String) {
        out.push('"');
        text.chars().for_each(|c| escaped(c, "\"", out));
        out.push('"');
    }

    fn chars(&self, chars: &Chars, out: &mut String) {
        out.push_str(if chars.negated { "[^" } else { "[" });
        for (first, last) in &chars.ranges {
            escaped(*first, "]^-[", out);
            if first != last {
                out.push('-');
                escaped(*last, "]^-[", out);
            }
        }
        out.push(']');
    }
}

/// A mark in all letter cases if it is short, and otherwise as it is and in those that are usual: xgrammar distinguishes them.
pub(super) fn spellings(mark: &str) -> Vec<String> {
    let lower = mark.to_ascii_lowercase();
    let letters = lower.chars().filter(char::is_ascii_lowercase).count();
    if letters > 4 {
        let mut title = lower.clone();
        if let Some(at) = lower.find(|c: char| c.is_ascii_lowercase()) {
            title[at..=at].make_ascii_uppercase();
        }
        let mut all = vec![mark.to_owned(), lower, mark.to_ascii_uppercase(), title];
        all.sort();
        all.dedup();
        return all;
    }
    lower.chars().fold(vec![String::new()], |begun, c| {
        let cases = if c.is_ascii_lowercase() { vec![c, c.to_ascii_uppercase()] } else { vec![c] };
        begun.iter().flat_map(|text| cases.iter().map(move |c| format!("{text}{c}"))).collect()
    })
}

/// A character; these and others that cannot be printed are escaped.
fn escaped(c: char, special: &str, out: &mut String) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '"' if special.contains('"') => out.push_str("\\\""),
        // xgrammar takes any number of digits after \x.
        c if special.contains(c) || c.is_control() => _ = write!(out, "\\u{:04X}", c as u32),
        c => out.push(c),
    }
}
