//! The path of a value in the arguments.

use smallvec::SmallVec;

use crate::arguments::{MAX_PROBLEM_BYTES, messages};

/// The path of a value, from the inside out. Its text is made only for a message.
pub struct ValuePath<'p> {
    parent: Option<&'p ValuePath<'p>>,
    step: PathPart<'p>,
}

enum PathPart<'p> {
    Root(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'a> ValuePath<'a> {
    /// What the arguments' text calls so.
    pub fn root(path: &'a str) -> Self {
        ValuePath { parent: None, step: PathPart::Root(path) }
    }

    /// A field of the call.
    pub fn field(name: &'a str) -> Self {
        ValuePath { parent: None, step: PathPart::Key(name) }
    }

    /// As a key would be written, or the beginning of that.
    pub fn path(&self) -> String {
        let mut steps: SmallVec<[&PathPart<'_>; 8]> = SmallVec::new();
        let mut at = Some(self);
        while let Some(ValuePath { parent, step }) = at {
            steps.push(step);
            at = *parent;
        }
        let mut path = String::new();
        for step in steps.iter().rev() {
            if path.len() > MAX_PROBLEM_BYTES {
                break;
            }
            match step {
                PathPart::Root(root) => path.push_str(messages::cut(root)),
                PathPart::Key(name) => messages::push_join(&mut path, messages::cut(name)),
                PathPart::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }

    pub fn key<'p>(&'p self, name: &'p str) -> ValuePath<'p> {
        ValuePath { parent: Some(self), step: PathPart::Key(name) }
    }

    pub fn item(&self, index: usize) -> ValuePath<'_> {
        ValuePath { parent: Some(self), step: PathPart::Index(index) }
    }
}
