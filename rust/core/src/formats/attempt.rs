//! Result of testing a possible opening.

use std::ops::Range;
use std::sync::Arc;

use super::body::Opening;
use crate::error::{ErrorKind, Repair};
use crate::syntax::scan::{Closers, Delimiters};
use crate::tools::Lookup;

/// Result of testing a possible opening. Byte offsets count from that place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// More text is needed.
    Incomplete,
    /// The number of bytes of text to skip: those of one character, or of an opener that begins no call.
    Text(usize),
    /// An error, unless another protocol reads a call there.
    Bad(Box<BadCall>),
    Call {
        /// Bytes of text before the call.
        lead: usize,
        /// The end of what opened the call.
        open: usize,
        /// The tool's name, unless the body contains it.
        name: Option<(Range<usize>, Lookup)>,
        /// Where the body starts.
        body: usize,
        opening: Opening,
        /// How the opening differs from the usual one.
        style: Option<Box<Style>>,
    },
}

impl Attempt {
    /// The first character is text.
    pub(crate) fn text(text: &str) -> Self {
        Attempt::Text(text.chars().next().map_or(1, char::len_utf8))
    }

    /// A call in the usual style with the name in its body, which starts at byte `body`.
    pub(crate) fn call(open: usize, body: usize, opening: Opening) -> Self {
        Attempt::Call { lead: 0, open, name: None, body, opening, style: None }
    }

    /// The same with the name in its opening.
    pub(crate) fn named(open: usize, name: (Range<usize>, Lookup), body: usize, opening: Opening) -> Self {
        Attempt::Call { lead: 0, open, name: Some(name), body, opening, style: None }
    }

    /// The end of the opener of a call or of an error, at least 1. `None` for text, and for a call that was cut off.
    pub(crate) fn opener(&self) -> Option<usize> {
        match self {
            Attempt::Call { lead, open, .. } => Some((*open).max(lead + 1)),
            Attempt::Bad(bad) if bad.kind != ErrorKind::IncompleteCall => Some(bad.open.max(1)),
            Attempt::Bad(_) | Attempt::Incomplete | Attempt::Text(_) => None,
        }
    }

    /// The same attempt at a text that begins with so many bytes more.
    pub(crate) fn after(self, bytes: usize) -> Self {
        match self {
            Attempt::Call { lead, open, name, body, opening, style } => {
                let name = name.map(|(at, lookup)| (at.start + bytes..at.end + bytes, lookup));
                Attempt::Call { lead, open: open + bytes, name, body: body + bytes, opening, style }
            }
            Attempt::Bad(mut call) => {
                call.open += bytes;
                Attempt::Bad(call)
            }
            Attempt::Text(length) => Attempt::Text(length + bytes),
            Attempt::Incomplete => Attempt::Incomplete,
        }
    }
}

/// How the opening of a call differs from the usual one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub repairs: Vec<Repair>,
    /// The delimiters of the call, if they are spelled differently.
    pub delimiters: Option<Arc<Delimiters>>,
}

impl Style {
    /// An opening that needs these repairs, if there are any.
    pub(crate) fn repaired(repairs: Vec<Repair>) -> Option<Box<Style>> {
        (!repairs.is_empty()).then(|| Box::new(Style { repairs, delimiters: None }))
    }
}

/// Text that can only be meant as a call, but cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadCall {
    /// The end of what opens it.
    pub open: usize,
    /// The position of the tool, if it is known.
    pub tool: Option<usize>,
    pub kind: ErrorKind,
    pub message: String,
    /// What ends the call.
    pub closers: Closers,
    /// The opening tag is incomplete. `/>` in it ends the call.
    pub in_tag: bool,
}
