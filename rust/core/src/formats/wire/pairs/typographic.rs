//! A value in typographic quotes, “…” or ‘…’: up to the closing mark that whitespace, punctuation or CLOSE follows.

use super::quotes::may_follow;
use super::value::PairValue;
use super::{NextState, bare_recovery, behind, fail};
use crate::arguments::{Input, Progress};
use crate::error::ErrorKind;
use crate::syntax::quoting::Alternation;

#[derive(Debug)]
pub(super) struct Typographic {
    pub(super) value: PairValue,
    /// The mark that ends it.
    pub(super) close: char,
    /// The other quotes in it, which are content: which of them open a text.
    pub(super) quotes: Alternation,
}

/// The mark that would end a value which begins with this character.
pub(super) fn closing_mark(first: char) -> Option<char> {
    match first {
        '“' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

impl Typographic {
    pub(super) fn step(&mut self, input: &mut Input<'_>) -> NextState {
        loop {
            let rest = input.rest();
            let end = rest.find(self.close).unwrap_or(rest.len());
            self.quotes.run(&rest[..end]);
            self.value.push_str(input.report, &rest[..end]);
            input.at += end;
            let after = end + self.close.len_utf8();
            match rest.as_bytes().get(after) {
                None => return Err(Progress::Incomplete),
                Some(byte) if may_follow(*byte, &input.cx) => {}
                Some(_) => {
                    self.value.push_char(input.report, self.close);
                    self.quotes.run(&rest[end..after]);
                    input.at += self.close.len_utf8();
                    continue;
                }
            }
            if self.quotes.open().is_some() {
                let message = format!("{}: a quote in the value is not closed.", self.value.field.path());
                return fail(ErrorKind::MalformedCall, message, bare_recovery(self.quotes));
            }
            input.at += self.close.len_utf8();
            return self.value.done(input, true, behind(false));
        }
    }
}
