//! Text outside calls: any text that contains none of some marks, in any ASCII letter case.

use std::collections::{HashMap, HashSet};

use super::rules::{Chars, Expr, GrammarRules, Rule};
use crate::error::ToolError;

/// These marks without those that contain another, in any ASCII letter case.
pub(crate) fn distinct(mut marks: Vec<String>) -> Vec<String> {
    marks.sort_by_key(String::len);
    let mut out: Vec<(String, String)> = Vec::new();
    for mark in marks {
        let lower = mark.to_ascii_lowercase();
        if !out.iter().any(|(_, other)| lower.contains(other)) {
            out.push((mark, lower));
        }
    }
    out.into_iter().map(|(mark, _)| mark).collect()
}

/// Writes texts without marks as rules over characters.
pub(super) fn spell_out(rules: &mut GrammarRules) -> Result<(), ToolError> {
    for id in 0..rules.list.len() {
        let Rule { name, expr, .. } = &rules.list[id];
        if let Expr::Without(marks) = expr {
            let (name, marks) = (name.clone(), marks.clone());
            rules.list[id].expr = prose(rules, &name, &marks)?;
        }
    }
    Ok(())
}

/// Any text without these marks, which are not empty and contain no other of them. `name` tells its rules from those of other texts.
///
/// The rules are the automaton of Aho and Corasick. Its states are the beginnings of marks: how much of one the text ends with.
fn prose(rules: &mut GrammarRules, name: &str, marks: &[String]) -> Result<Expr, ToolError> {
    let mut automaton = Automaton { name, next: HashMap::from([(String::new(), Vec::new())]), marks: HashSet::new() };
    for mark in marks.iter().map(|mark| mark.to_ascii_lowercase()) {
        for (at, c) in mark.char_indices() {
            let next = automaton.next.entry(mark[..at].to_owned()).or_default();
            if !next.contains(&c) {
                next.push(c);
            }
        }
        automaton.marks.insert(mark);
    }
    automaton.state(rules, "")
}

struct Automaton<'a> {
    name: &'a str,
    /// The characters with which each beginning goes on.
    next: HashMap<String, Vec<char>>,
    marks: HashSet<String>,
}

impl Automaton<'_> {
    fn state(&self, rules: &mut GrammarRules, begun: &str) -> Result<Expr, ToolError> {
        rules.rule(&format!("{} after {begun}", self.name), false, |rules| {
            let mut known = String::new();
            let mut options = Vec::new();
            for c in endings(begun).filter_map(|end| self.next.get(end)).flatten() {
                if known.contains(*c) {
                    continue;
                }
                let mut both = String::from(*c);
                if c.is_ascii_lowercase() {
                    both.push(c.to_ascii_uppercase());
                }
                known.push_str(&both);
                let text = format!("{begun}{c}");
                if endings(&text).any(|end| self.marks.contains(end)) {
                    continue;
                }
                let longest = endings(&text).find(|end| self.next.contains_key(*end)).unwrap_or_default();
                options.push(Expr::seq([Expr::Chars(Chars::of(&both)), self.state(rules, longest)?]));
            }
            let other = Expr::Chars(Chars::except(&known, &[]));
            if begun.is_empty() {
                return Ok(Expr::seq([other.many(), Expr::choice(options).optional()]));
            }
            options.push(Expr::seq([other, self.state(rules, "")?]));
            Ok(Expr::choice(options).optional())
        })
    }
}

/// A text, and all texts with which it ends.
fn endings(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().map(|(at, _)| &text[at..]).chain([""])
}
