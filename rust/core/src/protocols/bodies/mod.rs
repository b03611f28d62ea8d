//! Bodies that several protocols share.

pub mod envelope;
pub mod json_body;
pub mod params;

use super::body::{Body, Opening, recycle};
use crate::arguments::Context;
use envelope::Envelope;
use json_body::JsonBody;
use params::Params;

/// The body of a call with this opening, which is not a protocol's own. `name`: that of the tool, as it is written.
pub fn shared(cx: &Context<'_>, opening: Opening, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
    match opening {
        Opening::Object(wrapper) => {
            recycle(recycled, |body: &mut JsonBody| body.renew(cx, wrapper), || JsonBody::new(cx, wrapper))
        }
        Opening::Keywords => Box::new(JsonBody::keywords(cx)),
        Opening::Envelope(wrapper, markers) => recycle(
            recycled,
            |body: &mut Envelope| body.renew(cx, wrapper, markers),
            || Envelope::new(cx, wrapper, markers),
        ),
        Opening::Params(opened) => {
            recycle(recycled, |body: &mut Params| body.renew(opened, name), || Params::new(opened, name))
        }
        Opening::Own { .. } => Default::default(),
    }
}
