//! Quotes in JSON strings that models forget to escape: the text after a quote decides whether it ends its string.
//!
//! What JSON allows after a string always ends it, so no valid JSON is read differently.

use crate::arguments::Context;
use crate::limits::ATTEMPT_CHARS;
use crate::schema::NodeId;
use crate::syntax::quoting::Kept;
use crate::syntax::scan::{Scan, first_chars, starts, ws_run};

use super::values::named_field;

/// Characters that never directly follow a call's last bracket.
const INSIDE: &[u8] = b"\"'\\,:;.)+";

/// What is known about the string that is being read.
#[derive(Debug)]
pub(crate) struct Quotes {
    /// Brackets of objects and lists around the value, the innermost one of an object with these keys.
    pub around: usize,
    pub keys: &'static [&'static str],
    /// The last bracket ends the call, and anything may follow it. After a kept quote, only what closes calls, or the end of the message.
    pub bare: bool,
    /// After a kept quote: the second reading, in which that quote ended the text.
    pub kept: Option<Kept>,
    /// Where its text starts, if it is passed on.
    pub start: usize,
}

impl Quotes {
    pub(crate) fn new(around: usize, keys: &'static [&'static str]) -> Self {
        Quotes { around, keys, bare: false, kept: None, start: 0 }
    }

    /// In a call that its last bracket ends.
    pub(crate) fn bare(self, bare: bool) -> Self {
        Quotes { bare, ..self }
    }

    /// Whether the quote before this text ends the string. `None`: more text is needed to decide. `frame` returns, for an open
    /// bracket inside the value, counted from the innermost, whether it is an object's, and the type.
    pub(crate) fn ends(
        &self,
        cx: &Context<'_>,
        rest: &str,
        last: bool,
        brackets: usize,
        frame: impl Fn(usize) -> Option<(bool, NodeId)>,
    ) -> Option<bool> {
        let text = &rest[..first_chars(rest, ATTEMPT_CHARS)];
        let undecided = match text.len() < rest.len() {
            true => Some(self.kept.is_none()),
            false => last.then_some(true),
        };
        let bytes = text.as_bytes();
        let mut at = ws_run(text, 0);
        let mut closers = 0;
        while let Some(b'}' | b']') = bytes.get(at) {
            // CLOSE may begin with a bracket, too.
            let complete = closers > 0 && closers >= brackets + self.around;
            if complete && starts(&text[at..], &cx.delimiters.close, undecided.is_some()) != Scan::NoMatch {
                break;
            }
            closers += 1;
            at = ws_run(text, at + 1);
        }
        let outside = closers > 0 && closers >= brackets + self.around;
        if outside && self.bare && self.kept.is_none() {
            return Some(true);
        }
        let Some(byte) = bytes.get(at) else { return undecided };
        // Brackets may be missing, but not after a string whose own end is uncertain.
        if outside || closers > 0 && self.kept.is_none() {
            match starts(&text[at..], &cx.delimiters.close, undecided.is_some()) {
                Scan::Match(()) => return Some(true),
                Scan::Incomplete => return undecided,
                Scan::NoMatch => {}
            }
        }
        let comment = |at: usize| bytes.get(at + 1).map_or(undecided, |byte| Some(matches!(byte, b'/' | b'*')));
        match byte {
            b'/' => return comment(at),
            b',' => at = ws_run(text, at + 1),
            // A comma is missing between the calls of a list.
            b'{' if closers > brackets && closers + 1 == brackets + self.around => return Some(true),
            // A comma is missing. In a list, it is not certain where the string ends, which is an error.
            b'"' if closers == 0 && self.kept.is_none() => {
                let node = match frame(0) {
                    Some((false, _)) => return Some(true),
                    frame => frame.map(|(_, node)| node),
                };
                let field = node.map_or(Scan::NoMatch, |node| named_field(cx, node, &text[at..], undecided.is_some()));
                return if field == Scan::Incomplete { undecided } else { Some(field.is_match()) };
            }
            _ => return Some(outside && !self.bare && !INSIDE.contains(byte)),
        }
        let Some(&byte) = bytes.get(at) else { return undecided };
        let frame = frame(closers);
        let in_object = match frame {
            Some((in_object, _)) => in_object,
            None if closers - brackets < self.around => closers == brackets,
            None => return Some(false),
        };
        match byte {
            b'/' => return comment(at),
            b'}' | b']' => return Some(true),
            b'"' | b'\'' | b'{' | b'[' | b'-' | b'0'..=b'9' if !in_object => return Some(true),
            _ => {}
        }
        let quoted = matches!(byte, b'"' | b'\'');
        let start = at + usize::from(quoted);
        let Some(length) = word(&text[start..], quoted.then_some(byte as char)) else { return undecided };
        let word = &text[start..start + length];
        if !in_object {
            return Some(matches!(word, "true" | "false" | "null" | "True" | "False" | "None"));
        }
        match bytes.get(ws_run(text, start + length + usize::from(quoted))) {
            None => undecided,
            Some(b':') if self.kept.is_some() => Some(match frame {
                Some((_, node)) => match &cx.schema.node(node).object {
                    Some(object) if !object.properties.is_empty() => object.properties.get(word).is_some(),
                    _ => true,
                },
                None => self.keys.contains(&word),
            }),
            // A colon, or a quote, is missing after a declared key.
            Some(b'"') if frame.is_some_and(|(_, node)| cx.schema.declares(node, word)) => Some(true),
            Some(byte) => Some(*byte == b':' && (quoted || !word.is_empty())),
        }
    }
}

/// The length of the bare word, or of the text before the closing quote.
fn word(text: &str, quote: Option<char>) -> Option<usize> {
    let mut escaped = false;
    text.find(|c: char| match quote {
        None => c.is_whitespace() || "{}[],:\"'".contains(c),
        Some(_) if escaped => {
            escaped = false;
            false
        }
        Some(quote) => {
            escaped = c == '\\';
            c == quote
        }
    })
}
