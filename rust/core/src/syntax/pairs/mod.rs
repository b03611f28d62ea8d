//! `key=value`: keys, what stands ahead of a decision, quoted text, and the writer that is their inverse.

mod ahead;
mod key;
mod quoted;
mod write;

pub use ahead::{Ahead, Next, may_trail, separated};
pub use key::{Segment, colon_key, push_segment, segments};
pub use quoted::{Part, Quoted};
pub use write::{LIKE_QUOTES, is_bare_safe, push_quoted};
