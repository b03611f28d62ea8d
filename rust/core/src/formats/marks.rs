//! The markers of a format with their roles, made once for a toolset.

use crate::syntax::scan::Closers;

/// What a marker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkRole {
    /// Begins a call.
    Open,
    /// Ends a call.
    Close,
    /// Divides a call.
    Inside,
    /// Ends calls or lists of them. After a bracket outside of a call, it shows that a call has no opener.
    End,
    SectionBegin,
    SectionEnd,
    /// Begins, divides or ends a part of a message.
    Part,
    /// Ends a part.
    PartEnd,
    /// Is around reasoning or the answer, or ends a message.
    Around,
    /// Is around a result.
    Result,
}

/// The markers of a format, by what they are looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct MarkSet {
    /// What opens, divides and closes calls.
    pub call: Vec<&'static str>,
    /// What closes calls, and lists of them: [`MarkRole::End`].
    pub ends: Vec<&'static str>,
    /// What divides a message around its calls.
    pub layout: Vec<&'static str>,
    /// What untrusted text must not contain.
    pub untrusted: Vec<&'static str>,
    /// What ends a call, or a part with a call.
    pub close: Vec<&'static str>,
    /// What a call ends before that has failed.
    pub before: Vec<&'static str>,
}

impl MarkSet {
    pub(crate) fn push(&mut self, role: MarkRole, mark: &'static str) {
        // A bracket alone is no marker.
        let long = mark.len() > 1;
        match role {
            MarkRole::Open | MarkRole::Close | MarkRole::Inside => self.call.push(mark),
            MarkRole::End => self.ends.push(mark),
            MarkRole::SectionBegin | MarkRole::SectionEnd | MarkRole::Part | MarkRole::Around => self.layout.push(mark),
            MarkRole::PartEnd | MarkRole::Result => {}
        }
        match role {
            MarkRole::Close | MarkRole::PartEnd => {}
            MarkRole::Open if !long => {}
            _ => self.untrusted.push(mark),
        }
        match role {
            MarkRole::Open | MarkRole::SectionEnd if long => self.before.push(mark),
            MarkRole::Close | MarkRole::PartEnd if long => self.close.push(mark),
            _ => {}
        }
    }

    pub(crate) fn extend(&mut self, role: MarkRole, marks: impl IntoIterator<Item = &'static str>) {
        marks.into_iter().for_each(|mark| self.push(role, mark));
    }

    /// What ends a call whose opening no reader accepts.
    pub(crate) fn closers(&self) -> Closers {
        // A format with delimiters has none of these markers.
        match self.call.is_empty() {
            true => Closers::Own,
            false => Closers::Marks { close: self.close.clone(), before: self.before.clone() },
        }
    }
}
