//! A bare value: up to whitespace or CLOSE, and the tokens that it takes in where a string fits.

use super::value::PairValue;
use super::{NextState, bare_recovery, comma, fail, follows_colon, gap_ahead, trailing};
use crate::arguments::keys::is_declared;
use crate::arguments::{Context, Input, Progress};
use crate::error::{ErrorKind, Repair};
use crate::syntax::pairs::{Following, Lookahead, may_trail};
use crate::syntax::quoting::{Alternation, is_quote};
use crate::syntax::scan::{Delimiters, Scan, has_line_break, is_ws, starts, ws_run};

#[derive(Debug)]
pub(super) struct InWord {
    pub(super) value: PairValue,
    pub(super) word: Bare,
    pub(super) ahead: Lookahead,
}

/// What a bare value has shown so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bare {
    /// It has a character.
    pub(super) filled: bool,
    /// It may take in tokens that are not pairs.
    pub(super) open_ended: bool,
    /// It took one in.
    pub(super) joined: bool,
    pub(super) has_open: bool,
    /// The first character of a delimiter is in it.
    pub(super) has_mark: bool,
    pub(super) has_quote: bool,
    /// The quotes in it, which are content: which of them open a text.
    pub(super) quotes: Alternation,
}

impl InWord {
    pub(super) fn step(&mut self, input: &mut Input<'_>, bare_mark: &mut bool) -> NextState {
        let InWord { value, word, ahead } = self;
        let Input { cx, window, last, .. } = *input;
        let bytes = window.as_bytes();
        loop {
            let start = input.at;
            let end = start + plain_run(&window[start..], cx.delimiters);
            if end > start {
                word.filled = true;
                word.quotes.run(&window[start..end]);
                value.push_str(input.report, &window[start..end]);
                input.at = end;
            }
            // A value that touches the end of the message may be incomplete, so the end decides nothing here.
            let Some(&byte) = bytes.get(end) else { return Err(Progress::Incomplete) };
            let rest = &window[end..];
            let c = rest.chars().next().unwrap_or(' ');
            if cx.delimiters.is_first(c) {
                match (starts(rest, &cx.delimiters.open, last), cx.delimiters.closes(rest, last).void()) {
                    (_, Scan::Match(())) => return self.done(input, bare_mark, Following::Need),
                    (Scan::Incomplete, _) | (_, Scan::Incomplete) => return Err(Progress::Incomplete),
                    (opens, Scan::NoMatch) => word.has_open |= opens == Scan::Match(()),
                }
                word.has_mark = true;
            } else if is_ws(byte) {
                if !word.open_ended || cx.strict || word.runs_into_call() {
                    return self.done(input, bare_mark, Following::Need);
                }
                let next = ahead.look(rest, last, cx.delimiters);
                if next == Following::Need {
                    return Err(Progress::Incomplete);
                }
                *ahead = Lookahead::after_value();
                let token = ws_run(rest, 0);
                let ends = matches!(next, Following::Close | Following::End)
                    || has_line_break(&rest[..token])
                    || word.ends_at(&cx, rest, next);
                if ends {
                    return self.done(input, bare_mark, next);
                }
                // The whitespace and the token after it belong to the value.
                input.report.repair(Repair::UnquotedSpaces);
                word.joined = true;
                word.quotes.run(&rest[..token]);
                value.push_str(input.report, &rest[..token]);
                input.at = end + token;
                continue;
            } else if is_quote(byte) {
                word.has_quote = true;
            } else if may_trail(byte) && word.filled && !word.runs_into_call() && !word.opened_by(byte) {
                // A comma between two pairs belongs to neither; nor does punctuation before CLOSE.
                let next = match separates(rest, last, &cx) {
                    None => return Err(Progress::Incomplete),
                    Some(false) => None,
                    Some(true) => Some(ahead.look(rest, last, cx.delimiters)),
                };
                if next == Some(Following::Need) {
                    return Err(Progress::Incomplete);
                }
                *ahead = Lookahead::after_value();
                let ends = match next {
                    None => Scan::NoMatch,
                    Some(Following::Other) => follows_colon(input, rest),
                    Some(Following::Trailing { .. }) if !word.has_mark && !word.has_quote => Scan::Match(()),
                    Some(next) if word.ends_at(&cx, rest, next) => Scan::Match(()),
                    Some(_) => Scan::NoMatch,
                };
                if ends.decided()?.is_some() {
                    let done = self.done(input, bare_mark, Following::Need)?;
                    match next {
                        Some(Following::Trailing { length }) => trailing(input, length)?,
                        _ => comma(input)?,
                    }
                    return Ok(done);
                }
            }
            word.quotes.run(&rest[..c.len_utf8()]);
            value.push_char(input.report, c);
            word.filled = true;
            input.at = end + c.len_utf8();
        }
    }

    /// The value ends here. What follows it is in `next`, if that was seen.
    fn done(&mut self, input: &mut Input<'_>, bare_mark: &mut bool, next: Following) -> NextState {
        let InWord { value, word, .. } = self;
        if !word.runs_into_call() && word.quotes.open().is_none() {
            *bare_mark = word.has_mark;
            return value.done(input, false, gap_ahead(word.open_ended, next));
        }
        let path = value.field.path();
        let message = if word.runs_into_call() {
            let close = &input.cx.delimiters.close;
            format!(
                "The value of {path} runs into another call. Put it into quotes and close the call: {path}=\"…\"{close}"
            )
        } else {
            format!("{path}: a quote in the value is not closed. Put the whole value into quotes: {path}=\"…\"")
        };
        fail(ErrorKind::MalformedCall, message, bare_recovery(word.quotes))
    }
}

/// Bytes of the run that a bare value can take without a closer look: punctuation at the end may not belong to the value.
fn plain_run(text: &str, delimiters: &Delimiters) -> usize {
    let length = delimiters.bare_run(text);
    match text.as_bytes()[..length] {
        [.., b'/', b'>'] => length - 2,
        [.., b'/' | b'>' | b';'] => length - 1,
        _ => length,
    }
}

/// Whether the value may end before this punctuation, which whitespace or CLOSE must follow. `None`: not known yet.
fn separates(rest: &str, last: bool, cx: &Context<'_>) -> Option<bool> {
    let bytes = rest.as_bytes();
    let length = if bytes[0] == b'/' { 2 } else { 1 };
    match bytes.get(length) {
        _ if length == 2 && bytes.get(1).is_some_and(|byte| *byte != b'>') => Some(false),
        None => last.then_some(false),
        Some(byte) => Some(is_ws(*byte) || *byte == cx.delimiters.close.as_bytes()[0]),
    }
}

impl Bare {
    /// It took in a token, and OPEN is in it.
    fn runs_into_call(self) -> bool {
        self.joined && self.has_open
    }

    /// Whether this byte completes a quote that opens a text, as the last one of an entity does.
    fn opened_by(self, byte: u8) -> bool {
        let mut quotes = self.quotes;
        quotes.step(byte);
        self.quotes.open().is_none() && quotes.open().is_some()
    }

    /// Whether a pair follows that ends the value.
    fn ends_at(self, cx: &Context<'_>, rest: &str, next: Following) -> bool {
        matches!(next, Following::Pair { at, length, direct }
            if (direct && !self.joined) || is_declared(cx.schema, &rest[at..at + length]))
    }
}
