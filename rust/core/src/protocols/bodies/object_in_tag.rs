//! A JSON object where elements, lines or parameters are expected: `<name>{…}</name>`.

use crate::arguments::{Context, Flow, Input, Object, Progress};
use crate::error::ErrorKind;
use crate::protocols::body::Form;
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::Closer;

#[derive(Debug)]
pub enum ObjectInTag {
    Reading(Box<Object>),
    /// Its last bracket is read.
    Complete,
    /// The call has failed. Its rest is read by quotes and brackets alone.
    Failed(Recovery),
}

impl ObjectInTag {
    pub fn new(cx: &Context<'_>) -> Self {
        ObjectInTag::Reading(Box::new(Object::arguments(cx)))
    }

    /// Reads the object, up to its end.
    pub fn feed(&mut self, input: &mut Input<'_>) -> Flow {
        let ObjectInTag::Reading(object) = self else { return Err(Progress::CallEnd) };
        match object.feed(input) {
            Err(Progress::Failed(failure)) => {
                *self = ObjectInTag::Failed(failure.recovery);
                Err((failure.kind, failure.message).into())
            }
            read => {
                if read.is_ok() {
                    *self = ObjectInTag::Complete;
                }
                read
            }
        }
    }

    /// The failure of a call in which something other than the closing tag follows the object.
    pub fn not_closed(&mut self, name: &str) -> Progress {
        *self = ObjectInTag::Failed(Recovery::After);
        (ErrorKind::MalformedCall, format!("Only </{name}> may follow the JSON object.")).into()
    }

    /// How the rest is read once the call has failed.
    pub fn recovery(&self) -> Recovery {
        match self {
            ObjectInTag::Reading(object) => object.recovery(),
            ObjectInTag::Complete => Recovery::After,
            ObjectInTag::Failed(recovery) => *recovery,
        }
    }

    /// Reads a call that has failed to its closing tag.
    pub fn recover(&mut self, input: &mut Input<'_>, name: &str, form: Form) -> Progress {
        let close = if form == Form::Broken { "/>".to_owned() } else { format!("</{name}>") };
        let mut recovery = self.recovery();
        let closed = recovery.read(input.window, &mut input.at, input.last, &Closer::Text(&close));
        *self = ObjectInTag::Failed(recovery);
        input.at += closed.unwrap_or(0);
        if closed.is_some() { Progress::CallEnd } else { Progress::Incomplete }
    }
}
