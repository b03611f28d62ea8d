//! Where a value stands in the arguments.

use smallvec::SmallVec;

use crate::arguments::{MAX_PROBLEM_BYTES, messages};

/// Where a value stands, from the inside out; paths are for messages, and are made where there is one.
pub struct At<'p> {
    parent: Option<&'p At<'p>>,
    step: Place<'p>,
}

enum Place<'p> {
    Root(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'a> At<'a> {
    /// What the arguments' text calls so.
    pub fn root(path: &'a str) -> Self {
        At { parent: None, step: Place::Root(path) }
    }

    /// A field of the call.
    pub fn field(name: &'a str) -> Self {
        At { parent: None, step: Place::Key(name) }
    }

    /// As a key would be written, or the beginning of that.
    pub fn path(&self) -> String {
        let mut steps: SmallVec<[&Place<'_>; 8]> = SmallVec::new();
        let mut at = Some(self);
        while let Some(At { parent, step }) = at {
            steps.push(step);
            at = *parent;
        }
        let mut path = String::new();
        for step in steps.iter().rev() {
            if path.len() > MAX_PROBLEM_BYTES {
                break;
            }
            match step {
                Place::Root(root) => path.push_str(messages::cut(root)),
                Place::Key(name) => messages::push_join(&mut path, messages::cut(name)),
                Place::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }

    pub fn key<'p>(&'p self, name: &'p str) -> At<'p> {
        At { parent: Some(self), step: Place::Key(name) }
    }

    pub fn item(&self, index: usize) -> At<'_> {
        At { parent: Some(self), step: Place::Index(index) }
    }
}
