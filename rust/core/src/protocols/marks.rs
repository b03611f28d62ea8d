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
    /// What ends a call whose opening no reader accepts.
    pub closers: Closers,
}

impl MarkSet {
    pub(crate) fn push(&mut self, role: MarkRole, mark: &'static str) {
        use MarkRole::{Around, Close, End, Inside, Open, Part, PartEnd, SectionBegin, SectionEnd};
        // A bracket alone is no marker.
        let long = mark.len() > 1;
        if matches!(role, Open | Close | Inside) {
            self.call.push(mark);
        }
        if role == End {
            self.ends.push(mark);
        }
        if matches!(role, SectionBegin | SectionEnd | Part | Around) {
            self.layout.push(mark);
        }
        if !matches!(role, Close | PartEnd) && (role != Open || long) {
            self.untrusted.push(mark);
        }
        if let Open | SectionEnd | Close | PartEnd = role {
            if self.closers == Closers::Own {
                self.closers = Closers::Marks { close: Vec::new(), before: Vec::new() };
            }
            match &mut self.closers {
                Closers::Marks { before, .. } if long && matches!(role, Open | SectionEnd) => before.push(mark),
                Closers::Marks { close, .. } if long => close.push(mark),
                _ => {}
            }
        }
    }

    pub(crate) fn extend(&mut self, role: MarkRole, marks: impl IntoIterator<Item = &'static str>) {
        marks.into_iter().for_each(|mark| self.push(role, mark));
    }

    /// The markers before which a call ends that has failed.
    pub(crate) fn before(&self) -> &[&'static str] {
        if let Closers::Marks { before, .. } = &self.closers { before } else { &[] }
    }
}
