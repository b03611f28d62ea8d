//! Behind `=`: which kind of value follows, or none.

use super::quotes::InQuotes;
use super::typographic::{Typographic, closing_mark};
use super::value::{Value, collided, empty, takes_strings_as_items, text};
use super::word::{Bare, InWord};
use super::write::takes_tuples;
use super::{Move, State, fail};
use crate::arguments::keys::{Field, is_declared};
use crate::arguments::{Io, Object};
use crate::error::{ErrorKind, Repair};
use crate::syntax::pairs::{Following, LIKE_QUOTES, Lookahead};
use crate::syntax::quoting::{Alternation, is_quote};
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Scan, is_ws, starts, ws_run};

#[derive(Debug)]
pub(super) struct Equals {
    pub(super) field: Field,
    pub(super) ahead: Lookahead,
    /// It was a colon, after which there may be whitespace.
    pub(super) colon: bool,
}

impl Equals {
    pub(super) fn step(&mut self, io: &mut Io<'_>, bare_mark: &mut bool) -> Move {
        *bare_mark = false;
        let rest = io.rest();
        let Some(&byte) = rest.as_bytes().first() else { return Move::Stay };
        match io.cx.delimiters.closes(rest, io.last).void() {
            Scan::Incomplete => Move::Stay,
            Scan::Match(()) => empty(io, &self.field),
            Scan::NoMatch if is_ws(byte) => self.spaced(io),
            Scan::NoMatch => self.value(io, rest),
        }
    }

    /// Whitespace follows: the value is empty, or begins after it.
    fn spaced(&mut self, io: &mut Io<'_>) -> Move {
        let Equals { field, ahead, colon } = self;
        let (cx, rest) = (io.cx, io.rest());
        match ahead.look(rest, io.last, cx.delimiters) {
            Following::Need => return Move::Stay,
            Following::Close | Following::End | Following::Open { line: true } => return empty(io, field),
            Following::Pair { at, length, direct } if direct || is_declared(cx.schema, &rest[at..at + length]) => {
                return empty(io, field);
            }
            Following::Pair { .. } | Following::Open { .. } | Following::Trailing { .. } | Following::Other => {}
        }
        if !*colon {
            let path = field.path();
            if !field.declared {
                let message = format!("No value follows {path}=. Write the empty string as {path}=\"\"");
                return fail(ErrorKind::MalformedCall, message, Skip::TokenStart);
            }
            if let Err(kind) = cx.repair(io.found, Repair::SpacedEquals) {
                return fail(kind, format!("Do not put spaces around `=`: write {path}=…"), Skip::TokenStart);
            }
        }
        self.value(io, &rest[ws_run(rest, 0)..])
    }

    /// The value begins with `rest`.
    fn value(&mut self, io: &mut Io<'_>, rest: &str) -> Move {
        let (cx, field) = (io.cx, &mut self.field);
        let node = cx.schema.node(field.node);
        let byte = rest.as_bytes()[0];
        let bracket = matches!(byte, b'{' | b'[');
        let tuple = byte == b'(' && takes_tuples(node);
        let json = tuple || (bracket && (node.takes_container() || !node.takes_string()));
        if bracket && !json && rest.len() < 2 && !io.last {
            return Move::Stay;
        }
        // What models write instead of a quote.
        let like = || LIKE_QUOTES.iter().fold(Scan::NoMatch, |look, mark| look.or(|| starts(rest, mark, io.last)));
        match if matches!(byte, b'`' | b'&' | b'<' | b'\\') { like() } else { Scan::NoMatch } {
            Scan::Incomplete => return Move::Stay,
            Scan::Match(()) => {
                let message = format!("{0}: quote the value with \" or ': {0}=\"…\"", field.path());
                return fail(ErrorKind::MalformedCall, message, Skip::ValueStart);
            }
            Scan::NoMatch => {}
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
        let text = match text(io, &field, is_quote(byte) || closing.is_some()) {
            Ok(text) => text,
            Err(collision) => return collided(&field, collision),
        };
        let value = Value { field, text };
        Move::To(if is_quote(byte) {
            io.at += 1;
            State::Quoted(InQuotes::new(value, byte))
        } else if let Some(close) = closing {
            io.at += first.len_utf8();
            State::Typographic(Typographic { value, close, quotes: Alternation::START })
        } else if ["{\"", "[\"", "[{"].iter().any(|start| rest.starts_with(start)) {
            State::Verbatim { value, skip: Skip::ValueStart }
        } else {
            let open_ended = (node.takes_string() || takes_strings_as_items(&cx, value.field.node))
                && cx.schema.declares_properties(cx.schema.root)
                && !self.colon;
            State::Bare(InWord { value, word: Bare::new(open_ended), ahead: Lookahead::after_value() })
        })
    }
}
