//! A [`UntypedValue`] in, typed JSON out.
//!
//! [`crate::arguments::coercion`] decides what a text becomes, and [`Object`] reads values in JSON. This module has the lists
//! and maps of protocols that write their own, and the near misses that only those have.

mod containers;
mod path;

use super::{Context, Object, ReadError, Report, messages};
use crate::arguments::coercion::{self, Outcome};
use crate::error::{ErrorKind, ProblemKind, Repair};
use crate::schema::{Choice, Node, NodeId, Schema, UNKNOWN};
use crate::syntax::json::{Value, parse, push_string};
use crate::syntax::scan::trim;
use crate::syntax::tree::UntypedValue;

pub(crate) use path::ValuePath;

/// How a protocol writes lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lists {
    /// As elements: a repeated key, or a map with `item` or indexes for keys; a lone element is a list of one.
    Elements,
    /// In their own form; other forms are repairs, and a repeated key is an error.
    #[default]
    Own,
}

/// Whether a repeated key makes a list.
pub(super) fn repeats(node: &Node, lists: Lists) -> bool {
    lists == Lists::Elements && (node.is_unknown() || node.has(&Choice::Array))
}

/// Whether it is the JSON text of a whole list, which no repeated key adds to.
pub(super) fn is_whole_list(schema: &Schema, id: NodeId, tree: &UntypedValue) -> bool {
    let UntypedValue::Scalar { text, quoted: false } = tree else { return false };
    let item = schema.node(schema.item(id, 0));
    let items_are_lists = !item.is_unknown() && item.takes(b'[');
    schema.node(id).has(&Choice::Array) && !items_are_lists && trim(text).starts_with('[')
}

/// Appends the text of a value of type `id` between the tags of an element, before escaping: a string unchanged if that
/// parses back to it, anything else as JSON.
pub(crate) fn push_text(cx: &Context<'_>, id: NodeId, value: &Value<'_>, out: &mut String) {
    match value {
        Value::String(text) if cx.schema.node(id).is_string() || is_plain_text(cx, id, text) => out.push_str(text),
        _ => value.write(out),
    }
}

/// Whether the unchanged text reads as that string, without repairs or problems. False also if that is not certain.
fn is_plain_text(cx: &Context<'_>, id: NodeId, text: &str) -> bool {
    if text.starts_with(['"', '[', '{']) || text != trim(text) {
        return false;
    }
    let mut json = String::new();
    coercion::scalar(cx.schema, id, text, false, &mut json) == Outcome::default() && json.starts_with('"')
}

/// Appends typed values to the arguments.
pub(crate) struct TreeWriter<'w, 'c> {
    pub cx: &'w Context<'c>,
    pub report: &'w mut Report,
    pub lists: Lists,
}

impl<'c> TreeWriter<'_, 'c> {
    fn node(&self, id: NodeId) -> &'c Node {
        self.cx.schema.node(id)
    }

    /// Recursion is as deep as the limits allow.
    pub(crate) fn value(&mut self, at: &ValuePath<'_>, tree: &UntypedValue) -> Result<(), ReadError> {
        match tree {
            UntypedValue::Scalar { text, quoted: false } => self.bare(at, text),
            UntypedValue::Scalar { text, quoted: true } => self.quoted(at, text),
            UntypedValue::List(items) => self.list(at, &mut items.iter()),
            UntypedValue::Map(members) => self.map(at, members),
        }
    }

    fn repair(&mut self, repair: Repair, at: &ValuePath<'_>, text: &str) -> Result<(), ReadError> {
        let message = || messages::not_as_written(self.cx, at.node, &at.path(), text);
        self.cx.repair_or(self.report, repair, message)
    }

    fn violation(&mut self, at: &ValuePath<'_>, kind: ProblemKind, value: &str) {
        self.report.violation(self.cx, at.node, kind, || at.path(), value);
    }

    fn bare(&mut self, at: &ValuePath<'_>, text: &str) -> Result<(), ReadError> {
        let node = self.node(at.node);
        if node.is_string() {
            push_string(&mut self.report.args.json, text);
            return Ok(());
        }
        let text = trim(text);
        if text.is_empty() && self.lists == Lists::Elements && !node.is_unknown() && !node.takes_string() {
            if node.has(&Choice::Array) {
                return self.list(at, &mut std::iter::empty());
            }
            if node.takes_object() {
                return self.map(at, &[]);
            }
        }
        match text.bytes().next() {
            Some(bracket @ (b'{' | b'['))
                if (node.takes(bracket) || (node.takes_container() && !node.takes_string()))
                    && self.json(at, text)? =>
            {
                return Ok(());
            }
            Some(b'"') if !is_literal(node, text) => {
                if let Ok(Value::String(inner)) = parse(text, 0) {
                    return self.quoted(at, &inner);
                }
            }
            _ => {}
        }
        if self.lists == Lists::Elements
            && let Some((items, _)) = coercion::items(self.cx.schema, at.node, text, false, 0)
            && items.len() == 1
        {
            return self.lone(at, |writer, item| writer.bare(item, text));
        }
        self.scalar(at, text, false)
    }

    fn quoted(&mut self, at: &ValuePath<'_>, text: &str) -> Result<(), ReadError> {
        let node = self.node(at.node);
        let bracket = trim(text).bytes().next().filter(|byte| matches!(byte, b'{' | b'['));
        if bracket.is_some_and(|bracket| node.takes(bracket)) && !node.takes_string() && self.json(at, text)? {
            return self.repair(Repair::Coerced, at, text);
        }
        self.scalar(at, text, true)
    }

    fn scalar(&mut self, at: &ValuePath<'_>, text: &str, quoted: bool) -> Result<(), ReadError> {
        let schema = self.cx.schema;
        let json = &mut self.report.args.json;
        let start = json.len();
        let Outcome { converted, problem } = coercion::scalar(schema, at.node, text, quoted, json);
        if let Some(kind) = problem {
            let Some(literal) = coercion::unquoted_literal(schema.node(at.node), text) else {
                self.violation(at, kind, text);
                return Ok(());
            };
            json.truncate(start);
            json.push_str(&literal);
            return self.repair(Repair::EnumQuotes, at, text);
        }
        if converted {
            self.repair(Repair::Coerced, at, text)?;
        }
        Ok(())
    }

    /// Writes a text that is JSON. False: it is not JSON, and nothing was written.
    fn json(&mut self, at: &ValuePath<'_>, text: &str) -> Result<bool, ReadError> {
        let (length, problems, repairs) =
            (self.report.args.json.len(), self.report.problems.len(), self.report.repairs.len());
        // What may be undone must not be sent.
        let holds = self.report.args.hold();
        let read = read_json(self.cx, self.report, Object::new(self.cx, at.node, at.path(), at.above), text);
        self.report.args.release_if(holds);
        let Err(bad) = read else { return Ok(true) };
        let is_json = match bad.0 {
            ErrorKind::InvalidJson => false,
            ErrorKind::Strict(Repair::RelaxedJson) => read_untyped(self.cx, false, at.above, text).is_ok(),
            _ => true,
        };
        if is_json {
            return Err(bad);
        }
        self.report.args.json.truncate(length);
        self.report.problems.truncate(problems);
        self.report.repairs.truncate(repairs);
        Ok(false)
    }
}

/// Reads all of a text, which starts with a bracket, as JSON.
fn read_json(cx: &Context<'_>, report: &mut Report, mut object: Object, text: &str) -> Result<(), ReadError> {
    match object.read_all(cx, report, text)? {
        Some(rest) if trim(rest).is_empty() => Ok(()),
        _ => Err((ErrorKind::InvalidJson, String::new())),
    }
}

/// The same as JSON of any type, for the error alone.
fn read_untyped(cx: &Context<'_>, strict: bool, above: usize, text: &str) -> Result<(), ReadError> {
    let schema = Schema::unknown();
    let cx = Context { strict, schema: &schema, ..*cx };
    read_json(&cx, &mut Report::default(), Object::new(&cx, UNKNOWN, String::new(), above), text)
}

/// Whether the text, which starts with a bracket, is plain JSON. It may be too deep or repeat a key.
pub(crate) fn is_json(cx: &Context<'_>, text: &str) -> bool {
    let read = read_untyped(cx, true, 1, text);
    !matches!(read, Err((ErrorKind::InvalidJson | ErrorKind::Strict(_), _)))
}

/// Whether the text is exactly a string of the enum.
pub(crate) fn is_literal(node: &Node, text: &str) -> bool {
    node.candidates(text).iter().any(|choice| coercion::is_literal(choice, text))
}
