//! Quotes in text after an opener that begins no call, and after a call that has failed or may have ended too early.
//!
//! What was meant as a call, but is text, may quote other calls: these do not run. They are errors, so that nothing vanishes.

use super::example::example;
use super::state::RejectedText;
use super::{Machine, OnEvent, Window};
use crate::error::ErrorKind;
use crate::syntax::quoting::Alternation;
use crate::syntax::scan::fitting;
use crate::toolset::{CodeMode, Toolset};

/// The sentence for the model about a call in quotes.
pub(super) const QUOTED: &str = "A call in quotation marks, after the beginning of another one, was not run. Write the call that \
                                 you want again in full.";

/// The quotes in text outside calls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum TextQuotes {
    /// They are not followed: no opener in text precedes, and no call that has failed or may have ended too early.
    #[default]
    Ignored,
    /// A call has ended here: too early, if a letter or a digit is next.
    AfterCall,
    Followed(Alternation),
}

impl TextQuotes {
    /// Follows them from now on, if they are not followed already.
    pub(super) fn follow(&mut self, from: Alternation) {
        if !matches!(self, TextQuotes::Followed(_)) {
            *self = TextQuotes::Followed(from);
        }
    }
}

impl Machine {
    /// Scans text after an opener for quotes. Where code is text, backticks are not quotes.
    #[inline]
    pub(super) fn read_quotes(&mut self, tools: &Toolset, text: &str) {
        if let (TextQuotes::AfterCall, Some(first)) = (self.place.quotes, text.bytes().next()) {
            let early = first.is_ascii_alphanumeric();
            self.place.quotes = if early { TextQuotes::Followed(Alternation::START) } else { TextQuotes::Ignored };
        }
        let TextQuotes::Followed(quotes) = &mut self.place.quotes else { return };
        match tools.code {
            CodeMode::Call => quotes.run(text),
            CodeMode::Text => text.bytes().for_each(|byte| quotes.step_over_code(byte)),
        }
    }

    /// Whether a text in quotes is open that began after an opener.
    pub(super) fn in_quotes(&self) -> bool {
        matches!(self.place.quotes, TextQuotes::Followed(quotes) if quotes.open().is_some())
    }

    /// Consumes an opener that begins no call. A quote directly after the first one closes the quotation around it.
    pub(super) fn mention(&mut self, tools: &Toolset, opener: &str) {
        self.read_code_and_quotes(tools, opener);
        self.place.mentioned = true;
        let bracket = matches!(opener, "[" | "{");
        self.place.quotes.follow(if bracket { Alternation::START } else { Alternation::CLOSED });
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
        let example = if self.bare { None } else { example(tools, ErrorKind::MalformedCall, None, None) };
        let raw = mark[..fitting(mark, 0, tools.settings.limits.call_bytes)].to_owned();
        let (kind, sentence) = (ErrorKind::MalformedCall, sentence.to_owned());
        self.refuse(window, RejectedText { length, raw, kind, sentence, example }, on_event);
        self.state = self.outside(tools);
        self.place.buried = buried;
        true
    }
}
