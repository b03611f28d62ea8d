//! Where a parser stands in a message.

use std::sync::Arc;

use crate::arguments::{Failure, Found};
use crate::protocols::body::{Body, NoBody};
use crate::syntax::scan::{Closers, Delimiters};

/// Between events. What is undecided is in the parser's buffer, not here.
#[derive(Debug, Default)]
pub enum State {
    /// Nothing was read: reasoning may begin.
    #[default]
    Start,
    /// Up to its end tag everything is text.
    Reasoning,
    Text,
    Call(Box<Call>),
    /// To the end of the message everything is text.
    Rest,
}

/// Memory for the source of a call that is kept for the next one.
const KEPT_BYTES: usize = 4096;

/// A committed call.
#[derive(Debug)]
pub struct Call {
    pub name: Option<String>,
    /// Its number in the toolset; `None` for one that nothing is known of.
    pub tool: Option<usize>,
    /// Of its start event.
    pub index: Option<usize>,
    /// Offset of OPEN, in characters, and in bytes.
    pub start: usize,
    pub start_byte: usize,
    /// The source in front of the current window, from OPEN.
    pub raw: String,
    /// Bytes of the source that `raw` has no room for.
    pub cut: usize,
    pub found: Found,
    pub body: Box<dyn Body>,
    /// It has failed already; only its end is looked for, from the failure's `skip` on.
    pub failure: Option<Failure>,
    /// Its delimiters, if it is spelled otherwise.
    pub delimiters: Option<Arc<Delimiters>>,
    /// What ends it if it has failed.
    pub closers: Closers,
    /// It has failed in its opening tag, in which `/>` would end it.
    pub in_tag: bool,
    /// The end of an opening tag in which the call has failed.
    pub tag: String,
    /// Of a call that failed, but was read completely.
    pub arguments: Option<String>,
}

impl Default for Call {
    fn default() -> Self {
        Call {
            name: None,
            tool: None,
            index: None,
            start: 0,
            start_byte: 0,
            raw: String::new(),
            cut: 0,
            found: Found::default(),
            body: Box::new(NoBody),
            failure: None,
            delimiters: None,
            closers: Closers::Own,
            in_tag: false,
            tag: String::new(),
            arguments: None,
        }
    }
}

/// The end of at most so many bytes of the text from `begin` on, between characters.
pub(crate) fn fitting(text: &str, begin: usize, bytes: usize) -> usize {
    let mut end = text.len().min(begin.saturating_add(bytes));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

impl Call {
    /// Adds to the source, of which the first `most` bytes are kept.
    pub fn add_source(&mut self, part: &str, most: usize) {
        let room = if self.cut > 0 { 0 } else { most.saturating_sub(self.raw.len()) };
        let kept = fitting(part, 0, room);
        self.raw.push_str(&part[..kept]);
        self.cut += part.len() - kept;
    }

    /// As new, with its memory; that of the source only if it is not much.
    pub fn reset(&mut self) {
        self.raw.clear();
        self.raw.shrink_to(KEPT_BYTES);
        self.found.reset();
        (self.name, self.tool, self.index, self.cut, self.failure) = (None, None, None, 0, None);
        (self.delimiters, self.closers, self.in_tag) = (None, Closers::Own, false);
        self.tag.clear();
        self.arguments = None;
    }
}
