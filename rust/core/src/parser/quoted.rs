//! Quotes in text after an opener that begins no call, and after a call that has failed or may have ended too early.
//!
//! What was meant as a call, but is text, may quote other calls: these do not run. They are errors, so that nothing vanishes.

use super::example::example;
use super::state::{RejectedText, Reports};
use super::{Machine, OnEvent, Window};
use crate::error::ErrorKind;
use crate::syntax::quoting::Alternation;
use crate::syntax::scan::fitting;
use crate::toolset::{CodeMode, Toolset};

/// The sentence for the model about a call in quotes.
pub(super) const QUOTED: &str = "A call in quotation marks, after the beginning of another one, was not run. Write the call that \
                                 you want again in full.";

impl Machine {
    /// Scans text after an opener for quotes. Where code is text, backticks are not quotes.
    #[inline]
    pub(super) fn read_quotes(&mut self, tools: &Toolset, text: &str) {
        let Some(quotes) = &mut self.place.quotes else { return };
        match tools.code {
            CodeMode::Call => quotes.run(text),
            CodeMode::Text => text.bytes().for_each(|byte| quotes.step_over_code(byte)),
        }
    }

    /// Whether a text in quotes is open that began after an opener.
    pub(super) fn in_quotes(&self) -> bool {
        self.place.quotes.is_some_and(|quotes| quotes.open().is_some())
    }

    /// Consumes an opener that begins no call. A quote directly after the first one closes the quotation around it.
    pub(super) fn mention(&mut self, tools: &Toolset, opener: &str) {
        self.read_code_and_quotes(tools, opener);
        self.place.mentioned = true;
        let bracket = matches!(opener, "[" | "{");
        self.place.quotes.get_or_insert(if bracket { Alternation::START } else { Alternation::CLOSED });
    }

    /// Reports a marker of this length, at least 1, as an error that counts as a call. The text goes on after it.
    pub(super) fn lone_mark(
        &mut self,
        tools: &Toolset,
        window: &mut Window<'_>,
        length: usize,
        sentence: &str,
        on_event: OnEvent<'_>,
    ) -> bool {
        if self.too_many(tools, window, length, on_event) {
            return true;
        }
        let mark = &window.text[window.at..window.at + length];
        self.read_code_and_quotes(tools, mark);
        let buried = self.place.buried;
        let example = if self.reports == Reports::NoExamples {
            None
        } else {
            example(tools, ErrorKind::MalformedCall, None, None)
        };
        let raw = mark[..fitting(mark, 0, tools.settings.limits.call_bytes)].to_owned();
        let (kind, sentence) = (ErrorKind::MalformedCall, sentence.to_owned());
        self.refuse(window, RejectedText { length, raw, kind, sentence, example }, on_event);
        self.state = self.outside(tools);
        self.place.buried = buried;
        true
    }
}
