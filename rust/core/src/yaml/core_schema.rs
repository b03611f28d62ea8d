//! The core schema of YAML 1.2: what a plain scalar is that is no string.

use std::borrow::Cow;

use crate::json::is_number;

/// The JSON of a plain scalar that is null, a boolean or a number; its digits are kept. `None`: it is a string.
pub fn json_of(text: &str) -> Option<Cow<'_, str>> {
    // Most texts are told by their first byte.
    if !text.bytes().next().is_none_or(|byte| byte.is_ascii_digit() || b"~nNtTfF+-.".contains(&byte)) {
        return None;
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Cow::Borrowed("null")),
        "true" | "True" | "TRUE" => return Some(Cow::Borrowed("true")),
        "false" | "False" | "FALSE" => return Some(Cow::Borrowed("false")),
        _ => {}
    }
    if is_number(text) {
        return Some(Cow::Borrowed(text));
    }
    let based = |radix: u32, digits: &str| {
        let plain = digits.bytes().all(|byte| (byte as char).is_digit(radix));
        let number = u128::from_str_radix(digits, radix).ok().filter(|_| plain);
        number.map(|number| Cow::Owned(number.to_string()))
    };
    match text.get(..2) {
        Some("0o") => return based(8, &text[2..]),
        Some("0x") => return based(16, &text[2..]),
        _ => {}
    }
    decimal(text).map(Cow::Owned)
}

/// Numbers that JSON writes otherwise: a plus in front, zeros in front, nothing on one side of the point.
fn decimal(text: &str) -> Option<String> {
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
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let json = format!("{sign}{whole}{point}{fraction}{exponent}");
    is_number(&json).then_some(json)
}
