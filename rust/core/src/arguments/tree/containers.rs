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
    fn deeper(&self, above: usize) -> Result<(), ReadError> {
        if above < self.cx.limits.depth.min(RECURSION) {
            return Ok(());
        }
        Err((ErrorKind::TooDeep, messages::too_deep(self.cx.limits)))
    }

    /// The type of a container where type `id` is expected. One that is not allowed there is untyped.
    fn container(&mut self, id: NodeId, at: &ValuePath<'_>, bracket: u8) -> NodeId {
        if self.node(id).takes(bracket) {
            return id;
        }
        self.misplaced(id, at, bracket);
        UNKNOWN
    }

    fn misplaced(&mut self, id: NodeId, at: &ValuePath<'_>, bracket: u8) {
        self.violation(id, at, coercion::violation(self.node(id)), messages::container(bracket));
    }

    /// The container of type `id` that was written from `start` on: if it equals a literal of its type, it is replaced by that.
    fn contained(&mut self, id: NodeId, at: &ValuePath<'_>, start: usize) {
        let bracket = self.report.args.json.as_bytes()[start];
        if !equal_literal(self.cx, self.report, id, start) {
            self.misplaced(id, at, bracket);
        }
    }

    pub(super) fn list(
        &mut self,
        id: NodeId,
        at: &ValuePath<'_>,
        above: usize,
        items: &mut dyn Iterator<Item = &UntypedValue>,
    ) -> Result<(), ReadError> {
        self.deeper(above)?;
        let id = self.container(id, at, b'[');
        let start = self.report.args.json.len();
        self.report.args.json.push('[');
        for (index, item) in items.enumerate() {
            push_comma(&mut self.report.args.json);
            self.value(self.cx.schema.item(id, index), &at.item(index), above + 1, item)?;
        }
        self.report.args.json.push(']');
        self.contained(id, at, start);
        Ok(())
    }

    /// A list of one item.
    pub(super) fn lone(
        &mut self,
        id: NodeId,
        above: usize,
        write: impl FnOnce(&mut Self, NodeId) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.deeper(above)?;
        self.report.args.json.push('[');
        write(self, self.cx.schema.item(id, 0))?;
        self.report.args.json.push(']');
        Ok(())
    }

    pub(super) fn map(
        &mut self,
        id: NodeId,
        at: &ValuePath<'_>,
        above: usize,
        members: &[(String, UntypedValue)],
    ) -> Result<(), ReadError> {
        let node = self.node(id);
        if let Some(items) = self.wrapped(id, members) {
            if self.lists == Lists::Own {
                self.repair(Repair::ListWrapper, || messages::not_as_written(self.cx, id, &at.path(), "{…}"))?;
            }
            return self.list(id, at, above, &mut items.into_iter());
        }
        if !node.takes_object() {
            if node.has(&Choice::Array) && self.node(self.cx.schema.item(id, 0)).takes_object() {
                if self.lists == Lists::Own {
                    let message = || messages::not_as_written(self.cx, id, &at.path(), "{…}");
                    self.repair(Repair::Coerced, message)?;
                }
                return self.lone(id, above, |writer, item| writer.map(item, &at.item(0), above + 1, members));
            }
            if let [(key, value)] = members
                && key == "value"
            {
                self.deeper(above)?;
                self.repair(Repair::ValueWrapper, || messages::not_as_written(self.cx, id, &at.path(), "{…}"))?;
                return self.value(id, at, above + 1, value);
            }
        }
        self.deeper(above)?;
        let id = self.container(id, at, b'{');
        self.object(id, at, above, members)
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

    fn object(
        &mut self,
        id: NodeId,
        at: &ValuePath<'_>,
        above: usize,
        members: &[(String, UntypedValue)],
    ) -> Result<(), ReadError> {
        let mut keys: KeyMap<usize> = KeyMap::default();
        let mut groups: Vec<(NodeId, SmallVec<[&UntypedValue; 1]>)> = Vec::new();
        for (written, tree) in members {
            let position = match keys.position(written) {
                Some(position) => position,
                None => {
                    let has = |_: &ArgumentsBuilder, name: &str| keys.position(name).is_some();
                    let exact = self.lists == Lists::Own && self.cx.schema.member(id, written).is_some();
                    let (name, node) = keys::named(self.cx, self.report, id, written, exact, &|| at.path(), &has)?;
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
            self.member(*node, &at.key(name), above + 1, trees)?;
        }
        self.report.args.json.push('}');
        let has = |name: &str| keys.position(name).is_some();
        self.report.missing(self.cx, id, &|| at.path(), |_, name| has(name));
        self.contained(id, at, start);
        Ok(())
    }

    /// All values of one key.
    fn member(
        &mut self,
        id: NodeId,
        at: &ValuePath<'_>,
        above: usize,
        trees: &[&UntypedValue],
    ) -> Result<(), ReadError> {
        if let [tree] = trees {
            return self.value(id, at, above, tree);
        }
        if repeats(self.node(id), self.lists) {
            return self.list(id, at, above, &mut trees.iter().copied());
        }
        let start = self.report.args.json.len();
        let mut end = None;
        for tree in trees {
            let from = self.report.args.json.len();
            self.value(id, at, above, tree)?;
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
