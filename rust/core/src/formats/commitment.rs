//! What follows an opener that no reader accepts: prose, or what begins a call.
//!
//! Text that begins a call is a call or an error, never text: if it were searched for calls, quoted text in it could run.

use super::{Attempt, BadCall, Settings};
use crate::arguments::messages;
use crate::error::ErrorKind;
use crate::limits::ATTEMPT_CHARS;
use crate::syntax::misspelled::{Misspelled, Spellings};
use crate::syntax::quoting::{begins_other, is_blank, is_quote, opens_after};
use crate::syntax::scan::{Closers, Scan, first_mark, starts, starts_as, window};
use crate::tools::{Tools, without_namespace};

/// Characters that may stray between an opener, or a name, and the object of a call.
const STRAY_CHARS: usize = 16;
/// Characters after a name in which it goes on as a call.
const NEAR_CHARS: usize = 48;
/// The longest entity that is a quote: `&laquo;`.
const ENTITY_BYTES: usize = 7;

/// At an opener of so many bytes, which no call follows that can be read.
pub(crate) fn committed(
    tools: &Tools,
    closers: impl FnOnce() -> Closers,
    text: &str,
    open: usize,
    last: bool,
) -> Attempt {
    let (head, ended) = window(&text[open..], ATTEMPT_CHARS, last);
    // It may be doubled.
    match starts(head, &text[..open], ended) {
        Scan::Match(()) => return Attempt::Text(open),
        Scan::Incomplete => return Attempt::Incomplete,
        Scan::NoMatch => {}
    }
    match begins(tools, head, ended) {
        Scan::Incomplete => Attempt::Incomplete,
        Scan::NoMatch => Attempt::Text(open),
        Scan::Match(tool) => unreadable(tools, open, tool, closers()),
    }
}

/// The same as [`begins_call`], or an object after one or two other characters.
pub(crate) fn begins(tools: &Tools, text: &str, last: bool) -> Scan<Option<usize>> {
    begins_call(tools, text, last).or(|| object_near(text, last).map(|()| None))
}

/// The length of one of these markers at the start of the text, if a call follows within so many characters: its opener is missing.
pub(crate) fn orphan(
    tools: &Tools,
    marks: impl IntoIterator<Item = &'static str>,
    text: &str,
    chars: usize,
    last: bool,
) -> Scan<usize> {
    let found = marks.into_iter().map(|mark| starts(text, mark, last).map(|()| mark.len()));
    Scan::first_of(found).and_then(|length| {
        let (head, ended) = window(&text[length..], chars, last);
        begins_call(tools, head, ended).map(|_| length)
    })
}

/// An error of a call that begins with these bytes.
pub(crate) fn unreadable(tools: &Tools, open: usize, tool: Option<usize>, closers: Closers) -> Attempt {
    let message = match tool {
        Some(at) => format!("The call of {} is not in the expected format.", tools.at(at).name),
        None => messages::UNREADABLE.to_owned(),
    };
    Attempt::Bad(Box::new(BadCall { open, tool, kind: ErrorKind::MalformedCall, message, closers, in_tag: false }))
}

/// Text that can only be meant as a call of this tool, but that no reader accepts.
pub(crate) fn bad(tools: &Tools, open: usize, tool: usize, closers: Closers, in_tag: bool) -> Attempt {
    match unreadable(tools, open, Some(tool), closers) {
        Attempt::Bad(call) => Attempt::Bad(Box::new(BadCall { in_tag, ..*call })),
        attempt => attempt,
    }
}

/// Scans a possible opening in another spelling. If it continues like a call of a declared tool, it is an error.
pub(crate) fn misspelled(tools: &Tools, settings: &Settings, spellings: &Spellings, text: &str, last: bool) -> Attempt {
    match spellings.look(text, last, &settings.delimiters, &|name| tools.find(name)) {
        Scan::Incomplete => Attempt::Incomplete,
        Scan::NoMatch => Attempt::text(text),
        Scan::Match(Misspelled { length, tool, closers, in_tag }) => {
            bad(tools, length, tool, Closers::Spelled(closers), in_tag)
        }
    }
}

/// An opener in other letter case, without its last bracket, or with a slash as in what closes a call, and then what is meant as a
/// call of a declared tool: its length, and the tool.
pub(crate) fn near_opener(tools: &Tools, openers: &[&str], text: &str, last: bool) -> Scan<(usize, usize)> {
    let near = |open: &&str| {
        let (first, rest) = open.split_at(open.chars().next().map_or(0, char::len_utf8));
        let (short, end) = open.split_at(open.char_indices().next_back().map_or(0, |(at, _)| at));
        let cut = || {
            let cut = starts(text, short, last).map(|()| short.len());
            cut.filter(|at| matches!(end, ">" | "]") && !text[*at..].starts_with(end))
        };
        let slash = || {
            let slash = starts(text, first, last).and_then(|()| starts(&text[first.len()..], "/", last));
            slash.and_then(|()| starts(&text[first.len() + 1..], rest, last)).map(|()| open.len() + 1)
        };
        starts_as(text, open, last).map(|()| open.len()).or(slash).or(cut)
    };
    let long = openers.iter().filter(|open| open.len() > 2);
    Scan::first_of(long.map(near))
        .and_then(|length| begins_call_of(tools, &text[length..], last).map(|tool| (length, tool)))
}

/// Whether the text after an opener begins a call, and the tool that it names: a bracket, a quote, a key with its separator, or the name of a
/// declared tool and one of these.
pub(crate) fn begins_call(tools: &Tools, text: &str, last: bool) -> Scan<Option<usize>> {
    let rest = text.trim_start_matches(is_blank);
    let spaced = rest.len() < text.len();
    let Some(first) = rest.chars().next() else { return Scan::at_end(last) };
    let after = &rest[first.len_utf8()..];
    match first {
        '&' if is_half_entity(rest, last) => Scan::Incomplete,
        '{' => Scan::Match(None),
        '`' if text[..text.len() - rest.len()].matches('\n').count() > 1 => Scan::NoMatch,
        '`' => begins_fence(tools, rest, last),
        '[' | '(' => begins_value(tools, after, last),
        '<' => match after.chars().next() {
            None => Scan::at_end(last),
            Some(c) if c.is_ascii_alphabetic() || matches!(c, '|' | '｜') => {
                begins_tag(after, last).or(|| tag_of_tool(tools, after, last))
            }
            Some(_) => Scan::NoMatch,
        },
        _ if is_quote_at(rest) => match after.chars().next() {
            None => Scan::at_end(last),
            // In prose, it ends a text in quotes that the opener is in.
            Some(c) if !spaced && (is_blank(c) || c.is_ascii_punctuation()) => Scan::NoMatch,
            Some(_) => named(tools, after, last),
        },
        _ => begins_name(tools, rest, last),
    }
}

/// Whether it is not known yet if a quote is here.
fn is_half_entity(text: &str, last: bool) -> bool {
    !last && text.starts_with('&') && text.len() < ENTITY_BYTES && !text.contains(';')
}

fn is_quote_at(text: &str) -> bool {
    text.bytes().next().is_some_and(|byte| is_quote(byte) || byte == b'\\') || begins_other(text)
}

/// At backticks: a fence, perhaps with the name of a language, around an object, or the name of a declared tool between them.
fn begins_fence(tools: &Tools, text: &str, last: bool) -> Scan<Option<usize>> {
    let inner = text.trim_start_matches('`');
    let length = word(inner);
    let rest = &inner[length..];
    match rest.trim_start_matches(is_blank).chars().next() {
        None => Scan::at_end(last),
        Some('{' | '[') => Scan::Match(None),
        Some('`') => match declared(tools, &inner[..length]) {
            Some(tool) => begins_call(tools, rest.trim_start_matches('`'), last).map(|_| Some(tool)),
            None => Scan::NoMatch,
        },
        Some(_) => Scan::NoMatch,
    }
}

/// The declared tool that the text names.
fn named(tools: &Tools, text: &str, last: bool) -> Scan<Option<usize>> {
    let text = without_namespace(text).unwrap_or(text);
    let length = word(text);
    match length == text.len() && !last {
        true => Scan::Incomplete,
        false => Scan::Match(tools.find(&text[..length])),
    }
}

/// Whether an object begins after one or two characters, whatever they are, or after a short word: a bracket and a quote. Or a key in
/// quotes and its colon, without the bracket. Prose has quotes, code and lists there.
fn object_near(text: &str, last: bool) -> Scan {
    let text = text.trim_start_matches(|c| is_blank(c) || c == '[');
    let strays = text.find(['{', '\n', '`', '"', '\'']).unwrap_or(text.len());
    let count = text[..strays].chars().count();
    if count > 4 || (count > 2 && !text[..strays].chars().all(char::is_alphabetic)) {
        return Scan::NoMatch;
    }
    let inside = |text: &str| match text.bytes().next() {
        None => Scan::at_end(last),
        Some(byte) => Scan::some(is_quote(byte).then_some(())),
    };
    let key = |text: &str| {
        let rest = text[1..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        inside(rest).and_then(|()| starts(rest[1..].trim_start_matches(is_blank), ":", last))
    };
    let rest = &text[strays..];
    match rest.bytes().next() {
        None => Scan::at_end(last),
        Some(b'{') => inside(rest[1..].trim_start_matches(is_blank)),
        Some(b'"' | b'\'') => key(rest),
        Some(_) => Scan::NoMatch,
    }
}

/// Whether a bracket of an object comes after a few characters, whatever they are.
pub(crate) fn bracket_near(text: &str, last: bool) -> Scan {
    let (near, ended) = window(text, STRAY_CHARS, last);
    if near.contains('{') { Scan::Match(()) } else { Scan::at_end(ended) }
}

/// Whether a declared name in quotes, and then an object, begin here.
pub(crate) fn quoted_name(tools: &Tools, text: &str, last: bool) -> Scan {
    let Some(first) = text.chars().next() else { return Scan::at_end(last) };
    if !is_quote_at(text) {
        return Scan::NoMatch;
    }
    let rest = &text[first.len_utf8()..];
    named(tools, rest, last).filter(Option::is_some).and_then(|_| bracket_near(&rest[word(rest)..], last))
}

/// The tool of a call that begins with a bracket or a quote: the first declared tool that is named where a text in quotes begins.
pub(crate) fn begins_call_of(tools: &Tools, text: &str, last: bool) -> Scan<usize> {
    let (head, ended) = window(text, ATTEMPT_CHARS, last);
    begins_call(tools, head, ended).and_then(|tool| match tool {
        Some(tool) => Scan::Match(tool),
        None => quoted(tools, head, ended),
    })
}

/// The first declared tool that is named where a text in quotes begins.
fn quoted(tools: &Tools, text: &str, last: bool) -> Scan<usize> {
    let mut at = 0;
    while let Some(offset) = text[at..].find(['"', '\'']) {
        at += offset + 1;
        let rest = &text[at..];
        let length = word(rest);
        if length == rest.len() && !last {
            return Scan::Incomplete;
        }
        if let Some(tool) = declared(tools, &rest[..length]) {
            return Scan::Match(tool);
        }
    }
    Scan::at_end(last)
}

/// The declared tool that a word names, with what models write before a name, and perhaps before the number of a call.
pub(crate) fn declared(tools: &Tools, word: &str) -> Option<usize> {
    let word = word.trim_end_matches([':', '.', '/', '-']);
    let parts = std::iter::successors(Some(word), |part| part.split_once(['.', ':', '/']).map(|(_, rest)| rest));
    let named = |part: &str| {
        let glued = starts_as(part, "functions", true).is_match().then(|| &part["functions".len()..]);
        let alone = part.split(':').next();
        tools.find(part).or_else(|| tools.find(glued?)).or_else(|| tools.find(alone?))
    };
    parts.into_iter().find_map(named)
}

/// The length of the word that may be a name.
fn word(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/'))).unwrap_or(text.len())
}

/// After a bracket that prose also has.
fn begins_value(tools: &Tools, text: &str, last: bool) -> Scan<Option<usize>> {
    let rest = text.trim_start_matches(is_blank);
    match rest.chars().next() {
        None => Scan::at_end(last),
        Some('{') => Scan::Match(None),
        Some('[' | '(') => named(tools, rest.trim_start_matches(|c| is_blank(c) || matches!(c, '[' | '(')), last),
        Some('<') => named(tools, &rest[1..], last).filter(Option::is_some),
        Some(_) if is_half_entity(rest, last) => Scan::Incomplete,
        Some(_) if is_quote_at(rest) => Scan::Match(None),
        Some(_) => begins_name(tools, rest, last),
    }
}

/// After the bracket of a tag. Prose names tags, but without attributes.
pub(crate) fn begins_tag(text: &str, last: bool) -> Scan<Option<usize>> {
    match text.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '=')) {
        None => Scan::at_end(last),
        Some(at) if text[at..].starts_with('=') => Scan::Match(None),
        Some(at) => {
            let rest = text[at..].trim_start_matches(is_blank);
            let key = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(rest.len());
            match rest.is_empty() || key > 0 {
                true if rest.len() < text[at..].len() => starts(&rest[key..], "=", last).map(|()| None),
                _ => Scan::NoMatch,
            }
        }
    }
}

/// After the bracket of a tag: the name of a declared tool, the end of the tag, and what goes on as a call.
fn tag_of_tool(tools: &Tools, text: &str, last: bool) -> Scan<Option<usize>> {
    named(tools, text, last).filter(Option::is_some).and_then(|tool| {
        starts(&text[word(text)..], ">", last)
            .and_then(|()| begins_call(tools, &text[word(text) + 1..], last))
            .map(|_| tool)
    })
}

/// After `call:` or `tool:`: an object, or a declared name, whatever signs are before it and whatever is glued to it.
fn begins_named(tools: &Tools, text: &str, last: bool) -> Scan<Option<usize>> {
    if text.starts_with('{') {
        return Scan::Match(None);
    }
    let name = text.trim_start_matches(|c: char| !c.is_alphanumeric() && !c.is_ascii_whitespace());
    let name = without_namespace(name).unwrap_or(name);
    let length = word(name);
    if length == name.len() {
        return Scan::at_end(last);
    }
    if let Some(tool) = declared(tools, &name[..length]) {
        return Scan::Match(Some(tool));
    }
    Scan::first_of(tools.iter().enumerate().map(|(at, tool)| starts_as(name, &tool.name, last).map(|()| Some(at))))
}

/// At a word: a declared name that goes on as a call, or a key and its separator.
fn begins_name(tools: &Tools, text: &str, last: bool) -> Scan<Option<usize>> {
    let inner = without_namespace(text);
    let colon = inner.is_some_and(|inner| text[..text.len() - inner.len()].ends_with(':'));
    let text = inner.unwrap_or(text);
    if colon {
        match begins_named(tools, text, last) {
            Scan::NoMatch => {}
            found => return found,
        }
    }
    let length = word(text);
    if length == text.len() {
        return Scan::at_end(last);
    }
    if length == 0 {
        return Scan::NoMatch;
    }
    let tool = declared(tools, &text[..length]);
    let rest = text[length..].trim_start_matches(is_blank);
    let direct = rest.len() == text.len() - length;
    if tool.is_none() && !direct && !text[..length].ends_with(':') {
        return Scan::NoMatch;
    }
    if is_half_entity(rest, last) {
        return Scan::Incomplete;
    }
    let Some(next) = rest.chars().next() else { return Scan::at_end(last) };
    // The end of a tag that names the tool.
    let tag = if direct && tool.is_some() { first_mark(rest, &["\">", ">"], last) } else { Scan::NoMatch };
    match tag {
        Scan::Match(length) => return begins_call(tools, &rest[length..], last).map(|_| tool),
        Scan::Incomplete => return Scan::Incomplete,
        Scan::NoMatch => {}
    }
    let opens = matches!(next, '{' | '[' | '(' | '<' | '=') || is_quote_at(rest);
    match tool {
        // A quote after a name in prose may be the end of quoted text.
        Some(_) if opens => Scan::Match(tool),
        Some(_) if matches!(next, ']' | ')') => begins_call(tools, &rest[1..], last).map(|_| tool),
        Some(_) => goes_on(rest, last).map(|()| tool),
        // `key="…"`, `key= "…"` and `key: "…"`
        None if next == '=' && direct => {
            let value = rest[1..].trim_start_matches(is_blank);
            match value.chars().next() {
                None => Scan::at_end(last),
                Some(_) if is_half_entity(value, last) => Scan::Incomplete,
                Some('=') => Scan::NoMatch,
                Some(_)
                    if value.len() < rest.len() - 1 && !is_quote_at(value) && !value.starts_with(['(', '[', '{']) =>
                {
                    Scan::NoMatch
                }
                Some(_) => Scan::Match(None),
            }
        }
        None if text[..length].ends_with(':') && (is_quote_at(rest) || matches!(next, '{' | '[')) => Scan::Match(None),
        None => Scan::NoMatch,
    }
}

/// Whether the text after a declared name goes on as a call before the sentence ends.
fn goes_on(text: &str, last: bool) -> Scan {
    let (text, last) = window(text, NEAR_CHARS, last);
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match (byte, bytes.get(at + 1)) {
            (b'=' | b':' | b'(' | b'{' | b'"', _) => return Scan::Match(()),
            (b'\'', _) if at == 0 || opens_after(bytes[at - 1]) => return Scan::Match(()),
            (b'.' | b'!' | b'?', None) => return Scan::at_end(last),
            (b'.' | b'!' | b'?', Some(next)) if next.is_ascii_whitespace() => return Scan::NoMatch,
            _ => {}
        }
    }
    Scan::at_end(last)
}
