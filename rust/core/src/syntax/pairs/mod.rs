//! `key=value`: keys, what stands ahead of a decision, quoted text, and the writer that is their inverse.

mod key;
mod lookahead;
mod quoted;
mod write;

pub use key::{Segment, colon_key, push_segment, segments};
pub use lookahead::{Following, Lookahead, may_trail, separated};
pub use quoted::{Quoted, QuotedPart};
pub use write::{LIKE_QUOTES, is_bare_safe, push_quoted};
