//! What follows an opener that no reader accepts: prose, or what begins a call.
//!
//! Text that begins a call is a call or an error, never text: if it were searched for calls, quoted text in it could run.

use super::{Attempt, BadCall};
use crate::error::ErrorKind;
use crate::limits::ATTEMPT_CHARS;
use crate::syntax::quoting::{begins_other, is_blank, is_quote};
use crate::syntax::scan::{Closers, Scan, first_mark, starts, window};
use crate::tools::Tools;

/// What models write before a tool's name.
const NAMESPACES: [&str; 6] = ["functions.", "function.", "tools.", "default_api.", "tool:", "call:"];

/// At an opener of so many bytes, which no call follows that can be read.
pub(crate) fn committed(tools: &Tools, closers: &Closers, text: &str, open: usize, last: bool) -> Attempt {
    let (head, ended) = window(&text[open..], ATTEMPT_CHARS, last);
    match begins_call(tools, head, ended) {
        Scan::Incomplete => Attempt::Incomplete,
        Scan::NoMatch => Attempt::Text(open),
        Scan::Match(tool) => unreadable(tools, open, tool, closers.clone()),
    }
}

/// An error of a call that begins with these bytes.
pub(crate) fn unreadable(tools: &Tools, open: usize, tool: Option<usize>, closers: Closers) -> Attempt {
    let message = match tool {
        Some(at) => format!("The call of {} is not in the expected format.", tools.at(at).name),
        None => "The call is not in the expected format.".to_owned(),
    };
    Attempt::Bad(Box::new(BadCall { open, tool, kind: ErrorKind::MalformedCall, message, closers, in_tag: false }))
}

/// Whether the text after an opener begins a call, and the tool that it names: a bracket, a quote, a key with its separator, or the name of a
/// declared tool and one of these.
pub(crate) fn begins_call(tools: &Tools, text: &str, last: bool) -> Scan<Option<usize>> {
    let rest = text.trim_start_matches(is_blank);
    let spaced = rest.len() < text.len();
    let Some(first) = rest.chars().next() else { return Scan::at_end(last) };
    let after = &rest[first.len_utf8()..];
    match first {
        '&' if !last && !rest.contains(';') => Scan::Incomplete,
        '{' => Scan::Match(None),
        '[' | '(' => begins_value(tools, after, last),
        '<' => match after.chars().next() {
            None => Scan::at_end(last),
            Some(c) if c.is_ascii_alphabetic() || matches!(c, '|' | '｜') => begins_tag(after, last),
            Some(_) => Scan::NoMatch,
        },
        _ if is_quote_at(rest) => match after.chars().next() {
            None => Scan::at_end(last),
            // In prose, it ends a text in quotes that the opener is in.
            Some(c) if !spaced && (is_blank(c) || c.is_ascii_punctuation()) => Scan::NoMatch,
            Some(_) => Scan::Match(named(tools, after)),
        },
        _ => begins_name(tools, rest, last),
    }
}

fn is_quote_at(text: &str) -> bool {
    text.bytes().next().is_some_and(|byte| is_quote(byte) || byte == b'\\') || begins_other(text)
}

/// The declared tool that the text names.
fn named(tools: &Tools, text: &str) -> Option<usize> {
    let text = NAMESPACES.iter().find_map(|space| text.strip_prefix(space)).unwrap_or(text);
    tools.find(&text[..word(text)])
}

/// The declared tool that a word names: alone, after a prefix, or before the number of a call.
fn tool_in(tools: &Tools, word: &str) -> Option<usize> {
    let name = word.rsplit_once(':').filter(|(_, index)| index.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(word, |(name, _)| name);
    tools.find(name).or_else(|| tools.find(name.rsplit([':', '.', '/']).next()?))
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
        Some('{' | '[' | '(') => Scan::Match(None),
        Some(_) if is_quote_at(rest) => Scan::Match(None),
        Some(_) => begins_name(tools, rest, last),
    }
}

/// After the bracket of a tag. Prose names tags, but without attributes.
fn begins_tag(text: &str, last: bool) -> Scan<Option<usize>> {
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

/// At a word: a declared name that goes on as a call, or a key and its separator.
fn begins_name(tools: &Tools, text: &str, last: bool) -> Scan<Option<usize>> {
    let text = NAMESPACES.iter().find_map(|space| text.strip_prefix(space)).unwrap_or(text);
    let length = word(text);
    if length == text.len() {
        return Scan::at_end(last);
    }
    if length == 0 {
        return Scan::NoMatch;
    }
    let tool = tool_in(tools, text[..length].trim_end_matches([':', '.', '/', '-']));
    let rest = text[length..].trim_start_matches(is_blank);
    let direct = rest.len() == text.len() - length;
    let meant = tool.is_some() || direct || text[..length].ends_with(':');
    let Some(next) = rest.chars().next().filter(|_| meant) else {
        return if meant { Scan::at_end(last) } else { Scan::NoMatch };
    };
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
        Some(_) => Scan::NoMatch,
        // `key="…"` and `key: "…"`
        None if next == '=' && direct => match rest[1..].chars().next() {
            None => Scan::at_end(last),
            Some(c) if is_blank(c) || c == '=' => Scan::NoMatch,
            Some(_) => Scan::Match(None),
        },
        None if text[..length].ends_with(':') && (is_quote_at(rest) || matches!(next, '{' | '[')) => Scan::Match(None),
        None => Scan::NoMatch,
    }
}
