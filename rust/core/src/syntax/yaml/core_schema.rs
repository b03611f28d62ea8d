//! The core schema of YAML 1.2: the values of plain scalars that are not strings.

use std::borrow::Cow;

use crate::syntax::json::{is_number, respelled};

/// The JSON of a plain scalar that is null, a boolean or a number; its digits are kept. `None`: it is a string.
pub(crate) fn json_of(text: &str) -> Option<Cow<'_, str>> {
    // Usually the first byte decides.
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
    respelled(text, true).map(Cow::Owned)
}
