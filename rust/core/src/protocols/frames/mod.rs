//! Frames: how a message is divided into text and calls. Several protocols share each.

pub mod flat;
