//! A protocol is how calls stand in text: what begins one, what its body is, how calls, results and the manual are written.
//!
//! Protocols are stateless; what changes while a message is read lives in the parser and the body.

mod results;
mod wire;

use std::ops::Range;

use crate::body::Wrapper;
use crate::json::Member;
use crate::toolset::{Lookup, Tool, Toolset};

pub use results::{write_error, write_result};
pub use wire::{Wire, is_writable_name};

/// What stands behind an OPEN. Byte offsets count from behind OPEN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Cannot be told yet.
    Need,
    /// It was text.
    Text,
    /// A call without a name.
    Nameless,
    Call {
        name: Range<usize>,
        tool: Lookup,
        body: BodyStart,
    },
}

/// Where a body starts, and of which kind it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyStart {
    Pairs(usize),
    /// At the opening bracket.
    Object(usize, Option<Wrapper>),
}

/// One way to write calls into text.
pub trait Protocol: Send + Sync + std::fmt::Debug {
    /// Looks at the text behind an OPEN. With `last` there is no more to come.
    fn attempt(&self, tools: &Toolset, text: &str, last: bool) -> Attempt;

    /// Appends one call in its canonical form.
    fn write_call(&self, tools: &Toolset, tool: Option<&Tool>, name: &str, arguments: &[Member<'_>], out: &mut String);

    /// What the model is told: a header, then one line for each tool.
    fn manual(&self, tools: &Toolset, header: Option<&str>) -> String;

    /// One tool's line.
    fn signature(&self, tools: &Toolset, tool: &Tool) -> String;
}

/// The protocols, by name.
pub const PROTOCOLS: &[(&str, &dyn Protocol)] = &[("wire", &Wire)];
