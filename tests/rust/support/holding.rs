//! The laws that hold for what was seen of any message, in any protocol.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use serde_json::Value;

use super::reading::{Seen, boundaries, pieces, read, read_chunks};
use wirecall_core::Toolset;

/// Messages up to this many characters are cut at every place.
pub const SHORT: usize = 80;

/// Offsets, in characters, as byte ranges of the message.
pub fn slice(message: &str, start: usize, end: usize) -> String {
    message.chars().skip(start).take(end - start).collect()
}

/// Texts, calls and errors follow each other without a gap, and say what stands there.
pub fn tiles(message: &str, seen: &[Seen]) -> TestCaseResult {
    let mut at = 0;
    for one in seen {
        match one {
            Seen::Text(text) => {
                let end = at + text.chars().count();
                prop_assert_eq!(text, &slice(message, at, end), "the text that ends at {}", end);
                at = end;
            }
            Seen::End(end) => {
                prop_assert_eq!(end.start, at, "the start of {:?}", end);
                at = end.end;
            }
            Seen::Error(error) => {
                prop_assert_eq!(error.start, at, "the start of {:?}", error);
                prop_assert_eq!(&error.raw, &slice(message, error.start, error.end), "the source of {:?}", error);
                at = error.end;
            }
            Seen::Start { .. } | Seen::Deltas { .. } => {}
        }
    }
    prop_assert_eq!(at, message.chars().count(), "the end of the message");
    Ok(())
}

/// Each start is followed by its deltas and then by its end or error, and by nothing else; indexes count from 0.
pub fn one_end(seen: &[Seen]) -> TestCaseResult {
    let mut open: Option<(usize, &str)> = None;
    let mut next = 0;
    for one in seen {
        match one {
            Seen::Text(text) => {
                prop_assert_eq!(open, None, "text inside a call");
                prop_assert!(!text.is_empty());
            }
            Seen::Start { index, name } => {
                prop_assert_eq!((open, *index), (None, next));
                open = Some((next, name));
                next += 1;
            }
            Seen::Deltas { index, .. } => prop_assert_eq!(open.map(|(at, _)| at), Some(*index)),
            Seen::End(end) => prop_assert_eq!(open.take(), Some((end.index, end.name.as_str()))),
            Seen::Error(error) => {
                prop_assert_eq!(open.map(|(at, _)| at), error.index);
                if let Some((_, name)) = open.take() {
                    prop_assert_eq!(error.name.as_deref(), Some(name));
                }
            }
        }
    }
    prop_assert_eq!(open, None, "a call without an end");
    Ok(())
}

/// JSON with its exponents as serde_json keeps them.
fn signed_exponents(json: &str) -> String {
    let (mut out, mut quoted, mut before) = (String::new(), false, ' ');
    for c in json.chars() {
        quoted ^= c == '"' && before != '\\';
        if !quoted && matches!(before, 'e' | 'E') && c.is_ascii_digit() {
            out.push('+');
        }
        out.push(if !quoted && c == 'E' { 'e' } else { c });
        before = if before == '\\' { ' ' } else { c };
    }
    out
}

/// The deltas are the arguments, which are one compact JSON object; those of a failed call never are complete.
pub fn deltas(seen: &[Seen]) -> TestCaseResult {
    let mut json = "";
    for one in seen {
        match one {
            Seen::Start { .. } => json = "",
            Seen::Deltas { json: joined, .. } => json = joined,
            Seen::End(end) => {
                prop_assert_eq!(json, &end.arguments);
                let value: Value = serde_json::from_str(json).unwrap_or_default();
                prop_assert!(value.is_object(), "{json}");
                prop_assert_eq!(value.to_string(), signed_exponents(json), "compact, and no key twice");
                json = "";
            }
            Seen::Error(_) => {
                prop_assert!(serde_json::from_str::<Value>(json).is_err(), "the arguments of a failed call: {json}");
                json = "";
            }
            Seen::Text(_) => {}
        }
    }
    Ok(())
}

/// What a listener holds of the open call is never complete.
pub fn unfinished(seen: &[Seen]) -> TestCaseResult {
    if let Some(Seen::Deltas { json, .. }) = seen.last() {
        prop_assert!(serde_json::from_str::<Value>(json).is_err(), "complete before its end: {json}");
    }
    Ok(())
}

pub fn per_character(text: &str) -> Vec<&str> {
    pieces(text, &boundaries(text))
}

/// However the message is cut, it is read as it is whole, which is what is returned: texts, calls and errors tile it, the deltas
/// are the arguments, and each start has one end.
pub fn holds(
    tools: &Toolset,
    message: &str,
    truncated: Option<bool>,
    cuts: &[usize],
) -> Result<Vec<Seen>, TestCaseError> {
    let whole = read(tools, message, truncated);
    tiles(message, &whole)?;
    deltas(&whole)?;
    one_end(&whole)?;
    let mut early = Ok(());
    let watch = |seen: &[Seen]| early = std::mem::replace(&mut early, Ok(())).and(unfinished(seen));
    prop_assert_eq!(&read_chunks(tools, per_character(message), truncated, watch), &whole, "left: by characters");
    early?;
    let places = boundaries(message);
    if places.len() < SHORT {
        for at in &places {
            let chunks = pieces(message, &[*at]);
            prop_assert_eq!(
                &read_chunks(tools, chunks.iter().copied(), truncated, |_| {}),
                &whole,
                "left: {:?}",
                chunks
            );
        }
    }
    if !places.is_empty() {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| places[cut % places.len()]).collect();
        cuts.sort_unstable();
        let chunks = pieces(message, &cuts);
        prop_assert_eq!(&read_chunks(tools, chunks.iter().copied(), truncated, |_| {}), &whole, "left: {:?}", chunks);
    }
    Ok(whole)
}
