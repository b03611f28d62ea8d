//! A bare value: up to blanks or CLOSE, and what it takes in where a string fits.

use super::value::Value;
use super::{Move, NO_COMMAS, fail, gap_ahead};
use crate::body::place::is_declared;
use crate::body::{Context, Io, Skip};
use crate::error::{ErrorKind, Repair};
use crate::pairs::{Ahead, Next};
use crate::scan::{Mark, is_ws, starts, ws_run};

#[derive(Debug)]
pub(super) struct InWord {
    pub(super) value: Value,
    pub(super) word: Bare,
    pub(super) ahead: Ahead,
}

/// What a bare value has shown so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bare {
    /// It has a character.
    pub(super) filled: bool,
    /// It may take in tokens that are no pairs.
    pub(super) open_ended: bool,
    /// It took one in.
    pub(super) joined: bool,
    pub(super) has_open: bool,
    /// The first character of a delimiter is in it.
    pub(super) has_mark: bool,
}

impl InWord {
    pub(super) fn step(&mut self, io: &mut Io<'_>, bare_mark: &mut bool) -> Move {
        let InWord { value, word, ahead } = self;
        let Io { cx, window, last, .. } = *io;
        let bytes = window.as_bytes();
        let (open, close) = (&cx.delimiters.open, &cx.delimiters.close);
        loop {
            let start = io.at;
            let end = start + cx.delimiters.bare_run(&window[start..]);
            if end > start {
                word.filled = true;
                value.push_str(io.found, &window[start..end]);
                io.at = end;
            }
            // A value that touches the end of the message may be half of one, so the end decides nothing here.
            let Some(&byte) = bytes.get(end) else { return Move::Stay };
            let rest = &window[end..];
            let c = rest.chars().next().unwrap_or(' ');
            if cx.delimiters.is_first(c) {
                match (starts(rest, open, last), starts(rest, close, last)) {
                    (_, Mark::Yes) => return word.done(io, value, bare_mark),
                    (Mark::Partial, _) | (_, Mark::Partial) => return Move::Stay,
                    (opens, Mark::No) => word.has_open |= opens == Mark::Yes,
                }
                word.has_mark = true;
            } else if is_ws(byte) {
                if !word.open_ended || cx.strict || word.runs_into_call() {
                    return word.done(io, value, bare_mark);
                }
                let next = ahead.look(rest, last, cx.delimiters);
                if next == Next::Need {
                    return Move::Stay;
                }
                *ahead = Ahead::default();
                let token = ws_run(rest, 0);
                let ends = matches!(next, Next::Close | Next::End)
                    || crate::scan::has_line_break(&rest[..token])
                    || word.ends_at(&cx, rest, next);
                if ends {
                    return word.done_ahead(io, value, bare_mark, next);
                }
                // The blanks, and the token behind them, belong to the value.
                io.found.repair(Repair::UnquotedSpaces);
                word.joined = true;
                value.push_str(io.found, &rest[..token]);
                io.at = end + token;
                continue;
            } else if byte == b',' && word.filled && !word.runs_into_call() {
                // A comma between two pairs is no part of either.
                match rest.as_bytes().get(1) {
                    None if !last => return Move::Stay,
                    Some(blank) if is_ws(*blank) => {
                        let next = ahead.look(rest, last, cx.delimiters);
                        if next == Next::Need {
                            return Move::Stay;
                        }
                        *ahead = Ahead::default();
                        if word.ends_at(&cx, rest, next) {
                            let done = word.done(io, value, bare_mark);
                            if matches!(done, Move::Fail(_)) {
                                return done;
                            }
                            if let Err(kind) = cx.repair(io.found, Repair::CommaSeparator) {
                                return fail(kind, NO_COMMAS, Skip::After);
                            }
                            io.at += 1;
                            return done;
                        }
                    }
                    None | Some(_) => {}
                }
            }
            value.push_char(io.found, c);
            word.filled = true;
            io.at = end + c.len_utf8();
        }
    }
}

impl Bare {
    /// It took in a token, and OPEN is in it.
    fn runs_into_call(self) -> bool {
        self.joined && self.has_open
    }

    /// The value ends here.
    fn done(self, io: &mut Io<'_>, value: &mut Value, bare_mark: &mut bool) -> Move {
        self.done_ahead(io, value, bare_mark, Next::Need)
    }

    /// The value ends here, and what follows was seen.
    fn done_ahead(self, io: &mut Io<'_>, value: &mut Value, bare_mark: &mut bool, next: Next) -> Move {
        if self.runs_into_call() {
            let path = value.field.path();
            let close = &io.cx.delimiters.close;
            let message = format!(
                "The value of {path} runs into another call. Put it into quotes and close the call: {path}=\"…\"{close}"
            );
            return fail(ErrorKind::MalformedCall, message, Skip::Bare);
        }
        *bare_mark = self.has_mark;
        value.done(io, false, gap_ahead(self.open_ended, next))
    }

    /// Does what follows the value end it, being a pair?
    fn ends_at(self, cx: &Context<'_>, rest: &str, next: Next) -> bool {
        match next {
            Next::Pair { at, length, direct } => {
                (direct && !self.joined) || is_declared(cx.schema, &rest[at..at + length])
            }
            Next::Need | Next::Close | Next::End | Next::Open { .. } | Next::Other => false,
        }
    }
}
