//! What a message gives, in the form of the vectors.

use std::collections::VecDeque;

use wirecall_core::{CallEnd, CallError, Event, Parser, Toolset};

/// What is neither a call nor an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    Text,
    Reasoning,
    Framing,
}

pub(crate) const FORMS: [(&str, Form); 3] =
    [("text", Form::Text), ("reasoning", Form::Reasoning), ("framing", Form::Framing)];

/// An item in the words of the vectors, with offsets; easy to compare and to read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plain {
    /// Text, reasoning or framing.
    Part(Form, String),
    Call {
        name: String,
        arguments: String,
        at: (usize, usize),
        repairs: Vec<String>,
        problems: Vec<(String, String)>,
    },
    Error {
        kind: String,
        name: Option<String>,
        raw: String,
        at: (usize, usize),
    },
}

impl From<&CallEnd> for Plain {
    fn from(end: &CallEnd) -> Self {
        let problems = end.problems.iter().map(|problem| (problem.kind.as_str().into(), problem.field.to_string()));
        Plain::Call {
            name: end.name.to_string(),
            arguments: end.arguments.clone(),
            at: (end.start, end.end),
            repairs: end.repairs.iter().map(|repair| repair.as_str().into()).collect(),
            problems: problems.collect(),
        }
    }
}

impl From<&CallError> for Plain {
    fn from(error: &CallError) -> Self {
        assert!(!error.sentence.is_empty());
        Plain::Error {
            kind: error.kind.as_str().into(),
            name: error.name.as_ref().map(ToString::to_string),
            raw: error.raw.clone(),
            at: (error.start, error.end),
        }
    }
}

pub(crate) fn push(items: &mut Vec<Plain>, form: Form, text: &str) {
    match items.last_mut() {
        _ if text.is_empty() => {}
        Some(Plain::Part(same, before)) if *same == form => before.push_str(text),
        _ => items.push(Plain::Part(form, text.into())),
    }
}

/// Items from events; on the way, every start must have one end, and the deltas must be its arguments.
#[derive(Default)]
pub(crate) struct Folded {
    items: Vec<Plain>,
    /// The calls that have started, and their deltas. Only those of a list are several.
    open: VecDeque<(usize, String)>,
    started: usize,
    lists: bool,
    /// Where the next item begins, in characters: items tile the message.
    at: usize,
}

impl Folded {
    fn push(&mut self, form: Form, text: &str) {
        assert!(!text.is_empty());
        assert!(self.open.is_empty());
        self.at += text.chars().count();
        push(&mut self.items, form, text);
    }

    fn add(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(text) => self.push(Form::Text, text),
            Event::Reasoning { text, start, end } => {
                assert_eq!((*start, *end), (self.at, self.at + text.chars().count()));
                self.push(Form::Reasoning, text);
            }
            Event::Framing(text) => self.push(Form::Framing, text),
            Event::CallStart { index, .. } => {
                assert!(self.open.is_empty() || self.lists);
                assert_eq!(*index, self.started);
                self.open.push_back((*index, String::new()));
                self.started += 1;
            }
            Event::ArgumentsDelta { index, delta } => {
                let (_, deltas) = self.open.iter_mut().find(|(open, _)| open == index).expect("it has started");
                assert!(!delta.is_empty());
                deltas.push_str(delta);
            }
            Event::CallEnd(end) => {
                assert_eq!(self.open.pop_front(), Some((end.index, end.arguments.clone())));
                assert_eq!(std::mem::replace(&mut self.at, end.end), end.start);
                self.items.push(Plain::from(end));
            }
            Event::CallError(error) => {
                assert_eq!(std::mem::replace(&mut self.at, error.end), error.start);
                if error.index.is_some() || !self.lists {
                    assert_eq!(self.open.pop_front().map(|(index, _)| index), error.index);
                }
                self.items.push(Plain::from(&**error));
            }
            event => panic!("a new kind of event: {event:?}"),
        }
    }
}

pub(crate) fn in_pieces(
    tools: &Toolset,
    pieces: &[&str],
    truncated: Option<bool>,
    in_reasoning: Option<bool>,
    lists: bool,
) -> Vec<Plain> {
    let mut parser = Parser::borrowing(tools, in_reasoning);
    let mut folded = Folded { lists, ..Folded::default() };
    let mut sink = |event: Event<'_>| folded.add(&event);
    for piece in pieces {
        parser.feed(piece, &mut sink);
    }
    parser.finish(truncated, &mut sink);
    assert!(folded.open.is_empty());
    assert_eq!(folded.at, pieces.iter().map(|piece| piece.chars().count()).sum::<usize>());
    folded.items
}
