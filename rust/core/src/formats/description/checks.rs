//! Whether the markers of a description can be told apart, and from text.

use crate::formats::frames::flat::FlatFormat;
use crate::formats::protocol::Protocol;

/// The most bytes of a marker.
const MARKER_BYTES: usize = 256;

/// Why the calls of a format could not be found in text, or its markers not be neutralised in untrusted text.
pub(super) fn wrong(format: &FlatFormat) -> Option<String> {
    if let Some(section) = &format.layout.section
        && (section.begin.is_empty() || section.end.is_empty())
    {
        return Some("section needs a marker on each side of the calls; write them in message around {calls}".into());
    }
    let openers = format.call.openers();
    let marks = format.marks();
    let all = openers.iter().chain(&marks.untrusted).chain(&marks.close).chain(&marks.ends).chain(&marks.layout);
    let all: Vec<&str> = all.copied().filter(|mark| !(mark.is_empty() && openers.contains(mark))).collect();
    if let Some(wrong) = all.iter().find_map(|mark| bad_marker(mark)) {
        return Some(wrong);
    }
    if openers.iter().all(|open| open.is_empty()) && !format.call.begins_message() && format.layout.parts.is_none() {
        return Some("call has no marker before the name, and message none before the calls".into());
    }
    let close = format.call.close();
    let pairs = openers.iter().map(|open| (*open, close)).filter(|(open, _)| !open.is_empty());
    let section = format.layout.section.iter().map(|section| (section.begin, section.end));
    let reasoning = format.layout.reasoning.iter().flat_map(|marks| marks.pairs()).collect::<Vec<_>>();
    let wrong = pairs.chain(section).chain(reasoning.iter().copied()).find(|(open, close)| close.starts_with(open));
    if let Some((open, close)) = wrong {
        return Some(format!("{close:?} closes what {open:?} opens, and begins with it; they cannot be told apart"));
    }
    let same = reasoning.into_iter().flat_map(|(open, close)| [open, close]).find(|mark| openers.contains(mark));
    same.map(|mark| format!("{mark:?} begins calls, and is a marker of reasoning"))
}

fn bad_marker(mark: &str) -> Option<String> {
    let shown: String = mark.chars().take(MARKER_BYTES).collect();
    let why = if mark.len() > MARKER_BYTES {
        format!("has {} bytes; at most {MARKER_BYTES} are allowed", mark.len())
    } else if mark.trim().chars().count() < 2 {
        "must have at least two characters".to_owned()
    } else if mark.contains('\\') {
        "must not contain a backslash, which is put before markers in untrusted text".to_owned()
    } else if mark.chars().all(|c| c.is_alphanumeric() || c.is_whitespace()) {
        "must contain a sign, such as < or [, because words are also in prose".to_owned()
    } else {
        return None;
    };
    Some(format!("the marker {shown:?} {why}"))
}
