//! A JSON object where elements, lines or parameters are expected: `<name>{…}</name>`.

use crate::arguments::{Context, Failure, Flow, Io, Object, Step};
use crate::error::ErrorKind;
use crate::protocols::body::Form;
use crate::syntax::recovery::Skip;
use crate::syntax::scan::Closer;

#[derive(Debug)]
pub enum ObjectInTag {
    Reading(Box<Object>),
    /// Its last bracket is read.
    Complete,
    /// The call has failed. Its rest is read by quotes and brackets alone.
    Failed(Skip),
}

impl ObjectInTag {
    pub fn new(cx: &Context<'_>) -> Self {
        ObjectInTag::Reading(Box::new(Object::arguments(cx)))
    }

    /// Reads the object, up to its end.
    pub fn feed(&mut self, io: &mut Io<'_>) -> Flow {
        let ObjectInTag::Reading(object) = self else { return Err(Step::Done) };
        match object.feed(io) {
            Err(Step::Failed(Failure { kind, message, skip })) => {
                *self = ObjectInTag::Failed(skip);
                Err((kind, message).into())
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
    pub fn not_closed(&mut self, name: &str) -> Step {
        *self = ObjectInTag::Failed(Skip::After);
        (ErrorKind::MalformedCall, format!("Only </{name}> may follow the JSON object.")).into()
    }

    /// How the rest is read once the call has failed.
    pub fn skip(&self) -> Skip {
        match self {
            ObjectInTag::Reading(object) => object.skip(),
            ObjectInTag::Complete => Skip::After,
            ObjectInTag::Failed(skip) => *skip,
        }
    }

    /// Reads a call that has failed to its closing tag.
    pub fn recover(&mut self, io: &mut Io<'_>, name: &str, form: Form) -> Step {
        let close = if form == Form::Broken { "/>".to_owned() } else { format!("</{name}>") };
        let mut skip = self.skip();
        let closed = skip.read(io.window, &mut io.at, io.last, &Closer::Text(&close));
        *self = ObjectInTag::Failed(skip);
        io.at += closed.unwrap_or(0);
        if closed.is_some() { Step::Done } else { Step::Need }
    }
}
