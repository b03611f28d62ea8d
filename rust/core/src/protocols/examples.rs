//! Example calls for the header of a manual.

use std::cell::RefCell;

use super::Protocol;
use crate::tools::Tool;
use crate::toolset::Toolset;

/// Maximum bytes of an example, since it is sent with every request. A longer one is shown only if there is no other.
const SHORT: usize = 400;
/// Maximum number of tools for which an example is made.
const TRIED: usize = 64;
/// The name in an example that is no tool's.
const ANY_NAME: &str = "tool_name";

/// Makes examples for a header, and remembers which it was given.
pub struct Examples<'a> {
    tools: &'a Toolset,
    /// The example call of the tool at this position; `None` if none can be made.
    make: &'a dyn Fn(usize) -> Option<String>,
    given: RefCell<Vec<String>>,
}

impl<'a> Examples<'a> {
    pub fn new(tools: &'a Toolset, make: &'a dyn Fn(usize) -> Option<String>) -> Self {
        Examples { tools, make, given: RefCell::default() }
    }

    /// The example of the first of these tools for which one can be made. Tools with parameters come first, because their
    /// examples show more.
    pub fn of(&self, which: impl Fn(&Tool) -> bool) -> Option<String> {
        self.first(1, which).pop()
    }

    /// The same, of any tool; else a call that is no tool's.
    pub fn any(&self, protocol: &dyn Protocol) -> String {
        self.several(protocol, 1)
    }

    /// The examples of up to `count` tools, on lines of their own; else a call that is no tool's.
    pub fn several(&self, protocol: &dyn Protocol, count: usize) -> String {
        let mut calls = self.first(count, |_| true);
        if calls.is_empty() {
            calls.push(protocol.example(&self.tools.context(None, ANY_NAME)));
            self.given.borrow_mut().extend_from_slice(&calls);
        }
        calls.join("\n")
    }

    /// Those that the header was given.
    pub fn given(self) -> Vec<String> {
        self.given.into_inner()
    }

    fn first(&self, count: usize, which: impl Fn(&Tool) -> bool) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for parameters in [true, false] {
            let has = |tool: &Tool| tool.schema.declares_properties(tool.schema.root) == parameters;
            let wanted = self.tools.tools().enumerate().filter(|(_, tool)| which(tool) && has(tool));
            let (mut long, before) = (None, out.len());
            for (at, _) in wanted.take(TRIED) {
                if out.len() == count {
                    break;
                }
                match (self.make)(at) {
                    Some(call) if call.len() <= SHORT => out.push(call),
                    call => long = long.or(call),
                }
            }
            if out.len() == before && before < count {
                out.extend(long);
            }
        }
        self.given.borrow_mut().extend_from_slice(&out);
        out
    }
}
