//! Events: what the parser reports, in the order of the message.

use std::fmt;
use std::ops::Range;

use crate::error::{ErrorKind, Problem, Repair};

/// A complete call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallEnd {
    /// The index of its [`Event::CallStart`]: starts are counted from 0 in each message.
    pub index: usize,
    /// The tool's name, as declared.
    pub name: String,
    /// Compact JSON text of one object.
    pub arguments: String,
    /// Where the call begins in the message, in characters.
    pub start: usize,
    /// The character after the call.
    pub end: usize,
    /// From `start` to `end`, in bytes.
    pub bytes: Range<usize>,
    /// What was repaired, each kind once.
    pub repairs: Vec<Repair>,
    /// What is wrong with the arguments. They may be executed all the same.
    pub problems: Vec<Problem>,
}

/// A call that cannot be executed, or a forged result. Displayed as [`CallError::message`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallError {
    /// The index of the call start that this ends; `None` if no start was reported.
    pub index: Option<usize>,
    /// The tool's name, if it is known.
    pub name: Option<String>,
    /// Why the call was rejected.
    pub kind: ErrorKind,
    /// What is wrong, written for the model.
    pub sentence: String,
    /// A correct call of the tool, or of the tool with the most similar name. `None` if an example would not help or cannot be
    /// made.
    pub example: Option<String>,
    /// The arguments as one compact JSON object, if the call was closed and they were read completely. Only for `invalid_arguments`,
    /// and in strict mode for `coerced` and `key_style`.
    pub arguments: Option<String>,
    /// For `invalid_arguments`, what does not fit the tool's schema.
    pub problems: Vec<Problem>,
    /// The source from `start` to `end`, up to the size limit of a call.
    pub raw: String,
    /// Where it begins in the message, in characters.
    pub start: usize,
    /// The character after it.
    pub end: usize,
    /// From `start` to `end`, in bytes.
    pub bytes: Range<usize>,
}

impl CallError {
    /// What to tell the model: the sentence, and then the example. [`Toolset::encode_error`](crate::Toolset::encode_error) writes it as
    /// a result.
    pub fn message(&self) -> String {
        message(&self.sentence, self.example.as_deref())
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for CallError {}

/// A sentence followed by its example.
pub(crate) fn message(sentence: &str, example: Option<&str>) -> String {
    match example {
        None => sentence.to_owned(),
        Some(example) if example.contains('\n') => format!("{sentence} For example:\n{example}"),
        Some(example) => {
            let gap = if sentence.contains('\n') { '\n' } else { ' ' };
            format!("{sentence}{gap}For example: {example}")
        }
    }
}

/// One event. Borrowed parts are valid until the call that reported them returns.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The next part of the text outside calls.
    Text(&'a str),
    /// The next part of the reasoning.
    Reasoning {
        /// The text, without what opens and closes reasoning.
        text: &'a str,
        /// Where it begins in the message, in characters.
        start: usize,
        /// The character after it.
        end: usize,
    },
    /// The next part of what is neither text, reasoning nor a call: markers, whitespace around them, and stop tokens.
    Framing(&'a str),
    /// A call has begun. A [`Event::CallEnd`] or a [`Event::CallError`] with this index follows. Where a list of calls is one
    /// unit, the next call of the list may begin before.
    CallStart {
        /// Counts the starts of the message, from 0.
        index: usize,
        /// The tool's name, as declared.
        name: &'a str,
    },
    /// The next part of the arguments of a call that is open. All deltas of a complete call are its arguments.
    ArgumentsDelta {
        /// The index of the call.
        index: usize,
        /// A part of the compact JSON text.
        delta: &'a str,
    },
    /// A call is complete.
    CallEnd(CallEnd),
    /// A call cannot be executed, or a result is forged.
    CallError(Box<CallError>),
}

/// A part of a message, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Item {
    /// Text outside calls: its bytes in the message. Texts are never adjacent.
    Text(Range<usize>),
    /// Reasoning: its bytes in the message. Two are never adjacent.
    Reasoning(Range<usize>),
    /// Markers, whitespace around them, and stop tokens: their bytes in the message. Two are never adjacent.
    Framing(Range<usize>),
    /// A complete call.
    Call(CallEnd),
    /// A call that cannot be executed, or a forged result.
    Error(Box<CallError>),
}

impl Item {
    /// The bytes of the message that the item covers.
    pub fn bytes(&self) -> &Range<usize> {
        match self {
            Item::Text(bytes) | Item::Reasoning(bytes) | Item::Framing(bytes) => bytes,
            Item::Call(call) => &call.bytes,
            Item::Error(error) => &error.bytes,
        }
    }
}

/// Adds an event to the items of a message, which tile it.
pub(crate) fn fold(items: &mut Vec<Item>, event: Event<'_>) {
    let (text, make): (_, fn(Range<usize>) -> Item) = match event {
        Event::Text(text) => (text, Item::Text),
        Event::Reasoning { text, .. } => (text, Item::Reasoning),
        Event::Framing(text) => (text, Item::Framing),
        Event::CallEnd(end) => return items.push(Item::Call(end)),
        Event::CallError(error) => return items.push(Item::Error(error)),
        Event::CallStart { .. } | Event::ArgumentsDelta { .. } => return,
    };
    let start = items.last().map_or(0, |item| item.bytes().end);
    let item = make(start..start + text.len());
    match items.last_mut() {
        Some(Item::Text(before)) if matches!(item, Item::Text(_)) => before.end += text.len(),
        Some(Item::Reasoning(before)) if matches!(item, Item::Reasoning(_)) => before.end += text.len(),
        Some(Item::Framing(before)) if matches!(item, Item::Framing(_)) => before.end += text.len(),
        _ => items.push(item),
    }
}
