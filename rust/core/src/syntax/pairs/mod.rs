//! `key=value`: keys, quoted text, what follows a value, and the writer.

mod key;
mod lookahead;
mod quoted;
mod write;

pub use key::{Segment, colon_key, push_segment, segments};
pub use lookahead::{Following, Lookahead, may_trail, separated};
pub use quoted::{Quoted, QuotedPart};
pub use write::{LIKE_QUOTES, is_bare_safe, push_quoted};
