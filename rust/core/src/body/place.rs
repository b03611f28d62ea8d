//! From a key as written to a place in the arguments and its type.

use super::args::Step;
use super::{Context, Found, messages};
use crate::error::{ErrorKind, ProblemKind, Repair};
use crate::pairs::{Segment, segments};
use crate::schema::{Choice, Member, Node, NodeId, Object, Schema, UNKNOWN};

/// Where the value of a key goes.
#[derive(Debug)]
pub struct Field {
    pub steps: Vec<Step>,
    /// The types of the containers on the way, the root's first.
    pub types: Vec<NodeId>,
    pub node: NodeId,
    /// As a key would be written, for messages.
    pub path: String,
}

impl Field {
    /// Is the value a piece of something?
    pub fn is_piece(&self) -> bool {
        self.steps.len() > 1
    }

    pub fn root_key(&self) -> &str {
        match &self.steps[0] {
            Step::Key(key) => key,
            Step::Index(_) => "",
        }
    }
}

/// Is the first segment of the key, or a join of bare ones, literally a property of the root?
pub fn is_declared(schema: &Schema, key: &str) -> bool {
    let Some(object) = &schema.node(schema.root).object else { return false };
    let segments = segments(key);
    match &segments[..] {
        [] | [Segment::Index(_), ..] => false,
        [Segment::Quoted(name), ..] => object.properties.get(name).is_some(),
        [Segment::Bare(_), ..] => joined(object, &segments).is_some(),
    }
}

/// The longest join of leading bare segments that is a declared property: how many segments, and the name.
fn joined(object: &Object, segments: &[Segment<'_>]) -> Option<(usize, String)> {
    let mut name = String::new();
    let mut found = None;
    for (at, segment) in segments.iter().enumerate() {
        let Segment::Bare(text) = segment else { break };
        if at > 0 {
            name.push('.');
        }
        name.push_str(text);
        if object.properties.get(&name).is_some() {
            found = Some((at + 1, name.clone()));
        }
    }
    found
}

/// Can the value only be an array?
fn is_array_only(node: &Node) -> bool {
    node.has(&Choice::Array) && node.choices.iter().all(|choice| matches!(choice, Choice::Array | Choice::Null))
}

/// Resolves a key against the tool's schema. The error is the kind, and a sentence.
pub fn resolve(cx: &Context<'_>, found: &mut Found, key: &str) -> Result<Field, (ErrorKind, String)> {
    let segments = segments(key);
    if segments.len() > cx.limits.key_segments {
        let message = format!("The key {} has more than {} segments.", messages::shorten(key), cx.limits.key_segments);
        return Err((ErrorKind::TooDeep, message));
    }
    let mut field = Field { steps: Vec::new(), types: Vec::new(), node: cx.schema.root, path: String::new() };
    let mut at = 0;
    while at < segments.len() {
        let id = field.node;
        let node = cx.schema.node(id);
        let mut used = 1;
        let (step, next) = match &segments[at] {
            Segment::Index(index) => (Step::Index(*index), cx.schema.item(id, *index)),
            Segment::Bare(text)
                if at > 0 && text.bytes().all(|b| b.is_ascii_digit()) && text.len() <= 9 && is_array_only(node) =>
            {
                let index = text.parse().unwrap_or(usize::MAX);
                (Step::Index(index), cx.schema.item(id, index))
            }
            Segment::Quoted(name) => (Step::Key(name.clone()), member(cx, found, id, name, &|| field.path.clone())),
            Segment::Bare(text) => {
                let mut name = (*text).to_owned();
                if let Some(object) = &node.object {
                    if let Some((count, long)) = joined(object, &segments[at..]) {
                        used = count;
                        name = long;
                    } else if let Some((declared, _)) = object.folded(text).filter(|_| !object.explicitly_open()) {
                        cx.repair(found, Repair::KeyStyle).map_err(|kind| {
                            (kind, format!("The field {text} is called {declared}: write {declared}=…"))
                        })?;
                        name = declared.to_owned();
                    }
                }
                let next = member(cx, found, id, &name, &|| field.path.clone());
                (Step::Key(name), next)
            }
        };
        match &step {
            Step::Key(name) => field.path = messages::join(&field.path, name),
            Step::Index(index) => field.path.push_str(&format!("[{index}]")),
        }
        field.types.push(id);
        field.steps.push(step);
        field.node = next;
        at += used;
    }
    Ok(field)
}

/// The type of an exact key; a forbidden one is a problem and untyped.
pub fn member(cx: &Context<'_>, found: &mut Found, id: NodeId, name: &str, path: &dyn Fn() -> String) -> NodeId {
    match cx.schema.member(id, name) {
        Member::Declared(node) | Member::Undeclared(node) => node,
        Member::Forbidden => {
            let field = messages::join(&path(), name);
            if !found.problems.iter().any(|p| p.kind == ProblemKind::UnknownField && p.field == field) {
                let message = messages::unknown(cx.schema, id, &field);
                found.problem(ProblemKind::UnknownField, field, message);
            }
            UNKNOWN
        }
    }
}
