//! Whether the readers of calls can find the markers of a description.

use super::calls::Calls;
use crate::formats::bodies::json::named::{IdForm, NamedJson};
use crate::formats::bodies::tagged::{Head, Tags, ValueStyle};

fn bad_kinds([string, others @ ..]: &[&str; 6]) -> bool {
    string.is_empty() || others.iter().any(|other| other.is_empty() || other == string)
}

/// Why the markers of a call with its name before an object cannot be found.
fn format_wrong(format: &NamedJson, section: bool) -> Option<String> {
    let NamedJson { open: [open], prefix, around_arguments: (between, end), ends, id, .. } = format;
    let close = ends.close;
    if [open, prefix, between, end, &close].iter().any(|text| text.contains(['{', '}'])) {
        return Some("call has a brace that belongs to no hole; only the arguments of a call have braces".into());
    }
    if section && close.is_empty() {
        return Some("calls in a section need a marker that closes each one; write it after {arguments}".into());
    }
    if matches!(id, IdForm::BeforeName { mark: "" }) || matches!(id, IdForm::Marked { mark: "", .. }) {
        return Some("call has no marker between {id} and {name}; write one".into());
    }
    let clash = ends
        .implicit_closers
        .iter()
        .filter(|end| **end != *open)
        .find(|end| end.is_empty() || close.starts_with(**end));
    let clash = clash.or_else(|| format.name_terminators.iter().find(|end| end.is_empty()));
    clash.map(|end| format!("the marker {end:?} ends calls, and is empty or the beginning of {close:?}"))
}

impl Calls {
    /// Why this reader cannot find the markers.
    pub(super) fn wrong(&self, parts: bool, section: bool) -> Option<String> {
        let close = match self {
            Calls::Json(format) => format.keys.close,
            Calls::Named(format) => &[format.ends.close],
            _ => &[],
        };
        if let Some(close) = close.iter().find(|close| close.starts_with(['}', ']'])) {
            return Some(format!(
                "the closer {close:?} of calls must not begin with a bracket, which could belong to the arguments"
            ));
        }
        let (marks, where_) = match self {
            Calls::Json(format) if close.contains(&"") || format.keys.arguments.is_empty() => {
                return Some("calls.close and calls.argument_keys must not be empty".into());
            }
            Calls::Named(format) => return format_wrong(format, section),
            Calls::Tagged(tags) if !parts && !tags.part_ends.is_empty() => {
                return Some("calls.part_ends are for messages of parts; leave them out".into());
            }
            Calls::Tagged(tags) if tags.values == ValueStyle::PythonOrCdata && tags.line_breaks => {
                return Some("calls.values \"cdata\" is for values without line breaks around them".into());
            }
            Calls::Tagged(Tags { head: Head::Attributes(attributes), .. }) if bad_kinds(&attributes.kinds) => {
                return Some(
                    "argument has {kind}, so calls.kinds must list its values for string, number, boolean, null, array and object; that of \
                     string differs from the others"
                        .into(),
                );
            }
            Calls::Tagged(tags) if tags.part_ends.is_empty() => {
                (vec![tags.open, tags.close, tags.argument, tags.argument_close], "call and argument")
            }
            Calls::Tagged(tags) => (vec![tags.argument, tags.argument_close], "argument"),
            Calls::Notation(format) => {
                ([format.open, format.close, &[format.quote]].concat(), "call, and calls.quote,")
            }
            Calls::Nested(format) if format.prefix.is_empty() => {
                return Some(
                    "call has no prefix before its tags, such as P in P<invoke name=\"{name}\">{elements}P</invoke>"
                        .into(),
                );
            }
            _ => return None,
        };
        let bad = marks.into_iter().find(|mark| !mark.starts_with('<'))?;
        Some(format!("the markers in {where_} must begin with <; {bad:?} does not"))
    }
}
