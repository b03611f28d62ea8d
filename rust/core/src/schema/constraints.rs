//! The constraints of a value beyond its type, as the manual shows them.

use super::{Choice, Node, Sample};
use crate::syntax::json::Value;

/// Maximum characters of one constraint. Longer ones cost more tokens than they are worth.
const LONGEST: usize = 40;
/// From this value on (2^53 - 1), a bound says only what a number can hold.
const UNBOUNDED: f64 = 9_007_199_254_740_991.0;
/// Whether models know this format of strings by name.
fn is_known(format: &str) -> bool {
    let time = matches!(format, "date" | "date-time" | "time" | "duration");
    let host = matches!(format, "email" | "hostname" | "ipv4" | "ipv6");
    let address = matches!(format, "uri" | "url" | "uri-reference" | "uri-template" | "iri" | "iri-reference");
    time || host || address || matches!(format, "uuid" | "json-pointer" | "relative-json-pointer" | "regex")
}

impl Node {
    /// The constraints of all its values except null.
    fn bounds(&self) -> Option<&Sample> {
        self.sample.as_deref().filter(|sample| sample.sole)
    }

    /// The format of its strings. It is shown as their type.
    pub(super) fn format(&self) -> Option<&str> {
        self.bounds()?.format.as_deref().filter(|format| is_known(format))
    }

    /// Its constraints. Ranges and patterns are shown as they are, because no key looks like one; the others are in
    /// parentheses. `literal` writes a value as the manual does. `is_safe` says whether a text of the schema may be
    /// shown.
    pub(super) fn constraints(&self, literal: &dyn Fn(&str) -> String, is_safe: &dyn Fn(&str) -> bool) -> Vec<String> {
        let Some(bounds) = self.bounds() else { return Vec::new() };
        let is_short = |text: &str| text.chars().count() <= LONGEST;
        let is_shown = |text: &str| is_short(text) && is_safe(text);
        let (mut out, mut phrases) = (Vec::new(), Vec::new());
        if self.has(&Choice::Integer) || self.has(&Choice::Number) {
            out.extend(bounds.range().filter(|text| is_short(text)));
            phrases.extend(bounds.step.map(|step| format!("multiple of {step}")));
        }
        if self.has(&Choice::String) {
            let pattern = bounds.pattern.as_deref().filter(|pattern| is_shown(pattern));
            out.extend(pattern.map(|pattern| format!("/{}/", escape_slashes(pattern))));
            phrases.extend(count(bounds.min_length, bounds.max_length, "char"));
        }
        if self.has(&Choice::Array) {
            phrases.extend(count(bounds.min_items, bounds.max_items, "item"));
        }
        phrases.retain(|text| is_short(text));
        // Where all values are listed, an example adds nothing.
        let listed = |choice: &Choice| matches!(choice, Choice::Literal(_) | Choice::Boolean | Choice::Null);
        if self.is_unknown() || !self.choices.iter().all(listed) {
            let example = bounds.examples.iter().find(|value| self.accepts(value)).map(Value::to_json);
            let new = example.filter(|json| self.default.as_ref() != Some(json) && is_safe(json));
            let text = new.map(|json| literal(&json)).filter(|text| is_shown(text));
            phrases.extend(text.map(|text| format!("e.g. {text}")));
        }
        if !phrases.is_empty() {
            out.push(format!("({})", phrases.join(", ")));
        }
        out
    }
}

impl Sample {
    /// The range of a number.
    fn range(&self) -> Option<String> {
        // Of two bounds the stricter one counts; of equal ones, the exclusive one.
        let given = |(bound, sign): (Option<f64>, &'static str)| Some((bound?, sign));
        let low = [(self.least, ">="), (self.above, ">")].into_iter().filter_map(given);
        let low = low.reduce(|least, above| if least.0 > above.0 { least } else { above });
        let high = [(self.most, "<="), (self.below, "<")].into_iter().filter_map(given);
        let high = high.reduce(|most, below| if most.0 < below.0 { most } else { below });
        let low = low.filter(|(bound, _)| *bound > -UNBOUNDED);
        let high = high.filter(|(bound, _)| *bound < UNBOUNDED);
        match (low, high) {
            (Some((low, ">=")), Some((high, "<="))) => Some(format!("{low}..{high}")),
            (Some((low, more)), Some((high, less))) => Some(format!("{more}{low} {less}{high}")),
            (Some((bound, sign)), None) | (None, Some((bound, sign))) => Some(format!("{sign}{bound}")),
            (None, None) => None,
        }
    }
}

/// The number of characters or items.
fn count(least: usize, most: Option<usize>, unit: &str) -> Option<String> {
    let number = match (least, most.filter(|most| (*most as f64) < UNBOUNDED)) {
        (1, Some(1)) => return Some(format!("1 {unit}")),
        (least, Some(most)) if least == most => most.to_string(),
        (0, Some(most)) => format!("<={most}"),
        (least, Some(most)) => format!("{least}..{most}"),
        (0, None) => return None,
        (least, None) => format!(">={least}"),
    };
    Some(format!("{number} {unit}s"))
}

/// The pattern as it is written between slashes.
fn escape_slashes(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut escaped = false;
    for c in pattern.chars() {
        if c == '/' && !escaped {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}
