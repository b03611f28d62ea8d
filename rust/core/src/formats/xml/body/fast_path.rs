//! An element as the encoder writes it, in one step: `<key>text</key>` with a declared key, and text that is clearly
//! the whole value. Most elements of most calls are like this. The states read all others, those that are not complete yet, and
//! read these the same.

use crate::arguments::Input;
use crate::syntax::scan::trim;
use crate::syntax::xml::name_length;

/// Reads an element from `input.at`, between elements. `None`: nothing was read.
pub(super) fn element(input: &mut Input<'_>) -> Option<()> {
    let Input { cx, window, .. } = *input;
    let tag = window[input.at..].strip_prefix('<')?;
    let object = cx.schema.node(cx.schema.root).object.as_ref()?;
    let (name, id) = object.properties.entry(&tag[..name_length(tag)])?;
    let text = tag[name.len()..].strip_prefix('>')?;
    let (text, close) = text.split_at(memchr::memchr2(b'<', b'&', text.as_bytes())?);
    let rest = close.strip_prefix("</")?.strip_prefix(&**name)?.strip_prefix('>')?;
    let node = cx.schema.node(*id);
    let plain = !text.starts_with('"') && trim(text) == text;
    let scalar = node.is_string() || (plain && !node.is_unknown() && !node.takes_container());
    if !scalar || !input.report.args.takes_live(name) {
        return None;
    }
    input.report.args.plain_member(cx.schema, name, *id, text)?;
    input.at = window.len() - rest.len();
    Some(())
}
