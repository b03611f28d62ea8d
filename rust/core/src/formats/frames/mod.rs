//! Frames: how a message is divided into text and calls. Each format over one is a row of data.

pub(crate) mod channels;
pub(crate) mod elements;
pub(crate) mod envelope;
pub(crate) mod flat;
pub(crate) mod params;
pub(crate) mod recipients;
