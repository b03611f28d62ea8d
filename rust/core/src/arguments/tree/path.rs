//! The path of a value in the arguments.

use smallvec::SmallVec;

use crate::arguments::{MAX_PROBLEM_BYTES, messages, problem_text};
use crate::schema::{NodeId, Schema};

/// The type of a value, and its path from the inside out, whose text is made only for a message.
#[derive(Clone, Copy)]
pub(crate) struct ValuePath<'p> {
    pub node: NodeId,
    /// Levels of the arguments that contain it.
    pub above: usize,
    pub(super) parent: Option<&'p ValuePath<'p>>,
    pub(super) step: PathPart<'p>,
}

#[derive(Clone, Copy)]
pub(super) enum PathPart<'p> {
    Root(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'a> ValuePath<'a> {
    /// A value without a name.
    pub(crate) fn root(node: NodeId, above: usize) -> Self {
        ValuePath { node, above, parent: None, step: PathPart::Root("") }
    }

    /// A value with this path.
    pub(crate) fn at(path: &'a str, node: NodeId, above: usize) -> Self {
        ValuePath { node, above, parent: None, step: PathPart::Root(path) }
    }

    /// A field of the call.
    pub(crate) fn field(name: &'a str, node: NodeId) -> Self {
        ValuePath { node, above: 1, parent: None, step: PathPart::Key(name) }
    }

    /// As a key would be written, or the beginning of that.
    pub(crate) fn path(&self) -> String {
        let mut steps: SmallVec<[&PathPart<'_>; 8]> = SmallVec::new();
        let mut at = Some(self);
        while let Some(ValuePath { parent, step, .. }) = at {
            steps.push(step);
            at = *parent;
        }
        let mut path = String::new();
        for step in steps.iter().rev() {
            if path.len() > MAX_PROBLEM_BYTES {
                break;
            }
            match step {
                PathPart::Root(own) => path.push_str(own),
                PathPart::Key(name) => messages::push_join(&mut path, problem_text(name)),
                PathPart::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }

    pub(crate) fn key<'p>(&'p self, name: &'p str, node: NodeId) -> ValuePath<'p> {
        ValuePath { node, above: self.above + 1, parent: Some(self), step: PathPart::Key(name) }
    }

    pub(crate) fn item(&self, schema: &Schema, index: usize) -> ValuePath<'_> {
        let node = schema.item(self.node, index);
        ValuePath { node, above: self.above + 1, parent: Some(self), step: PathPart::Index(index) }
    }
}
