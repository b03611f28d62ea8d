//! The words of tags, and closing tags.

use crate::syntax::scan::{Scan, first_chars, has_line_break, is_ws, partial_end, starts, starts_as, window, ws_run};

/// Maximum number of spaces in a closing tag.
const CLOSE_SPACES: usize = 16;

/// The length of that word, ignoring case, if the text starts with it and the word ends there.
#[inline]
pub(crate) fn begins(text: &str, word: &str, last: bool) -> Scan<usize> {
    starts_as(text, word, last).and_then(|()| match text.as_bytes().get(word.len()) {
        Some(byte) if is_ws(*byte) || matches!(byte, b'>' | b'/' | b'=') => Scan::Match(word.len()),
        // An attribute may be glued to it.
        Some(_) => starts(&text[word.len()..], "name=", last).map(|()| word.len()),
        None => Scan::at_end(last),
    })
}

/// The word that the text starts with.
#[inline]
pub(crate) fn one_of(text: &str, words: &[&'static str], last: bool) -> Scan<&'static str> {
    Scan::first_of(words.iter().map(|word| begins(text, word, last).map(|_| *word)))
}

/// The number of bytes of the closing tag of that name.
pub(crate) fn closes(text: &str, name: &str, last: bool) -> Scan<usize> {
    // The most common form.
    if let Some(rest) = text.strip_prefix("</")
        && rest.as_bytes().get(name.len()) == Some(&b'>')
        && rest.starts_with(name)
    {
        return Scan::Match(name.len() + 3);
    }
    let word = starts(text, "</", last).and_then(|()| begins(&text[2..], name, last));
    word.and_then(|length| {
        let end = ws_run(text, 2 + length);
        if end - (2 + length) > CLOSE_SPACES {
            return Scan::NoMatch;
        }
        starts(&text[end..], ">", last).map(|()| end + 1)
    })
}

/// The number of bytes of the closing tag of one of the words.
pub(super) fn closes_one_of(text: &str, words: &[&'static str], last: bool) -> Scan<usize> {
    Scan::first_of(words.iter().map(|word| closes(text, word, last)))
}

/// Characters of a tag.
const TAG_CHARS: usize = 64;

/// The length of the tag that the text starts with. Where nothing follows, the beginning of one is enough.
pub(crate) fn tag(text: &str, last: bool) -> Scan<usize> {
    let Some(name) = text.strip_prefix('<') else { return Scan::NoMatch };
    let ends = |c: char| c.is_whitespace() || "<>{}[]\"'".contains(c);
    let window = &name[..first_chars(name, TAG_CHARS)];
    match window.char_indices().find(|(_, c)| ends(*c)) {
        Some((at, '>')) if at > 0 => Scan::Match(1 + at + 1),
        None if window.len() == name.len() && last => Scan::Match(text.len()),
        None if window.len() == name.len() => Scan::Incomplete,
        _ => Scan::NoMatch,
    }
}

/// Characters after a closing tag in which a misspelled tag would have its name.
const NEAR_CHARS: usize = 64;

/// Whether the text after a closing tag, up to the end of a tag or of the line, has a name of the call directly beside a sign of tags, as in
/// a misspelled opening tag. After a space on the same line, only the first word counts: prose mentions tags, too. `word` precedes the name in
/// a tag, `close` is the closing tag, and `blanks` the whitespace after it.
pub(crate) fn names_near(
    (blanks, text): (&str, &str),
    close: &str,
    word: &str,
    last: bool,
    is_name: &dyn Fn(&str) -> bool,
) -> Scan {
    let (head, mut ended) = window(text, NEAR_CHARS, last);
    let bytes = head.as_bytes();
    let prose = !blanks.is_empty() && !has_line_break(blanks);
    let ends = |at: usize| {
        bytes[at] == b'\n' || (prose && is_ws(bytes[at])) || (bytes[at] == b'>' && at > 0 && bytes[at - 1] != b'|')
    };
    let line = (0..bytes.len()).find(|at| ends(*at)).map_or(bytes.len(), |at| at + 1);
    let end = memchr::memmem::find(&bytes[..line], close.as_bytes()).unwrap_or(line);
    ended |= end < bytes.len() || (line > 0 && ends(line - 1));
    // What follows may be the next closing tag.
    let head = &head[..partial_end(&head[..end], close)];
    let sign = |c: Option<char>| c.is_some_and(|c| matches!(c, '<' | '>' | '"' | '\'' | '=' | '|'));
    let mut at = 0;
    for name in head.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))) {
        let after = at + name.len();
        let next = head[after..].chars().next();
        let beside = sign(head[..at].chars().next_back()) || sign(next);
        let known = || is_name(name) || name.strip_prefix(word).is_some_and(is_name);
        if beside && !name.is_empty() && (ended || next.is_some()) && known() {
            return Scan::Match(());
        }
        at = after + next.map_or(0, char::len_utf8);
    }
    Scan::at_end(ended)
}

/// Whether a key has signs of tags in it, as where its closer is missing.
pub(crate) fn is_markup(key: &str) -> bool {
    key.starts_with('\'') || key.contains(['<', '>', '"', '=', '\n'])
}
