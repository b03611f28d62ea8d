//! From a key as written to a place in the arguments and its type.

use std::sync::Arc;

use smallvec::SmallVec;

use super::builder::{ArgumentsBuilder, Collision, PathSegment, Target, To};
use super::{Context, ReadError, Report, messages};
use crate::error::{ErrorKind, ProblemKind, Repair};
use crate::limits::INDEX_DIGITS;
use crate::schema::{Additional, Choice, Node, NodeId, ObjectType, Schema, UNKNOWN};
use crate::syntax::pairs::{Segment, segments};

/// Where the value of a key goes.
#[derive(Debug, Default)]
pub(crate) struct ResolvedKey {
    pub steps: SmallVec<[PathSegment; 1]>,
    pub node: NodeId,
    /// The first step is exactly a property of the root.
    pub declared: bool,
}

impl ResolvedKey {
    /// Whether the value is a part of another one.
    pub(crate) fn is_piece(&self) -> bool {
        self.steps.len() > 1
    }

    /// As a key would be written, for messages.
    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.steps {
            match &step.to {
                To::Key(name) => path = messages::join(&path, name),
                To::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }

    pub(crate) fn root_key(&self) -> &str {
        match self.steps.first() {
            Some(PathSegment { to: To::Key(key), .. }) => key,
            Some(PathSegment { to: To::Index(_), .. }) | None => "",
        }
    }
}

impl ArgumentsBuilder {
    /// Starts writing the value of a key. Returns where it goes, and where it starts.
    pub(crate) fn begin_at(&mut self, key: &ResolvedKey) -> Result<(Target, usize), Collision> {
        let target = self.place(&key.steps, key.is_piece())?;
        Ok((target, self.begin(target, key.root_key())))
    }
}

/// Whether the first segment of the key, or a join of bare ones, is exactly a property of the root.
pub(crate) fn is_declared(schema: &Schema, key: &str) -> bool {
    declared(schema.node(schema.root), &segments(key)).is_some()
}

/// The longest prefix of a key that consists of declared properties and indexes; empty if the first segment is neither.
pub(crate) fn declared_part(schema: &Schema, key: &str) -> String {
    let segments = segments(key);
    let (mut path, mut id, mut at) = (String::new(), schema.root, 0);
    while let Some(segment) = segments.get(at) {
        let node = schema.node(id);
        if let (Segment::Index(index), Some(_)) = (segment, &node.array) {
            path.push_str(&format!("[{index}]"));
            (id, at) = (schema.item(id, *index), at + 1);
            continue;
        }
        let found = declared(node, &segments[at..]).map(|(count, name, node)| (count, &**name, node));
        // A missing field is required, but it may have no schema.
        let found = found.or_else(|| Some((1, required(node, segment)?, UNKNOWN)));
        let Some((count, name, next)) = found else { break };
        path = messages::join(&path, name);
        (id, at) = (next, at + count);
    }
    path
}

/// The property that is exactly the first segment or a join of bare ones: how many segments, its name and its type.
fn declared<'o>(node: &'o Node, segments: &[Segment<'_>]) -> Option<(usize, &'o Arc<str>, NodeId)> {
    let object = node.object.as_ref()?;
    match segments.first()? {
        Segment::Index(_) => None,
        Segment::Quoted(name) | Segment::Bracketed(name) => {
            object.properties.entry(name).map(|(name, node)| (1, name, *node))
        }
        Segment::Bare(_) => joined(object, segments),
    }
}

fn required<'o>(node: &'o Node, segment: &Segment<'_>) -> Option<&'o str> {
    let name = match segment {
        Segment::Index(_) => return None,
        Segment::Bare(name) => name,
        Segment::Quoted(name) | Segment::Bracketed(name) => name.as_str(),
    };
    node.object.as_ref()?.required.iter().find(|required| *required == name).map(String::as_str)
}

/// The longest join of leading bare segments that is a declared property: how many segments, and the name.
fn joined<'o>(object: &'o ObjectType, segments: &[Segment<'_>]) -> Option<(usize, &'o Arc<str>, NodeId)> {
    let Some(Segment::Bare(first)) = segments.first() else { return None };
    let mut found = object.properties.entry(first).map(|(name, node)| (1, name, *node));
    if !object.joins {
        return found;
    }
    let mut joined = (*first).to_owned();
    for (at, segment) in segments.iter().enumerate().skip(1) {
        let Segment::Bare(text) = segment else { break };
        joined.push('.');
        joined.push_str(text);
        if let Some((name, node)) = object.properties.entry(&joined) {
            found = Some((at + 1, name, *node));
        }
    }
    found
}

/// Whether the value can only be an array.
fn is_array_only(node: &Node) -> bool {
    node.has(&Choice::Array) && node.choices.iter().all(|choice| matches!(choice, Choice::Array | Choice::Null))
}

/// Whether an object with these keys is a list: `item`, once or more often, or the indexes of the items.
pub(crate) fn are_of_list<'k>(mut keys: impl Iterator<Item = &'k str> + Clone) -> bool {
    let is_index =
        |(index, key): (usize, &str)| key.parse() == Ok(index) && (key == "0" || !key.starts_with(['0', '+']));
    keys.clone().all(|key| key == "item") || keys.by_ref().enumerate().all(is_index)
}

/// Resolves a key against the tool's schema. The error is the kind, and a sentence.
pub(crate) fn resolve(cx: &Context<'_>, report: &mut Report, key: &str) -> Result<ResolvedKey, ReadError> {
    let segments = segments(key);
    if segments.len() > cx.limits.key_segments {
        let message = format!("The key {} has more than {} segments.", messages::shorten(key), cx.limits.key_segments);
        return Err((ErrorKind::TooDeep, message));
    }
    let mut field = ResolvedKey { steps: SmallVec::new(), node: cx.schema.root, declared: false };
    let mut at = 0;
    while at < segments.len() {
        let id = field.node;
        let node = cx.schema.node(id);
        let mut used = 1;
        let (to, next) = match &segments[at] {
            Segment::Index(index) => (To::Index(*index), cx.schema.item(id, *index)),
            Segment::Bare(text)
                if at > 0
                    && text.bytes().all(|b| b.is_ascii_digit())
                    && text.len() <= INDEX_DIGITS
                    && is_array_only(node) =>
            {
                let index = text.parse().unwrap_or(usize::MAX);
                (To::Index(index), cx.schema.item(id, index))
            }
            Segment::Bare(text) => {
                if let Some((count, name, node)) = declared(node, &segments[at..]) {
                    used = count;
                    field.declared |= at == 0;
                    (To::Key(name.clone()), node)
                } else {
                    let (name, next) = named(cx, report, id, text, false, &|| field.path(), None)?;
                    (To::Key(name), next)
                }
            }
            segment @ (Segment::Quoted(name) | Segment::Bracketed(name)) => {
                if let Segment::Bracketed(_) = segment {
                    cx.repair_or(report, Repair::KeyStyle, || {
                        let path = messages::join(&field.path(), name);
                        format!("The key {} must be written as {path}.", messages::shorten(key))
                    })?;
                }
                field.declared |= at == 0 && declared(node, &segments).is_some();
                (To::Key(Arc::from(name.as_str())), member(cx, report, id, name, &|| field.path()))
            }
        };
        let bracket = if matches!(to, To::Key(_)) { b'{' } else { b'[' };
        let wanted = if bracket == b'{' { Choice::Object } else { Choice::Array };
        if at > 0 && !node.is_unknown() && !node.has(&wanted) {
            report.violation(cx, id, ProblemKind::WrongType, || field.path(), messages::container(bracket));
        }
        field.steps.push(PathSegment { from: id, to });
        field.node = next;
        at += used;
    }
    Ok(field)
}

/// Whether the object that is read has this key.
pub(crate) type Has<'h> = &'h dyn Fn(&ArgumentsBuilder, &str) -> bool;

/// The name and type of a key that is never dotted: exact, or else folded, or in a closed object, if it is known which keys it
/// `has`, the singular or plural of the one required key that is missing.
pub(crate) fn named(
    cx: &Context<'_>,
    report: &mut Report,
    id: NodeId,
    key: &str,
    exact: bool,
    path: &dyn Fn() -> String,
    has: Option<Has<'_>>,
) -> Result<(Arc<str>, NodeId), ReadError> {
    if let Some(object) = cx.schema.node(id).object.as_ref().filter(|_| !exact) {
        if let Some((name, node)) = object.properties.entry(key) {
            return Ok((name.clone(), *node));
        }
        if let Some(meant) = meant(cx, report, object, key, !object.explicitly_open(), has)? {
            return Ok(meant);
        }
    }
    Ok((Arc::from(key), member(cx, report, id, key, path)))
}

/// The declared key that is meant by one that is not: with `folds` the same in another style; else, if it is known which keys the
/// object `has`, the singular or plural of the one required key that is missing.
pub(crate) fn meant(
    cx: &Context<'_>,
    report: &mut Report,
    object: &ObjectType,
    key: &str,
    folds: bool,
    has: Option<Has<'_>>,
) -> Result<Option<(Arc<str>, NodeId)>, ReadError> {
    let numbered = || has.and_then(|has| numbered(object, key, &|name| has(&report.args, name)));
    let (repair, (name, node)) = match object.folded(key).filter(|_| folds) {
        Some(alike) => (Repair::KeyStyle, alike),
        None => match numbered() {
            Some(alike) => (Repair::KeyNumber, alike),
            None => return Ok(None),
        },
    };
    cx.repair_or(report, repair, || messages::misnamed(cx, node, key, name))?;
    Ok(Some((name.clone(), node)))
}

/// Whether a key that is not declared is taken for one that is.
pub(crate) fn is_misnamed(schema: &Schema, id: NodeId, key: &str) -> bool {
    schema.node(id).object.as_ref().is_some_and(|object| {
        object.properties.get(key).is_none() && !object.explicitly_open() && object.folded(key).is_some()
    })
}

/// Whether this is, in any style, a field that the tool declares.
pub(crate) fn is_field(schema: &Schema, name: &str) -> bool {
    let object = schema.node(schema.root).object.as_ref().filter(|_| !name.is_empty());
    object.is_some_and(|object| object.properties.get(name).is_some() || object.folded(name).is_some())
}

/// The one required key of a closed object, not yet there, that is the singular or plural of a key that it does not take.
fn numbered<'o>(object: &'o ObjectType, key: &str, has: &dyn Fn(&str) -> bool) -> Option<(&'o Arc<str>, NodeId)> {
    if object.additional != Additional::Closed || object.member(key).is_some() {
        return None;
    }
    let with = |ending: &str| Some(format!("{key}{ending}"));
    let instead = |ending: &str, other: &str| Some(format!("{}{other}", key.strip_suffix(ending)?));
    let forms = [with("s"), with("es"), instead("s", ""), instead("es", ""), instead("y", "ies"), instead("ies", "y")];
    let mut found: Option<(&Arc<str>, NodeId)> = None;
    for (name, node) in forms.iter().flatten().filter_map(|form| object.folded(form)) {
        if has(name) || !object.required.iter().any(|required| **required == **name) {
            continue;
        }
        if found.is_some_and(|(other, _)| other != name) {
            return None;
        }
        found = Some((name, node));
    }
    found
}

/// The type of an exact key; a forbidden one is a problem and untyped.
pub(crate) fn member(
    cx: &Context<'_>,
    report: &mut Report,
    id: NodeId,
    name: &str,
    path: &dyn Fn() -> String,
) -> NodeId {
    if let Some(node) = cx.schema.member(id, name) {
        return node;
    }
    if !report.is_full() {
        let field = messages::join(&path(), name);
        let message = messages::unknown(cx.schema, id, &field);
        report.problem(ProblemKind::UnknownField, field, message);
    }
    UNKNOWN
}
