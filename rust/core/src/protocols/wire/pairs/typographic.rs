//! A value in typographic quotes, “…” or ‘…’: up to the closing mark that whitespace, punctuation or CLOSE follows.

use super::quotes::may_follow;
use super::value::PairValue;
use super::{NextState, behind, fail};
use crate::arguments::{Io, Step};
use crate::error::ErrorKind;
use crate::syntax::quoting::Alternation;
use crate::syntax::recovery::Skip;

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
    /// How to skip the rest if the call fails here.
    pub(super) fn skip(&self) -> Skip {
        self.quotes.open().map_or(Skip::Bare { opens: false }, Skip::in_quotes)
    }

    pub(super) fn step(&mut self, io: &mut Io<'_>) -> NextState {
        loop {
            let rest = io.rest();
            let end = rest.find(self.close).unwrap_or(rest.len());
            self.quotes.run(&rest[..end]);
            self.value.push_str(io.found, &rest[..end]);
            io.at += end;
            let after = end + self.close.len_utf8();
            match rest.as_bytes().get(after) {
                None => return Err(Step::Need),
                Some(byte) if may_follow(*byte, &io.cx) => {}
                Some(_) => {
                    self.value.push_char(io.found, self.close);
                    self.quotes.run(&rest[end..after]);
                    io.at += self.close.len_utf8();
                    continue;
                }
            }
            if self.quotes.open().is_some() {
                let message = format!("{}: a quote in the value is not closed.", self.value.field.path());
                return fail(ErrorKind::MalformedCall, message, self.skip());
            }
            io.at += self.close.len_utf8();
            return self.value.done(io, true, behind(false));
        }
    }
}
