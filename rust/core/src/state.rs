//! Where a parser stands in a message.

use crate::body::{Body, Failure, Found, Skip};

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

/// A committed call.
#[derive(Debug)]
pub struct Call {
    pub name: Option<String>,
    /// Its number in the toolset; `None` for one that nothing is known of.
    pub tool: Option<usize>,
    /// Of its start event.
    pub index: Option<usize>,
    /// Offset of OPEN, in characters.
    pub start: usize,
    /// The source in front of the current window, from OPEN.
    pub raw: String,
    /// Bytes of the source that `raw` has no room for.
    pub cut: usize,
    pub found: Found,
    pub reading: Reading,
}

/// How the rest of a call is read.
#[derive(Debug)]
pub enum Reading {
    Body(Body),
    /// It has failed already; only its end is looked for.
    Skip(Skip, Failure),
}
