//! Quotes in text after an opener that begins no call, and after a call that has failed or may have ended too early.
//!
//! What was meant as a call, but is text, may quote other calls: these do not run. They are errors, so that nothing vanishes.

use super::example::example;
use super::text::Refused;
use super::{Machine, OnEvent, Window};
use crate::error::ErrorKind;
use crate::syntax::quoting::Alternation;
use crate::syntax::scan::fitting;
use crate::toolset::{CodeMode, Toolset};

/// What the model is told of a call in quotes.
pub(super) const QUOTED: &str = "A call in quotation marks, after the beginning of another one, was not run. Write the call that \
                                 you want again in full.";

impl Machine {
    /// Scans text after an opener for quotes. Where code is text, backticks are not quotes.
    #[inline]
    pub(super) fn read_quotes(&mut self, tools: &Toolset, text: &str) {
        let Some(quotes) = &mut self.place.quotes else { return };
        match tools.code {
            CodeMode::Call => quotes.run(text),
            CodeMode::Text => {
                for part in text.split_inclusive('`') {
                    quotes.run(part.trim_end_matches('`'));
                    if part.ends_with('`') {
                        quotes.step(b'x');
                    }
                }
            }
        }
    }

    /// Whether a text in quotes is open that began after an opener.
    pub(super) fn in_quotes(&self) -> bool {
        self.place.quotes.is_some_and(|quotes| quotes.open().is_some())
    }

    /// Consumed text: perhaps an opener of no call, after which calls in quotes are not read. Directly after a marker, a quote ends what the
    /// marker is in.
    pub(super) fn pass(&mut self, tools: &Toolset, text: &str, opener: bool) {
        self.read_code(tools, text);
        if opener {
            self.place.mentioned = true;
            let bracket = matches!(text, "[" | "{");
            self.place.quotes.get_or_insert(if bracket { Alternation::START } else { Alternation::CLOSED });
        }
    }

    /// An error of a marker of so many bytes, after which the text goes on as before.
    pub(super) fn lone_mark(
        &mut self,
        tools: &Toolset,
        window: &mut Window<'_>,
        length: usize,
        sentence: &str,
        on_event: OnEvent<'_>,
    ) -> bool {
        let mark = &window.text[window.at..window.at + length];
        self.read_code(tools, mark);
        let (quotes, buried) = (self.place.quotes, self.place.buried);
        let example = if self.bare { None } else { example(tools, ErrorKind::MalformedCall, None, None) };
        let raw = mark[..fitting(mark, 0, tools.settings.limits.call_bytes)].to_owned();
        let refused = Refused { example, raw, ..Refused::new(mark, ErrorKind::MalformedCall, sentence.to_owned()) };
        self.refuse(window, refused, on_event);
        self.state = self.outside(tools);
        (self.place.quotes, self.place.buried) = (quotes, buried);
        true
    }
}
