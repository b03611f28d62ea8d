//! After `=`: which kind of value follows, if any.

use super::quotes::InQuotes;
use super::typographic::{Typographic, closing_mark};
use super::value::{PairValue, collided, empty, is_open_ended, text};
use super::word::{Bare, InWord};
use super::write::takes_tuples;
use super::{NextState, PairsState, fail, repair};
use crate::arguments::keys::{ResolvedKey, is_declared};
use crate::arguments::{Input, Object, Progress};
use crate::error::{ErrorKind, Repair};
use crate::syntax::pairs::{Following, LIKE_QUOTES, Lookahead};
use crate::syntax::quoting::{Alternation, is_quote};
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Scan, is_ws, starts, ws_run};

#[derive(Debug)]
pub(super) struct Equals {
    pub(super) field: ResolvedKey,
    pub(super) ahead: Lookahead,
    /// It was a colon, after which there may be whitespace.
    pub(super) colon: bool,
}

impl Equals {
    pub(super) fn step(&mut self, input: &mut Input<'_>, bare_mark: &mut bool) -> NextState {
        *bare_mark = false;
        let rest = input.rest();
        let Some(&byte) = rest.as_bytes().first() else { return Err(Progress::Incomplete) };
        match input.cx.delimiters.closes(rest, input.last).decided()? {
            Some(_) => empty(input, &self.field),
            None if is_ws(byte) => self.spaced(input),
            None => self.value(input, rest),
        }
    }

    /// Whitespace follows: the value is empty, or begins after it.
    fn spaced(&mut self, input: &mut Input<'_>) -> NextState {
        let Equals { field, ahead, colon } = self;
        let (cx, rest) = (input.cx, input.rest());
        match ahead.look(rest, input.last, cx.delimiters) {
            Following::Need => return Err(Progress::Incomplete),
            Following::Close | Following::End | Following::Open { line: true } => return empty(input, field),
            Following::Pair { at, length, direct } if direct || is_declared(cx.schema, &rest[at..at + length]) => {
                return empty(input, field);
            }
            Following::Pair { .. } | Following::Open { .. } | Following::Trailing { .. } | Following::Other => {}
        }
        if !*colon {
            let path = field.path();
            if !field.declared {
                let message = format!("No value follows {path}=. Write the empty string as {path}=\"\"");
                return fail(ErrorKind::MalformedCall, message, Recovery::TokenStart);
            }
            let message = || format!("Do not put spaces around `=`: write {path}=…");
            repair(input, Repair::SpacedEquals, Recovery::TokenStart, message)?;
        }
        self.value(input, &rest[ws_run(rest, 0)..])
    }

    /// The value begins with `rest`.
    fn value(&mut self, input: &mut Input<'_>, rest: &str) -> NextState {
        let (cx, field) = (input.cx, &mut self.field);
        let node = cx.schema.node(field.node);
        let byte = rest.as_bytes()[0];
        let bracket = matches!(byte, b'{' | b'[');
        let tuple = byte == b'(' && takes_tuples(node);
        let json = tuple || (bracket && (node.takes_container() || !node.takes_string()));
        if bracket && !json && rest.len() < 2 && !input.last {
            return Err(Progress::Incomplete);
        }
        // What models write instead of a quote.
        if matches!(byte, b'`' | b'&' | b'<' | b'\\')
            && let Some(()) = Scan::first_of(LIKE_QUOTES.iter().map(|mark| starts(rest, mark, input.last))).decided()?
        {
            let message = format!("{0}: quote the value with \" or ': {0}=\"…\"", field.path());
            return fail(ErrorKind::MalformedCall, message, Recovery::ValueStart);
        }
        let first = rest.chars().next().unwrap_or(' ');
        let closing = closing_mark(first);
        if tuple {
            let message = || format!("{}: write a list as [\"a\",\"b\"].", field.path());
            repair(input, Repair::RelaxedJson, Recovery::ValueStart, message)?;
        } else if closing.is_some() {
            let message = || format!("{}: quote the value with \" or '.", field.path());
            repair(input, Repair::QuoteStyle, Recovery::ValueStart, message)?;
        }
        input.at = input.window.len() - rest.len();
        let field = std::mem::take(field);
        if json {
            let begun = input.report.args.begin_at(&field);
            let (target, start) = begun.or_else(|collision| collided(&field, collision))?;
            let object = Object::new(&cx, field.node, field.path(), field.steps.len());
            let object = Box::new(if tuple { object.in_parentheses() } else { object });
            return Ok(PairsState::Json { field, target, start, object });
        }
        let text = text(input, &field, is_quote(byte) || closing.is_some());
        let text = text.or_else(|collision| collided(&field, collision))?;
        let value = PairValue { field, text };
        Ok(if is_quote(byte) {
            input.at += 1;
            PairsState::Quoted(InQuotes::new(value, byte))
        } else if let Some(close) = closing {
            input.at += first.len_utf8();
            PairsState::Typographic(Typographic { value, close, quotes: Alternation::START })
        } else if ["{\"", "[\"", "[{"].iter().any(|start| rest.starts_with(start)) {
            PairsState::Verbatim { value, recovery: Recovery::ValueStart }
        } else {
            let open_ended = !self.colon && is_open_ended(cx.schema, value.field.node);
            let word = Bare { open_ended, ..Bare::default() };
            PairsState::Bare(InWord { value, word, ahead: Lookahead::after_value() })
        })
    }
}
