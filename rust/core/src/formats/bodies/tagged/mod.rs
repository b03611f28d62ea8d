//! Calls whose values are raw text in tags. Names, keys and types are text between tags, as in
//! `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>`, or they are attributes. A [`Tags`] describes one
//! such format.

mod argument;
mod body;
mod ends;
mod head;
mod value;
mod write;

use std::ops::Range;

use smallvec::SmallVec;

use crate::arguments::Context;
use crate::error::EncodeError;
use crate::formats::attempt::Attempt;
use crate::formats::bodies::json::Ends;
use crate::formats::bodies::json::marked::{begins_member, begins_object};
use crate::formats::bodies::near_tag::{self, NamedTag};
use crate::formats::body::{Body, Opening, recycle};
use crate::formats::call::{CallFormat, PastCall};
use crate::formats::commitment::unreadable;
use crate::formats::settings::Settings;
use crate::formats::template::{attribute, cut, spaced, tags};
use crate::syntax::scan::{Closers, Scan, is_ws, starts, trim, window, ws_run};
use crate::syntax::tags::names_near;
use crate::tools::{Lookup, Tools, is_plausible_name};
use body::TaggedBody;

/// Characters of a name, a key or the attributes of a tag.
const HEAD_CHARS: usize = 1024;

/// The tags of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tags {
    /// The templates of a call and of an argument.
    pub written: (&'static str, &'static str),
    /// What begins a call.
    pub open: &'static str,
    pub close: &'static str,
    /// What begins an argument, and what ends its value.
    pub argument: &'static str,
    pub argument_close: &'static str,
    /// Whitespace may follow the closer of a value before the next tag.
    pub spaced: bool,
    pub head: Head,
    /// The tag of a call, and that of an argument, if it contains the name.
    pub call_tag: Option<NamedTag>,
    pub argument_tag: Option<NamedTag>,
    pub values: ValueStyle,
    /// One line break at each side of a value belongs to its tags. Otherwise values are verbatim.
    pub line_breaks: bool,
    /// What the template writes between tags.
    pub lines: Lines,
    /// What ends the section, if there is one.
    pub section_ends: &'static [&'static str],
    /// The ends of a message part, if a call is one. The header of the part has the tool's name; `open` and `close` only delimit parts.
    pub part_ends: &'static [&'static str],
}

/// How values other than strings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueStyle {
    Json,
    /// As Python prints them.
    Python,
    /// The same, and strings that contain `<`, `&` or a line break between [`CDATA`].
    PythonOrCdata,
}

/// What begins a value that is a string, and what ends it before the closer of the value.
const CDATA: (&str, &str) = ("<![CDATA[", "]]>");

/// What the template writes between tags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// After what names the tool.
    pub head: &'static str,
    /// Between a key and its value.
    pub key: &'static str,
    /// After a value.
    pub value: &'static str,
    /// Before what closes the call.
    pub close: &'static str,
    /// In a call without arguments, also.
    pub empty: &'static str,
}

/// Where names and keys are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Head {
    Text(KeyTags),
    Attributes(TagAttributes),
}

/// Names and keys as text. Values are typed by the schema. The last value may be closed by the end of the call alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyTags {
    /// What follows the tool's name, if anything does.
    pub name_close: &'static str,
    pub key_close: &'static str,
    /// What may be around a type before a value.
    pub kind: Option<(&'static str, &'static str)>,
    /// What begins a value, if anything follows what closes the key.
    pub value: &'static str,
}

/// Names and keys as attributes. An attribute types the value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TagAttributes {
    /// What ends a tag, and what ends the tag of a call without arguments.
    pub end: &'static str,
    pub empty: Option<&'static str>,
    /// The attributes: of a call, its tool and its number in the message; of an argument, its key and its type.
    pub tool: &'static str,
    pub index: Option<&'static str>,
    pub key: &'static str,
    pub kind: &'static str,
    /// The types of a string, a number, a boolean, null, an array and an object. All but that of a string are JSON.
    pub kinds: [&'static str; 6],
    /// `&` and `"` are escaped in attributes.
    pub escaped: bool,
}

impl TagAttributes {
    /// What the templates of tags do not say: no number, no tag of a call without arguments, and values of all types alike.
    pub(crate) const PLAIN: TagAttributes = TagAttributes {
        end: "",
        empty: None,
        tool: "",
        index: None,
        key: "",
        kind: "",
        kinds: [""; 6],
        escaped: false,
    };
}

/// The format of calls with these tags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tagged(pub &'static Tags);

impl Tags {
    /// Tags with names and keys as text, from the templates of a call, with `{name}` and `{args}`, and of an argument, with `{key}` and
    /// `{value}`. Values are JSON, verbatim unless the template writes them on lines of their own; whitespace may be between tags.
    pub(crate) const fn of(call: &'static str, argument: &'static str) -> Tags {
        let written = (call, argument);
        let ((open, call), (argument, value)) = (cut(call, "name"), cut(argument, "key"));
        let ((head, end), (key, value_end)) = (cut(call, "args"), cut(value, "value"));
        let (head, end, key, value_end) = (spaced(head), spaced(end), spaced(key), spaced(value_end));
        let (key_close, value) = tags(key.text);
        let key_close = spaced(key_close);
        Tags {
            written,
            open,
            close: end.text,
            argument,
            argument_close: value_end.text,
            spaced: true,
            head: Head::Text(KeyTags { name_close: head.text, key_close: key_close.text, kind: None, value }),
            call_tag: NamedTag::of(open, head.text),
            argument_tag: NamedTag::of(argument, key_close.text),
            values: ValueStyle::Json,
            line_breaks: !key.after.is_empty() && !value_end.before.is_empty(),
            lines: Lines {
                head: head.after,
                key: key_close.after,
                value: value_end.after,
                close: end.before,
                empty: "",
            },
            section_ends: &[],
            part_ends: &[],
        }
    }

    /// Tags with names and keys in attributes, from the same templates. That of an argument has `{kind}` in a second attribute.
    pub(crate) const fn with_attributes(call: &'static str, argument: &'static str, attributes: TagAttributes) -> Tags {
        let text = Tags::of(call, argument);
        let (kind, value) = cut(cut(argument, "key").1, "kind");
        let ((open, tool), (argument, key)) = (attribute(text.open), attribute(text.argument));
        // The quote is that of the attribute.
        let (_, end) = cut(value, "value").0.split_at(1);
        let (call_tag, argument_tag) = (NamedTag::of(text.open, end), NamedTag::of(text.argument, end));
        let head = Head::Attributes(TagAttributes { end, tool, key, kind: attribute(kind).1, ..attributes });
        Tags { open, argument, head, call_tag, argument_tag, ..text }
    }

    /// Whether a call is a part of a message.
    fn is_part(&self) -> bool {
        !self.part_ends.is_empty()
    }

    /// The marks around a JSON object that a model writes in place of arguments.
    fn around_object(&self) -> Ends {
        let (close, implicit_closers) =
            if self.is_part() { ("", self.part_ends) } else { (self.close, self.section_ends) };
        Ends { fence: "", close, implicit_closers }
    }

    /// What a call that has failed ends before, in a section: the next call, or the end of the section.
    fn ends(&self) -> impl Iterator<Item = &'static str> + Clone {
        let open = (!self.section_ends.is_empty()).then_some(self.open);
        open.into_iter().chain(self.section_ends.iter().copied())
    }

    /// What directly precedes a value, if it is a tag.
    fn before_value(&self) -> &'static str {
        let mark = match &self.head {
            Head::Text(text) => text.value,
            Head::Attributes(attributes) => attributes.end,
        };
        if mark.starts_with('<') { mark } else { "" }
    }

    /// Whether a line break before a closer may belong to it, or is written if the closer is missing.
    fn holds_break(&self) -> bool {
        self.line_breaks || self.lines.value == "\n" || self.lines.close == "\n"
    }

    /// A call with its name as text, at the end of its opener.
    fn named_by_text(&self, text: &KeyTags, tools: &Tools, head: &str, last: bool) -> Attempt {
        let open = self.open.len();
        let begin = ws_run(head, 0);
        // The whole call as JSON. Outside of sections, other formats write that.
        let json = self.open.ends_with('>') && !self.section_ends.is_empty();
        match if json { begins_member(&head[begin..], last) } else { Scan::NoMatch } {
            Scan::Match(()) => return Attempt::call(open, open + begin, Opening::OWN),
            Scan::Incomplete => return Attempt::Incomplete,
            Scan::NoMatch => {}
        }
        let Some(length) = head[begin..].find(|c: char| text.ends_name(c)) else {
            return if last { Attempt::Text(open) } else { Attempt::Incomplete };
        };
        let name = begin..begin + length;
        // Python writes calls so.
        if let Some(paren) = head[name.clone()].find('(')
            && let lookup = tools.called(&head[begin..begin + paren])
            && lookup.tool().is_some()
        {
            let end = begin + paren;
            return Attempt::named(open, (open + begin..open + end, lookup), open + end, Opening::OWN);
        }
        let at = if text.name_close.is_empty() { name.end } else { ws_run(head, name.end) };
        let closed = starts(&head[at..], text.name_close, last);
        let end = at + text.name_close.len();
        let follows = closed.and_then(|()| {
            let after = &head[ws_run(head, end)..];
            match !text.name_close.is_empty() && !self.section_ends.is_empty() {
                // In a section, this is meant as a call.
                true => Scan::Match(()),
                false => starts(after, self.argument, last).or(|| starts(after, self.close, last)).or(|| {
                    if is_plausible_name(&head[name.clone()]) { begins_object(after, last) } else { Scan::NoMatch }
                }),
            }
        });
        match follows {
            Scan::Incomplete => Attempt::Incomplete,
            Scan::Match(()) => match tools.called(&head[name.clone()]) {
                // A word between spaces is prose, unless it is the name of a tool.
                Lookup::Unknown | Lookup::Open if name.is_empty() => {
                    match starts(&head[ws_run(head, end)..], self.argument, last) {
                        Scan::Match(()) => unreadable(tools, open, None, self.closers()),
                        Scan::Incomplete => Attempt::Incomplete,
                        Scan::NoMatch => Attempt::Text(open),
                    }
                }
                Lookup::Unknown | Lookup::Open if begin > 0 => Attempt::Text(open),
                lookup => Attempt::named(open, (open + name.start..open + name.end, lookup), open + end, Opening::OWN),
            },
            Scan::NoMatch => match self.goes_on(text, tools, &head[begin..], length, last) {
                Scan::Incomplete => Attempt::Incomplete,
                Scan::NoMatch => Attempt::Text(open),
                Scan::Match(tool) => unreadable(tools, open, tool, self.closers()),
            },
        }
    }

    /// What ends a call that has failed: its closer, or what the next one begins with.
    fn closers(&self) -> Closers {
        let before = [self.open].into_iter().chain(self.ends()).collect();
        Closers::Marks { close: vec![self.close], before }
    }

    /// Whether the text, which starts with a name of so many bytes, goes on as a call with a wrong tag: with the end of a key, or with a
    /// key of the declared tool. Gives that tool.
    fn goes_on(&self, text: &KeyTags, tools: &Tools, head: &str, length: usize, last: bool) -> Scan<Option<usize>> {
        let tool = tools.find(&head[..length]);
        let after = &head[length..];
        let marks = [text.key_close, text.value].into_iter().filter(|mark| mark.starts_with('<'));
        let marked = Scan::first_of(marks.map(|mark| starts(after, mark, last)));
        let keyed = || {
            let Some(tool) = tool else { return Scan::NoMatch };
            let schema = &tools.at(tool).schema;
            names_near(("", after), self.argument_close, "", last, &|key| schema.declares(schema.root, key))
        };
        marked.or(keyed).map(|()| tool)
    }

    /// A call of a declared tool that a near miss of a tag opens. An argument, the closer or an object must follow.
    fn near(&self, tools: &Tools, text: &str, last: bool) -> Attempt {
        let Some(call) = &self.call_tag else { return Attempt::text(text) };
        let found = call.read(text, last).and_then(|tag| {
            let lookup = tools.called(&text[tag.name.clone()]);
            let (after, last) = window(&text[tag.end..], HEAD_CHARS, last);
            let after = &after[ws_run(after, 0)..];
            let marks = [self.argument, self.close, "{"].into_iter().map(|mark| starts(after, mark, last));
            let near = || self.argument_tag.map_or(Scan::NoMatch, |argument| argument.read(after, last).void());
            let follows = if lookup.tool().is_some() { Scan::first_of(marks).or(near) } else { Scan::NoMatch };
            follows.map(|()| (tag, lookup))
        });
        match found {
            Scan::Incomplete => Attempt::Incomplete,
            Scan::NoMatch => Attempt::text(text),
            Scan::Match((tag, lookup)) => {
                let body = if matches!(self.head, Head::Text(_)) { tag.end } else { tag.inner };
                near_tag::call(tag.name, lookup, body)
            }
        }
    }

    /// The same with its name in an attribute. What is wrong with the tag, the body says.
    fn named_by_attribute(&self, attributes: &TagAttributes, tools: &Tools, head: &str, last: bool) -> Attempt {
        let open = self.open.len();
        let unnamed = Attempt::call(open, open, Opening::OWN);
        match attributes.read(head, attributes.empty, last) {
            Scan::Incomplete => Attempt::Incomplete,
            Scan::NoMatch => unnamed,
            Scan::Match(found) => match found.value(head, attributes.tool).map(|name| (&head[name.clone()], name)) {
                Some((text, name)) if trim(text) == text && !text.is_empty() && attributes.decode(text) == text => {
                    let lookup = tools.called(text);
                    Attempt::named(open, (open + name.start..open + name.end, lookup), open + found.end, Opening::OWN)
                }
                _ => unnamed,
            },
        }
    }
}

impl KeyTags {
    fn ends_name(&self, c: char) -> bool {
        matches!(c, '<' | '{') || (c.is_ascii() && is_ws(c as u8)) || self.name_close.starts_with(c)
    }
}

/// The attributes of a tag.
#[derive(Debug)]
struct Attributes {
    /// The key and the value of each.
    pairs: SmallVec<[(Range<usize>, Range<usize>); 2]>,
    /// Where what ends the tag begins.
    end: usize,
}

impl Attributes {
    /// The first attribute with this key.
    fn value(&self, text: &str, key: &str) -> Option<Range<usize>> {
        let pair = self.pairs.iter().find(|(own, _)| text[own.clone()] == *key);
        pair.map(|(_, value)| value.clone())
    }
}

impl TagAttributes {
    /// Scans the attributes of a tag up to what ends it: [`TagAttributes::end`], or `empty`.
    fn read(&self, text: &str, empty: Option<&str>, last: bool) -> Scan<Attributes> {
        let mut found = Attributes { pairs: SmallVec::new(), end: 0 };
        loop {
            let at = ws_run(text, found.end);
            found.end = at;
            let rest = &text[at..];
            match Scan::first_of(empty.into_iter().chain([self.end]).map(|end| starts(rest, end, last))) {
                Scan::Match(()) => return Scan::Match(found),
                Scan::Incomplete => return Scan::Incomplete,
                Scan::NoMatch => {}
            }
            let key =
                rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
            match starts(&rest[key..], "=\"", last) {
                Scan::Match(()) if key > 0 => {}
                Scan::Incomplete => return Scan::Incomplete,
                Scan::Match(()) | Scan::NoMatch => return Scan::NoMatch,
            }
            let value = at + key + 2;
            let Some(length) = memchr::memchr(b'"', &text.as_bytes()[value..]) else { return Scan::at_end(last) };
            found.pairs.push((at..at + key, value..value + length));
            found.end = value + length + 1;
        }
    }

    fn decode(&self, text: &str) -> String {
        if self.escaped { text.replace("&quot;", "\"").replace("&amp;", "&") } else { text.to_owned() }
    }

    fn encode(&self, text: &str) -> String {
        if self.escaped { text.replace('&', "&amp;").replace('"', "&quot;") } else { text.to_owned() }
    }
}

impl CallFormat for Tagged {
    fn openers(&self) -> &'static [&'static str] {
        std::slice::from_ref(&self.0.open)
    }

    fn close(&self) -> &'static str {
        self.0.close
    }

    fn encoding(&self) -> &'static str {
        "parameters"
    }

    fn bad_name(&self, name: &str) -> Option<&'static str> {
        match &self.0.head {
            Head::Text(text) if !name.contains(|c| text.ends_name(c)) => None,
            Head::Text(text) => Some(match text.name_close.chars().next() {
                Some('"') => "it must not contain whitespace, quotes or <",
                Some('>') => "it must not contain whitespace, < or >",
                _ => "it must not contain whitespace or <",
            }),
            Head::Attributes(TagAttributes { escaped, .. }) => {
                let quoted = name.contains('"') && !escaped;
                (quoted || trim(name) != name).then_some("it must not contain quotes, or begin or end with whitespace")
            }
        }
    }

    fn attempt(&self, tools: &Tools, _: &Settings, text: &str, last: bool) -> Attempt {
        let Tagged(tags) = self;
        if tags.is_part() {
            return Attempt::text(text);
        }
        let usual = match starts(text, tags.open, last) {
            Scan::Incomplete => return Attempt::Incomplete,
            Scan::NoMatch => Attempt::text(text),
            Scan::Match(()) => {
                let (head, last) = window(&text[tags.open.len()..], HEAD_CHARS, last);
                match &tags.head {
                    Head::Text(text) => tags.named_by_text(text, tools, head, last),
                    Head::Attributes(attributes) => tags.named_by_attribute(attributes, tools, head, last),
                }
            }
        };
        match usual {
            Attempt::Incomplete => usual,
            Attempt::Call { name: Some((_, lookup)), .. } if lookup != Lookup::Unknown => usual,
            _ => match tags.near(tools, text, last) {
                Attempt::Text(_) => usual,
                near => near,
            },
        }
    }

    /// What names a declared argument, or the end of a value and of the call.
    fn orphan(&self, tools: &Tools, text: &str, last: bool) -> Scan<usize> {
        let Tagged(tags) = self;
        let declared = |key: &str| tools.iter().any(|tool| tool.schema.declares(tool.schema.root, trim(key)));
        let named = starts(text, tags.argument, last).and_then(|()| {
            let (head, last) = window(&text[tags.argument.len()..], HEAD_CHARS, last);
            let key = match &tags.head {
                Head::Text(KeyTags { key_close, .. }) => {
                    let line = head.split('\n').next().unwrap_or(head);
                    match memchr::memmem::find(line.as_bytes(), key_close.as_bytes()) {
                        Some(end) => Scan::Match(line[..end].to_owned()),
                        None => Scan::at_end(last || line.len() < head.len()),
                    }
                }
                Head::Attributes(attributes) => attributes.read(head, None, last).and_then(|found| {
                    Scan::some(found.value(head, attributes.key).map(|key| attributes.decode(&head[key])))
                }),
            };
            key.filter(|key| declared(key)).map(|_| tags.argument.len())
        });
        let ended = || {
            starts(text, tags.argument_close, last).and_then(|()| {
                let length = tags.argument_close.len();
                let at = ws_run(text, length);
                starts(&text[at..], tags.close, last).map(|()| length)
            })
        };
        named.or(ended)
    }

    fn body(&self, _: &Context<'_>, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        recycle(recycled, || TaggedBody::new(self.0, name), |body| body.reset(self.0, name))
    }

    fn write(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        if self.0.is_part() {
            return write::arguments(self.0, cx, call, out);
        }
        write::call(self.0, cx, call, out)
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        write::field_example(self.0, field, value)
    }
}
