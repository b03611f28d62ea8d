//! Calls that are parts of a message: the header has the name, and the text is one JSON object.

use super::{Ends, JsonCall};
use crate::arguments::Context;
use crate::error::EncodeError;
use crate::formats::attempt::Attempt;
use crate::formats::body::{Body, recycle};
use crate::formats::call::{CallFormat, PastCall};
use crate::formats::settings::Settings;
use crate::syntax::json::write_spaced_object;
use crate::tools::Tools;

/// A format. The object's last bracket ends a call; a call that has failed is read up to the end of its part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonPart {
    /// What begins the header of a part, and what ends a part that is a call.
    pub open: &'static [&'static str; 1],
    pub close: &'static str,
    /// What ends any part.
    pub ends: &'static [&'static str],
}

impl CallFormat for JsonPart {
    fn openers(&self) -> &'static [&'static str] {
        self.open
    }

    fn close(&self) -> &'static str {
        self.close
    }

    fn attempt(&self, _: &Tools, _: &Settings, text: &str, _: bool) -> Attempt {
        Attempt::text(text)
    }

    fn body(&self, cx: &Context<'_>, _: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        let ends = Ends { fence: "", close: "", implicit_closers: self.ends };
        recycle(recycled, JsonCall::default, |body| body.reset_named(cx, ends, false))
    }

    fn write(&self, _: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        write_spaced_object(call.arguments, out);
        Ok(())
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        format!("\"{field}\": {value}")
    }
}
