//! What models write around the JSON or leave out of it, and what is certain enough to read it.

use super::fence::fence_length;
use super::members::KEYS;
use super::{JsonCall, said};
use crate::arguments::object::Quotes;
use crate::arguments::{Context, Flow, Input, ReadError};
use crate::error::{ErrorKind, Repair};
use crate::formats::body::Wrapper;
use crate::schema::NodeId;
use crate::syntax::json::{Value, parse};
use crate::syntax::scan::{Scan, starts};

impl JsonCall {
    /// What closes calls for certain, if anything does.
    pub(super) fn closers(&self) -> impl Iterator<Item = &'static str> + Clone {
        let (close, fence, more) = match (&self.native, self.ends()) {
            (_, Some(ends)) => (ends.close, ends.fence, ends.implicit_closers),
            (Some(native), None) => ("", "", native.close),
            (None, None) => ("", "", &[][..]),
        };
        let fence = self.wrapper.filter(|_| self.native.is_some()).map_or(fence, Wrapper::close);
        [close, fence].into_iter().chain(more.iter().copied()).filter(|close| !close.is_empty())
    }

    /// The length of what closes calls, at the start of the text that is not read yet.
    pub(super) fn closer(&self, input: &Input<'_>) -> Scan<usize> {
        Scan::first_of(self.closers().map(|close| starts(input.rest(), close, input.last).map(|()| close.len())))
    }

    /// How unescaped quotes in strings are read. Without markers, they are errors.
    pub(super) fn quotes(&self) -> Option<Quotes> {
        match self.ends() {
            Some(ends) => Some(Quotes::new(0, &[]).bare(ends.close.is_empty())),
            None if self.guarded && self.bare => None,
            None => Some(Quotes::new(self.within(), &KEYS).bare(self.bare)),
        }
    }

    /// A fence that a model puts around the JSON.
    pub(super) fn open_fence(&mut self, input: &mut Input<'_>) -> Flow {
        if self.wrapper.is_some() || input.next_byte()? != b'`' {
            return Ok(());
        }
        let Some(length) = fence_length(input.rest()).decided()? else { return Ok(()) };
        self.repair(input, Repair::JsonWrapper, "nothing may surround the JSON object")?;
        input.at += length;
        self.wrapper = Some(Wrapper::Fence);
        Ok(())
    }
}

/// A bracket is missing before what closes the call. An error if another place is as likely.
pub(super) fn missing_bracket(input: &mut Input<'_>) -> Result<(), ReadError> {
    if is_misplaced(&input.cx, &input.report.args.json) {
        return Err((ErrorKind::InvalidJson, said("brackets do not match")));
    }
    input.cx.repair_or(input.report, Repair::UnbalancedBrackets, || said("a bracket is missing at its end"))
}

/// Whether a key of the arguments, or of an object in them, is only known to what is around it: its bracket may be the one that is
/// missing.
fn is_misplaced(cx: &Context<'_>, arguments: &str) -> bool {
    let (schema, root) = (cx.schema, cx.schema.root);
    let Ok(Value::Object(members)) = parse(arguments, cx.limits.depth) else { return false };
    members.iter().any(|(key, value)| {
        let moved = |node: NodeId, inner: &str| !schema.declares(node, inner) && schema.declares(root, inner);
        let node = schema.member(root, key);
        let inner = match value {
            Value::Object(inner) => inner.iter().any(|(inner, _)| node.is_some_and(|node| moved(node, inner))),
            _ => false,
        };
        inner || (KEYS.contains(&&**key) && !schema.declares(root, key))
    })
}
