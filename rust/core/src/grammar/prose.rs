//! Text outside calls: any text that contains none of some marks, in any ASCII letter case.

use super::rules::{Chars, Expr, GrammarRules};
use crate::error::ToolError;

/// These marks without those that contain another, in any ASCII letter case.
pub(crate) fn distinct(mut marks: Vec<String>) -> Vec<String> {
    marks.sort_by_key(String::len);
    let mut out: Vec<String> = Vec::new();
    for mark in marks {
        if !out.iter().any(|other| mark.to_ascii_lowercase().contains(&other.to_ascii_lowercase())) {
            out.push(mark);
        }
    }
    out
}

/// Any text without these marks, which are not empty.
///
/// The rules are an automaton. Its states are the beginnings of marks: how much of one the text ends with.
pub(crate) fn prose(rules: &mut GrammarRules, marks: &[String]) -> Result<Expr, ToolError> {
    let marks: Vec<String> = marks.iter().map(|mark| mark.to_ascii_lowercase()).collect();
    state(rules, &marks, "")
}

fn state(rules: &mut GrammarRules, marks: &[String], begun: &str) -> Result<Expr, ToolError> {
    rules.rule(&format!("prose {begun}"), false, |rules| {
        // After these characters the text ends with the beginning of a mark, or with a mark.
        let mut next: Vec<char> = Vec::new();
        for mark in marks {
            for (at, c) in mark.char_indices() {
                if begun.ends_with(&mark[..at]) && !next.contains(&c) {
                    next.push(c);
                }
            }
        }
        let mut options = Vec::new();
        let mut known = String::new();
        for c in next {
            let both: String = [c, c.to_ascii_uppercase()].into_iter().collect();
            let both: String = if c.is_ascii_lowercase() { both } else { c.into() };
            known.push_str(&both);
            let text = format!("{begun}{c}");
            if marks.iter().any(|mark| text.ends_with(mark.as_str())) {
                continue;
            }
            let longest = text
                .char_indices()
                .map(|(at, _)| &text[at..])
                .find(|end| marks.iter().any(|mark| mark.starts_with(end)));
            let rest = state(rules, marks, longest.unwrap_or(""))?;
            options.push(Expr::seq([Expr::Chars(Chars::of(&both)), rest]));
        }
        let other = Expr::Chars(Chars::except(&known, &[]));
        if begun.is_empty() {
            return Ok(Expr::seq([other.many(), Expr::choice(options).optional()]));
        }
        options.push(Expr::seq([other, state(rules, marks, "")?]));
        Ok(Expr::choice(options).optional())
    })
}
