//! An element as the encoder writes it, in one step: `<key>text</key>` with a declared key, and text that is plain to see the
//! whole value. Most elements of most calls are such; whatever is not, or not all there yet, is for the states, which read these
//! the same.

use crate::body::Io;
use crate::coerce::{self, Outcome};
use crate::json::push_str;
use crate::scan::trim;
use crate::xml::name_length;

/// Reads an element from `io.at`, between elements. `None`: nothing was read.
pub(super) fn element(io: &mut Io<'_>) -> Option<()> {
    let Io { cx, window, .. } = *io;
    let tag = window[io.at..].strip_prefix('<')?;
    let object = cx.schema.node(cx.schema.root).object.as_ref()?;
    let (name, id) = object.properties.entry(&tag[..name_length(tag)])?;
    let text = tag[name.len()..].strip_prefix('>')?;
    let (text, close) = text.split_at(memchr::memchr2(b'<', b'&', text.as_bytes())?);
    let rest = close.strip_prefix("</")?.strip_prefix(&**name)?.strip_prefix('>')?;
    let (node, args) = (cx.schema.node(*id), &mut io.found.args);
    let plain = !text.starts_with('"') && trim(text) == text;
    let scalar = node.is_string() || (plain && !node.is_unknown() && !node.takes_container());
    if !scalar || !args.takes_live(name) {
        return None;
    }
    let before = args.json.len();
    let start = args.begin_member(name);
    if node.is_string() {
        args.json.push('"');
        push_str(&mut args.json, text);
        args.json.push('"');
    } else if coerce::scalar(cx.schema, *id, text, false, &mut args.json) != Outcome::default() {
        args.json.truncate(before);
        return None;
    }
    args.end_member(name.clone(), start);
    io.at = window.len() - rest.len();
    Some(())
}
