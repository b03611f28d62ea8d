//! Recovery after an error, by quotes and brackets alone.

use std::mem::replace;

use crate::arguments::{Io, Step};
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Scan, starts};

/// How the rest of a failed call is read.
#[derive(Debug)]
pub struct EnvelopeRecovery {
    skip: Skip,
    /// Nothing was read after the error: CLOSE may follow at once.
    fresh: bool,
    /// It is certain where strings and brackets end, so the next object of the list is a call.
    sound: bool,
    /// In a list, after the failed call.
    between: bool,
}

impl EnvelopeRecovery {
    /// After the last bracket.
    pub fn behind() -> Self {
        EnvelopeRecovery { skip: Skip::After, fresh: true, sound: true, between: false }
    }

    /// In so many brackets, and perhaps in a string. `between`: in those of the list alone.
    /// It is found at byte `at` of a window.
    pub fn inside(
        brackets: usize,
        string: Option<u8>,
        sound: bool,
        between: bool,
        (window, at): (&str, usize),
    ) -> Self {
        let skip = Skip::in_brackets_at(brackets, string, window, at);
        EnvelopeRecovery { skip, fresh: string.is_none(), sound, between }
    }

    /// Reads to the end of the call. `bare`: without CLOSE; `list`: in so many brackets of a list, or none.
    pub fn read(&mut self, io: &mut Io<'_>, bare: bool, list: usize) -> Step {
        let close = io.cx.delimiters.close.as_str();
        while let Some(&byte) = io.window.as_bytes().get(io.at) {
            if bare && self.skip == Skip::After {
                break;
            }
            let outside = !matches!(self.skip, Skip::Quoted { .. } | Skip::Bracketed { .. });
            if (replace(&mut self.fresh, false) || outside) && byte == close.as_bytes()[0] {
                match starts(io.rest(), close, io.last) {
                    Scan::Match(()) => {
                        io.at += close.len();
                        return Step::Done;
                    }
                    Scan::Incomplete => {
                        self.fresh = true;
                        return Step::Need;
                    }
                    Scan::NoMatch => {}
                }
            }
            if self.between {
                match byte {
                    b' ' | b'\t' | b'\r' | b'\n' | b',' => {}
                    b'{' => {
                        self.between = false;
                        return Step::Next;
                    }
                    _ => self.between = false,
                }
            }
            let closing = matches!(byte, b'}' | b']') && matches!(self.skip, Skip::Bracketed { string: None, .. });
            self.skip = self.skip.step(byte);
            let behind = closing && matches!(self.skip, Skip::Bracketed { depth, .. } if depth == list);
            self.between |= behind && self.sound;
            io.at += 1;
        }
        if bare && self.skip == Skip::After { Step::Done } else { Step::Need }
    }
}
