//! The arguments of one call while they are read: JSON text, how much of it may be sent, and the place of each value.
//!
//! Values are always written at the end of one text. As long as nothing came in pieces, the text is the arguments, and is sent as
//! it grows. From the first piece on, the text after `held` stores values; at CLOSE it is replaced by the same values in
//! their places. The value of a repeated key is written at the end, too, held back, compared and dropped.

use std::ops::Range;
use std::sync::Arc;

use crate::arguments::coercion::{self, Outcome};
use crate::keymap::KeyMap;
use crate::schema::{NodeId, Schema};
use crate::syntax::json::{push_str, push_string};
use crate::syntax::shown::join;

/// A step of the path from the root to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathSegment {
    /// The type of the container that the step is made in.
    pub from: NodeId,
    pub to: To,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Key(Arc<str>),
    Index(usize),
}

/// Where a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The next member of the root object, sent as it is written.
    Streamed,
    /// A new piece.
    Deferred(usize),
    /// A value that exists already: the new one must be equal.
    Duplicate(usize),
}

/// What already is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    Vacant,
    Whole,
    /// A list of pieces, and its length so far.
    Items(usize),
    /// Pieces of an object, or a whole value along the path.
    Blocked,
    /// An index along the path is beyond the next one.
    Gap {
        next: usize,
    },
}

/// Why a value has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collision {
    /// A part of the path is a whole value, or a whole value would replace pieces.
    Taken,
    /// An index beyond the next one.
    Gap { next: usize },
}

#[derive(Debug)]
enum Piece {
    /// Named, but its value is not written yet.
    Empty,
    Whole(Range<usize>),
    Object(NodeId, Box<KeyMap<usize>>),
    Array(Vec<usize>),
}

/// Called with each object made of pieces: its type, its path, and which keys it has.
pub(crate) type Visit<'v> = &'v mut dyn FnMut(NodeId, &str, &dyn Fn(&str) -> bool);

/// Room for the arguments of a small call.
const FIRST_BYTES: usize = 120;

#[derive(Debug)]
pub(crate) struct ArgumentsBuilder {
    pub json: String,
    /// Bytes that were sent.
    sent: usize,
    /// Bytes after this may not be sent yet.
    hold: Option<usize>,
    /// Bytes before the first piece.
    held: Option<usize>,
    /// Members of the root before the first piece.
    live: usize,
    /// Piece 0 is the root.
    pieces: Vec<Piece>,
}

impl Default for ArgumentsBuilder {
    fn default() -> Self {
        ArgumentsBuilder {
            json: String::new(),
            sent: 0,
            hold: None,
            held: None,
            live: 0,
            pieces: vec![Piece::Object(crate::schema::UNKNOWN, Box::default())],
        }
    }
}

/// Appends the comma that separates what comes next from what is before it in the same brackets.
#[inline]
pub(crate) fn push_comma(json: &mut String) {
    if !matches!(json.as_bytes().last(), Some(b'{' | b'[')) {
        json.push(',');
    }
}

/// Appends the key of an object's next member.
#[inline]
pub(crate) fn push_key(json: &mut String, key: &str) {
    push_comma(json);
    push_string(json, key);
    json.push(':');
}

impl ArgumentsBuilder {
    /// Starts over, and keeps the allocations, except that of `json`, which is taken.
    pub(crate) fn reset(&mut self) {
        self.pieces.truncate(1);
        if let Some(Piece::Object(_, keys)) = self.pieces.first_mut() {
            keys.clear();
        }
        self.json = String::new();
        (self.sent, self.hold, self.held, self.live) = (0, None, None, 0);
    }

    /// What may be sent and was not sent yet.
    #[inline]
    pub(crate) fn take_delta(&mut self) -> &str {
        let start = self.sent;
        self.sent = self.hold.unwrap_or(self.json.len()).max(start);
        &self.json[start..self.sent]
    }

    /// Nothing written from here on is sent until [`ArgumentsBuilder::release`]. False if text was already held.
    pub(crate) fn hold(&mut self) -> bool {
        let first = self.hold.is_none();
        if first {
            self.hold = Some(self.json.len());
        }
        first
    }

    pub(crate) fn release(&mut self) {
        self.hold = None;
    }

    /// Ends the hold that [`ArgumentsBuilder::hold`] began, if it returned true.
    pub(crate) fn release_if(&mut self, held: bool) {
        if held {
            self.release();
        }
    }

    fn root(&self) -> Option<&KeyMap<usize>> {
        match self.pieces.first() {
            Some(Piece::Object(_, keys)) => Some(keys),
            _ => None,
        }
    }

    /// Whether anything came in pieces.
    pub(crate) fn in_pieces(&self) -> bool {
        self.held.is_some()
    }

    pub(crate) fn has_root_key(&self, key: &str) -> bool {
        self.root().is_some_and(|keys| keys.position(key).is_some())
    }

    /// What is at the end of `steps`.
    pub(crate) fn probe(&self, steps: &[PathSegment]) -> Probe {
        let mut at = 0;
        for (position, step) in steps.iter().enumerate() {
            let next = match (&self.pieces[at], &step.to) {
                (Piece::Object(_, keys), To::Key(key)) => keys.get(key),
                (Piece::Array(items), To::Index(index)) if *index <= items.len() => items.get(*index),
                (Piece::Array(items), To::Index(_)) => return Probe::Gap { next: items.len() },
                (Piece::Empty, To::Key(_)) => None,
                _ => return Probe::Blocked,
            };
            match next {
                Some(next) => at = *next,
                // The arrays after it are new.
                None if steps[position + 1..].iter().any(|step| matches!(step.to, To::Index(1..))) => {
                    return Probe::Gap { next: 0 };
                }
                None => return Probe::Vacant,
            }
        }
        match &self.pieces[at] {
            Piece::Empty => Probe::Vacant,
            Piece::Whole(_) => Probe::Whole,
            Piece::Object(..) => Probe::Blocked,
            Piece::Array(items) => Probe::Items(items.len()),
        }
    }

    /// Makes or finds the place that `steps` lead to.
    pub(crate) fn place(&mut self, steps: &[PathSegment], pieces: bool) -> Result<Target, Collision> {
        let mut at = 0;
        for PathSegment { from, to } in steps {
            // The container that this step needs, made where there is none.
            if matches!(self.pieces[at], Piece::Empty) {
                self.pieces[at] = match to {
                    To::Key(_) => Piece::Object(*from, Box::default()),
                    To::Index(_) => Piece::Array(Vec::new()),
                };
            }
            let new = self.pieces.len();
            let found = match (&mut self.pieces[at], to) {
                (Piece::Object(_, keys), To::Key(key)) => match keys.get(key) {
                    Some(next) => Some(*next),
                    None => {
                        keys.push(key.clone(), new);
                        None
                    }
                },
                (Piece::Array(items), To::Index(index)) => match items.get(*index) {
                    Some(next) => Some(*next),
                    None if *index == items.len() => {
                        items.push(new);
                        None
                    }
                    None => return Err(Collision::Gap { next: items.len() }),
                },
                _ => return Err(Collision::Taken),
            };
            at = found.unwrap_or(new);
            if found.is_none() {
                self.pieces.push(Piece::Empty);
            }
        }
        match self.pieces[at] {
            Piece::Whole(_) => Ok(Target::Duplicate(at)),
            Piece::Object(..) | Piece::Array(_) => Err(Collision::Taken),
            Piece::Empty if pieces || self.held.is_some() => {
                self.hold_pieces();
                Ok(Target::Deferred(at))
            }
            Piece::Empty => Ok(Target::Streamed),
        }
    }

    /// From now on values are stored, not sent.
    fn hold_pieces(&mut self) {
        if self.held.is_none() {
            self.held = Some(self.json.len());
            self.hold = Some(self.json.len());
            // Every member but the one that was just named is sent already.
            self.live = self.root().map_or(0, |keys| keys.len() - 1);
        }
    }

    /// Whether a value of this root key would be sent as it is written.
    #[inline]
    pub(crate) fn takes_live(&self, key: &str) -> bool {
        self.hold.is_none() && self.held.is_none() && !self.has_root_key(key)
    }

    /// Makes room for a small call, where nothing is written yet.
    #[inline]
    pub(crate) fn make_room(&mut self) {
        if self.json.is_empty() {
            self.json.reserve(FIRST_BYTES);
        }
    }

    /// Writes the key of the next live member of the root. Returns where its value starts.
    #[inline]
    pub(crate) fn begin_member(&mut self, key: &str) -> usize {
        if self.json.is_empty() {
            self.make_room();
            self.json.push('{');
        }
        push_key(&mut self.json, key);
        self.json.len()
    }

    /// The value of the live member that was begun is written, from `start` on.
    pub(crate) fn end_member(&mut self, key: Arc<str>, start: usize) {
        let new = self.pieces.len();
        if let Some(Piece::Object(_, keys)) = self.pieces.first_mut() {
            keys.push(key, new);
        }
        self.pieces.push(Piece::Whole(start..self.json.len()));
    }

    /// Writes a live member of the root if the text is a value of its type without changes. `None`: nothing was written.
    #[inline(always)]
    pub(crate) fn plain_member(&mut self, schema: &Schema, key: &Arc<str>, id: NodeId, text: &str) -> Option<()> {
        let before = self.json.len();
        let start = self.begin_member(key);
        if schema.node(id).is_string() {
            self.json.push('"');
            push_str(&mut self.json, text);
            self.json.push('"');
        } else if coercion::scalar(schema, id, text, false, &mut self.json) != Outcome::default() {
            self.json.truncate(before);
            return None;
        }
        self.end_member(key.clone(), start);
        Some(())
    }

    /// Starts writing a value; for a live one this writes its key. Returns where the value starts.
    pub(crate) fn begin(&mut self, target: Target, key: &str) -> usize {
        match target {
            Target::Streamed => return self.begin_member(key),
            Target::Duplicate(_) => {
                if self.held.is_none() {
                    self.hold();
                }
            }
            Target::Deferred(_) => {}
        }
        self.json.len()
    }

    /// The value that started at `start` is written. False: there was another one in its place.
    pub(crate) fn end(&mut self, target: Target, start: usize) -> bool {
        let range = start..self.json.len();
        let at = match target {
            Target::Streamed => self.pieces.len() - 1,
            Target::Deferred(at) => at,
            Target::Duplicate(at) => {
                let Piece::Whole(first) = &self.pieces[at] else { return false };
                let same = self.json[first.clone()] == self.json[range];
                if same {
                    self.json.truncate(start);
                    self.release_if(self.held.is_none());
                }
                return same;
            }
        };
        self.pieces[at] = Piece::Whole(range);
        true
    }

    /// Appends items to the array at `steps`, which has `length` of them.
    pub(crate) fn append(&mut self, steps: &[PathSegment], length: usize, items: &[String]) -> Result<(), Collision> {
        let mut steps = steps.to_vec();
        for (offset, item) in items.iter().enumerate() {
            steps.push(PathSegment { from: crate::schema::UNKNOWN, to: To::Index(length + offset) });
            let target = self.place(&steps, true)?;
            let start = self.begin(target, "");
            self.json.push_str(item);
            self.end(target, start);
            steps.pop();
        }
        Ok(())
    }

    /// Writes the pieces in their places.
    pub(crate) fn write_pieces(&mut self, visit: Visit<'_>) {
        let (Some(held), Some(root)) = (self.held, self.root()) else { return };
        let mut out = String::from(if held == 0 { "{" } else { "" });
        for at in self.live..root.len() {
            let (key, piece) = root.at(at);
            push_key(&mut out, key);
            self.write_piece(*piece, &join("", key), &mut out, visit);
        }
        self.json.truncate(held);
        self.json.push_str(&out);
        self.held = None;
        self.release();
    }

    /// Recursion is as deep as a key has segments.
    fn write_piece(&self, at: usize, path: &str, out: &mut String, visit: Visit<'_>) {
        match &self.pieces[at] {
            Piece::Empty => out.push_str("null"),
            Piece::Whole(range) => out.push_str(&self.json[range.clone()]),
            Piece::Object(id, keys) => {
                out.push('{');
                for (key, piece) in keys.iter() {
                    push_key(out, key);
                    self.write_piece(*piece, &join(path, key), out, visit);
                }
                out.push('}');
                visit(*id, path, &|key| keys.position(key).is_some());
            }
            Piece::Array(items) => {
                out.push('[');
                for (position, piece) in items.iter().enumerate() {
                    push_comma(out);
                    self.write_piece(*piece, &format!("{path}[{position}]"), out, visit);
                }
                out.push(']');
            }
        }
    }

    /// Closes a root that was written in pairs.
    pub(crate) fn close(&mut self) {
        self.json.push_str(if self.json.is_empty() { "{}" } else { "}" });
    }
}
