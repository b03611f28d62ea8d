//! Containers that are complete: whether one wraps the value that is expected, and which literal of its type one equals.

use crate::arguments::{Context, Report, keys};
use crate::error::Repair;
use crate::schema::{Choice, Literal, NodeId};
use crate::syntax::json::{Value, parse};

/// The JSON in a wrapper where type `id` is expected, which does not allow objects.
pub(super) fn in_wrapper(cx: &Context<'_>, id: NodeId, text: &str) -> Option<(Repair, String)> {
    let Ok(Value::Object(mut members)) = parse(text, cx.limits.depth) else { return None };
    let schema = cx.schema;
    let own = |key: &str| !schema.node(id).has(&Choice::Array) || schema.declares(schema.item(id, 0), key);
    let list = !own(&members.first()?.0) && keys::are_of_list(members.iter().map(|(key, _)| &**key));
    let (repair, value) = match &members[..] {
        [(key, Value::Array(_))] if list && key == "item" => (Repair::ListWrapper, members.pop()?.1),
        _ if list => (Repair::ListWrapper, Value::Array(members.into_iter().map(|(_, item)| item).collect())),
        [(key, _)] if key == "value" => (Repair::ValueWrapper, members.pop()?.1),
        _ => return None,
    };
    let mut json = String::with_capacity(text.len());
    value.write(&mut json);
    Some((repair, json))
}

/// The container of type `id` that was written from `start` on: if it equals a literal of its type, it is replaced by that.
/// False: its type admits only literals, and it equals none of them.
pub(crate) fn equal_literal(cx: &Context<'_>, report: &mut Report, id: NodeId, start: usize) -> bool {
    let written = &report.args.json[start..];
    let node = cx.schema.node(id);
    let bracket = written.as_bytes()[0];
    if node.literals(bracket).next().is_none() {
        return true;
    }
    let Ok(value) = parse(written, cx.limits.depth) else { return true };
    let digest = value.digest();
    // Literals may be many and large, and values many: few of them are worth a closer look.
    let same = |literal: &&Literal| {
        literal.digest == digest && parse(&literal.json, cx.limits.depth).is_ok_and(|own| own.equals(&value))
    };
    if let Some(literal) = node.literals(bracket).find(same) {
        report.args.json.truncate(start);
        report.args.json.push_str(&literal.json);
        return true;
    }
    node.has(if bracket == b'{' { &Choice::Object } else { &Choice::Array })
}
