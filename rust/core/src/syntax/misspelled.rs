//! Openings of calls as models misspell them. Text that continues like a call of a declared tool is an error, never prose: if
//! its contents were searched for calls, quoted text in it could run as a call.

use crate::limits::ATTEMPT_CHARS;
use crate::syntax::quoting::{is_quote, opens_after};
use crate::syntax::scan::{Delimiter, Delimiters, Scan, first_chars, is_ws, starts, starts_as, window, ws_run};

/// Keys that models use for a tool's name.
pub(crate) const NAME_KEYS: [&str; 5] = ["name", "tool", "tool_name", "function", "call"];

/// An opening in another spelling, and the texts that end a call with this opening.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spelling {
    pub open: &'static str,
    pub closers: &'static [&'static str],
    /// JSON after it belongs to another format, so it is text.
    pub foreign: bool,
}

/// The openings of one format as models misspell them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spellings {
    pub opens: &'static [Spelling],
    /// The start of a tag with attributes. What ends a call with the first of the openings ends a call with such an opening.
    pub tag: Option<&'static str>,
}

/// A misspelled call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misspelled {
    /// The bytes of its opening.
    pub length: usize,
    pub tool: usize,
    /// The texts that end it.
    pub closers: &'static [&'static str],
    /// The rest of the opening tag follows, in which `/>` would end it.
    pub in_tag: bool,
}

impl Spellings {
    /// Finds an opening in one of these spellings, followed by what is meant as a call. `tool` finds the declared tool
    /// of a name.
    pub(crate) fn look(
        &self,
        text: &str,
        last: bool,
        delimiters: &Delimiters,
        tool: &dyn Fn(&str) -> Option<usize>,
    ) -> Scan<Misspelled> {
        let meant = |length: usize, closers| {
            let found = meant(&text[length..], last, delimiters, tool);
            found.map(|tool| Misspelled { length, tool, closers, in_tag: false })
        };
        let opens = self.opens.iter().map(|spelling| starts_as(text, spelling.open, last).map(|()| spelling));
        let open = Scan::first_of(opens).and_then(|Spelling { open, closers, foreign }| {
            // The whitespace is scanned again with each chunk, so only a little is allowed.
            let (head, ended) = window(text, ATTEMPT_CHARS, last);
            match head.as_bytes().get(ws_run(head, open.len())) {
                None if *foreign => Scan::at_end(ended),
                Some(b'{' | b'[') if *foreign => Scan::NoMatch,
                _ => meant(open.len(), *closers),
            }
        });
        let tag = || {
            let Some(begin) = self.tag else { return Scan::NoMatch };
            let closers = self.opens[0].closers;
            starts_as(text, begin, last).and_then(|()| match text.as_bytes().get(begin.len()) {
                None => Scan::at_end(last),
                Some(byte) if !is_ws(*byte) => Scan::NoMatch,
                Some(_) => tag(text, begin.len(), last, tool).and_then(|found| match found {
                    (Some(tool), _) => Scan::Match(Misspelled { length: begin.len(), tool, closers, in_tag: true }),
                    (None, length) => meant(length, closers),
                }),
            })
        };
        open.or(tag)
    }

    /// Whether the text could begin with one of these openings.
    pub(crate) fn open(&self, text: &str) -> bool {
        let tag = self.tag.is_some_and(|begin| {
            starts_as(text, begin, true).is_match()
                && text.as_bytes().get(begin.len()).is_none_or(|byte| is_ws(*byte) || matches!(byte, b'>' | b'/'))
        });
        tag || self.opens.iter().any(|spelling| starts_as(text, spelling.open, true).is_match())
    }
}

/// Scans a tag after its word. It contains whitespace only, or a tool's name: as its first word, or as the value of one
/// of [`NAME_KEYS`]. Returns the tool and where its name ends; without a tool, where the tag ends.
pub(crate) fn tag(
    text: &str,
    from: usize,
    last: bool,
    tool: &dyn Fn(&str) -> Option<usize>,
) -> Scan<(Option<usize>, usize)> {
    let end = first_chars(text, ATTEMPT_CHARS);
    let (text, last) = (&text[..end], last || end < text.len());
    let bytes = text.as_bytes();
    let named = |name: &str, end: usize| tool(name).map(|tool| Scan::Match((Some(tool), end)));
    let mut at = ws_run(text, from);
    let mut first = true;
    loop {
        match bytes.get(at) {
            None => return Scan::at_end(last),
            Some(b'>') if first => return Scan::Match((None, at + 1)),
            Some(b'>' | b'/' | b'<') => return Scan::NoMatch,
            Some(_) => {}
        }
        let Some(word) = word(text, at) else { return Scan::at_end(last) };
        let mut next = ws_run(text, at + word.len());
        let Some(&byte) = bytes.get(next) else { return Scan::at_end(last) };
        if let Some(tag) = named(word, at + word.len()).filter(|_| first) {
            return tag;
        }
        if !matches!(byte, b'=' | b':') {
            if word.is_empty() {
                return Scan::NoMatch;
            }
            (at, first) = (next, false);
            continue;
        }
        next = ws_run(text, next + 1);
        let Some(value) = value(text, next) else { return Scan::at_end(last) };
        if NAME_KEYS.iter().any(|key| key.eq_ignore_ascii_case(word))
            && let Some(tag) = named(value.trim_matches(['"', '\'']), next + value.len())
        {
            return tag;
        }
        if value.is_empty() {
            return Scan::NoMatch;
        }
        (at, first) = (ws_run(text, next + value.len()), false);
    }
}

/// The declared tool that is named at a place in a tag, in quotes or not, and where its name ends.
pub(crate) fn named(
    text: &str,
    from: usize,
    last: bool,
    tool: &dyn Fn(&str) -> Option<usize>,
) -> Scan<(Option<usize>, usize)> {
    let start = ws_run(text, from);
    let Some(value) = value(text, start) else { return Scan::at_end(last) };
    let name = value.trim_matches(['"', '\'']);
    Scan::some(tool(name)).map(|tool| (Some(tool), start + value.len()))
}

/// The word at a place, if its end is known.
fn word(text: &str, at: usize) -> Option<&str> {
    let ends = |c: char| c.is_ascii_whitespace() || "=:<>/\"'".contains(c);
    text[at..].find(ends).map(|length| &text[at..at + length])
}

/// A value with its quotes, or a word, if its end is known.
pub(crate) fn value(text: &str, at: usize) -> Option<&str> {
    match text.as_bytes().get(at)? {
        quote if is_quote(*quote) => {
            let end = memchr::memchr(*quote, &text.as_bytes()[at + 1..])?;
            Some(&text[at..at + end + 2])
        }
        _ => {
            let ends = |c: char| c.is_ascii_whitespace() || "<>\"'(){},;".contains(c);
            text[at..].find(ends).map(|length| &text[at..at + length])
        }
    }
}

/// Whether the text after an opening and a tool's name continues like a call before the sentence ends. If not, it is
/// prose.
pub(crate) fn goes_on(text: &str, from: usize, last: bool, delimiters: &Delimiters) -> Scan {
    let need = Scan::at_end(last);
    let bytes = text.as_bytes();
    let mut at = ws_run(text, from);
    while let Some(&byte) = bytes.get(at) {
        let rest = &text[at..];
        let before = if at > 0 { bytes[at - 1] } else { b' ' };
        if delimiters.is_first(rest.chars().next().unwrap_or(' ')) {
            match delimiters.either(rest, last) {
                Scan::Match(Delimiter::Open) => return Scan::NoMatch,
                Scan::Match(Delimiter::Close) => return Scan::Match(()),
                Scan::Incomplete => return need,
                Scan::NoMatch => {}
            }
        }
        let next = bytes.get(at + 1).copied();
        match byte {
            b'=' | b':' | b'(' | b'{' | b'"' => return Scan::Match(()),
            b'\'' if opens_after(before) || is_quote(before) => return Scan::Match(()),
            b'<' | b'.' | b'!' | b'?' if next.is_none() => return need,
            b'<' if next.is_some_and(|next| next.is_ascii_alphabetic() || next == b'/') => return Scan::Match(()),
            b'.' | b'!' | b'?' if before.is_ascii_alphanumeric() && next.is_some_and(is_ws) => return Scan::NoMatch,
            b'`' | b'~' => match starts(rest, if byte == b'`' { "```" } else { "~~~" }, last) {
                Scan::Match(()) => return Scan::Match(()),
                Scan::Incomplete => return need,
                Scan::NoMatch => {}
            },
            _ => {}
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    need
}

/// Words that models write between an opening and the name of a tool.
const FILLERS: [&str; 11] =
    ["json", "tool_call", "name", "tool", "tool_name", "function", "functions", "call", "type", "invoke", "parameter"];

/// Finds the tool of a call: its name follows only punctuation and words that commonly precede a name, and the text
/// after it continues like a call. If not, the text is prose. At most [`ATTEMPT_CHARS`] characters are scanned.
pub(crate) fn meant(
    text: &str,
    last: bool,
    delimiters: &Delimiters,
    tool: &dyn Fn(&str) -> Option<usize>,
) -> Scan<usize> {
    let end = first_chars(text, ATTEMPT_CHARS);
    let (text, last) = (&text[..end], last || end < text.len());
    let need = Scan::at_end(last);
    let mut at = 0;
    loop {
        // Before another delimiter, this opening was only mentioned.
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return need };
        if delimiters.is_first(first) {
            match delimiters.either(rest, last) {
                Scan::Match(_) => return Scan::NoMatch,
                Scan::Incomplete => return need,
                Scan::NoMatch => {}
            }
        }
        if first.is_ascii_whitespace() || "{[(\"':=,<>`“”‘’„«»‹›".contains(first) {
            at += first.len_utf8();
            continue;
        }
        let ends =
            |c: char| c.is_ascii_whitespace() || "{[(\"':=,<>`“”‘’„«»‹›;|)]}?&".contains(c) || delimiters.is_first(c);
        let Some(length) = rest.find(ends) else { return need };
        let word = &text[at..at + length];
        let found = tool(word).or_else(|| word.rsplit_once('.').and_then(|(_, name)| tool(name)));
        at += length;
        match found {
            Some(tool) => return goes_on(text, at, last, delimiters).map(|()| tool),
            None if FILLERS.iter().any(|filler| filler.eq_ignore_ascii_case(word)) => {}
            None => return Scan::NoMatch,
        }
    }
}
