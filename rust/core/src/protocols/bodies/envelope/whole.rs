//! One JSON object with the tool's name and the arguments, as the whole message or after a tag.

use super::{Envelope, NativeEnvelope};
use crate::arguments::Context;
use crate::error::EncodeError;
use crate::limits::ATTEMPT_CHARS;
use crate::protocols::body::{Body, Opening, recycle};
use crate::protocols::format::{CallFormat, PastCall};
use crate::protocols::frames::envelope;
use crate::protocols::protocol::{Attempt, Settings};
use crate::syntax::json::{push_string, write_spaced_object};
use crate::syntax::scan::{Scan, starts, window, ws_run};
use crate::tools::Tools;

/// A format: `{"name": NAME, KEY: {…}}`.
#[derive(Debug)]
pub(crate) struct WholeEnvelope {
    /// What may precede the object.
    pub open: &'static [&'static str; 1],
    /// What ends the message.
    pub last: &'static str,
    /// The key of the arguments that is written.
    pub arguments: &'static str,
    pub rules: NativeEnvelope,
}

impl CallFormat for WholeEnvelope {
    fn openers(&self) -> &'static [&'static str] {
        self.open
    }

    fn close(&self) -> &'static str {
        self.last
    }

    fn begins_message(&self) -> bool {
        true
    }

    fn attempt(&self, _: &Tools, _: &Settings, text: &str, last: bool) -> Attempt {
        let (head, ended) = window(text, ATTEMPT_CHARS, last);
        let [tag] = self.open;
        let blank = ws_run(head, 0);
        let open = match starts(&head[blank..], tag, ended) {
            Scan::Incomplete => return Attempt::Incomplete,
            Scan::Match(()) => blank + tag.len(),
            Scan::NoMatch => 0,
        };
        let body = ws_run(head, open);
        match head.as_bytes().get(body) {
            // Whitespace before the object belongs to the call: it may be text.
            Some(b'{') => Attempt::call(body + 1, body, Opening::Native),
            None if !ended => Attempt::Incomplete,
            _ => Attempt::text(text),
        }
    }

    fn body(&self, cx: &Context<'_>, _: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycle(recycled, Envelope::default, |body| body.reset_native(cx, self.rules))
    }

    fn write(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        if call.index > 0 {
            return Err(EncodeError("a message in this format has one call at most".to_owned()));
        }
        out.push_str("{\"name\": ");
        push_string(out, cx.tool);
        out.push_str(", ");
        push_string(out, self.arguments);
        out.push_str(": ");
        write_spaced_object(call.arguments, out);
        out.push('}');
        Ok(())
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        envelope::field_example(field, value)
    }
}
