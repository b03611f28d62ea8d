//! Near misses of tags that contain a name: other quotes or none, spaces beside `=`, a missing key (`<invoke='f'>`), or a key without a
//! space before it (`<functionname=f>`).

use std::ops::Range;

use smallvec::SmallVec;

use crate::error::Repair;
use crate::formats::attempt::{Attempt, Style};
use crate::formats::body::Opening;
use crate::formats::template::{attribute as split, spaced};
use crate::limits::HEAD_CHARS;
use crate::syntax::scan::{Scan, first_mark, starts, window, ws_run};
use crate::syntax::tags::{Attribute, after_equals, attribute};
use crate::tools::Lookup;

/// A key that models write in the tags of any format.
const NAME: &str = "name";

/// A tag with a name in it, `<invoke name="NAME">` or `<function=NAME>`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedTag {
    /// `<invoke`, `<function`
    word: &'static str,
    /// The key of the attribute with the name; empty in `<function=NAME>`.
    key: &'static str,
    end: &'static str,
}

/// A near miss of such a tag. Ranges are bytes of the scanned text.
#[derive(Debug)]
pub(crate) struct NearTag {
    pub name: Range<usize>,
    /// Key and value of each other attribute.
    pairs: SmallVec<[(Range<usize>, Range<usize>); 1]>,
    /// Start of the end mark.
    pub inner: usize,
    /// End of the tag.
    pub end: usize,
}

impl NearTag {
    pub(crate) fn value<'t>(&self, text: &'t str, key: &str) -> Option<&'t str> {
        self.pairs.iter().find(|(own, _)| text[own.clone()] == *key).map(|(_, value)| &text[value.clone()])
    }
}

impl NamedTag {
    /// From the template's text before and after the name. `None` if that is not a tag around the name.
    pub(crate) const fn of(open: &'static str, end: &'static str) -> Option<NamedTag> {
        let quoted = matches!(open.as_bytes(), [.., b'=', b'"']);
        if !quoted && !matches!(open.as_bytes(), [.., b'=']) {
            return None;
        }
        let end = if quoted && matches!(end.as_bytes(), [b'"', ..]) { end.split_at(1).1 } else { end };
        let (before, key) = split(open);
        let (word, key) = if before.is_empty() { (key, "") } else { (spaced(before).text, key) };
        Some(NamedTag { word, key, end })
    }

    /// Scans the tag at the start of the text. Also matches the usual spelling.
    pub(crate) fn read(&self, text: &str, last: bool) -> Scan<NearTag> {
        starts(text, self.word, last).and_then(|()| self.after(text, self.word.len(), last))
    }

    /// Scans the rest of the tag from the end of its word.
    pub(crate) fn after(&self, text: &str, from: usize, last: bool) -> Scan<NearTag> {
        // The tag is on one line, and contains no other.
        let (text, last) = window(text, HEAD_CHARS, last);
        let end = text[from..].find(|c| c == '\n' || (c == '<' && !self.end.starts_with('<')));
        let (text, last) = end.map_or((text, last), |end| (&text[..from + end], true));
        let mut at = ws_run(text, from);
        let mut found = NearTag { name: 0..0, pairs: SmallVec::new(), inner: 0, end: 0 };
        let mut named = false;
        match text.as_bytes().get(at) {
            None => return Scan::at_end(last),
            Some(b'=') => match after_equals(text, at + 1, last) {
                Scan::Match((name, end)) => (found.name, at, named) = (name, end, true),
                Scan::Incomplete => return Scan::Incomplete,
                Scan::NoMatch => return Scan::NoMatch,
            },
            Some(_) if at > from => {}
            // The key is glued to the word.
            Some(_) => match first_mark(&text[at..], &[if self.key.is_empty() { NAME } else { self.key }], last) {
                Scan::Match(_) => {}
                Scan::Incomplete => return Scan::Incomplete,
                Scan::NoMatch => return Scan::NoMatch,
            },
        }
        loop {
            at = ws_run(text, at);
            match starts(&text[at..], self.end, last) {
                Scan::Match(()) => {
                    (found.inner, found.end) = (at, at + self.end.len());
                    return Scan::some(named.then_some(found));
                }
                Scan::Incomplete => return Scan::Incomplete,
                Scan::NoMatch => {}
            }
            match attribute(text, at, 0) {
                Attribute::Need(_) => return Scan::at_end(last),
                Attribute::End { .. } | Attribute::Junk(_) => return Scan::NoMatch,
                Attribute::Pair { key, value, end } => {
                    if !named && (text[key.clone()] == *self.key || text[key.clone()] == *NAME) {
                        (found.name, named) = (value, true);
                    } else {
                        found.pairs.push((key, value));
                    }
                    at = end;
                }
            }
        }
    }
}

/// A call that a near miss of a tag opens. Its body begins at this byte.
pub(crate) fn call(name: Range<usize>, lookup: Lookup, body: usize) -> Attempt {
    let style = Style::repaired(vec![Repair::TagStyle]);
    Attempt::Call { lead: 0, open: body, name: Some((name, lookup)), body, opening: Opening::OWN, style }
}
