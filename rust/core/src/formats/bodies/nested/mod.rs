//! Calls with an element for each argument, nested for objects and lists. A prefix precedes every tag, so that text needs no escapes:
//! `PREFIX<invoke name="NAME">PREFIX<key>text PREFIX</key>PREFIX<list>PREFIX<item>1 PREFIX</item>PREFIX</list>PREFIX</invoke>`, without the
//! spaces. The schema types the values.

mod body;
mod write;

use crate::arguments::Context;
use crate::error::EncodeError;
use crate::formats::attempt::Attempt;
use crate::formats::bodies::near_tag::{self, NamedTag};
use crate::formats::body::{Body, Opening, recycle};
use crate::formats::call::{CallFormat, PastCall};
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::settings::Settings;
use crate::limits::HEAD_CHARS;
use crate::syntax::scan::{Scan, starts, trim, window};
use crate::tools::Tools;
use body::NestedBody;

/// A format, with these tags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NestedFormat {
    /// What begins a call, up to the tool's name, and what follows the name.
    pub open: &'static [&'static str; 1],
    pub open_end: &'static str,
    /// What precedes every tag.
    pub prefix: &'static str,
    /// The tag that closes a call. The prefix precedes it.
    pub close: &'static str,
    /// The name of the elements of a list. Members of objects that are null have no element.
    pub item: &'static str,
    /// In a section: what a call that is not closed ends before, the opener of the next call or the end of the section.
    pub ends: &'static [&'static str],
}

impl NestedFormat {
    /// The name of a tool, which the text begins with.
    fn name<'t>(&self, text: &'t str, last: bool) -> Scan<&'t str> {
        let (head, last) = window(text, HEAD_CHARS, last);
        let Some(end) = memchr::memchr(b'"', head.as_bytes()) else { return Scan::at_end(last) };
        let name = &head[..end];
        starts(&head[end..], self.open_end, last).map(|()| name).filter(|name| bad_name(name).is_none())
    }
}

fn bad_name(name: &str) -> Option<&'static str> {
    let fits = !name.is_empty() && trim(name) == name && !name.contains(['"', '<', '>']);
    (!fits).then_some("it must not contain quotes, < or >, or begin or end with whitespace")
}

impl CallFormat for NestedFormat {
    fn openers(&self) -> &'static [&'static str] {
        self.open
    }

    fn close(&self) -> &'static str {
        self.close
    }

    fn mark(&self, marks: &mut MarkSet) {
        marks.push(MarkRole::Inside, self.prefix);
    }

    fn encoding(&self) -> &'static str {
        "elements"
    }

    fn bad_name(&self, name: &str) -> Option<&'static str> {
        bad_name(name)
    }

    fn attempt(&self, tools: &Tools, _: &Settings, text: &str, last: bool) -> Attempt {
        let [opener] = self.open;
        let open = opener.len();
        let opened = starts(text, opener, last);
        match opened.and_then(|()| self.name(&text[open..], last)) {
            Scan::Incomplete => return Attempt::Incomplete,
            Scan::Match(name) => {
                let end = open + name.len();
                return Attempt::named(open, (open..end, tools.called(name)), end + self.open_end.len(), Opening::OWN);
            }
            Scan::NoMatch => {}
        }
        let near = NamedTag::of(opener, self.open_end).map_or(Scan::NoMatch, |tag| tag.read(text, last));
        let near = near.map(|tag| (tools.called(&text[tag.name.clone()]), tag));
        match near.filter(|(lookup, _)| lookup.tool().is_some()) {
            Scan::Incomplete => Attempt::Incomplete,
            Scan::Match((lookup, tag)) => near_tag::call(tag.name, lookup, tag.end),
            // The body reports the error in the tag.
            Scan::NoMatch if opened.is_match() => Attempt::call(open, open, Opening::OWN),
            Scan::NoMatch => Attempt::text(text),
        }
    }

    fn body(&self, cx: &Context<'_>, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycle(recycled, || NestedBody::new(*self), |body| body.reset(cx, *self, name))
    }

    fn write(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        write::call(self, cx, call.arguments, out)
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        write::field_example(self, field, value)
    }
}
