//! Numbers as text: they are never rounded.

use std::hash::{Hash, Hasher};

/// Whether the text is a JSON number as RFC 8259 defines it.
pub(crate) fn is_number(text: &str) -> bool {
    split(text).is_some()
}

/// The JSON of a decimal number in another spelling: with a leading plus, without digits on one side of the point, or,
/// with `zeros`, with leading zeros. A JSON number is returned unchanged.
pub(crate) fn respelled(text: &str, zeros: bool) -> Option<String> {
    let (sign, rest) = match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    };
    let mantissa = rest.find(['e', 'E']).unwrap_or(rest.len());
    let (number, exponent) = rest.split_at(mantissa);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = match if zeros { whole.trim_start_matches('0') } else { whole } {
        "" => "0",
        digits => digits,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let json = format!("{sign}{whole}{point}{fraction}{exponent}");
    is_number(&json).then_some(json)
}

/// Whether the text is a JSON number that decoders read as infinity. Integers are unbounded; numbers with a point or an
/// exponent must fit into a float.
#[inline]
pub(crate) fn is_beyond_float(text: &str) -> bool {
    // The shortest such number is 2e308.
    matches!(text.as_bytes(), [b'-' | b'0'..=b'9', _, _, _, _, ..]) && is_infinite(text)
}

fn is_infinite(text: &str) -> bool {
    let float = text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    float && is_number(text) && text.parse::<f64>().is_ok_and(f64::is_infinite)
}

struct Parts<'a> {
    negative: bool,
    int: &'a str,
    fraction: &'a str,
    exponent: Option<&'a str>,
}

fn split(text: &str) -> Option<Parts<'_>> {
    // At least one digit, and what follows.
    fn digits(text: &str) -> Option<(&str, &str)> {
        let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        (end > 0).then(|| text.split_at(end))
    }
    let negative = text.starts_with('-');
    let (int, mut rest) = digits(&text[usize::from(negative)..])?;
    if int.len() > 1 && int.starts_with('0') {
        return None;
    }
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        (fraction, rest) = digits(after)?;
    }
    let mut exponent = None;
    if let Some(after) = rest.strip_prefix(['e', 'E']) {
        rest = digits(after.strip_prefix(['+', '-']).unwrap_or(after))?.1;
        exponent = Some(&after[..after.len() - rest.len()]);
    }
    rest.is_empty().then_some(Parts { negative, int, fraction, exponent })
}

/// The sign, the digits without outer zeros, and the power of ten of the last digit. Zero has no digits and no sign.
fn normal(parts: &Parts<'_>) -> (bool, String, i64) {
    let all = format!("{}{}", parts.int, parts.fraction);
    let significant = all.trim_end_matches('0');
    let dropped = all.len() - significant.len();
    let digits = significant.trim_start_matches('0');
    if digits.is_empty() {
        return (false, String::new(), 0);
    }
    let exponent = parts.exponent.map_or(0, |text| {
        let value = text.trim_start_matches(['+', '-']).parse::<i64>().unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        if text.starts_with('-') { -value } else { value }
    });
    let power = exponent - parts.fraction.len() as i64 + dropped as i64;
    (parts.negative, digits.to_owned(), power)
}

/// A whole number as it is written: `5` and `5.0` give `5`. An exponent is kept, never expanded.
pub(crate) fn whole(text: &str) -> Option<&str> {
    let parts = split(text)?;
    if parts.exponent.is_some() {
        return (normal(&parts).2 >= 0).then_some(text);
    }
    if parts.fraction.bytes().any(|digit| digit != b'0') {
        return None;
    }
    Some(&text[..usize::from(parts.negative) + parts.int.len()])
}

/// Hashes a number by its value.
pub(super) fn hash_number(text: &str, state: &mut impl Hasher) {
    split(text).map(|parts| normal(&parts)).hash(state);
}

/// Whether both are JSON numbers with the same value.
pub(crate) fn same_number(a: &str, b: &str) -> bool {
    match (split(a), split(b)) {
        (Some(x), Some(y)) => a == b || normal(&x) == normal(&y),
        _ => false,
    }
}
