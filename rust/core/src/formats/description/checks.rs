//! Whether the markers of a description can be told apart, and from text.

use crate::formats::frames::flat::FlatFormat;
use crate::formats::layout::{Layout, ReasoningMarks};
use crate::formats::protocol::Protocol;
use crate::syntax::scan::first_chars;

/// The most bytes of a marker.
const MARKER_BYTES: usize = 256;

/// Why the calls of a format could not be found in text, or its markers not be neutralised in untrusted text. `close` closes a call.
pub(super) fn wrong(format: &FlatFormat, close: &str) -> Option<String> {
    let (openers, layout, marks) = (format.call.openers(), &format.layout, format.marks());
    if let Some(wrong) = wrong_section(format) {
        return Some(wrong);
    }
    let pairs = openers.iter().map(|open| (*open, close)).filter(|(open, _)| !open.is_empty());
    let section = layout.section.iter().flat_map(|section| [section.begin, section.end]);
    let own: Vec<&str> =
        openers.iter().copied().chain([close]).chain(section).filter(|mark| !mark.is_empty()).collect();
    if let Some(wrong) = same_pair(pairs).or_else(|| wrong_layout(layout, &own)) {
        return Some(wrong);
    }
    let all = openers.iter().chain(&marks.untrusted).chain(&marks.close).chain(&marks.ends).chain(&marks.layout);
    let mut all = all.filter(|mark| !(mark.is_empty() && openers.contains(mark)));
    if let Some(wrong) = all.find_map(|mark| bad_marker(mark)) {
        return Some(wrong);
    }
    if openers.iter().all(|open| open.is_empty()) && !format.call.begins_message() && layout.parts.is_none() {
        return Some(
            "neither call nor message has a marker before the name; write one, such as <do>{name} {arguments}</do>"
                .into(),
        );
    }
    let result = format.past_text.result_mark.filter(|mark| layout.parts.is_none() && overlaps(mark, &own));
    result.map(|mark| format!("result_mark {mark:?} is also a marker of calls; choose one that calls do not have"))
}

/// The same for the markers around calls, which are `own`.
pub(super) fn wrong_layout(layout: &Layout, own: &[&str]) -> Option<String> {
    let reasoning: Vec<_> = layout.reasoning.iter().flat_map(ReasoningMarks::pairs).collect();
    if reasoning.iter().any(|(open, _)| open.is_empty()) {
        return Some(
            "reasoning has no opening marker; write <think>{reasoning}</think>, and starts_in_reasoning = true if the prompt opens it"
                .into(),
        );
    }
    let pairs = || reasoning.iter().copied().chain(layout.answer);
    let marks = || pairs().flat_map(|(open, close)| [open, close]);
    if let Some(wrong) = marks().chain(layout.stops.iter().copied()).find_map(bad_marker).or_else(|| same_pair(pairs()))
    {
        return Some(wrong);
    }
    let first = |stop: &&'static str| stop.bytes().next();
    if layout.stops.iter().any(|stop| first(stop) != layout.stops.first().and_then(first)) {
        return Some("stops must all begin with the same character".into());
    }
    // Parts have markers for several purposes.
    let stop = layout.stops.iter().copied().find(|stop| own.contains(stop));
    let shared = marks().find(|mark| overlaps(mark, own)).or(stop).filter(|_| layout.parts.is_none());
    shared.map(|mark| format!("the marker {mark:?} of reasoning, answer or stops is also a marker of calls"))
}

/// Whether one of the markers of calls is the beginning of this one, or the other way.
fn overlaps(mark: &str, own: &[&str]) -> bool {
    own.iter().any(|other| other.starts_with(mark) || mark.starts_with(other))
}

fn same_pair<'m>(mut pairs: impl Iterator<Item = (&'m str, &'m str)>) -> Option<String> {
    let (open, close) = pairs.find(|(open, close)| close.starts_with(open))?;
    Some(format!("{close:?} closes what {open:?} opens, and begins with it; they cannot be told apart"))
}

fn wrong_section(format: &FlatFormat) -> Option<String> {
    let (separators, section) = (&format.past_text.separators, format.layout.section.as_ref()?);
    if section.begin.is_empty() || section.end.is_empty() {
        return Some("section needs a marker on each side of the calls; write them in message around {calls}".into());
    }
    if format.call.openers().contains(&section.begin) {
        return Some("section begins with the marker of a call; it must surround the calls".into());
    }
    let written = separators.begin.contains(section.begin) && separators.end.contains(section.end);
    if !written && format.layout.parts.is_none() {
        let (begin, end) = (section.begin, section.end);
        return Some(format!("message must have the markers of the section around {{calls}}: {begin:?} and {end:?}"));
    }
    None
}

fn bad_marker(mark: &str) -> Option<String> {
    let shown = &mark[..first_chars(mark, MARKER_BYTES)];
    let why = if mark.len() > MARKER_BYTES {
        format!("has {} bytes; at most {MARKER_BYTES} are allowed", mark.len())
    } else if mark.trim().chars().count() < 2 {
        "must have at least two characters".to_owned()
    } else if mark.contains('\\') {
        "must not contain a backslash, which is put before markers in untrusted text; for a line break in TOML, use double quotes"
            .to_owned()
    } else if mark.chars().all(|c| c.is_alphanumeric() || c.is_whitespace()) {
        "must contain a symbol, such as < or [, because words also occur in prose".to_owned()
    } else {
        return None;
    };
    Some(format!("the marker {shown:?} {why}"))
}
