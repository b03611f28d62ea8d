//! The fields of a call whose arguments are elements or lines, one for each key, over [`ArgumentsBuilder`].
//!
//! A plain string is sent as it comes, other values when they are complete. What could be repeated, and so be a list, is a
//! piece: from the first one on the arguments wait for the call's end, in the order in which each began.

use std::sync::Arc;

use super::builder::{PathSegment, Target, To, push_comma};
use super::tree::{Lists, TreeWriter, ValuePath, is_whole_list, repeats};
use super::{ArgumentsBuilder, Bad, Context, Found, keys, messages};
use crate::keymap::KeyMap;
use crate::schema::NodeId;
use crate::syntax::json::push_str;
use crate::syntax::tree::UntypedValue;

#[derive(Debug)]
pub struct Fields {
    lists: Lists,
    waiting: KeyMap<Waiting>,
}

/// A field that could be repeated.
#[derive(Debug)]
struct Waiting {
    node: NodeId,
    target: Target,
    /// The first value, while there is no other.
    first: Option<UntypedValue>,
    /// The JSON of the list, without its last bracket.
    items: String,
    count: usize,
}

/// The place of one key's value.
#[derive(Debug)]
pub struct Slot {
    key: Arc<str>,
    node: NodeId,
    /// Of a value that is being written: where it starts in the arguments, and where it goes, if not after the others.
    begun: Option<(usize, Option<Target>)>,
}

impl Fields {
    pub fn new(lists: Lists) -> Self {
        Fields { lists, waiting: KeyMap::default() }
    }

    /// Starts over, and keeps the allocations.
    pub fn reset(&mut self) {
        self.waiting.clear();
    }

    /// Finds the place of a key, which is never dotted; an exact one is never taken for another.
    pub fn open(&mut self, cx: &Context<'_>, found: &mut Found, key: &str, exact: bool) -> Result<Slot, Bad> {
        let (key, node) = match self.waiting.entry(key) {
            Some((key, waiting)) => (key.clone(), waiting.node),
            None => {
                let has = |args: &ArgumentsBuilder, name: &str| args.has_root_key(name);
                keys::named(cx, found, cx.schema.root, key, exact, &String::new, &has)?
            }
        };
        Ok(Slot { key, node, begun: None })
    }

    /// The value of a slot, complete.
    pub fn close(
        &mut self,
        cx: &Context<'_>,
        found: &mut Found,
        mut slot: Slot,
        tree: UntypedValue,
    ) -> Result<(), Bad> {
        let node = slot.node;
        let Some(position) = self.waiting.position(&slot.key) else {
            if !repeats(cx.schema.node(node), self.lists) || is_whole_list(cx.schema, node, &tree) {
                slot.begin(cx, found)?;
                TreeWriter { cx, found, lists: self.lists }.value(node, &ValuePath::field(&slot.key), 1, &tree)?;
                return slot.done(found);
            }
            let target = slot.place(cx, found, true)?;
            if let Target::Duplicate(_) = target {
                return Err(slot.twice());
            }
            let waiting = Waiting { node, target, first: Some(tree), items: String::from("["), count: 0 };
            self.waiting.push(slot.key, waiting);
            return Ok(());
        };
        let (lists, at) = (self.lists, ValuePath::field(&slot.key));
        let waiting = self.waiting.value_mut(position);
        if let Some(first) = waiting.first.take() {
            waiting.add(cx, found, &at, &first, lists)?;
        }
        waiting.add(cx, found, &at, &tree, lists)
    }

    /// The call ends: puts what has waited into its place, and reports what is missing. The last bracket is left to write.
    pub fn finish(&mut self, cx: &Context<'_>, found: &mut Found) -> Result<(), Bad> {
        for position in 0..self.waiting.len() {
            let (key, waiting) = self.waiting.at(position);
            let start = found.args.begin(waiting.target, key);
            match &waiting.first {
                Some(tree) => {
                    TreeWriter { cx, found, lists: self.lists }.value(waiting.node, &ValuePath::field(key), 1, tree)?;
                }
                None => found.args.json.extend([&waiting.items, "]"]),
            }
            found.args.end(waiting.target, start);
        }
        found.args.write_pieces(&mut |_, _, _| {});
        found.missing(cx, cx.schema.root, &String::new, |args, name| args.has_root_key(name));
        Ok(())
    }
}

impl Waiting {
    /// Types one of several values.
    fn add(
        &mut self,
        cx: &Context<'_>,
        found: &mut Found,
        at: &ValuePath<'_>,
        tree: &UntypedValue,
        lists: Lists,
    ) -> Result<(), Bad> {
        let start = found.args.json.len();
        let node = cx.schema.item(self.node, self.count);
        TreeWriter { cx, found, lists }.value(node, &at.item(self.count), 2, tree)?;
        push_comma(&mut self.items);
        self.items.push_str(&found.args.json[start..]);
        found.args.json.truncate(start);
        self.count += 1;
        Ok(())
    }
}

impl Slot {
    /// Whether the value is a string, whatever its text. Then it can be pushed as it comes.
    pub fn is_string(&self, cx: &Context<'_>) -> bool {
        cx.schema.node(self.node).is_string()
    }

    pub fn node(&self) -> NodeId {
        self.node
    }

    /// As the key would be written, for messages.
    pub fn path(&self) -> String {
        messages::join("", messages::cut(&self.key))
    }

    /// A value that is complete: `write` appends its JSON.
    pub fn write(
        mut self,
        cx: &Context<'_>,
        found: &mut Found,
        write: impl FnOnce(&mut Found, NodeId, &ValuePath<'_>) -> Result<(), Bad>,
    ) -> Result<(), Bad> {
        self.begin(cx, found)?;
        let key = self.key.clone();
        write(found, self.node, &ValuePath::field(&key))?;
        self.done(found)
    }

    /// Begins a string that is pushed as it comes.
    pub fn start(&mut self, cx: &Context<'_>, found: &mut Found) -> Result<(), Bad> {
        self.begin(cx, found)?;
        found.args.json.push('"');
        Ok(())
    }

    /// Passes a part of the string on.
    pub fn push(&self, found: &mut Found, text: &str) {
        push_str(&mut found.args.json, text);
    }

    /// The same for text that needs no escapes in JSON.
    pub fn push_plain(&self, found: &mut Found, text: &str) {
        found.args.json.push_str(text);
    }

    /// The string that was started is complete.
    pub fn end(self, found: &mut Found) -> Result<(), Bad> {
        found.args.json.push('"');
        self.done(found)
    }

    fn place(&self, cx: &Context<'_>, found: &mut Found, piece: bool) -> Result<Target, Bad> {
        let steps = [PathSegment { from: cx.schema.root, to: To::Key(self.key.clone()) }];
        found.args.place(&steps, piece).map_err(|_| self.twice())
    }

    fn begin(&mut self, cx: &Context<'_>, found: &mut Found) -> Result<(), Bad> {
        self.begun = Some(if found.args.takes_live(&self.key) {
            (found.args.begin_member(&self.key), None)
        } else {
            let target = self.place(cx, found, false)?;
            (found.args.begin(target, &self.key), Some(target))
        });
        Ok(())
    }

    fn done(self, found: &mut Found) -> Result<(), Bad> {
        match self.begun {
            Some((start, None)) => found.args.end_member(self.key, start),
            Some((start, Some(target))) if found.args.end(target, start) => {}
            _ => return Err(self.twice()),
        }
        Ok(())
    }

    fn twice(&self) -> Bad {
        messages::twice(&self.path())
    }
}
