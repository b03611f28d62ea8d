//! Behind `=`: which kind of value follows, or none.

use super::quotes::{InQuotes, Marks};
use super::typographic::{Typographic, closing_mark};
use super::value::{Value, collided, empty, takes_strings_as_items, text};
use super::word::{Bare, InWord};
use super::{Move, State, fail};
use crate::body::place::{Field, is_declared};
use crate::body::write::takes_tuples;
use crate::body::{Io, Object, Skip};
use crate::error::{ErrorKind, Repair};
use crate::pairs::{Ahead, LIKE_QUOTES, Next, Quoted};
use crate::quoting::Alternation;
use crate::scan::{Mark, is_ws, starts, ws_run};

#[derive(Debug)]
pub(super) struct Equals {
    pub(super) field: Field,
    pub(super) ahead: Ahead,
    /// It was a colon, after which there may be whitespace.
    pub(super) colon: bool,
}

impl Equals {
    pub(super) fn step(&mut self, io: &mut Io<'_>, bare_mark: &mut bool) -> Move {
        let Equals { field, ahead, colon } = self;
        *bare_mark = false;
        let cx = io.cx;
        let mut rest = io.rest();
        let blank = match rest.as_bytes().first() {
            None => return Move::Stay,
            Some(byte) => is_ws(*byte),
        };
        match cx.delimiters.closes(rest, io.last).0 {
            Mark::Partial => return Move::Stay,
            Mark::Yes => return empty(io, field),
            Mark::No => {}
        }
        if blank {
            match ahead.look(rest, io.last, cx.delimiters) {
                Next::Need => return Move::Stay,
                Next::Close | Next::End | Next::Open { line: true } => return empty(io, field),
                Next::Pair { at, length, direct } if direct || is_declared(cx.schema, &rest[at..at + length]) => {
                    return empty(io, field);
                }
                Next::Pair { .. } | Next::Open { .. } | Next::Trailing { .. } | Next::Other => {}
            }
            let path = field.path();
            if !field.declared && !*colon {
                let message = format!("No value follows {path}=. Write the empty string as {path}=\"\"");
                return fail(ErrorKind::MalformedCall, message, Skip::TokenStart);
            }
            if !*colon && let Err(kind) = cx.repair(io.found, Repair::SpacedEquals) {
                return fail(kind, format!("Do not put spaces around `=`: write {path}=…"), Skip::TokenStart);
            }
            rest = &rest[ws_run(rest, 0)..];
        }
        let node = cx.schema.node(field.node);
        let byte = rest.as_bytes()[0];
        let bracket = matches!(byte, b'{' | b'[');
        let tuple = byte == b'(' && takes_tuples(node);
        let json = tuple || (bracket && (node.takes_container() || !node.takes_string()));
        if bracket && !json && rest.len() < 2 && !io.last {
            return Move::Stay;
        }
        match like_a_quote(rest, io.last) {
            Mark::Partial => return Move::Stay,
            Mark::Yes => {
                let message = format!("{0}: quote the value with \" or ': {0}=\"…\"", field.path());
                return fail(ErrorKind::MalformedCall, message, Skip::ValueStart);
            }
            Mark::No => {}
        }
        let first = rest.chars().next().unwrap_or(' ');
        let closing = closing_mark(first);
        let repair = match (tuple, closing) {
            (true, _) => Some((Repair::RelaxedJson, "write a list as [\"a\",\"b\"].")),
            (false, Some(_)) => Some((Repair::QuoteStyle, "quote the value with \" or '.")),
            (false, None) => None,
        };
        if let Some((repair, what)) = repair
            && let Err(kind) = cx.repair(io.found, repair)
        {
            return fail(kind, format!("{}: {what}", field.path()), Skip::ValueStart);
        }
        io.at = io.window.len() - rest.len();
        let field = std::mem::take(field);
        if json {
            return match io.found.args.place(&field.steps, field.is_piece()) {
                Ok(target) => {
                    let start = io.found.args.begin(target, field.root_key());
                    let object = Object::new(&cx, field.node, field.path(), field.steps.len());
                    let object = Box::new(if tuple { object.in_parentheses() } else { object });
                    Move::To(State::Json { field, target, start, object })
                }
                Err(collision) => collided(&field, collision),
            };
        }
        let quote = byte == b'"' || byte == b'\'';
        let text = match text(io, &field, quote || closing.is_some()) {
            Ok(text) => text,
            Err(collision) => return collided(&field, collision),
        };
        let open_ended = (node.takes_string() || takes_strings_as_items(&cx, field.node))
            && cx.schema.declares_properties(cx.schema.root)
            && !*colon;
        let value = Value { field, text };
        let ahead = Ahead::after_value();
        if quote {
            io.at += 1;
            let quoted = Quoted::new(byte);
            Move::To(State::Quoted(InQuotes {
                value,
                quoted,
                triple: false,
                kept: None,
                marks: Marks::default(),
                ahead,
            }))
        } else if let Some(close) = closing {
            io.at += first.len_utf8();
            Move::To(State::Typographic(Typographic { value, close, quotes: Alternation::START }))
        } else if bracket && ["{\"", "[\"", "[{"].iter().any(|start| rest.starts_with(start)) {
            Move::To(State::Verbatim { value, skip: Skip::ValueStart })
        } else {
            Move::To(State::Bare(InWord { value, word: Bare::new(open_ended), ahead }))
        }
    }
}

/// Whether the value begins with what models write instead of a quote.
fn like_a_quote(rest: &str, last: bool) -> Mark {
    let marks = || LIKE_QUOTES.iter().map(|mark| starts(rest, mark, last));
    if marks().any(|mark| mark == Mark::Yes) {
        Mark::Yes
    } else if marks().any(|mark| mark == Mark::Partial) {
        Mark::Partial
    } else {
        Mark::No
    }
}
