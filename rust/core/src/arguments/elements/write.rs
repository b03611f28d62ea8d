//! Elements written: the inverse of reading them. What elements cannot represent is JSON between the tags.

use crate::arguments::coercion::is_string_bare;
use crate::arguments::tree::ValuePath;
use crate::arguments::{Context, Lists, Report, TreeWriter, is_misnamed, push_text};
use crate::schema::{Choice, Node, NodeId, Schema, UNKNOWN};
use crate::syntax::json::{Member, Value};
use crate::syntax::tree::UntypedValue;
use crate::syntax::xml::{For, escape, is_name};

/// Whether an object of type `id` can be written with an element for each member. Only then does each key read as itself.
pub(crate) fn is_nestable(schema: &Schema, id: NodeId, members: &[Member<'_>]) -> bool {
    let node = schema.node(id);
    let object = node.is_unknown() || (node.has(&Choice::Object) && !node.has(&Choice::Array));
    // A lone `item` is a list.
    object
        && !members.is_empty()
        && members.iter().all(|(key, _)| is_name(key) && key != "item" && !is_misnamed(schema, id, key))
}

/// Whether the text certainly reads as that string.
fn is_plain(node: &Node, text: &str) -> bool {
    if node.is_string() {
        return true;
    }
    let word = text.starts_with(char::is_alphabetic) && !text.ends_with(|c: char| c.is_ascii_whitespace());
    word && match node.is_unknown() {
        true => !matches!(text, "true" | "false" | "null"),
        false => is_string_bare(node, text),
    }
}

/// Writes values of one schema as elements, each on lines of its own.
pub(crate) struct ElementWriter<'w, 'c> {
    pub cx: &'w Context<'c>,
    pub whom: For,
    pub out: &'w mut String,
}

impl ElementWriter<'_, '_> {
    /// The members of an object, each indented by `level` steps.
    pub(crate) fn members(&mut self, id: NodeId, members: &[Member<'_>], level: usize) {
        for (key, value) in members {
            let child = self.cx.schema.member(id, key).unwrap_or(UNKNOWN);
            self.member(key, child, value, level);
        }
    }

    /// A list is written as one element for each item if that parses back to the list.
    pub(crate) fn member(&mut self, name: &str, id: NodeId, value: &Value<'_>, level: usize) {
        match value {
            Value::Array(items) if self.is_repeatable(id, items) => {
                for (at, item) in items.iter().enumerate() {
                    self.element(name, self.cx.schema.item(id, at), item, level);
                }
            }
            _ => self.element(name, id, value, level),
        }
    }

    /// Recursion is as deep as the value.
    pub(crate) fn element(&mut self, name: &str, id: NodeId, value: &Value<'_>, level: usize) {
        self.indent(level);
        self.tag("<", name);
        match value {
            Value::Object(members) if is_nestable(self.cx.schema, id, members) => {
                self.out.push('\n');
                self.members(id, members, level + 1);
                self.indent(level);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.write(self.out),
            Value::String(text) if is_plain(self.cx.schema.node(id), text) => escape(text, self.whom, self.out),
            _ => {
                let mut text = String::new();
                push_text(self.cx, id, value, &mut text);
                escape(&text, self.whom, self.out);
            }
        }
        self.tag("</", name);
        self.out.push('\n');
    }

    fn tag(&mut self, bracket: &str, name: &str) {
        self.out.push_str(bracket);
        self.out.push_str(name);
        self.out.push('>');
    }

    fn indent(&mut self, level: usize) {
        self.out.extend(std::iter::repeat_n("  ", level));
    }

    fn is_repeatable(&self, id: NodeId, items: &[Value<'_>]) -> bool {
        let schema = self.cx.schema;
        let node = schema.node(id);
        if items.is_empty() || !(node.is_unknown() || node.has(&Choice::Array)) {
            return false;
        }
        let tuple = node.array.as_ref().is_some_and(|array| !array.prefix.is_empty());
        let fits = |(at, item): (usize, &Value<'_>)| {
            let child = schema.item(id, at);
            match item {
                Value::Array(_) => false,
                Value::Object(members) => !tuple && !node.takes_object() && is_nestable(schema, child, members),
                Value::String(text)
                    if items.len() > 1
                        && text.starts_with(char::is_alphabetic)
                        && is_plain(schema.node(child), text) =>
                {
                    true
                }
                _ => {
                    let mut text = String::new();
                    push_text(self.cx, child, item, &mut text);
                    // What looks like JSON could be the whole list.
                    let bare = !text.trim_ascii().is_empty() && !text.trim_ascii_start().starts_with(['[', '{']);
                    bare && (items.len() > 1 || self.reads_as_list(id, &text, item))
                }
            }
        };
        let lone_of_unknown = items.len() == 1 && node.is_unknown();
        !lone_of_unknown && items.iter().enumerate().all(fits)
    }

    /// Whether the text of a lone element reads as a list of that one item.
    fn reads_as_list(&self, id: NodeId, text: &str, item: &Value<'_>) -> bool {
        let (cx, mut report) = (Context { strict: true, ..*self.cx }, Report::default());
        let tree = UntypedValue::Scalar { text: text.to_owned(), quoted: false };
        let mut writer = TreeWriter { cx: &cx, report: &mut report, lists: Lists::Elements };
        let read = writer.value(&ValuePath::root(id, 1), &tree);
        let mut wanted = String::from("[");
        item.write(&mut wanted);
        wanted.push(']');
        read.is_ok() && report.problems.is_empty() && report.args.json == wanted
    }
}
