//! A value in quotes, and bracketed text that is a string to the letter.

use super::value::Value;
use super::{Move, behind, fail, gap_ahead};
use crate::body::place::is_declared;
use crate::body::{Io, Skip};
use crate::error::{ErrorKind, Repair};
use crate::pairs::{Ahead, Next, Part, Quoted, separated};
use crate::scan::{Delimiters, Mark, starts};

#[derive(Debug)]
pub(super) struct InQuotes {
    pub(super) value: Value,
    pub(super) quoted: Quoted,
    /// A quote was content.
    pub(super) kept: bool,
    pub(super) marks: Marks,
    pub(super) ahead: Ahead,
}

/// Has OPEN or CLOSE stood in a text? Both lie within plain runs, which a window may cut.
#[derive(Debug, Default)]
pub(super) struct Marks {
    seen: bool,
    /// The end of the run so far, from where a delimiter may have begun.
    tail: String,
}

impl Marks {
    pub(super) fn watch(&mut self, run: &str, delimiters: &Delimiters) {
        let (open, close) = (&delimiters.open, &delimiters.close);
        let first = memchr::memchr2(open.as_bytes()[0], close.as_bytes()[0], run.as_bytes());
        if self.seen || (self.tail.is_empty() && first.is_none()) {
            return;
        }
        self.tail.push_str(run);
        self.seen = self.tail.contains(open.as_str()) || self.tail.contains(close.as_str());
        let longest = open.len().max(close.len());
        let keep = (self.tail.len().saturating_sub(longest)..).find(|at| self.tail.is_char_boundary(*at));
        self.tail.drain(..keep.unwrap_or(0));
    }

    /// Has no delimiter begun?
    pub(super) fn is_idle(&self) -> bool {
        self.tail.is_empty()
    }

    pub(super) fn cut(&mut self) {
        self.tail.clear();
    }
}

impl InQuotes {
    pub(super) fn step(&mut self, io: &mut Io<'_>) -> Move {
        let InQuotes { value, quoted, kept, marks, ahead } = self;
        let Io { cx, window, last, .. } = *io;
        loop {
            match quoted.next(window, &mut io.at, last) {
                Part::Plain(part) => {
                    marks.watch(part, cx.delimiters);
                    value.push_plain(io.found, part);
                    continue;
                }
                Part::Char(c) => {
                    marks.cut();
                    value.push_char(io.found, c);
                    continue;
                }
                Part::Need => return Move::Stay,
                Part::Quote => {}
            }
            let rest = &window[io.at + 1..];
            let close = starts(rest, &cx.delimiters.close, last);
            let next = if cx.strict {
                Next::Close
            } else if !(rest.is_empty() || separated(rest) || close != Mark::No) {
                Next::Other
            } else {
                ahead.look(rest, last, cx.delimiters)
            };
            let closes = match next {
                Next::Need => return Move::Stay,
                Next::Close | Next::End | Next::Open { line: true } => true,
                Next::Pair { at, length, .. } => {
                    separated(rest) && (!*kept || is_declared(cx.schema, &rest[at..at + length]))
                }
                Next::Open { line: false } | Next::Other => false,
            };
            io.at += 1;
            if closes {
                if *kept && marks.seen {
                    let path = value.field.path();
                    let message = format!(
                        "{path}: quotes inside a value that also has call tags in it must be escaped: {path}=\"say \\\"hi\\\"\""
                    );
                    return fail(ErrorKind::UnterminatedValue, message, Skip::After);
                }
                // In strict mode nothing was seen yet, and a comma is to be told of.
                let seen = !cx.strict && !rest.starts_with(',');
                return value.done(io, true, if seen { gap_ahead(false, next) } else { behind(true) });
            }
            *ahead = Ahead::default();
            io.found.repair(Repair::InnerQuotes);
            *kept = true;
            marks.cut();
            value.push_char(io.found, quoted.quote as char);
        }
    }
}

pub(super) fn verbatim(io: &mut Io<'_>, value: &mut Value, skip: &mut Skip) -> Move {
    let start = io.at;
    while let Some(&byte) = io.window.as_bytes().get(io.at) {
        *skip = skip.step(byte);
        io.at += 1;
        if *skip == Skip::After {
            value.push_str(io.found, &io.window[start..io.at]);
            return value.done(io, true, behind(false));
        }
    }
    value.push_str(io.found, &io.window[start..io.at]);
    Move::Stay
}
