//! A pair as the encoder writes it, in one step: ` key=value` with a declared key, and a value whose end and type are plain to
//! see. Most pairs of most calls are such; whatever is not, or not all there yet, is for the states, which read these the same.

use super::value::takes_strings_as_items;
use crate::body::Io;
use crate::json::is_plain;
use crate::limits::BARE_SEGMENT_CHARS;
use crate::pairs::may_trail;
use crate::scan::Delimiters;
use crate::schema::Choice;

/// Reads a pair from `io.at`, between pairs. Was its value a bare one that may take in tokens? `None`: nothing was read.
pub(super) fn pair(io: &mut Io<'_>) -> Option<bool> {
    let Io { cx, window, .. } = *io;
    let rest = window[io.at..].strip_prefix(' ')?;
    let length = key(rest, cx.delimiters)?;
    let object = cx.schema.node(cx.schema.root).object.as_ref()?;
    let (name, id) = object.properties.entry(&rest[..length])?;
    let args = &mut io.found.args;
    if !args.takes_live(name) {
        return None;
    }
    let (value, node) = (&rest[length + 1..], cx.schema.node(*id));
    let first = *value.as_bytes().first()?;
    let (used, open_ended) = match first {
        b'"' if node.is_unknown() || node.has(&Choice::String) => {
            let end = 1 + value[1..].bytes().position(|byte| !is_plain(byte))?;
            if value.as_bytes()[end] != b'"' || !ends(&value[end + 1..], cx.delimiters) {
                return None;
            }
            let start = args.begin_member(name);
            args.json.push_str(&value[..=end]);
            args.end_member(name.clone(), start);
            (end + 1, false)
        }
        b'"' | b'\'' | b'[' | b'{' => return None,
        _ => {
            let end = cx.delimiters.bare_run(value);
            let trails = value.as_bytes()[..end].last().is_some_and(|byte| may_trail(*byte));
            if end == 0 || trails || node.collects() || !ends(&value[end..], cx.delimiters) {
                return None;
            }
            args.plain_member(cx.schema, name, *id, &value[..end])?;
            let takes = node.takes_string() || takes_strings_as_items(&cx, *id);
            (end, takes && cx.schema.declares_properties(cx.schema.root))
        }
    };
    io.at += 1 + length + 1 + used;
    Some(open_ended)
}

/// Bytes of the bare key that `text` starts with, `=` directly behind it.
fn key(text: &str, delimiters: &Delimiters) -> Option<usize> {
    let length = delimiters.key_run(text);
    ((1..=BARE_SEGMENT_CHARS).contains(&length) && text.as_bytes().get(length) == Some(&b'=')).then_some(length)
}

/// Does a value end in front of this text: is CLOSE next, or another pair?
fn ends(text: &str, delimiters: &Delimiters) -> bool {
    text.starts_with(&delimiters.close) || text.strip_prefix(' ').is_some_and(|rest| key(rest, delimiters).is_some())
}
