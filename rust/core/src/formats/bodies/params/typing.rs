//! How the text of a parameter is typed. Where a string is possible, the text is taken verbatim.

use crate::arguments::coercion;
use crate::arguments::tree::{Lists, TreeWriter, ValuePath, is_json, is_literal};
use crate::arguments::{Context, ReadError, Report};
use crate::error::Repair;
use crate::schema::{Choice, Node, NodeId};
use crate::syntax::json::{Value, parse, push_string};
use crate::syntax::scan::trim;
use crate::syntax::tags::ElementRow;
use crate::syntax::tree::UntypedValue;

/// Whether the text is exactly the JSON of a value other than a string that the type takes, or of any such value if the type is unknown.
fn is_value(cx: &Context<'_>, node: &Node, text: &str) -> bool {
    match text.as_bytes().first() {
        Some(bracket @ (b'{' | b'[')) => node.takes(*bracket) && text.ends_with(['}', ']']) && is_json(cx, text),
        Some(_) if node.is_unknown() => coercion::is_json_scalar(text),
        Some(_) => coercion::takes_bare(node, text),
        None => false,
    }
}

/// Appends the JSON of a text, typed. Python's words count as JSON where no string is possible, and with `python` everywhere.
pub(crate) fn write_text(
    cx: &Context<'_>,
    report: &mut Report,
    python: bool,
    at: &ValuePath<'_>,
    text: &str,
) -> Result<(), ReadError> {
    let node = cx.schema.node(at.node);
    let json = &mut report.args.json;
    if node.is_string() {
        push_string(json, text);
        return Ok(());
    }
    let letters = node.takes_string();
    let text = if letters { text } else { trim(text) };
    let word = coercion::python(text).filter(|_| (python || !letters) && !is_literal(node, text));
    if let Some(word) = word.filter(|word| node.is_unknown() || coercion::takes_bare(node, word)) {
        json.push_str(word);
        return Ok(());
    }
    let scalar = |text: &str, quoted| UntypedValue::Scalar { text: text.to_owned(), quoted };
    let write = |report: &mut Report, tree: &UntypedValue| TreeWriter { cx, report, lists: Lists::Own }.value(at, tree);
    if !letters {
        if text.is_empty() && (node.has(&Choice::Array) || node.takes_object()) {
            let empty =
                if node.has(&Choice::Array) { UntypedValue::List(Vec::new()) } else { UntypedValue::Map(Vec::new()) };
            cx.repair_or(report, Repair::Coerced, || format!("{} is empty.", at.path()))?;
            return write(report, &empty);
        }
        return write(report, &scalar(text, false));
    }
    if !is_literal(node, text) && is_value(cx, node, text) {
        return write(report, &scalar(text, false));
    }
    if node.is_unknown()
        && text.starts_with('"')
        && let Ok(Value::String(inner)) = parse(text, 0)
        && text.ends_with('"')
    {
        push_string(&mut report.args.json, &inner);
        return Ok(());
    }
    if node.is_unknown() || node.has(&Choice::String) {
        push_string(&mut report.args.json, text);
        return Ok(());
    }
    write(report, &scalar(text, true))
}

/// Whether the text between its tags reads as that value, without repairs or problems.
pub(crate) fn reads_as(cx: &Context<'_>, row: &ElementRow, id: NodeId, text: &str, value: &Value<'_>) -> bool {
    if let (true, Value::String(own)) = (cx.schema.node(id).is_string(), value) {
        return own == text;
    }
    let cx = Context { strict: true, ..*cx };
    let mut report = Report::default();
    let read = write_text(&cx, &mut report, row.python, &ValuePath::root(id, 1), text);
    let mut json = String::new();
    value.write(&mut json);
    read.is_ok() && report.problems.is_empty() && report.repairs.is_empty() && report.args.json == json
}
