//! Numbers, and ranges of whole numbers digit by digit.

use super::rules::{Chars, Expr, GrammarRules};
use crate::error::ToolError;
use crate::limits::FLOAT_DIGITS;

fn digit(first: u8, last: u8) -> Expr {
    if first == last {
        Expr::text(char::from(first))
    } else {
        Expr::Chars(Chars::range(char::from(first), char::from(last)))
    }
}

fn digits(count: usize) -> Expr {
    if count == 0 { Expr::EMPTY } else { digit(b'0', b'9').times(count, Some(count)) }
}

/// A whole number in JSON, between these bounds.
pub(crate) fn integer(rules: &mut GrammarRules, least: Option<i128>, most: Option<i128>) -> Result<Expr, ToolError> {
    let shown = |bound: Option<i128>| bound.map_or("any".to_owned(), |bound| bound.to_string().replace('-', "m"));
    let key = match (least, most) {
        (None, None) => "integer".to_owned(),
        _ => format!("integer from {} to {}", shown(least), shown(most)),
    };
    rules.terminal(&key, || {
        if let (None, None) = (least, most) {
            return Expr::seq([Expr::text("-").optional(), natural(0, None)]);
        }
        let positive = match most {
            Some(most) if most < 0 => Expr::NEVER,
            most => natural(least.unwrap_or(0).max(0) as u128, most.map(|most| most as u128)),
        };
        let negative = match least {
            Some(least) if least >= 0 => Expr::NEVER,
            least => {
                let smallest = most.map_or(1, |most| most.min(-1).unsigned_abs());
                Expr::seq([Expr::text("-"), natural(smallest, least.map(i128::unsigned_abs))])
            }
        };
        Expr::choice([positive, negative])
    })
}

/// A number in JSON that is within the range of a float; not below zero if `not_negative`.
pub(crate) fn number(rules: &mut GrammarRules, not_negative: bool) -> Result<Expr, ToolError> {
    let most = rules.longest.unwrap_or(FLOAT_DIGITS).min(FLOAT_DIGITS);
    rules.terminal(if not_negative { "number from 0" } else { "number" }, || {
        let many = |least| digit(b'0', b'9').times(least, None);
        let fraction = || Expr::seq([Expr::text("."), many(1)]);
        let whole = natural(0, None);
        // With up to nine digits before the point, an exponent below 299 stays in the range.
        let short =
            Expr::choice([Expr::text("0"), Expr::seq([digit(b'1', b'9'), digit(b'0', b'9').times(0, Some(8))])]);
        let small = Expr::seq([Expr::text("-"), digit(b'0', b'9').times(1, Some(3))]);
        let exponent = Expr::choice([
            digit(b'0', b'9').times(1, Some(2)),
            Expr::seq([digit(b'0', b'1'), digit(b'0', b'9').times(2, Some(2))]),
            Expr::seq([Expr::text("2"), digit(b'0', b'8'), digit(b'0', b'9')]),
        ]);
        let large = Expr::seq([Expr::Chars(Chars::of("+")).optional(), exponent]);
        let scaled =
            Expr::seq([short, fraction().optional(), Expr::Chars(Chars::of("eE")), Expr::choice([small, large])]);
        // With one digit, up to 307, and the largest float itself.
        let edge = Expr::seq([
            digit(b'0', b'9'),
            fraction().optional(),
            Expr::Chars(Chars::of("eE")),
            Expr::Chars(Chars::of("+")).optional(),
            Expr::choice([
                Expr::seq([Expr::text("29"), digit(b'0', b'9')]),
                Expr::seq([Expr::text("30"), digit(b'0', b'7')]),
            ]),
        ]);
        let largest = ["1e308", "1e+308", "1.7976931348623157e308", "1.7976931348623157e+308"].map(Expr::text);
        let scaled = Expr::choice([scaled, edge].into_iter().chain(largest));
        let plain = Expr::choice([whole, Expr::seq([natural_below_float(most), fraction()])]);
        let sign = if not_negative { Expr::EMPTY } else { Expr::text("-").optional() };
        Expr::seq([sign, Expr::choice([plain, scaled])])
    })
}

/// A whole number of at most so many digits: with a fraction, a longer one could be outside the range of a float.
fn natural_below_float(most: usize) -> Expr {
    // A group of alternatives: xgrammar counts it without writing it out.
    let more = Expr::choice([digit(b'0', b'4'), digit(b'5', b'9')]).times(0, Some(most.saturating_sub(1)));
    Expr::choice([Expr::text("0"), Expr::seq([digit(b'1', b'9'), more])])
}

/// A whole number without a sign.
fn natural(least: u128, most: Option<u128>) -> Expr {
    let low = least.to_string();
    let first = |length: usize| if length == low.len() { low.clone() } else { format!("1{}", "0".repeat(length - 1)) };
    let Some(most) = most else {
        if least == 0 {
            return Expr::choice([Expr::text("0"), Expr::seq([digit(b'1', b'9'), digit(b'0', b'9').many()])]);
        }
        let longer = Expr::seq([digit(b'1', b'9'), digit(b'0', b'9').times(low.len(), None)]);
        return Expr::choice([between(low.as_bytes(), "9".repeat(low.len()).as_bytes()), longer]);
    };
    if least > most {
        return Expr::NEVER;
    }
    let high = most.to_string();
    let last = |length: usize| if length == high.len() { high.clone() } else { "9".repeat(length) };
    let lengths = low.len()..=high.len();
    Expr::choice(lengths.map(|length| between(first(length).as_bytes(), last(length).as_bytes())))
}

/// Numbers of as many digits, from `low` to `high`.
fn between(low: &[u8], high: &[u8]) -> Expr {
    let (Some((&(mut first), low)), Some((&(mut last), high))) = (low.split_first(), high.split_first()) else {
        return Expr::EMPTY;
    };
    if first == last {
        return Expr::seq([digit(first, last), between(low, high)]);
    }
    let mut options = Vec::new();
    // Where the first digit is a bound, the others are bounded, too.
    if low.iter().any(|digit| *digit != b'0') {
        options.push(Expr::seq([digit(first, first), between(low, &vec![b'9'; low.len()])]));
        first += 1;
    }
    if high.iter().any(|digit| *digit != b'9') {
        options.push(Expr::seq([digit(last, last), between(&vec![b'0'; high.len()], high)]));
        last -= 1;
    }
    if first <= last {
        options.push(Expr::seq([digit(first, last), digits(low.len())]));
    }
    Expr::choice(options)
}
