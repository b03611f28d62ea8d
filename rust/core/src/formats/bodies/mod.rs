//! Bodies that several protocols share.

pub(crate) mod json;
mod near_tag;
pub(crate) mod nested;
pub(crate) mod notation;
pub(crate) mod params;
pub(crate) mod pycalls;
pub(crate) mod tagged;

use super::body::{Body, Opening, recycle};
use super::protocol::Protocol;
use crate::arguments::Context;
use json::JsonCall;
use json::object::JsonBody;
use params::Params;

/// The body of a call with this opening in a protocol. `name` and `recycled` are as for its `body`.
pub(crate) fn body_of(
    protocol: &dyn Protocol,
    cx: &Context<'_>,
    opening: Opening,
    name: &str,
    recycled: Box<dyn Body>,
) -> Box<dyn Body> {
    match opening {
        Opening::Own { form, json } => protocol.body(cx, form, json, name, recycled),
        Opening::Object(wrapper) => recycle(recycled, JsonBody::default, |body| body.reset(cx, wrapper)),
        Opening::Keywords => Box::new(JsonBody::keywords(cx)),
        Opening::Envelope(wrapper, markers) => {
            recycle(recycled, JsonCall::default, |body| body.reset(cx, wrapper, markers))
        }
        Opening::Params(opened) => recycle(recycled, || Params::new(opened), |body| body.reset(opened, name)),
    }
}
