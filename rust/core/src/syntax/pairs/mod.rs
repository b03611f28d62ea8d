//! `key=value`: keys, quoted text, what follows a value, and the writer.

mod key;
mod lookahead;
mod quoted;
mod write;

pub(crate) use key::{Segment, colon_key, push_segment, segments};
pub(crate) use lookahead::{Following, Lookahead, may_trail, separated};
pub(crate) use quoted::{Quoted, QuotedPart};
pub(crate) use write::{LIKE_QUOTES, NOT_BARE_FIRST, is_bare_safe, push_quoted};
