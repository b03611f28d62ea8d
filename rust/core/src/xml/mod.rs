//! XML as models write it: entities.

mod entities;

pub use entities::{Entity, decode, decode_part, entity};
