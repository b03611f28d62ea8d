//! What models write around the JSON or leave out of it, and what is certain enough to read it.

use super::fence::fence_length;
use super::members::KEYS;
use super::{JsonCall, said};
use crate::arguments::object::Quotes;
use crate::arguments::{Flow, Input, ReadError};
use crate::error::Repair;
use crate::formats::body::Wrapper;
use crate::syntax::scan::{Scan, starts};

impl JsonCall {
    /// What closes calls for certain, if anything does.
    pub(super) fn closers(&self) -> impl Iterator<Item = &'static str> + Clone {
        let (one, more) = match (self.native, self.ends()) {
            (_, Some(ends)) => ([ends.close, ends.fence], ends.implicit_closers),
            (Some(native), None) => (["", self.wrapper.map_or("", Wrapper::close)], native.close),
            (None, None) => (["", ""], &[][..]),
        };
        one.into_iter().chain(more.iter().copied()).filter(|close| !close.is_empty())
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

pub(super) fn missing_bracket(input: &mut Input<'_>) -> Result<(), ReadError> {
    input.cx.repair_or(input.report, Repair::UnbalancedBrackets, || said("a bracket is missing at its end"))
}
