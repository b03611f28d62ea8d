//! The model of a language: rules over characters, as context-free grammars have them.

use std::collections::{BTreeSet, HashMap};

use crate::error::ToolError;
use crate::limits::{GRAMMAR_DEPTH, GRAMMAR_NODES};

pub(crate) type RuleId = u32;

/// A set of characters: inclusive ranges, or everything else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Chars {
    pub negated: bool,
    pub ranges: Vec<(char, char)>,
}

impl Chars {
    /// These characters.
    pub(crate) fn of(chars: &str) -> Self {
        Chars { negated: false, ranges: chars.chars().map(|c| (c, c)).collect() }
    }

    /// All characters but these, and those in the ranges.
    pub(crate) fn except(chars: &str, ranges: &[(char, char)]) -> Self {
        Chars { negated: true, ..Chars::of(chars).and(ranges) }
    }

    pub(crate) fn range(first: char, last: char) -> Self {
        Chars { negated: false, ranges: vec![(first, last)] }
    }

    /// With these ranges added to the list, whether it is negated or not.
    pub(crate) fn and(mut self, ranges: &[(char, char)]) -> Self {
        self.ranges.extend(ranges);
        self
    }

    /// Without these characters.
    pub(crate) fn without(&self, chars: &str) -> Self {
        let given: Vec<(char, char)> = chars.chars().map(|c| (c, c)).collect();
        if self.negated {
            return self.clone().and(&given);
        }
        let mut ranges = self.ranges.clone();
        for c in chars.chars() {
            ranges = ranges.into_iter().flat_map(|range| cut(range, c)).collect();
        }
        Chars { negated: false, ranges }
    }
}

/// The parts of a range on both sides of a character.
fn cut((first, last): (char, char), c: char) -> Vec<(char, char)> {
    if !(first..=last).contains(&c) {
        return vec![(first, last)];
    }
    let before = (first..c).next_back().map(|end| (first, end));
    let after = (c..=last).nth(1).map(|start| (start, last));
    before.into_iter().chain(after).collect()
}

/// An expression: a set of strings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    Text(String),
    Chars(Chars),
    Seq(Vec<Expr>),
    /// One of these.
    Choice(Vec<Expr>),
    /// From so many to so many times.
    Repeat(Box<Expr>, usize, Option<usize>),
    /// Any text without these marks, in any ASCII letter case.
    Without(Vec<String>),
    Rule(RuleId),
}

impl Expr {
    pub(crate) const EMPTY: Expr = Expr::Seq(Vec::new());
    /// The empty language.
    pub(crate) const NEVER: Expr = Expr::Choice(Vec::new());

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Expr::Text(text.into())
    }

    pub(crate) fn optional(self) -> Self {
        self.times(0, Some(1))
    }

    pub(crate) fn many(self) -> Self {
        self.times(0, None)
    }

    pub(crate) fn times(self, least: usize, most: Option<usize>) -> Self {
        match (least, most) {
            (1, Some(1)) => self,
            (least, Some(most)) if most < least => Expr::NEVER,
            (_, Some(0)) => Expr::EMPTY,
            (0, _) if self.is_never() => Expr::EMPTY,
            _ if self == Expr::EMPTY || self == Expr::Text(String::new()) => Expr::EMPTY,
            _ => Expr::Repeat(Box::new(self), least, most),
        }
    }

    pub(crate) fn is_never(&self) -> bool {
        match self {
            Expr::Choice(options) => options.iter().all(Expr::is_never),
            Expr::Seq(parts) => parts.iter().any(Expr::is_never),
            Expr::Repeat(inner, least, _) => *least > 0 && inner.is_never(),
            _ => false,
        }
    }

    /// One after another. Texts that meet become one.
    pub(crate) fn seq(parts: impl IntoIterator<Item = Expr>) -> Self {
        let mut out: Vec<Expr> = Vec::new();
        for part in parts {
            let inner = if let Expr::Seq(inner) = part { inner } else { vec![part] };
            for part in inner {
                match (out.last_mut(), part) {
                    (_, Expr::Text(text)) if text.is_empty() => {}
                    (Some(Expr::Text(before)), Expr::Text(text)) => before.push_str(&text),
                    (_, part) => out.push(part),
                }
            }
        }
        if out.len() == 1 { out.remove(0) } else { Expr::Seq(out) }
    }

    /// One of these, without repetition.
    pub(crate) fn choice(options: impl IntoIterator<Item = Expr>) -> Self {
        let mut out: Vec<Expr> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for option in options {
            let inner = match option {
                Expr::Choice(inner) => inner,
                Expr::Text(text) if text.is_empty() => vec![Expr::EMPTY],
                option => vec![option],
            };
            out.extend(inner.into_iter().filter(|one| !one.is_never() && seen.insert(one.clone())));
        }
        if out.len() == 1 { out.remove(0) } else { Expr::Choice(out) }
    }

    fn nodes(&self) -> usize {
        1 + match self {
            Expr::Text(text) => text.len() / 16,
            Expr::Chars(chars) => chars.ranges.len() / 4,
            Expr::Seq(parts) | Expr::Choice(parts) => parts.iter().map(Expr::nodes).sum(),
            Expr::Repeat(inner, ..) => inner.nodes(),
            Expr::Without(marks) => marks.iter().map(String::len).sum(),
            Expr::Rule(_) => 0,
        }
    }

    /// Whether almost any character fits.
    fn is_text(&self) -> bool {
        match self {
            Expr::Chars(chars) => chars.negated,
            Expr::Choice(options) => options.iter().any(Expr::is_text),
            _ => false,
        }
    }

    /// Whether it has text of any length. Other rules are not looked at.
    fn has_text(&self) -> bool {
        match self {
            Expr::Seq(parts) | Expr::Choice(parts) => parts.iter().any(Expr::has_text),
            Expr::Repeat(inner, ..) => inner.is_text() || inner.has_text(),
            Expr::Without(_) => true,
            Expr::Text(_) | Expr::Chars(_) | Expr::Rule(_) => false,
        }
    }

    /// What may be repeated without a bound gets one. Texts without marks cannot be counted, so they get none of the characters
    /// that begin a mark.
    fn bound(&mut self, bounds: &Bounds) {
        match self {
            Expr::Seq(parts) | Expr::Choice(parts) => parts.iter_mut().for_each(|part| part.bound(bounds)),
            Expr::Repeat(inner, least, most) => {
                inner.bound(bounds);
                if bounds.text || !inner.is_text() {
                    let mut rules = Vec::new();
                    inner.rules(&mut rules);
                    let long = rules.iter().any(|rule| bounds.long[*rule as usize]);
                    let bound = if long { bounds.most.div_ceil(LONG_ITEMS) } else { bounds.most };
                    *most = most.or(Some(bound.max(*least)));
                }
            }
            Expr::Without(_) if !bounds.text => {}
            Expr::Without(marks) => {
                *self = Expr::Chars(Chars::except(&firsts(marks), &[])).times(0, Some(bounds.most));
            }
            Expr::Text(_) | Expr::Chars(_) | Expr::Rule(_) => {}
        }
    }

    /// Whether a text fits, if one fits these rules.
    fn ends(&self, rules: &[bool]) -> bool {
        match self {
            Expr::Rule(id) => rules[*id as usize],
            Expr::Seq(parts) => parts.iter().all(|part| part.ends(rules)),
            Expr::Choice(options) => options.iter().any(|option| option.ends(rules)),
            Expr::Repeat(inner, least, _) => *least == 0 || inner.ends(rules),
            Expr::Text(_) | Expr::Chars(_) | Expr::Without(_) => true,
        }
    }

    /// The same without the other rules.
    fn only(self, rules: &[bool]) -> Expr {
        match self {
            Expr::Rule(id) if !rules[id as usize] => Expr::NEVER,
            Expr::Seq(parts) => Expr::seq(parts.into_iter().map(|part| part.only(rules))),
            Expr::Choice(options) => Expr::choice(options.into_iter().map(|option| option.only(rules))),
            Expr::Repeat(inner, least, most) => inner.only(rules).times(least, most),
            same => same,
        }
    }

    /// The rules that it refers to.
    pub(crate) fn rules(&self, out: &mut Vec<RuleId>) {
        match self {
            Expr::Rule(id) => out.push(*id),
            Expr::Seq(parts) | Expr::Choice(parts) => parts.iter().for_each(|part| part.rules(out)),
            Expr::Repeat(inner, ..) => inner.rules(out),
            Expr::Text(_) | Expr::Chars(_) | Expr::Without(_) => {}
        }
    }
}

/// How often something is repeated that has no bound in the schema.
struct Bounds {
    most: usize,
    /// Whether text gets a bound.
    text: bool,
    /// The rules that are strings, arrays or objects.
    long: Vec<bool>,
}

/// By what the bound of a list is divided if its items are strings, arrays or objects, which have the bound themselves.
const LONG_ITEMS: usize = 10;

/// A rule.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Letters, digits and `-`; unique.
    pub name: String,
    pub expr: Expr,
    /// A lexer reads it. It refers only to other terminals.
    pub terminal: bool,
}

/// The characters with which these marks begin, in both letter cases.
pub(super) fn firsts(marks: &[String]) -> String {
    let firsts = marks.iter().filter_map(|mark| mark.chars().next());
    let both = firsts.flat_map(|first| [first.to_ascii_lowercase(), first.to_ascii_uppercase()]);
    String::from_iter(both.collect::<BTreeSet<char>>())
}

/// Up to which length a kind of grammar counts strings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LengthLimits {
    /// Strings that are not in JSON.
    pub raw: usize,
    pub json: usize,
    /// Whether text of any length can get a bound.
    pub is_text_bounded: bool,
}

/// The rules of a grammar. Their number and size are bounded.
#[derive(Debug)]
pub(crate) struct GrammarRules {
    pub counts: LengthLimits,
    /// The bound of what the schema does not bound.
    pub longest: Option<usize>,
    pub(super) list: Vec<Rule>,
    /// Rules by their keys.
    known: HashMap<String, RuleId>,
    nodes: usize,
    /// How many rules are being made, each inside the one before.
    depth: usize,
}

impl GrammarRules {
    pub(crate) fn new(counts: LengthLimits, longest: Option<usize>) -> Self {
        GrammarRules { counts, longest, list: Vec::new(), known: HashMap::new(), nodes: 0, depth: 0 }
    }

    /// The rule with this key. If it is new, `make` makes its text; it may refer to itself.
    ///
    /// # Errors
    ///
    /// The grammar is too large.
    pub(crate) fn rule(
        &mut self,
        key: &str,
        terminal: bool,
        make: impl FnOnce(&mut Self) -> Result<Expr, ToolError>,
    ) -> Result<Expr, ToolError> {
        if let Some(id) = self.known.get(key) {
            return Ok(self.reference(*id));
        }
        let id = self.list.len() as RuleId;
        self.known.insert(key.to_owned(), id);
        self.list.push(Rule { name: self.free_name(key, id), expr: Expr::EMPTY, terminal });
        self.depth += 1;
        if self.depth > GRAMMAR_DEPTH {
            return Err(ToolError::new(format!(
                "its types contain each other more than {GRAMMAR_DEPTH} levels deep; nest them less, or allow any object in some of them"
            )));
        }
        let expr = make(self)?;
        self.depth -= 1;
        self.nodes += expr.nodes();
        if self.nodes > GRAMMAR_NODES {
            return Err(ToolError::new(format!(
                "the grammar has more than {GRAMMAR_NODES} parts; use fewer or smaller tools in one request"
            )));
        }
        self.list[id as usize].expr = expr;
        Ok(self.reference(id))
    }

    /// A rule that matches nothing is not referred to. One that is being made is taken to match something.
    fn reference(&self, id: RuleId) -> Expr {
        if self.get(id).expr.is_never() { Expr::NEVER } else { Expr::Rule(id) }
    }

    /// A rule with this key and text.
    pub(crate) fn named(&mut self, key: &str, expr: Expr) -> Result<Expr, ToolError> {
        self.rule(key, false, |_| Ok(expr))
    }

    /// A terminal with this key.
    pub(crate) fn terminal(&mut self, key: &str, make: impl FnOnce() -> Expr) -> Result<Expr, ToolError> {
        self.rule(key, true, |_| Ok(make()))
    }

    fn free_name(&self, key: &str, id: RuleId) -> String {
        let mut name = String::new();
        for c in key.chars().take(40) {
            match c {
                c if c.is_ascii_alphanumeric() => name.push(c.to_ascii_lowercase()),
                _ if name.ends_with('-') || name.is_empty() => {}
                _ => name.push('-'),
            }
        }
        let name = name.trim_end_matches('-');
        let plain =
            name == key && name != "root" && name != "start" && name.starts_with(|c: char| c.is_ascii_lowercase());
        if plain { name.to_owned() } else { format!("r{id}-{name}").trim_end_matches('-').to_owned() }
    }

    /// Whatever the rules repeat without a bound gets one, if there is a longest.
    pub(crate) fn bound(&mut self) {
        let Some(most) = self.longest else { return };
        let mut long: Vec<bool> = Vec::with_capacity(self.list.len());
        for rule in &self.list {
            // Terminals refer to terminals that were made before them.
            let mut parts = Vec::new();
            rule.expr.rules(&mut parts);
            let has_long = parts.iter().any(|part| long.get(*part as usize).is_some_and(|long| *long));
            long.push(!rule.terminal || rule.expr.has_text() || has_long);
        }
        let bounds = Bounds { most, text: self.counts.is_text_bounded, long };
        self.list.iter_mut().for_each(|rule| rule.expr.bound(&bounds));
    }

    /// Removes unproductive rules: those that derive no finite string, because they always contain themselves.
    pub(crate) fn drop_endless(&mut self) {
        let last = self.list.len();
        let mut ends = vec![false; last];
        // Most rules refer to later ones, or most to earlier ones: in both directions by turns, a few turns are enough.
        let mut backwards = true;
        loop {
            let mut changed = false;
            for step in 0..last {
                let at = if backwards { last - 1 - step } else { step };
                if !ends[at] && self.list[at].expr.ends(&ends) {
                    ends[at] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
            backwards = !backwards;
        }
        if ends.contains(&false) {
            for rule in &mut self.list {
                rule.expr = std::mem::replace(&mut rule.expr, Expr::NEVER).only(&ends);
            }
        }
    }

    /// Whether no text fits.
    pub(crate) fn is_never(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Rule(id) => self.get(*id).expr.is_never(),
            expr => expr.is_never(),
        }
    }

    pub(crate) fn get(&self, id: RuleId) -> &Rule {
        &self.list[id as usize]
    }

    /// The rules that can be reached from these texts, in order.
    pub(crate) fn used<'a>(&'a self, from: impl IntoIterator<Item = &'a Expr>) -> Vec<RuleId> {
        let mut open = Vec::new();
        from.into_iter().for_each(|expr| expr.rules(&mut open));
        let mut seen = vec![false; self.list.len()];
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut seen[id as usize], true) {
                self.list[id as usize].expr.rules(&mut open);
            }
        }
        (0..self.list.len() as RuleId).filter(|id| seen[*id as usize]).collect()
    }
}
