//! What a protocol writes around calls, text and reasoning, found by writing messages.

use super::{KEYS, WrittenForm};
use crate::grammar::TextFrame;

/// What a call without markers may begin with: JSON, or a code fence around it.
const CALL_FIRST: &str = "{[`";

impl WrittenForm<'_> {
    /// What is written before, between and after calls.
    pub(super) fn around_calls(&self) -> [String; 3] {
        let [first, next] = KEYS;
        let calls = self.message("", &[first, next]);
        let mut rest = calls.as_str();
        [before(&mut rest, first), before(&mut rest, next), rest.to_owned()]
    }

    /// What is written around text.
    pub(super) fn text_frame(&self) -> TextFrame {
        let [text, call] = KEYS;
        let (alone, spoken) = (self.message(text, &[]), self.message(text, &[call]));
        let (mut alone, mut spoken) = (alone.as_str(), spoken.as_str());
        let open = before(&mut alone, text);
        let (close, last) = self.ending(alone, "");
        TextFrame {
            without_calls: (open, close),
            last,
            before_calls: (before(&mut spoken, text), before(&mut spoken, call)),
            not_first: if self.settings.info.begins_message { CALL_FIRST } else { "" },
            reasoning: self.around_reasoning(),
            is_begun: self.protocol.layout().parts.is_some_and(|parts| parts.is_begun()),
        }
    }

    /// What is written around reasoning, in front of the same message without it.
    fn around_reasoning(&self) -> Option<(String, String)> {
        let [thought, text] = KEYS;
        let mut message = String::new();
        self.protocol.write_message(Some(thought), text, &[], &mut message);
        let (open, rest) = message.split_once(thought)?;
        let close = rest.strip_suffix(self.message(text, &[]).as_str())?;
        Some((open.to_owned(), close.to_owned()))
    }

    /// What is always at the end of a message, and what may be: whitespace, and the token at which the server stops. `between` may
    /// be there instead; a lexer that reads it would not go back to a shorter end.
    pub(super) fn ending(&self, text: &str, between: &str) -> (String, String) {
        let layout = self.protocol.layout();
        let stops = layout.stops.iter().chain(layout.parts.iter().flat_map(|parts| parts.ends()));
        let trimmed = text.trim_end();
        let cut = stops.filter_map(|stop| trimmed.strip_suffix(stop)).next();
        let always = cut.filter(|cut| cut.is_empty() || !between.starts_with(cut)).unwrap_or(trimmed);
        (always.to_owned(), text[always.len()..].to_owned())
    }

    fn message(&self, content: &str, calls: &[&str]) -> String {
        let calls: Vec<String> = calls.iter().map(|call| (*call).to_owned()).collect();
        let mut out = String::new();
        self.protocol.write_message(None, content, &calls, &mut out);
        out
    }
}

/// What precedes the next part, which is skipped.
fn before(rest: &mut &str, part: &str) -> String {
    let (before, after) = rest.split_once(part).unwrap_or((*rest, ""));
    *rest = after;
    before.to_owned()
}
