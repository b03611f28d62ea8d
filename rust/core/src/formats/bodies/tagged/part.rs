//! Arguments in tags that are a whole part of a message: its header has the tool's name, and its end is that of the call.

use super::body::TaggedBody;
use super::{Tagged, Tags, write};
use crate::arguments::Context;
use crate::error::EncodeError;
use crate::formats::attempt::Attempt;
use crate::formats::body::{Body, recycle};
use crate::formats::call::{CallFormat, PastCall};
use crate::formats::settings::Settings;
use crate::syntax::scan::Scan;
use crate::tools::Tools;

/// The format of such parts. Each tag of an argument is on a line of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaggedPart(pub &'static Tags);

impl CallFormat for TaggedPart {
    fn openers(&self) -> &'static [&'static str] {
        std::slice::from_ref(&self.0.open)
    }

    fn close(&self) -> &'static str {
        self.0.close
    }

    fn encoding(&self) -> &'static str {
        "parameters"
    }

    fn attempt(&self, _: &Tools, _: &Settings, text: &str, _: bool) -> Attempt {
        Attempt::text(text)
    }

    fn orphan(&self, tools: &Tools, text: &str, last: bool) -> Scan<usize> {
        Tagged(self.0).orphan(tools, text, last)
    }

    fn body(&self, _: &Context<'_>, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycle(recycled, || TaggedBody::new(self.0, name), |body| body.reset(self.0, name))
    }

    fn write(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        write::arguments(self.0, cx, call, out)?;
        out.truncate(out.trim_end_matches('\n').len());
        Ok(())
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        write::field_example(self.0, field, value)
    }
}
