//! Recovery after an error, by quotes and brackets alone.

use std::mem::replace;

use crate::arguments::{Input, Progress};
use crate::syntax::quoting::Quote;
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Scan, first_mark, no_opener, starts};

/// How the rest of a failed call is read.
#[derive(Debug)]
pub(super) struct MembersRecovery {
    recovery: Recovery,
    /// Nothing was read after the error: CLOSE may follow at once.
    fresh: bool,
    /// It is certain where strings and brackets end, so the next object of the list is a call.
    sound: bool,
    /// In a list, after the failed call.
    between: bool,
}

impl MembersRecovery {
    /// After the last bracket.
    pub(super) fn behind() -> Self {
        MembersRecovery { recovery: Recovery::AFTER, fresh: true, sound: true, between: false }
    }

    /// In so many brackets, and perhaps in a string. `between`: in those of the list alone.
    /// It is found at byte `at` of a window.
    pub(super) fn inside(
        brackets: usize,
        string: Option<Quote>,
        sound: bool,
        between: bool,
        (window, at): (&str, usize),
    ) -> Self {
        let recovery = Recovery::in_brackets_at(brackets, string, window, at);
        MembersRecovery { recovery, fresh: string.is_none(), sound, between }
    }

    /// Reads to the end of the call. `bare`: without CLOSE; `list`: in so many brackets of a list, or none. Before one of the
    /// `closers` it ends in any brackets, and if there are some, at its own only if these are certain.
    pub(super) fn read(&mut self, input: &mut Input<'_>, bare: bool, list: usize, closers: &[&str]) -> Progress {
        let close = input.cx.delimiters.close.as_str();
        // Where the last bracket ends the call, a double quote opens a text wherever it is.
        let json = bare;
        let bare = bare && (closers.is_empty() || self.sound);
        while let Some(&byte) = input.window.as_bytes().get(input.at) {
            if bare && matches!(self.recovery, Recovery::After(_)) {
                break;
            }
            if !self.recovery.is_quoted() && closers.iter().any(|close| close.as_bytes().first() == Some(&byte)) {
                let rest = input.rest();
                match first_mark(rest, closers, input.last).and_then(|length| no_opener(rest, length, input.last)) {
                    Scan::Match(_) => return Progress::CallEnd,
                    Scan::Incomplete => return Progress::Incomplete,
                    Scan::NoMatch => {}
                }
            }
            let outside = !matches!(self.recovery, Recovery::Quoted(_) | Recovery::Bracketed { .. });
            if closers.is_empty() && (replace(&mut self.fresh, false) || outside) && byte == close.as_bytes()[0] {
                let (rest, length) = (input.rest(), close.len());
                match starts(rest, close, input.last).and_then(|()| no_opener(rest, length, input.last)) {
                    Scan::Match(length) => {
                        input.at += length;
                        return Progress::CallEnd;
                    }
                    Scan::Incomplete => {
                        self.fresh = true;
                        return Progress::Incomplete;
                    }
                    Scan::NoMatch => {}
                }
            }
            if self.between {
                match byte {
                    b' ' | b'\t' | b'\r' | b'\n' | b',' => {}
                    b'{' => {
                        self.between = false;
                        return Progress::NextCall;
                    }
                    _ => self.between = false,
                }
            }
            let closing =
                matches!(byte, b'}' | b']') && matches!(self.recovery, Recovery::Bracketed { string: None, .. });
            self.recovery = if json { self.recovery.step_in_json(byte) } else { self.recovery.step(byte) };
            let behind = closing && matches!(self.recovery, Recovery::Bracketed { depth, .. } if depth == list);
            self.between |= behind && self.sound;
            input.at += 1;
        }
        if bare && matches!(self.recovery, Recovery::After(_)) { Progress::CallEnd } else { Progress::Incomplete }
    }
}
