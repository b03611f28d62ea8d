//! The fields of a call whose arguments are elements or lines, one for each key, over [`ArgumentsBuilder`].
//!
//! A plain string is sent as it arrives, other values when they are complete. What could be repeated, and so be a list, is a
//! piece: from the first one on the arguments wait for the call's end, in the order in which each began.

use std::sync::Arc;

use super::builder::{PathSegment, Target, To, push_comma};
use super::tree::{Lists, TreeWriter, ValuePath, is_whole_list, repeats};
use super::{ArgumentsBuilder, Context, ReadError, Report, keys, messages, problem_text};
use crate::keymap::KeyMap;
use crate::schema::NodeId;
use crate::syntax::json::push_str;
use crate::syntax::tree::UntypedValue;

#[derive(Debug, Default)]
pub(crate) struct Fields {
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
pub(crate) struct Slot {
    key: Arc<str>,
    node: NodeId,
    /// Of a value that is being written: where it starts in the arguments, and where it goes, if not after the others.
    begun: Option<(usize, Option<Target>)>,
}

impl Fields {
    /// Starts over, and keeps the allocations.
    pub(crate) fn reset(&mut self, lists: Lists) {
        self.lists = lists;
        self.waiting.clear();
    }

    /// Finds the place of a key, which is never dotted; an exact one is never taken for another.
    pub(crate) fn open(
        &mut self,
        cx: &Context<'_>,
        report: &mut Report,
        key: &str,
        exact: bool,
    ) -> Result<Slot, ReadError> {
        let (key, node) = match self.waiting.entry(key) {
            Some((key, waiting)) => (key.clone(), waiting.node),
            None => {
                let has = |args: &ArgumentsBuilder, name: &str| args.has_root_key(name);
                keys::named(cx, report, cx.schema.root, key, exact, &String::new, Some(&has))?
            }
        };
        Ok(Slot { key, node, begun: None })
    }

    /// The value of a slot, complete.
    pub(crate) fn close(
        &mut self,
        cx: &Context<'_>,
        report: &mut Report,
        mut slot: Slot,
        tree: UntypedValue,
    ) -> Result<(), ReadError> {
        let node = slot.node;
        let Some(position) = self.waiting.position(&slot.key) else {
            if !repeats(cx.schema.node(node), self.lists) || is_whole_list(cx.schema, node, &tree) {
                slot.begin(cx, report)?;
                TreeWriter { cx, report, lists: self.lists }.value(&ValuePath::field(&slot.key, node), &tree)?;
                return slot.done(report);
            }
            let target = slot.place(cx, report, true)?;
            if let Target::Duplicate(_) = target {
                return Err(slot.twice());
            }
            let waiting = Waiting { node, target, first: Some(tree), items: String::from("["), count: 0 };
            self.waiting.push(slot.key, waiting);
            return Ok(());
        };
        let waiting = self.waiting.value_mut(position);
        let (lists, at) = (self.lists, ValuePath::field(&slot.key, waiting.node));
        if let Some(first) = waiting.first.take() {
            waiting.add(cx, report, &at, &first, lists)?;
        }
        waiting.add(cx, report, &at, &tree, lists)
    }

    /// The call ends: writes held values in their places, and reports missing fields. The last bracket is not written here.
    pub(crate) fn finish(&mut self, cx: &Context<'_>, report: &mut Report) -> Result<(), ReadError> {
        for position in 0..self.waiting.len() {
            let (key, waiting) = self.waiting.at(position);
            let start = report.args.begin(waiting.target, key);
            match &waiting.first {
                Some(tree) => {
                    let at = ValuePath::field(key, waiting.node);
                    TreeWriter { cx, report, lists: self.lists }.value(&at, tree)?;
                }
                None => report.args.json.extend([&waiting.items, "]"]),
            }
            report.args.end(waiting.target, start);
        }
        report.args.write_pieces(&mut |_, _, _| {});
        report.missing(cx, cx.schema.root, &String::new, |args, name| args.has_root_key(name));
        Ok(())
    }
}

impl Waiting {
    /// Types one of several values.
    fn add(
        &mut self,
        cx: &Context<'_>,
        report: &mut Report,
        at: &ValuePath<'_>,
        tree: &UntypedValue,
        lists: Lists,
    ) -> Result<(), ReadError> {
        let start = report.args.json.len();
        TreeWriter { cx, report, lists }.value(&at.item(cx.schema, self.count), tree)?;
        push_comma(&mut self.items);
        self.items.push_str(&report.args.json[start..]);
        report.args.json.truncate(start);
        self.count += 1;
        Ok(())
    }
}

impl Slot {
    /// Whether the value is a string, whatever its text. Then it can be pushed as it arrives.
    pub(crate) fn is_string(&self, cx: &Context<'_>) -> bool {
        cx.schema.node(self.node).is_string()
    }

    /// Whether the key already has a value.
    pub(crate) fn is_taken(&self, report: &Report) -> bool {
        report.args.has_root_key(&self.key)
    }

    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    /// As the key would be written, for messages.
    pub(crate) fn path(&self) -> String {
        messages::join("", problem_text(&self.key))
    }

    /// A value that is complete: `write` appends its JSON.
    pub(crate) fn write(
        mut self,
        cx: &Context<'_>,
        report: &mut Report,
        write: impl FnOnce(&mut Report, &ValuePath<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.begin(cx, report)?;
        let key = self.key.clone();
        write(report, &ValuePath::field(&key, self.node))?;
        self.done(report)
    }

    /// Begins a string that is pushed as it arrives.
    pub(crate) fn start(&mut self, cx: &Context<'_>, report: &mut Report) -> Result<(), ReadError> {
        self.begin(cx, report)?;
        report.args.json.push('"');
        Ok(())
    }

    /// Passes a part of the string on.
    pub(crate) fn push(&self, report: &mut Report, text: &str) {
        push_str(&mut report.args.json, text);
    }

    /// The same for text that needs no escapes in JSON.
    pub(crate) fn push_plain(&self, report: &mut Report, text: &str) {
        report.args.json.push_str(text);
    }

    /// The string that was started is complete.
    pub(crate) fn end(self, report: &mut Report) -> Result<(), ReadError> {
        report.args.json.push('"');
        self.done(report)
    }

    fn place(&self, cx: &Context<'_>, report: &mut Report, piece: bool) -> Result<Target, ReadError> {
        let steps = [PathSegment { from: cx.schema.root, to: To::Key(self.key.clone()) }];
        report.args.place(&steps, piece).map_err(|_| self.twice())
    }

    fn begin(&mut self, cx: &Context<'_>, report: &mut Report) -> Result<(), ReadError> {
        self.begun = Some(if report.args.takes_live(&self.key) {
            (report.args.begin_member(&self.key), None)
        } else {
            let target = self.place(cx, report, false)?;
            (report.args.begin(target, &self.key), Some(target))
        });
        Ok(())
    }

    fn done(self, report: &mut Report) -> Result<(), ReadError> {
        match self.begun {
            Some((start, None)) => report.args.end_member(self.key, start),
            Some((start, Some(target))) if report.args.end(target, start) => {}
            _ => return Err(self.twice()),
        }
        Ok(())
    }

    fn twice(&self) -> ReadError {
        messages::twice(&self.path())
    }
}
