//! GBNF, and EBNF of xgrammar. They differ in names of rules, and in text without marks: xgrammar has an expression for it, which it
//! compiles a hundred times as fast as the rules of an automaton.

use std::fmt::Write;

use super::language::Language;
use super::notation::{GrammarNotation, class, rules_from};
use super::prose::spell_out;
use super::rules::{Chars, Expr, Rule};
use crate::error::ToolError;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BnfNotation {
    Gbnf,
    Ebnf,
}

pub(super) fn write(mut language: Language, notation: BnfNotation) -> Result<String, ToolError> {
    let root = match language.message()? {
        Some(message) => message,
        None => text_and_calls(&mut language)?,
    };
    if notation == BnfNotation::Gbnf {
        spell_out(&mut language.rules)?;
    }
    Ok(rules_from(&language.rules, &notation, "root", &root))
}

/// Text with calls anywhere in it.
fn text_and_calls(language: &mut Language) -> Result<Expr, ToolError> {
    let prose = language.prose()?;
    if language.calls.is_empty() {
        return Ok(prose);
    }
    let call = Expr::seq([Expr::text(language.opener()), language.unit(&language.call())]);
    let call = language.rules.named("call", call)?;
    let call = Expr::seq([call, prose.clone()]);
    Ok(Expr::seq([prose, if language.repeats() { call.many() } else { call.optional() }]))
}

impl GrammarNotation for BnfNotation {
    const IS: &'static str = " ::= ";

    fn name(&self, rule: &Rule) -> String {
        match self {
            BnfNotation::Gbnf => rule.name.clone(),
            BnfNotation::Ebnf => rule.name.replace('-', "_"),
        }
    }

    fn text(&self, text: &str) -> Vec<String> {
        vec![literal(text)]
    }

    fn chars(&self, chars: &Chars) -> String {
        class(chars, |c, out| escaped(c, "]^-[", out))
    }

    /// Only whole rules are such texts, and for GBNF they were spelled out.
    fn without(&self, marks: &[String]) -> String {
        let marks: Vec<String> = marks.iter().flat_map(|mark| spellings(mark)).map(|mark| literal(&mark)).collect();
        format!("TagDispatch(loop_after_dispatch=false, excludes=({}))", marks.join(", "))
    }
}

fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    text.chars().for_each(|c| escaped(c, "\"", &mut out));
    out.push('"');
    out
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
