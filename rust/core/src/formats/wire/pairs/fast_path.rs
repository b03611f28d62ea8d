//! A pair as the encoder writes it, in one step: ` key=value` with a declared key, and a value whose end and type are easy to
//! see. Most pairs of most calls are like this. The states read all others, those that are not complete yet, and read these the
//! same.

use super::value::is_open_ended;
use crate::arguments::Input;
use crate::limits::BARE_SEGMENT_CHARS;
use crate::schema::Choice;
use crate::syntax::json::is_plain;
use crate::syntax::pairs::may_trail;
use crate::syntax::quoting::{find_quote, leaves_open};
use crate::syntax::scan::Delimiters;

/// Reads pairs from `input.at`, which is between pairs. Returns whether the last value is bare and may take in tokens, or `None`
/// if nothing was read.
pub(super) fn pairs(input: &mut Input<'_>) -> Option<bool> {
    let mut length = key(input.rest().strip_prefix(' ')?, input.cx.delimiters)?;
    let mut open_ended = None;
    while let Some((next, bare)) = pair(input, length) {
        open_ended = Some(bare);
        match next {
            FollowedBy::Pair(next) => length = next,
            FollowedBy::Close => break,
        }
    }
    open_ended
}

/// What follows a value.
enum FollowedBy {
    Close,
    /// A pair whose key has this many bytes.
    Pair(usize),
}

/// Reads a pair whose key has this many bytes.
fn pair(input: &mut Input<'_>, length: usize) -> Option<(FollowedBy, bool)> {
    let Input { cx, window, .. } = *input;
    let rest = &window[input.at + 1..];
    let object = cx.schema.node(cx.schema.root).object.as_ref()?;
    let (name, id) = object.properties.entry(&rest[..length])?;
    let args = &mut input.report.args;
    if !args.takes_live(name) {
        return None;
    }
    let (value, node) = (&rest[length + 1..], cx.schema.node(*id));
    let first = *value.as_bytes().first()?;
    let (used, next, open_ended) = match first {
        b'"' if node.is_unknown() || node.has(&Choice::String) => {
            let end = 1 + value[1..].bytes().position(|byte| !is_plain(byte))?;
            if value.as_bytes()[end] != b'"' {
                return None;
            }
            let next = behind(&value[end + 1..], cx.delimiters)?;
            let start = args.begin_member(name);
            args.json.push_str(&value[..=end]);
            args.end_member(name.clone(), start);
            (end + 1, next, false)
        }
        b'"' | b'\'' | b'[' | b'{' | b'(' | b'`' | b'&' | b'\\' | 0xE2 => return None,
        _ => {
            let end = cx.delimiters.bare_run(value);
            let trails = value.as_bytes()[..end].last().is_some_and(|byte| may_trail(*byte));
            if end == 0 || trails || node.collects() || leaves_open(&value[..end]) {
                return None;
            }
            let next = behind(&value[end..], cx.delimiters)?;
            args.plain_member(cx.schema, name, *id, &value[..end])?;
            (end, next, is_open_ended(cx.schema, *id))
        }
    };
    input.at += 1 + length + 1 + used;
    Some((next, open_ended))
}

/// Bytes of the bare key that `text` starts with, with `=` directly after it.
fn key(text: &str, delimiters: &Delimiters) -> Option<usize> {
    let length = delimiters.key_run(text);
    let direct = (1..=BARE_SEGMENT_CHARS).contains(&length) && text.as_bytes().get(length) == Some(&b'=');
    (direct && find_quote(&text.as_bytes()[..length]).is_none()).then_some(length)
}

/// What ends a value, if this text begins with it.
fn behind(text: &str, delimiters: &Delimiters) -> Option<FollowedBy> {
    match text.strip_prefix(' ') {
        Some(rest) => key(rest, delimiters).map(FollowedBy::Pair),
        None => text.starts_with(&delimiters.close).then_some(FollowedBy::Close),
    }
}
