//! Lists and maps, and the forms in which one is written as the other.

use smallvec::SmallVec;

use super::{Lists, TreeWriter, ValuePath, repeats};
use crate::arguments::builder::{push_comma, push_key};
use crate::arguments::coercion;
use crate::arguments::object::equal_literal;
use crate::arguments::{ArgumentsBuilder, ReadError, keys, messages};
use crate::error::{ErrorKind, Repair};
use crate::keymap::KeyMap;
use crate::limits::RECURSION;
use crate::schema::{Choice, NodeId, UNKNOWN};
use crate::syntax::tree::UntypedValue;

impl TreeWriter<'_, '_> {
    fn deeper(&self, at: &ValuePath<'_>) -> Result<(), ReadError> {
        if at.above < self.cx.limits.depth.min(RECURSION) {
            return Ok(());
        }
        Err((ErrorKind::TooDeep, messages::too_deep(self.cx.limits)))
    }

    /// The place of a container. One that is not allowed there is untyped.
    fn container<'p>(&mut self, at: &ValuePath<'p>, bracket: u8) -> ValuePath<'p> {
        if self.node(at.node).takes(bracket) {
            return *at;
        }
        self.misplaced(at, bracket);
        ValuePath { node: UNKNOWN, ..*at }
    }

    fn misplaced(&mut self, at: &ValuePath<'_>, bracket: u8) {
        self.violation(at, coercion::violation(self.node(at.node)), messages::container(bracket));
    }

    /// The container that was written from `start` on: if it equals a literal of its type, it is replaced by that.
    fn contained(&mut self, at: &ValuePath<'_>, start: usize) {
        let bracket = self.report.args.json.as_bytes()[start];
        if !equal_literal(self.cx, self.report, at.node, start) {
            self.misplaced(at, bracket);
        }
    }

    pub(super) fn list(
        &mut self,
        at: &ValuePath<'_>,
        items: &mut dyn Iterator<Item = &UntypedValue>,
    ) -> Result<(), ReadError> {
        self.deeper(at)?;
        let at = self.container(at, b'[');
        let start = self.report.args.json.len();
        self.report.args.json.push('[');
        for (index, item) in items.enumerate() {
            push_comma(&mut self.report.args.json);
            self.value(&at.item(self.cx.schema, index), item)?;
        }
        self.report.args.json.push(']');
        self.contained(&at, start);
        Ok(())
    }

    /// A list of one item.
    pub(super) fn lone(
        &mut self,
        at: &ValuePath<'_>,
        write: impl FnOnce(&mut Self, &ValuePath<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.deeper(at)?;
        self.report.args.json.push('[');
        write(self, &at.item(self.cx.schema, 0))?;
        self.report.args.json.push(']');
        Ok(())
    }

    pub(super) fn map(&mut self, at: &ValuePath<'_>, members: &[(String, UntypedValue)]) -> Result<(), ReadError> {
        let (node, braces) = (self.node(at.node), messages::container(b'{'));
        if let Some(items) = self.wrapped(at.node, members) {
            if self.lists == Lists::Own {
                self.repair(Repair::ListWrapper, at, braces)?;
            }
            return self.list(at, &mut items.into_iter());
        }
        if !node.takes_object() {
            if node.has(&Choice::Array) && self.node(self.cx.schema.item(at.node, 0)).takes_object() {
                if self.lists == Lists::Own {
                    self.repair(Repair::Coerced, at, braces)?;
                }
                return self.lone(at, |writer, item| writer.map(item, members));
            }
            if let [(key, value)] = members
                && key == "value"
            {
                self.deeper(at)?;
                self.repair(Repair::ValueWrapper, at, braces)?;
                return self.value(&ValuePath { above: at.above + 1, ..*at }, value);
            }
        }
        self.deeper(at)?;
        let at = self.container(at, b'{');
        self.object(&at, members)
    }

    /// The items of a map that is a list in a wrapper.
    fn wrapped<'t>(&self, id: NodeId, members: &'t [(String, UntypedValue)]) -> Option<Vec<&'t UntypedValue>> {
        let (schema, node) = (self.cx.schema, self.node(id));
        let list = node.has(&Choice::Array) || (node.is_unknown() && self.lists == Lists::Elements);
        let (first, _) = members.first()?;
        // The object itself, or the one that is the list's lone item.
        let own = schema.declares(id, first) || schema.declares(schema.item(id, 0), first);
        if own || !list || (node.takes_object() && self.lists == Lists::Own) {
            return None;
        }
        match members {
            [(key, UntypedValue::List(items))] if key == "item" => Some(items.iter().collect()),
            _ if keys::are_of_list(members.iter().map(|(key, _)| key.as_str())) => {
                Some(members.iter().map(|(_, item)| item).collect())
            }
            _ => None,
        }
    }

    fn object(&mut self, at: &ValuePath<'_>, members: &[(String, UntypedValue)]) -> Result<(), ReadError> {
        let id = at.node;
        let mut keys: KeyMap<usize> = KeyMap::default();
        let mut groups: Vec<(NodeId, SmallVec<[&UntypedValue; 1]>)> = Vec::new();
        for (written, tree) in members {
            let position = match keys.position(written) {
                Some(position) => position,
                None => {
                    let has = |_: &ArgumentsBuilder, name: &str| keys.position(name).is_some();
                    let exact = self.lists == Lists::Own && self.cx.schema.member(id, written).is_some();
                    let (name, node) =
                        keys::named(self.cx, self.report, id, written, exact, &|| at.path(), Some(&has))?;
                    match keys.position(&name) {
                        Some(position) => position,
                        None => {
                            keys.push(name, groups.len());
                            groups.push((node, SmallVec::new()));
                            groups.len() - 1
                        }
                    }
                }
            };
            groups[position].1.push(tree);
        }
        let start = self.report.args.json.len();
        self.report.args.json.push('{');
        for (position, (node, trees)) in groups.iter().enumerate() {
            let (name, _) = keys.at(position);
            push_key(&mut self.report.args.json, name);
            self.member(&at.key(name, *node), trees)?;
        }
        self.report.args.json.push('}');
        let has = |name: &str| keys.position(name).is_some();
        self.report.missing(self.cx, id, &|| at.path(), |_, name| has(name));
        self.contained(at, start);
        Ok(())
    }

    /// All values of one key.
    fn member(&mut self, at: &ValuePath<'_>, trees: &[&UntypedValue]) -> Result<(), ReadError> {
        if let [tree] = trees {
            return self.value(at, tree);
        }
        if repeats(self.node(at.node), self.lists) {
            return self.list(at, &mut trees.iter().copied());
        }
        let start = self.report.args.json.len();
        let mut end = None;
        for tree in trees {
            let from = self.report.args.json.len();
            self.value(at, tree)?;
            let json = &mut self.report.args.json;
            match end {
                None => end = Some(json.len()),
                Some(end) if json[start..end] == json[from..] => json.truncate(from),
                Some(_) => return Err(messages::twice(&at.path())),
            }
        }
        Ok(())
    }
}
