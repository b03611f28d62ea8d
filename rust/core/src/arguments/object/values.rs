//! Values as they are read, typed and written: the path and type of each, and what it becomes.

use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

use super::Object;
use super::complete::{equal_literal, in_wrapper};
use crate::arguments::builder::{push_comma, push_key};
use crate::arguments::coercion::{self, Outcome};
use crate::arguments::tree::ValuePath;
use crate::arguments::{ArgumentsBuilder, Context, MAX_PROBLEM_BYTES, ReadError, Report, keys, messages, problem_text};
use crate::error::{ErrorKind, Repair};
use crate::keymap::KeyMap;
use crate::limits::{ATTEMPT_CHARS, NAME_CHARS};
use crate::schema::{Choice, Node, NodeId, UNKNOWN};
use crate::syntax::scan::{Scan, window, ws_run};

#[derive(Debug)]
enum Shape {
    Object {
        keys: KeyMap<Range<usize>>,
        key: Arc<str>,
        start: usize,
        again: Option<Repeated>,
    },
    Array {
        count: usize,
    },
    /// An array around a lone value; it has no brackets in the source.
    Lone,
}

/// The key was given before: its first value, and whether this one holds back what is written.
#[derive(Debug)]
struct Repeated {
    first: Range<usize>,
    holds: bool,
}

#[derive(Debug)]
struct ValueFrame {
    node: NodeId,
    shape: Shape,
    /// The type has literals that are such containers: where this one starts, and whether it holds back what is written.
    literal: Option<(usize, bool)>,
}

impl ValueFrame {
    fn is_object(&self) -> bool {
        matches!(self.shape, Shape::Object { .. })
    }
}

/// An object that may be a wrapper around a value of another type. Nothing of it is sent; it is read untyped, and again,
/// typed, when it is complete.
#[derive(Debug)]
struct PossibleWrapper {
    /// The type that is expected instead.
    node: NodeId,
    start: usize,
    /// It holds back what is written.
    holds: bool,
    /// Frames around it.
    frames: usize,
    /// The lone item of a list, unless its first key is that of a wrapper; it is read as that item.
    lone: bool,
}

/// A value while it is written, with everything in it.
#[derive(Debug, Default)]
pub(crate) struct Values {
    frames: Vec<ValueFrame>,
    /// The frames that have brackets in the source.
    brackets: usize,
    /// The type of the value that comes next.
    node: NodeId,
    /// The path of the whole value in the arguments.
    path: String,
    /// Levels of the arguments that contain it. With none it is the whole of them, and its last bracket is sent with the
    /// call's end only.
    above: usize,
    /// The keys of the last object, for their memory.
    spare: KeyMap<Range<usize>>,
    wrapper: Option<PossibleWrapper>,
    /// Nothing in it is taken for a wrapper: it was in one, or looked like one.
    unwrapped: bool,
}

impl Values {
    pub(super) fn new(node: NodeId, path: String, above: usize) -> Self {
        Values { node, path, above, ..Values::default() }
    }

    /// Starts over with the whole of the arguments, and keeps the allocations.
    pub(crate) fn renew(&mut self, node: NodeId) {
        self.frames.clear();
        self.path.clear();
        self.wrapper = None;
        (self.brackets, self.node, self.above) = (0, node, 0);
    }

    /// Brackets that are open.
    pub(super) fn brackets(&self) -> usize {
        self.brackets
    }

    /// Whether the innermost bracket is that of an object.
    pub(super) fn in_object(&self) -> bool {
        self.frames.last().is_some_and(ValueFrame::is_object)
    }

    /// Whether an open bracket, counted from the innermost, is an object's, and its type.
    pub(super) fn bracket(&self, at: usize) -> Option<(bool, NodeId)> {
        let mut brackets = self.frames.iter().rev().filter(|frame| !matches!(frame.shape, Shape::Lone));
        brackets.nth(at).map(|frame| (frame.is_object(), frame.node))
    }

    /// The path of the value that comes next or was just read.
    pub(crate) fn path(&self) -> String {
        self.path_of(&self.frames)
    }

    /// The key of the value that comes next, if it is a member.
    pub(super) fn last_key(&self) -> Option<&str> {
        match &self.frames.last()?.shape {
            Shape::Object { key, .. } => Some(key),
            Shape::Array { .. } | Shape::Lone => None,
        }
    }

    fn path_of(&self, frames: &[ValueFrame]) -> String {
        let mut path = self.path.clone();
        for frame in frames {
            // No message has more of it.
            if path.len() > MAX_PROBLEM_BYTES {
                break;
            }
            match &frame.shape {
                Shape::Object { key, .. } => messages::push_join(&mut path, problem_text(key)),
                Shape::Array { count } => path.push_str(&format!("[{count}]")),
                Shape::Lone => path.push_str("[0]"),
            }
        }
        path
    }

    /// The key of the value that comes next.
    pub(crate) fn key(&mut self, cx: &Context<'_>, report: &mut Report, written: &str) -> Result<(), ReadError> {
        if self.wrapper.is_some() {
            self.first_key(cx, report, Some(written))?;
        }
        let Some(ValueFrame { node: id, shape: Shape::Object { keys, .. }, .. }) = self.frames.last() else {
            return Ok(());
        };
        let id = *id;
        let has = |_: &ArgumentsBuilder, name: &str| keys.position(name).is_some();
        let has = cx.near_misses.then_some(&has as keys::Has<'_>);
        let known = match &cx.schema.node(id).object {
            None => None,
            Some(object) => match object.properties.entry(written) {
                Some((name, node)) => Some((name.clone(), *node)),
                None => keys::meant(cx, report, object, written, object.member(written).is_none(), has)?,
            },
        };
        let (name, node) = known.unwrap_or_else(|| {
            let parents = &self.frames[..self.frames.len() - 1];
            (Arc::from(written), keys::member(cx, report, id, written, &|| self.path_of(parents)))
        });
        self.node = node;
        let Some(ValueFrame { shape: Shape::Object { keys, key, start, again }, .. }) = self.frames.last_mut() else {
            return Ok(());
        };
        match keys.get(&name) {
            Some(first) => *again = Some(Repeated { first: first.clone(), holds: report.args.hold() }),
            None => push_key(&mut report.args.json, &name),
        }
        *key = name;
        *start = report.args.json.len();
        Ok(())
    }

    /// A value begins. In an array: writes the comma, and finds the type of the item.
    fn begin(&mut self, cx: &Context<'_>, report: &mut Report) {
        if let Some(ValueFrame { node, shape: Shape::Array { count }, .. }) = self.frames.last() {
            push_comma(&mut report.args.json);
            self.node = cx.schema.item(*node, *count);
        }
    }

    /// A string begins. True: its type takes any, so its text must be written after the quote that was just written.
    pub(crate) fn string(&mut self, cx: &Context<'_>, report: &mut Report) -> bool {
        self.begin(cx, report);
        let node = cx.schema.node(self.node);
        let live = node.is_unknown() || node.has(&Choice::String);
        if live {
            report.args.json.push('"');
        }
        live
    }

    /// Digits after a zero: a string where one may be, as the zero is a part of it.
    pub(crate) fn digits(&mut self, cx: &Context<'_>, report: &mut Report, word: &str) -> Result<bool, ReadError> {
        self.begin(cx, report);
        if cx.schema.node(self.node).takes_string() {
            return self.scalar(cx, report, word, true);
        }
        let digits = word.trim_start_matches('0');
        self.scalar(cx, report, if digits.is_empty() { "0" } else { digits }, false)
    }

    /// A word. `quoted`: it is not JSON, and is taken for a string.
    pub(crate) fn word(
        &mut self,
        cx: &Context<'_>,
        report: &mut Report,
        word: &str,
        quoted: bool,
    ) -> Result<bool, ReadError> {
        self.begin(cx, report);
        if word != "null" {
            return self.scalar(cx, report, word, quoted);
        }
        let node = cx.schema.node(self.node);
        report.args.json.push_str("null");
        if !node.is_unknown() && !has_null(node) {
            self.violation(cx, report, "null");
        }
        self.end(report)
    }

    /// The type of the value that comes next.
    pub(crate) fn expected(&self, cx: &Context<'_>) -> NodeId {
        match self.frames.last() {
            Some(ValueFrame { node, shape: Shape::Array { count }, .. }) => cx.schema.item(*node, *count),
            _ => self.node,
        }
    }

    /// Whether the text is a key that the innermost object declares and does not have yet, in double quotes, and a colon.
    pub(super) fn names_field(&self, cx: &Context<'_>, text: &str, last: bool) -> Scan {
        let Some(ValueFrame { node, shape: Shape::Object { keys, .. }, .. }) = self.frames.last() else {
            return Scan::NoMatch;
        };
        named_field(cx, *node, text, last).and_then(|name| Scan::some(keys.position(name).is_none().then_some(())))
    }

    /// The fields that the innermost object requires and does not have, and that may be null.
    pub(crate) fn missing_nulls<'c>(&self, cx: &Context<'c>) -> Vec<&'c str> {
        let Some(ValueFrame { node, shape: Shape::Object { keys, .. }, .. }) = self.frames.last() else {
            return Vec::new();
        };
        let takes_null = |name: &str| {
            let member = cx.schema.member(*node, name);
            member.is_some_and(|member| has_null(cx.schema.node(member)))
        };
        let required = cx.schema.node(*node).object.iter().flat_map(|object| &object.required);
        let missing = required.filter(|name| keys.position(name).is_none());
        missing.map(String::as_str).filter(|name| takes_null(name)).collect()
    }

    /// A value in another notation: `write` appends its JSON. True: that is all.
    pub(crate) fn other(
        &mut self,
        cx: &Context<'_>,
        report: &mut Report,
        write: impl FnOnce(&mut Report, &ValuePath<'_>) -> Result<(), ReadError>,
    ) -> Result<bool, ReadError> {
        self.begin(cx, report);
        write(report, &ValuePath::at(&self.path(), self.node, self.above + self.brackets))?;
        self.end(report)
    }

    /// The whole text of a scalar. True: that is all.
    pub(super) fn scalar(
        &mut self,
        cx: &Context<'_>,
        report: &mut Report,
        text: &str,
        quoted: bool,
    ) -> Result<bool, ReadError> {
        let start = report.args.json.len();
        let Outcome { converted, problem } =
            coercion::scalar(cx.schema, self.node, text, quoted, &mut report.args.json);
        if converted {
            self.repair(cx, report, Repair::Coerced, text)?;
        }
        if problem.is_some() {
            self.mismatch(cx, report, text, start)?;
        }
        self.end(report)
    }

    /// No choice takes the text, which is written from `start` on.
    #[cold]
    fn mismatch(&self, cx: &Context<'_>, report: &mut Report, text: &str, start: usize) -> Result<(), ReadError> {
        let mends = cx.near_misses;
        let Some(literal) = mends.then(|| coercion::unquoted_literal(cx.schema.node(self.node), text)).flatten() else {
            self.violation(cx, report, text);
            return Ok(());
        };
        report.args.json.truncate(start);
        report.args.json.push_str(&literal);
        self.repair(cx, report, Repair::EnumQuotes, text)
    }

    #[cold]
    fn repair(&self, cx: &Context<'_>, report: &mut Report, repair: Repair, value: &str) -> Result<(), ReadError> {
        cx.repair_or(report, repair, || {
            let expected = messages::expected(cx.schema, self.node);
            format!("{}: {} must be {expected}.", self.path(), messages::shorten(value))
        })
    }

    fn violation(&self, cx: &Context<'_>, report: &mut Report, value: &str) {
        let kind = coercion::violation(cx.schema.node(self.node));
        report.violation(cx, self.node, kind, || self.path(), value);
    }

    pub(crate) fn open(&mut self, cx: &Context<'_>, report: &mut Report, bracket: u8) -> Result<(), ReadError> {
        if self.brackets + self.above >= cx.limits.depth {
            return Err((ErrorKind::TooDeep, messages::too_deep(cx.limits)));
        }
        self.begin(cx, report);
        report.args.make_room();
        let node = cx.schema.node(self.node);
        let nested = self.above > 0 || self.brackets > 0;
        let takes = |id: NodeId| cx.schema.node(id).takes(bracket);
        if !takes(self.node) {
            let item = cx.schema.item(self.node, 0);
            let lone = bracket == b'{' && node.collects() && takes(item);
            let literal = lone && cx.schema.node(item).literals(bracket).next().is_some();
            let wraps = bracket == b'{' && nested && !literal && !self.unwrapped && cx.near_misses;
            if wraps {
                let (start, holds) = (report.args.json.len(), report.args.hold());
                self.wrapper = Some(PossibleWrapper { node: self.node, start, holds, frames: self.frames.len(), lone });
            }
            if lone {
                if !wraps {
                    self.lone(cx, report, self.frames.len())?;
                }
                report.args.json.push('[');
                self.frames.push(ValueFrame { node: self.node, shape: Shape::Lone, literal: None });
                self.node = item;
            } else {
                if !wraps {
                    self.violation(cx, report, messages::container(bracket));
                }
                self.node = UNKNOWN;
            }
        }
        let literal = (nested && cx.schema.node(self.node).literals(bracket).next().is_some())
            .then(|| (report.args.json.len(), report.args.hold()));
        report.args.json.push(bracket as char);
        let shape = if bracket == b'{' {
            Shape::Object { keys: take(&mut self.spare), key: Arc::default(), start: 0, again: None }
        } else {
            Shape::Array { count: 0 }
        };
        self.frames.push(ValueFrame { node: self.node, shape, literal });
        self.brackets += 1;
        Ok(())
    }

    /// The object after this many frames becomes the only item of a list.
    #[cold]
    fn lone(&self, cx: &Context<'_>, report: &mut Report, frames: usize) -> Result<(), ReadError> {
        let path = || self.path_of(&self.frames[..frames]);
        cx.repair_or(report, Repair::Coerced, || format!("{}: a list is expected: [{{…}}].", path()))
    }

    /// What may be a lone item has this for its first key, or none.
    #[cold]
    fn first_key(&mut self, cx: &Context<'_>, report: &mut Report, key: Option<&str>) -> Result<(), ReadError> {
        let Some(PossibleWrapper { node, start, holds, frames, lone }) = &mut self.wrapper else { return Ok(()) };
        if !*lone {
            return Ok(());
        }
        let (frames, holds) = (*frames, *holds);
        let item = cx.schema.item(*node, 0);
        if key.is_some_and(|key| matches!(key, "item" | "0") && !cx.schema.declares(item, key)) {
            *lone = false;
            report.args.json.truncate(*start);
            report.args.json.push('{');
            self.frames.remove(frames);
            self.frames[frames].node = UNKNOWN;
            return Ok(());
        }
        self.wrapper = None;
        report.args.release_if(holds);
        self.lone(cx, report, frames)
    }

    /// A possible wrapper is complete: reads its content, or else the object itself, as the expected type.
    #[cold]
    fn unwrap(&mut self, cx: &Context<'_>, report: &mut Report, wrapper: PossibleWrapper) -> Result<bool, ReadError> {
        let PossibleWrapper { node, start, holds, .. } = wrapper;
        self.node = node;
        let mut text = report.args.json.split_off(start);
        if let Some((repair, inner)) = in_wrapper(cx, node, &text) {
            self.repair(cx, report, repair, messages::container(b'{'))?;
            text = inner;
        }
        // A word ends only where whitespace follows.
        text.push(' ');
        let mut object = Object::new(cx, node, self.path(), self.above + self.brackets);
        object.values.unwrapped = true;
        object.read_all(cx, report, &text)?;
        report.args.release_if(holds);
        self.end(report)
    }

    /// The innermost bracket closes. True: and with it all.
    pub(crate) fn close(&mut self, cx: &Context<'_>, report: &mut Report) -> Result<bool, ReadError> {
        if self.wrapper.is_some() {
            self.first_key(cx, report, None)?;
        }
        let Some(ValueFrame { node, shape, literal }) = self.frames.pop() else { return Ok(true) };
        self.brackets -= 1;
        let bracket = match shape {
            Shape::Object { mut keys, .. } => {
                report.missing(cx, node, &|| self.path(), |_, name| keys.position(name).is_some());
                keys.clear();
                self.spare = keys;
                b'{'
            }
            Shape::Array { .. } | Shape::Lone => b'[',
        };
        if self.above == 0 && self.frames.is_empty() {
            report.args.hold();
        }
        report.args.json.push(if bracket == b'{' { '}' } else { ']' });
        if let Some(wrapper) = self.wrapper.take_if(|wrapper| wrapper.frames == self.frames.len()) {
            let read = self.unwrap(cx, report, wrapper);
            if read.as_ref().is_err_and(|(kind, _)| *kind != ErrorKind::DuplicateArgument) {
                // Recovery begins before the bracket.
                self.brackets += 1;
            }
            return read;
        }
        if let Some((start, holds)) = literal {
            if !equal_literal(cx, report, node, start) {
                self.node = node;
                self.violation(cx, report, messages::container(bracket));
            }
            report.args.release_if(holds);
        }
        self.end(report)
    }

    /// A value is written: accounts for it in what it is part of. True: that is all.
    pub(crate) fn end(&mut self, report: &mut Report) -> Result<bool, ReadError> {
        while let Some(ValueFrame { shape: Shape::Lone, .. }) = self.frames.last() {
            report.args.json.push(']');
            self.frames.pop();
        }
        let Some(frame) = self.frames.last_mut() else { return Ok(true) };
        match &mut frame.shape {
            Shape::Array { count } => *count += 1,
            Shape::Object { keys, key, start, again } => match again.take() {
                None => keys.push(key.clone(), *start..report.args.json.len()),
                Some(Repeated { first, holds }) => {
                    if report.args.json[first] != report.args.json[*start..] {
                        return Err(messages::twice(&self.path()));
                    }
                    report.args.json.truncate(*start);
                    report.args.release_if(holds);
                }
            },
            Shape::Lone => {}
        }
        Ok(false)
    }
}

/// The declared key of this type of object with which the text begins, if it is in double quotes and a colon follows.
pub(super) fn named_field<'t>(cx: &Context<'_>, node: NodeId, text: &'t str, last: bool) -> Scan<&'t str> {
    let Some(rest) = text.strip_prefix('"') else { return Scan::NoMatch };
    let (head, ended) = window(rest, NAME_CHARS, last);
    let Some(end) = head.find(['"', '\\']) else { return Scan::at_end(ended) };
    let key = &head[..end];
    if head.as_bytes()[end] != b'"' || !cx.schema.declares(node, key) {
        return Scan::NoMatch;
    }
    let (after, ended) = window(&rest[end + 1..], ATTEMPT_CHARS, last);
    match after.as_bytes().get(ws_run(after, 0)) {
        None => Scan::at_end(ended),
        Some(byte) => Scan::some((*byte == b':').then_some(key)),
    }
}

fn has_null(node: &Node) -> bool {
    node.choices.iter().any(|choice| match choice {
        Choice::Null => true,
        Choice::Literal(literal) => literal.json == "null",
        _ => false,
    })
}
