//! What example values must satisfy: the bounds of the schema. The schema may also provide values.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::parts::Json;
use super::resolve::SchemaDocument;
use crate::syntax::json::Value;

/// Maximum bytes of a text and values of a container that an example takes from a schema. Examples must be short.
const GIVEN_BYTES: usize = 200;
const GIVEN_VALUES: usize = 20;
/// Maximum characters of a text and items of a list that are generated to reach a minimum in the schema.
const MADE_LENGTH: usize = 400;

/// The part of a schema that matters for examples but not for types.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// Examples in the schema.
    pub(super) examples: Vec<Json>,
    defaults: Vec<Json>,
    pub(super) least: Option<f64>,
    pub(super) most: Option<f64>,
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
    pub(super) step: Option<f64>,
    pub(super) min_length: usize,
    pub(super) max_length: Option<usize>,
    pub(super) pattern: Option<String>,
    pub(super) format: Option<String>,
    pub(super) min_items: usize,
    pub(super) max_items: Option<usize>,
    /// The items of a list must differ.
    pub unique: bool,
    /// The constraints apply to every value except null, not only to one of several alternatives.
    pub(super) sole: bool,
}

impl Sample {
    /// The constraints of schemas that all apply. `None`: there are none.
    pub(crate) fn new<'s>(document: &SchemaDocument<'s>, schemas: &[&'s Json], sole: bool) -> Option<Box<Self>> {
        let mut sample = Sample { sole, ..Sample::default() };
        let mut any = false;
        for schema in schemas {
            any |= sample.add(document, schema);
        }
        any.then(|| Box::new(sample))
    }

    fn add<'s>(&mut self, document: &SchemaDocument<'s>, schema: &'s Json) -> bool {
        let get = |keyword: &str| document.get(schema, keyword);
        let first = get("examples").and_then(Value::as_array).and_then(|list| list.first());
        let usable = |value: &&Json| **value != Value::Null && is_short(value, &mut GIVEN_VALUES.clone());
        let examples = [first, get("example")].into_iter().flatten().filter(usable).cloned();
        self.examples.extend(examples);
        self.defaults.extend(get("default").filter(usable).cloned());
        let any = !self.examples.is_empty() || !self.defaults.is_empty();
        let number = |keyword: &str| get(keyword).and_then(Value::as_f64);
        let larger = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
        let smaller = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::min);
        // In draft 4, the exclusive bounds were flags.
        let flag = |keyword: &str| get(keyword) == Some(&Value::Bool(true));
        let bound = |exclusive: &str, inclusive: &str| match flag(exclusive) {
            true => (None, number(inclusive)),
            false => (number(inclusive), number(exclusive)),
        };
        let (least, above) = bound("exclusiveMinimum", "minimum");
        let (most, below) = bound("exclusiveMaximum", "maximum");
        self.least = larger(self.least, least);
        self.most = smaller(self.most, most);
        self.above = larger(self.above, above);
        self.below = smaller(self.below, below);
        self.step = self.step.or(number("multipleOf").filter(|step| *step > 0.0));
        let count = |keyword: &str| number(keyword).filter(|count| *count >= 0.0).map(|count| count as usize);
        let fewer = |a: Option<usize>, b: Option<usize>| a.into_iter().chain(b).min();
        self.min_length = self.min_length.max(count("minLength").unwrap_or(0));
        self.max_length = fewer(self.max_length, count("maxLength"));
        self.min_items = self.min_items.max(count("minItems").unwrap_or(0));
        self.max_items = fewer(self.max_items, count("maxItems"));
        self.unique |= get("uniqueItems") == Some(&Value::Bool(true));
        let text = |keyword: &str| {
            let text = get(keyword).and_then(Value::as_str);
            text.filter(|text| text.len() <= GIVEN_BYTES).map(str::to_owned)
        };
        self.pattern = self.pattern.take().or_else(|| text("pattern"));
        self.format = self.format.take().or_else(|| text("format"));
        any || schema.as_object().is_some_and(|members| members.iter().any(|(keyword, _)| is_bound(keyword)))
    }

    /// The values in the schema: its examples, then its defaults.
    pub(crate) fn given(&self) -> impl Iterator<Item = &Json> {
        self.examples.iter().chain(&self.defaults)
    }

    /// The number of items of a list: `usual`, if the bounds allow it.
    pub(crate) fn items(&self, usual: usize) -> usize {
        usual.max(self.min_items.min(MADE_LENGTH)).min(self.max_items.unwrap_or(usize::MAX))
    }

    /// The JSON of a number: `usual`, if the bounds allow it. Each `nth` gives another number, if there are enough.
    pub(crate) fn number(&self, usual: f64, whole: bool, nth: usize) -> String {
        let fits = |number: &f64| {
            self.least.is_none_or(|least| *number >= least)
                && self.most.is_none_or(|most| *number <= most)
                && self.above.is_none_or(|above| *number > above)
                && self.below.is_none_or(|below| *number < below)
                && self.step.is_none_or(|step| (number / step).fract() == 0.0)
                && (!whole || number.fract() == 0.0)
        };
        let step = self.step.unwrap_or(1.0);
        let up = |bound: f64| (bound / step).ceil() * step;
        let down = |bound: f64| (bound / step).floor() * step;
        let edges = [self.least.map(up), self.most.map(down), self.above.map(up), self.below.map(down)];
        let near = [self.above.map(|above| up(above) + step), self.below.map(|below| down(below) - step)];
        let middle = match (self.least.or(self.above), self.most.or(self.below)) {
            (Some(low), Some(high)) => Some(low + (high - low) / 2.0),
            _ => None,
        };
        let tried =
            [Some(usual), Some(step), Some(0.0)].into_iter().chain(edges).chain(near).chain([middle, self.least]);
        let first = tried.flatten().find(fits).unwrap_or(usual);
        let others = (1..=MADE_LENGTH).flat_map(|n| [first + n as f64 * step, first - n as f64 * step]);
        let number = [first].into_iter().chain(others.filter(fits)).nth(nth).unwrap_or(first);
        // Whole numbers are written without a fraction.
        if number.fract() == 0.0 && number.abs() < 1e15 {
            return (number as i64).to_string();
        }
        json_float(number)
    }

    /// A text. Each `nth` gives another text, if there are enough.
    pub(crate) fn text(&self, nth: usize) -> String {
        if let Some(pattern) = &self.pattern
            && let Ok(parsed) = regex_syntax::Parser::new().parse(pattern)
        {
            let mut out = String::new();
            if push_match(&parsed, nth, &mut out) && (!out.is_empty() || self.min_length == 0) {
                return out;
            }
        }
        let usual = match self.format.as_deref() {
            Some("date") => "2026-01-15",
            Some("date-time") => "2026-01-31T12:00:00Z",
            Some("time") => "12:00:00Z",
            Some("duration") => "P1D",
            Some("email" | "idn-email") => "ann@example.org",
            Some("uri" | "url" | "iri" | "uri-reference" | "iri-reference") => "https://example.org/",
            Some("hostname" | "idn-hostname") => "example.org",
            Some("ipv4") => "192.0.2.1",
            Some("ipv6") => "2001:db8::1",
            Some("uuid") => "123e4567-e89b-12d3-a456-426614174000",
            Some("json-pointer") => "/key",
            Some("regex") => "[a-z]+",
            _ => "some text",
        };
        let room = self.max_length.unwrap_or(usize::MAX);
        let mut out = match ["text", "a"].iter().find(|short| usual.len() > room && short.len() <= room) {
            Some(short) => (*short).to_owned(),
            None if usual.len() > room => String::new(),
            None => usual.to_owned(),
        };
        for c in usual.chars().cycle().take(self.min_length.saturating_sub(out.len()).min(MADE_LENGTH)) {
            // A value must not begin or end with a space.
            out.push(if c == ' ' { '-' } else { c });
        }
        if nth == 0 {
            return out;
        }
        match self.format.as_deref() {
            Some("email" | "idn-email" | "hostname" | "idn-hostname" | "regex") => format!("{nth}{out}"),
            Some("uri" | "url" | "iri" | "uri-reference" | "iri-reference" | "json-pointer") => format!("{out}{nth}"),
            format => {
                // The last digit or letter changes: a digit if there is a format, otherwise a letter.
                let places = if format.is_some() { '0'..='9' } else { 'a'..='z' };
                if let Some(at) = out.rfind(|c| places.contains(&c)) {
                    let old = out[at..].chars().next();
                    let new = places.filter(|c| Some(*c) != old).nth(nth - 1);
                    out.replace_range(at..=at, &String::from_iter(new.or(old)));
                }
                out
            }
        }
    }
}

/// A number as JSON encoders write it: with an exponent from 1e16 on and below 1e-5.
fn json_float(number: f64) -> String {
    match number.abs() {
        1e-5..1e16 if number.fract() != 0.0 => number.to_string(),
        1e-5..1e16 => format!("{number:.1}"),
        1e16.. if number.is_finite() => format!("{number:e}").replace('e', "e+"),
        _ if number.is_finite() => format!("{number:e}"),
        _ => "0".into(),
    }
}

fn is_bound(keyword: &str) -> bool {
    let number = matches!(keyword, "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf");
    let length = matches!(keyword, "minLength" | "maxLength" | "minItems" | "maxItems" | "uniqueItems");
    number || length || matches!(keyword, "pattern" | "format")
}

/// Whether the value is short enough to be shown.
fn is_short(value: &Json, left: &mut usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match value {
        Value::String(text) => text.len() <= GIVEN_BYTES,
        Value::Array(items) => items.iter().all(|item| is_short(item, left)),
        Value::Object(members) => members.iter().all(|(key, value)| key.len() <= GIVEN_BYTES && is_short(value, left)),
        Value::Number(text) => text.len() <= GIVEN_BYTES,
        Value::Null | Value::Bool(_) => true,
    }
}

/// Appends a short text that the pattern matches. Each class contributes its `nth` character, if it has enough. False:
/// the text would be too long.
fn push_match(pattern: &Hir, nth: usize, out: &mut String) -> bool {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => {
            let has = |c: char| class.iter().any(|range| range.start() <= c && c <= range.end());
            const USUAL: [char; 7] = ['a', 'A', '1', '0', '-', '_', ' '];
            let rest = || ('!'..='~').filter(|c| !USUAL.contains(c));
            let found = || USUAL.into_iter().chain(rest()).filter(|c| has(*c));
            let other = || class.iter().next().map(|range| range.start());
            out.extend(found().nth(nth).or_else(|| found().next()).or_else(other));
        }
        HirKind::Class(Class::Bytes(_)) => return false,
        HirKind::Repetition(repetition) => {
            // An optional part is repeated once, because an empty text is not a helpful example.
            let some = if repetition.max == Some(0) { 0 } else { repetition.min.max(1) };
            let optional = repetition.max == Some(1) && repetition.min == 0;
            for _ in 0..if optional { 0 } else { some } {
                let before = out.len();
                if !push_match(&repetition.sub, nth, out) {
                    return false;
                }
                // Repeating an empty text gives an empty text.
                if out.len() == before {
                    break;
                }
            }
        }
        HirKind::Capture(capture) => return push_match(&capture.sub, nth, out),
        HirKind::Concat(parts) => return parts.iter().all(|part| push_match(part, nth, out)),
        HirKind::Alternation(ways) => {
            let way = ways.get(nth).or(ways.first());
            return way.is_none_or(|way| push_match(way, nth, out));
        }
    }
    out.len() <= MADE_LENGTH
}
