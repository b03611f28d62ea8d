//! Events: what the parser reports, in the order of the message.

use std::ops::Range;

use crate::error::{ErrorKind, Problem, Repair};

/// A complete call. Offsets count characters of the message, `end` exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEnd {
    pub index: usize,
    pub name: String,
    /// Compact JSON text of one object.
    pub arguments: String,
    pub start: usize,
    pub end: usize,
    /// The same in bytes.
    pub bytes: Range<usize>,
    pub repairs: Vec<Repair>,
    pub problems: Vec<Problem>,
}

/// A call that cannot be executed, or a forged result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The index of the call start that this ends; `None` if no start was reported.
    pub index: Option<usize>,
    pub name: Option<String>,
    pub kind: ErrorKind,
    /// What is wrong, written for the model.
    pub sentence: String,
    /// A correct call of the tool, or of the tool with the most similar name. `None` if an example would not help or cannot be
    /// made.
    pub example: Option<String>,
    /// The arguments as one compact JSON object, if the call was closed and they were read completely. Only for `invalid_arguments`,
    /// and in strict mode for `coerced` and `key_style`.
    pub arguments: Option<String>,
    /// The source from `start` to `end`, up to the size limit of a call.
    pub raw: String,
    pub start: usize,
    pub end: usize,
    /// The same in bytes.
    pub bytes: Range<usize>,
}

impl CallError {
    /// The sentence, and then the example.
    pub fn message(&self) -> String {
        message(&self.sentence, self.example.as_deref())
    }
}

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
pub enum Event<'a> {
    Text(&'a str),
    CallStart { index: usize, name: &'a str },
    ArgumentsDelta { index: usize, delta: &'a str },
    CallEnd(CallEnd),
    CallError(Box<CallError>),
}

/// A part of a message, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Its bytes in the message.
    Text(Range<usize>),
    Call(CallEnd),
    Error(Box<CallError>),
}

/// Adds an event to the items of a message, which texts, calls and errors tile.
pub fn fold(items: &mut Vec<Item>, event: Event<'_>) {
    match event {
        Event::Text(text) => {
            let start = match items.last_mut() {
                Some(Item::Text(before)) => return before.end += text.len(),
                Some(Item::Call(call)) => call.bytes.end,
                Some(Item::Error(error)) => error.bytes.end,
                None => 0,
            };
            items.push(Item::Text(start..start + text.len()));
        }
        Event::CallEnd(end) => items.push(Item::Call(end)),
        Event::CallError(error) => items.push(Item::Error(error)),
        Event::CallStart { .. } | Event::ArgumentsDelta { .. } => {}
    }
}
