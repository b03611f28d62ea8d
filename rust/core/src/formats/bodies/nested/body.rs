//! The body of a call, from after the tag with the tool's name.

use std::mem::take;

use super::NestedFormat;
use crate::arguments::object::Values;
use crate::arguments::{Context, Flow, Input, Progress, Report, steps};
use crate::error::{ErrorKind, Repair};
use crate::formats::bodies::params::write_text;
use crate::formats::body::Body;
use crate::limits::HEAD_CHARS;
use crate::schema::{Choice, Node};
use crate::syntax::json::{is_plain, push_str};
use crate::syntax::scan::{Delimiters, Scan, partial_end, starts, trim, window, ws_run};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NestedState {
    /// Before the arguments. `named`: the tag of the call has a name.
    Start { named: bool },
    /// In the call, an object or a list, before a tag.
    Between,
    /// At the start of a value, after whitespace alone.
    Value,
    /// In a value that is text. `live`: it is passed on as it arrives.
    Text { live: bool },
    /// After a failure, in more elements than are kept. So many of them are calls.
    Lost { calls: usize },
}

/// An open element.
#[derive(Debug)]
struct OpenElement {
    /// The tag that closes it.
    closer: String,
    /// It is a list.
    list: bool,
}

#[derive(Debug)]
pub(super) struct NestedBody {
    format: NestedFormat,
    state: NestedState,
    values: Values,
    open: Vec<OpenElement>,
    /// The text of the value, as far as it is not passed on.
    text: String,
    /// Bytes of the window that were already scanned.
    looked: usize,
    /// The call has failed: only its end is searched for.
    failed: bool,
}

impl Body for NestedBody {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        steps(|| self.step(input))
    }

    fn recover(&mut self, input: &mut Input<'_>) -> Progress {
        if !self.failed {
            self.failed = true;
            self.text = String::new();
            match self.state {
                NestedState::Start { .. } => self.state = NestedState::Between,
                NestedState::Text { .. } => self.state = NestedState::Text { live: false },
                NestedState::Between | NestedState::Value | NestedState::Lost { .. } => {}
            }
        }
        self.feed(input)
    }

    fn feed_plain(&mut self, report: &mut Report, text: &str, _: &Delimiters) -> Option<bool> {
        let live = self.state == NestedState::Text { live: true } && !self.failed;
        let first = self.format.prefix.bytes().next()?;
        if !live || memchr::memchr(first, text.as_bytes()).is_some() {
            return None;
        }
        push_str(&mut report.args.json, text);
        Some(text.bytes().all(is_plain))
    }

    fn unterminated(&self) -> bool {
        self.state != NestedState::Between || !self.open.is_empty()
    }
}

fn malformed<T>(message: &str) -> Flow<T> {
    Err((ErrorKind::MalformedCall, message.to_owned()).into())
}

/// Whether a value of this type may be made of elements. Where text is possible, too, tags at its start decide.
fn takes_elements(node: &Node) -> bool {
    node.is_unknown() || node.takes_container() || !node.takes_string()
}

impl NestedBody {
    pub(super) fn new(format: NestedFormat) -> Self {
        let state = NestedState::Start { named: false };
        let values = Values::default();
        NestedBody { format, state, values, open: Vec::new(), text: String::new(), looked: 0, failed: false }
    }

    /// Starts over, and keeps the allocations. `name`: the tool's name as written; empty if the tag has none.
    pub(super) fn reset(&mut self, cx: &Context<'_>, format: NestedFormat, name: &str) {
        self.format = format;
        self.state = NestedState::Start { named: !name.is_empty() };
        self.values.renew(cx.schema.root);
        self.open.clear();
        self.text.clear();
        (self.looked, self.failed) = (0, false);
    }

    fn step(&mut self, input: &mut Input<'_>) -> Flow {
        match self.state {
            NestedState::Start { named: false } if self.format.name(input.rest(), false).is_incomplete() => {
                Err(Progress::Incomplete)
            }
            NestedState::Start { named: false } => malformed("The tag of a call must have the tool's name."),
            NestedState::Start { named: true } => {
                self.values.open(&input.cx, input.report, b'{')?;
                self.to(NestedState::Between)
            }
            NestedState::Between => self.between(input),
            NestedState::Value => self.value(input),
            NestedState::Text { live } => self.text(input, live),
            NestedState::Lost { calls } => self.find_end(input, calls),
        }
    }

    fn to(&mut self, state: NestedState) -> Flow {
        (self.state, self.looked) = (state, 0);
        Ok(())
    }

    /// What follows the prefix of a tag, if one is here.
    fn tag<'t>(&self, text: &'t str) -> Scan<&'t str> {
        let prefix = self.format.prefix;
        starts(text, prefix, false).and_then(|()| {
            let tag = &text[prefix.len()..];
            starts(tag, "<", false).map(|()| tag)
        })
    }

    /// The call ends before this: it is not closed.
    fn ends(&self, text: &str) -> Scan {
        Scan::first_of(self.format.ends.iter().map(|end| starts(text, end, false)))
    }

    fn close_tag(&self) -> &'static str {
        let NestedFormat { close, prefix, .. } = self.format;
        close.strip_prefix(prefix).unwrap_or(close)
    }

    fn between(&mut self, input: &mut Input<'_>) -> Flow {
        if input.next_byte().is_err() {
            if !input.last || self.failed || !self.open.is_empty() {
                return Err(Progress::Incomplete);
            }
            return self.unclosed(input);
        }
        let rest = input.rest();
        let Some(tag) = self.tag(rest).decided()? else {
            return self.unexpected(input, "only tags may be between the tags of a call");
        };
        if let Some(OpenElement { closer, .. }) = self.open.last()
            && starts(tag, closer, false).decided()?.is_some()
        {
            let length = self.format.prefix.len() + closer.len();
            if !self.failed {
                self.close(input)?;
            }
            input.at += length;
            self.open.pop();
            return self.to(NestedState::Between);
        }
        let closes = starts(tag, "</", false).decided()?.is_some();
        if self.open.is_empty() || (self.failed && closes) {
            if starts(tag, self.close_tag(), false).decided()?.is_some() {
                if !self.failed {
                    self.close(input)?;
                }
                input.at += self.format.close.len();
                return Err(Progress::CallEnd);
            }
            if self.ends(rest).decided()?.is_some() {
                return self.unclosed(input);
            }
        }
        if closes {
            return self.unexpected(input, "a tag closes an element that is not the innermost one");
        }
        let (head, known) = window(&tag[1..], HEAD_CHARS, false);
        let end = memchr::memchr2(b'<', b'>', &head.as_bytes()[self.looked.min(head.len())..]);
        let Some(end) = end.map(|end| self.looked + end) else {
            if known {
                return self.unexpected(input, "a tag is too long");
            }
            self.looked = head.len();
            return Err(Progress::Incomplete);
        };
        let name = &head[..end];
        if name.is_empty() || head.as_bytes().get(end) == Some(&b'<') {
            return self.unexpected(input, "a tag must be written as <key>");
        }
        input.at += self.format.prefix.len() + 1 + end + 1;
        // A call in a value has an end of its own.
        let call = self.format.open.iter().any(|open| rest.starts_with(open));
        let closer = if call { self.close_tag().to_owned() } else { format!("</{name}>") };
        self.element(input, name, closer)
    }

    /// The call ends here without its closing tag.
    fn unclosed(&mut self, input: &mut Input<'_>) -> Flow {
        if !self.failed {
            input.repair(Repair::MissingClose, format!("Close the call with {}.", self.format.close))?;
            self.close(input)?;
        }
        Err(Progress::CallEnd)
    }

    /// An object or a list ends. Fields that are null are not written, so those that are required and may be null are.
    fn close(&mut self, input: &mut Input<'_>) -> Flow {
        let Input { cx, report, .. } = input;
        for name in self.values.missing_nulls(cx) {
            self.values.key(cx, report, name)?;
            self.values.word(cx, report, "null", false)?;
        }
        self.values.close(cx, report)?;
        Ok(())
    }

    /// What is here is not part of a call. After a failure, it is passed over.
    fn unexpected(&mut self, input: &mut Input<'_>, what: &str) -> Flow {
        self.looked = 0;
        if !self.failed {
            return malformed(&format!("The call cannot be read: {what}."));
        }
        input.at += input.rest().chars().next().map_or(0, char::len_utf8);
        self.to_prefix(input);
        Ok(())
    }

    /// Moves to the next prefix of a tag. Returns the text before it, and whether it is there.
    fn to_prefix<'w>(&self, input: &mut Input<'w>) -> (&'w str, bool) {
        let (rest, prefix) = (input.rest(), self.format.prefix);
        let found = memchr::memmem::find(rest.as_bytes(), prefix.as_bytes());
        let end = found.unwrap_or_else(|| partial_end(rest, prefix));
        input.at += end;
        (&rest[..end], found.is_some())
    }

    /// An element is opened.
    fn element(&mut self, input: &mut Input<'_>, name: &str, closer: String) -> Flow {
        let list = self.open.last().is_some_and(|parent| parent.list);
        self.text.clear();
        if self.open.len() > input.cx.limits.depth {
            let calls = self.open.iter().filter(|element| element.closer == self.close_tag()).count();
            return self.to(NestedState::Lost { calls: calls + usize::from(closer == self.close_tag()) });
        }
        self.open.push(OpenElement { closer, list: false });
        self.to(NestedState::Value)?;
        if self.failed {
            return Ok(());
        }
        if !list {
            self.values.key(&input.cx, input.report, name)?;
        } else if name != self.format.item {
            return malformed(&format!(
                "The call cannot be read: the elements of a list must be <{}>.",
                self.format.item
            ));
        }
        if input.cx.schema.node(self.values.expected(&input.cx)).is_string() {
            self.values.string(&input.cx, input.report);
            self.state = NestedState::Text { live: true };
        }
        Ok(())
    }

    /// At the start of a value: text, or the first element of an object or a list.
    fn value(&mut self, input: &mut Input<'_>) -> Flow {
        let begin = input.at;
        input.at = ws_run(input.window, begin);
        if !self.failed {
            self.text.push_str(&input.window[begin..input.at]);
        }
        if input.rest().is_empty() {
            return Err(Progress::Incomplete);
        }
        let Some(tag) = self.tag(input.rest()).decided()? else { return self.to(NestedState::Text { live: false }) };
        if starts(tag, "</", false).decided()?.is_some() {
            return self.to(NestedState::Text { live: false });
        }
        if self.failed {
            return self.to(NestedState::Between);
        }
        let cx = input.cx;
        let id = self.values.expected(&cx);
        let node = cx.schema.node(id);
        if !takes_elements(node) {
            return self.to(NestedState::Text { live: false });
        }
        let item = starts(&tag[1..], self.format.item, false).and_then(|()| {
            let after = &tag[1 + self.format.item.len()..];
            starts(after, ">", false)
        });
        let takes_list = node.is_unknown() || (node.takes(b'[') && !cx.schema.declares(id, self.format.item));
        let list = item.decided()?.is_some() && takes_list;
        self.to(NestedState::Between)?;
        if let Some(element) = self.open.last_mut() {
            element.list = list;
        }
        Ok(self.values.open(&cx, input.report, if list { b'[' } else { b'{' })?)
    }

    fn text(&mut self, input: &mut Input<'_>, live: bool) -> Flow {
        loop {
            let (text, found) = self.to_prefix(input);
            self.push(input.report, live, text);
            let end = if found { self.value_end(input.rest()) } else { Scan::Incomplete };
            match end {
                Scan::Match(length) => {
                    input.at += length;
                    self.to(NestedState::Between)?;
                    self.open.pop();
                    return if self.failed { Ok(()) } else { self.end_value(input, live) };
                }
                Scan::NoMatch => {
                    self.looked = 0;
                    let length = input.rest().chars().next().map_or(0, char::len_utf8);
                    self.push(input.report, live, &input.rest()[..length]);
                    input.at += length;
                }
                Scan::Incomplete => {
                    if !live && !self.failed {
                        self.go_live(input);
                    }
                    return Err(Progress::Incomplete);
                }
            }
        }
    }

    fn push(&mut self, report: &mut Report, live: bool, text: &str) {
        if live {
            push_str(&mut report.args.json, text);
        } else if !self.failed {
            self.text.push_str(text);
        }
    }

    /// Passes text on that could have been null, once it cannot be null.
    fn go_live(&mut self, input: &mut Input<'_>) {
        let node = input.cx.schema.node(self.values.expected(&input.cx));
        let perhaps_null = node.choices.len() == 2 && node.has(&Choice::String) && node.has(&Choice::Null);
        if perhaps_null && !"null".starts_with(&self.text) {
            self.values.string(&input.cx, input.report);
            push_str(&mut input.report.args.json, &take(&mut self.text));
            self.state = NestedState::Text { live: true };
        }
    }

    /// The length of the innermost element's closing tag, if it is here: a tag that may follow it does.
    fn value_end(&mut self, text: &str) -> Scan<usize> {
        let prefix = self.format.prefix.len();
        let [outer @ .., OpenElement { closer, .. }] = &self.open[..] else { return Scan::NoMatch };
        let length = prefix + closer.len();
        let closed = starts(&text[prefix..], closer, false);
        if closed != Scan::Match(()) {
            return closed.map(|()| length);
        }
        self.looked = ws_run(text, self.looked.max(length));
        let after = &text[self.looked..];
        let follows = self.tag(after).and_then(|tag| {
            let parent = outer.last().map_or(self.close_tag(), |parent| &parent.closer);
            let opens = || match tag.as_bytes().get(1) {
                None => Scan::Incomplete,
                Some(b'/') => Scan::NoMatch,
                Some(_) => Scan::Match(()),
            };
            starts(tag, parent, false).or(opens).or(|| if outer.is_empty() { self.ends(after) } else { Scan::NoMatch })
        });
        follows.map(|()| length)
    }

    /// The text of a value is complete.
    fn end_value(&mut self, input: &mut Input<'_>, live: bool) -> Flow {
        let cx = input.cx;
        if live {
            input.report.args.json.push('"');
            self.values.end(input.report)?;
            return Ok(());
        }
        let text = take(&mut self.text);
        let node = cx.schema.node(self.values.expected(&cx));
        let empty = trim(&text).is_empty() && !node.takes_string();
        let bracket = [b'[', b'{'].into_iter().find(|bracket| node.takes(*bracket)).filter(|_| empty);
        if let Some(bracket) = bracket {
            self.values.open(&cx, input.report, bracket)?;
            self.close(input)?;
        } else if empty && node.has(&Choice::Null) {
            self.values.word(&cx, input.report, "null", false)?;
        } else {
            self.values.other(&cx, input.report, |report, at| write_text(&cx, report, false, at, &text))?;
        }
        Ok(())
    }

    /// After a failure, in elements that are too deep.
    fn find_end(&mut self, input: &mut Input<'_>, mut calls: usize) -> Flow {
        while let (_, true) = self.to_prefix(input) {
            let (rest, NestedFormat { open: [open], close, .. }) = (input.rest(), self.format);
            if starts(rest, open, false).decided()?.is_some() {
                calls += 1;
            } else if starts(rest, close, false).decided()?.is_some() {
                let Some(left) = calls.checked_sub(1) else {
                    input.at += close.len();
                    return Err(Progress::CallEnd);
                };
                calls = left;
            } else if self.ends(rest).decided()?.is_some() {
                return Err(Progress::CallEnd);
            }
            input.at += rest.chars().next().map_or(0, char::len_utf8);
            self.state = NestedState::Lost { calls };
        }
        Err(Progress::Incomplete)
    }
}
