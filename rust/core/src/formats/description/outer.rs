//! Markers around each call that the reader of the call does not read: they are written with the text between calls.

use crate::formats::call::Separators;
use crate::formats::template::{cut, divided};

/// A call in outer markers, `<tool_call>\n<function={name}>…</function>\n</tool_call>`.
pub(super) struct OuterMarkers {
    /// The call without them.
    pub call: &'static str,
    before: &'static str,
    after: &'static str,
    /// Calls are only read between them.
    pub is_section: bool,
}

impl OuterMarkers {
    /// The outer markers of a template, if it has some.
    pub(super) fn of(call: &'static str) -> Option<OuterMarkers> {
        let (before, after) = cut(call, "name");
        if divided(call, "kwargs").is_some() {
            let end = call.rfind(')').map(|at| at + 1)?;
            return OuterMarkers::around_call(call, before.len(), end, false);
        }
        divided(call, "args")?;
        let close = cut(after, "args").1;
        let end = close.find('>').map(|at| call.len() - close.len() + at + 1)?;
        OuterMarkers::around_call(call, before.rfind('<')?, end, true)
    }

    fn around_call(call: &'static str, begin: usize, end: usize, is_section: bool) -> Option<OuterMarkers> {
        let (before, inner) = call.split_at_checked(begin)?;
        let (inner, after) = inner.split_at_checked(end.checked_sub(begin)?)?;
        let marked = !before.trim().is_empty() && !after.trim().is_empty();
        marked.then_some(OuterMarkers { call: inner, before, after, is_section })
    }

    /// The text around calls, with the markers of each.
    pub(super) fn around(&self, separators: &Separators) -> Separators {
        let Separators { begin, between, end, .. } = *separators;
        Separators {
            begin: [begin, self.before].concat().leak(),
            between: [self.after, between, self.before].concat().leak(),
            end: [self.after, end].concat().leak(),
            ..*separators
        }
    }
}
