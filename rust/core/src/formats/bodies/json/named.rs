//! Calls with the name, and perhaps an id, before one JSON object: how their openings are read, and how they are written.

use std::ops::Range;

use super::fence::{FENCE, fence_length};
use super::{Ends, JsonCall, JsonRules, JsonState, fail};
use crate::arguments::{Context, Flow, Input, Object, Progress};
use crate::error::{EncodeError, ErrorKind, Repair};
use crate::formats::attempt::Attempt;
use crate::formats::bodies::json::marked::json_begins;
use crate::formats::body::{Body, Opening, Wrapper, recycle};
use crate::formats::call::{CallFormat, PastCall, json_field_example};
use crate::formats::commitment::orphan;
use crate::formats::marks::{MarkRole, MarkSet};
use crate::formats::settings::Settings;
use crate::schema::UNKNOWN;
use crate::syntax::json::write_spaced_object;
use crate::syntax::quoting::{is_quote, leaves_open};
use crate::syntax::scan::{Scan, offset_in, partial_end, starts, trim, window, ws_run};
use crate::tools::Tools;

/// Characters of an opening with its name and id.
const HEAD_CHARS: usize = 1024;

/// How calls have ids.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IdForm {
    None,
    /// The name is a part of the id: `functions.NAME:INDEX`, which counts through the conversation.
    Indexed,
    /// After this mark, nine letters or digits. It may be missing, and is only `written` in some versions.
    Marked {
        mark: &'static str,
        written: bool,
    },
    /// Before the name, which this mark begins.
    BeforeName {
        mark: &'static str,
    },
}

/// A format: `OPEN PREFIX NAME MARK {…} CLOSE`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedJson {
    /// What opens a call.
    pub open: &'static [&'static str; 1],
    /// What precedes the name. It may be missing.
    pub prefix: &'static str,
    /// What ends the name.
    pub name_terminators: &'static [&'static str],
    /// What is written between the name, with its id, and the arguments, and after the arguments.
    pub around_arguments: (&'static str, &'static str),
    pub id: IdForm,
    pub ends: &'static Ends,
    /// What ends the message or the section, if calls have no closer.
    pub end_of_message: &'static str,
    /// Calls as one JSON object, or a list of them, may follow the opener. There is no section, so an opener without a name is
    /// text.
    pub json_list: Option<JsonRules>,
}

/// What follows the opener.
enum NamedHead {
    /// The bytes of the name, and where the arguments begin.
    Name(Range<usize>, usize),
    /// A JSON object, or a list of them, from this byte on.
    List(usize),
    Nameless,
}

impl NamedJson {
    /// A name and one JSON object, without an id or a list.
    pub(crate) const PLAIN: NamedJson = NamedJson {
        open: &[""],
        prefix: "",
        name_terminators: &[],
        around_arguments: ("", ""),
        id: IdForm::None,
        ends: &Ends { fence: "", close: "", implicit_closers: &[] },
        end_of_message: "",
        json_list: None,
    };

    fn opener(&self) -> &'static str {
        self.open[0]
    }

    /// Reads what follows the opener.
    fn head(&self, text: &str, last: bool) -> Scan<NamedHead> {
        let (head, ended) = window(text, HEAD_CHARS, last);
        // A message that ends here was cut off.
        let missing = if head.len() < text.len() { Scan::Match(NamedHead::Nameless) } else { Scan::Incomplete };
        let start = ws_run(head, 0);
        let Some(&first) = head.as_bytes().get(start) else { return missing };
        if self.json_list.is_some() && matches!(first, b'[' | b'{' | b'`') {
            let json = match fence_length(&head[start..]) {
                Scan::Match(fence) => ws_run(head, start + fence),
                Scan::Incomplete if !ended => return Scan::Incomplete,
                Scan::Incomplete | Scan::NoMatch => start,
            };
            return match json_begins(head, json, true, ended) {
                // Quotes in it may contain markers.
                Scan::NoMatch if head[ws_run(head, start + 1)..].starts_with(['"', '\'']) => {
                    Scan::Match(NamedHead::List(start))
                }
                Scan::NoMatch => Scan::Match(NamedHead::Nameless),
                begins => begins.map(|()| NamedHead::List(start)),
            };
        }
        let start = match starts(&head[start..], self.prefix, ended) {
            Scan::Incomplete => return Scan::Incomplete,
            Scan::Match(()) => start + self.prefix.len(),
            Scan::NoMatch => start,
        };
        let find = |mark: &str| memchr::memmem::find(&head.as_bytes()[start..], mark.as_bytes()).map(|at| start + at);
        let mark = self.name_terminators.iter().filter_map(|mark| Some((find(mark)?, *mark))).min_by_key(|(at, _)| *at);
        // Without a mark, the end of the text may be the beginning of one.
        let unmarked = || self.name_terminators.iter().map(|mark| start + partial_end(&head[start..], mark)).min();
        let end = mark.map_or_else(|| unmarked().unwrap_or(head.len()), |(at, _)| at);
        let stops = self.ends.implicit_closers.iter().chain([&self.ends.close]).filter(|stop| !stop.is_empty());
        // Text in quotes is not a name: a mark in it would end nothing.
        let quoted = head.as_bytes()[start..end].iter().any(|byte| is_quote(*byte));
        if quoted || stops.filter_map(|stop| find(stop)).any(|stop| stop < end) {
            return Scan::Match(NamedHead::Nameless);
        }
        let start = match self.id {
            IdForm::BeforeName { mark } => {
                head[start..end].split_once(mark).map_or(start, |(_, name)| end - name.len())
            }
            IdForm::None | IdForm::Indexed | IdForm::Marked { .. } => start,
        };
        let name = trim(&head[start..end]);
        let start = offset_in(head, name);
        if self.json_list.is_some() && name.bytes().any(|byte| byte.is_ascii_whitespace()) {
            return Scan::Match(NamedHead::Nameless);
        }
        let Some((at, mark)) = mark else { return missing };
        let name = match self.id {
            IdForm::Indexed => without_index(name),
            IdForm::None | IdForm::Marked { .. } | IdForm::BeforeName { .. } => name,
        };
        if name.is_empty() {
            return Scan::Match(NamedHead::Nameless);
        }
        let name = start..start + name.len();
        match self.id {
            IdForm::Marked { mark: id, .. } if mark == id => {
                let rest = self.name_terminators.iter().filter(|mark| **mark != id);
                let next = rest.filter_map(|mark| Some((find(mark)?, *mark))).min_by_key(|(at, _)| *at);
                // Text in quotes is not an id, and a mark in it ends nothing.
                let quoted = head[at..].find(['{', '"', '\'']).map(|quote| at + quote);
                if quoted.is_some_and(|quoted| next.is_none_or(|(next, _)| quoted < next)) {
                    return Scan::Match(NamedHead::Name(name, after(at, mark)));
                }
                next.map_or(missing, |(at, mark)| Scan::Match(NamedHead::Name(name, after(at, mark))))
            }
            _ => Scan::Match(NamedHead::Name(name, after(at, mark))),
        }
    }

    /// In a format without sections: the name after the opener, without what ends a name, and what follows it. That is not read, but
    /// what is quoted in it must not be, either. After a name that no tool has, only brackets or a quote show that a call is meant.
    fn misspelled(&self, tools: &Tools, text: &str) -> Option<(Range<usize>, usize)> {
        let (head, _) = window(text, HEAD_CHARS, true);
        let start = ws_run(head, 0);
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let length = head[start..].find(|c| !is_name(c)).unwrap_or(head.len() - start);
        let (name, after) = (start..start + length, &head[start + length..]);
        let ends = self.ends.implicit_closers.iter().any(|mark| after.starts_with(mark));
        let opens = after.starts_with(['[', '(', '"', '\'']) && !ends;
        let meant = opens || tools.find(&head[name.clone()]).is_some();
        (!name.is_empty() && meant).then_some((name.clone(), name.end))
    }

    /// Whether a call with this name is read with the same name.
    fn holds(&self, name: &str) -> bool {
        let index = if matches!(self.id, IdForm::Indexed) { ":0" } else { "" };
        let written = format!("{}{name}{index}{}{{", self.prefix, self.around_arguments.0);
        match self.head(&written, true) {
            Scan::Match(NamedHead::Name(read, _)) => written.get(read) == Some(name),
            _ => false,
        }
    }
}

/// Where the arguments begin after the mark of the name.
fn after(at: usize, mark: &str) -> usize {
    // A brace or a line break belongs to the arguments.
    if matches!(mark, "{" | "\n" | "```") { at } else { at + mark.len() }
}

/// An id without its last `:INDEX`.
fn without_index(id: &str) -> &str {
    let digits = |index: &str| !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    id.rsplit_once(':').filter(|(_, index)| digits(index)).map_or(id, |(name, _)| name)
}

/// An id of nine letters or digits: the host's, if it has this form.
fn nine(call: &PastCall<'_>) -> String {
    let fits = |id: &&str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    call.id.filter(fits).map_or_else(|| format!("{:09}", call.before % 1_000_000_000), str::to_owned)
}

/// The host's id if no mark can be in it, or ten digits.
fn plain_id(call: &PastCall<'_>) -> String {
    let fits =
        |id: &&str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    call.id.filter(fits).map_or_else(|| format!("{:010}", call.before), str::to_owned)
}

impl NamedJson {
    /// What divides a call. What precedes the name may be a word and a marker.
    fn inside(&self) -> impl Iterator<Item = &'static str> {
        let prefix = self.prefix.find('<').map(|at| &self.prefix[at..]);
        let marks = self.name_terminators.iter().copied().chain(prefix);
        marks.filter(|mark| mark.len() > 1 && mark.contains(|c: char| c.is_alphabetic()))
    }
}

impl CallFormat for NamedJson {
    fn has_lists(&self) -> bool {
        self.json_list.is_some()
    }

    fn openers(&self) -> &'static [&'static str] {
        self.open
    }

    fn mark(&self, marks: &mut MarkSet) {
        marks.extend(MarkRole::Inside, self.inside());
    }

    fn close(&self) -> &'static str {
        if self.ends.close.is_empty() { self.end_of_message } else { self.ends.close }
    }

    fn orphan(&self, tools: &Tools, text: &str, last: bool) -> Scan<usize> {
        orphan(tools, self.inside(), text, HEAD_CHARS, last)
    }

    fn attempt(&self, tools: &Tools, _: &Settings, text: &str, last: bool) -> Attempt {
        let open = self.opener().len();
        match starts(text, self.opener(), last) {
            Scan::Match(()) => {}
            Scan::Incomplete => return Attempt::Incomplete,
            Scan::NoMatch => return Attempt::text(text),
        }
        match self.head(&text[open..], last) {
            Scan::Incomplete => Attempt::Incomplete,
            // The quotes in it count.
            Scan::Match(NamedHead::Name(name, _)) if leaves_open(&text[open..][name.clone()]) => {
                Attempt::call(open, open, Opening::OWN)
            }
            Scan::Match(NamedHead::Name(name, body)) => {
                let name = open + name.start..open + name.end;
                let lookup = tools.called(&text[name.clone()]);
                Attempt::named(open, (name, lookup), open + body, Opening::OWN)
            }
            Scan::Match(NamedHead::List(at)) => Attempt::call(open, open + at, Opening::OWN),
            Scan::Match(NamedHead::Nameless) | Scan::NoMatch if self.json_list.is_some() => {
                let Some((name, body)) = self.misspelled(tools, &text[open..]) else { return Attempt::Text(open) };
                let lookup = tools.called(&text[open + name.start..open + name.end]);
                Attempt::named(open, (open + name.start..open + name.end, lookup), open + body, Opening::OWN)
            }
            Scan::Match(NamedHead::Nameless) | Scan::NoMatch => Attempt::call(open, open, Opening::OWN),
        }
    }

    fn body(&self, cx: &Context<'_>, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        match self.json_list {
            Some(rules) if name.is_empty() => recycle(recycled, JsonCall::default, |body| body.reset_native(cx, rules)),
            _ => recycle(recycled, JsonCall::default, |body| body.reset_named(cx, *self.ends, name.is_empty())),
        }
    }

    fn write(&self, cx: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        if !self.holds(cx.tool) {
            return Err(EncodeError(format!("the name {:?} cannot be written in this format", cx.tool)));
        }
        out.push_str(self.opener());
        match (&self.id, self.id(cx.tool, call)) {
            (IdForm::Indexed, Some(id)) => out.push_str(&id),
            (IdForm::Marked { mark, .. }, Some(id)) => out.extend([self.prefix, cx.tool, mark, &id]),
            (IdForm::BeforeName { mark }, Some(id)) => out.extend([self.prefix, &id, mark, cx.tool]),
            _ => out.extend([self.prefix, cx.tool]),
        }
        out.push_str(self.around_arguments.0);
        write_spaced_object(call.arguments, out);
        out.push_str(self.around_arguments.1);
        out.push_str(self.ends.close);
        Ok(())
    }

    fn id(&self, name: &str, call: &PastCall<'_>) -> Option<String> {
        match self.id {
            IdForm::None | IdForm::Marked { written: false, .. } => None,
            IdForm::Indexed => {
                let fits =
                    |id: &&str| id.strip_prefix(self.prefix).is_some_and(|id| without_index(id) == name && id != name);
                Some(
                    call.id
                        .filter(fits)
                        .map_or_else(|| format!("{}{name}:{}", self.prefix, call.before), str::to_owned),
                )
            }
            IdForm::Marked { written: true, .. } => Some(nine(call)),
            IdForm::BeforeName { .. } => Some(plain_id(call)),
        }
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        json_field_example(field, value)
    }
}

impl JsonCall {
    /// Before the object.
    pub(super) fn start_named(&mut self, input: &mut Input<'_>, ends: &Ends) -> Flow {
        let first = input.next_byte()?;
        if first == b'(' && !ends.close.is_empty() {
            // Keyword arguments, as in Python.
            self.repair(input, Repair::CallStyle, "its arguments must be a JSON object")?;
            self.object = Object::keywords(&input.cx).in_native();
            self.state = JsonState::Reading { live: true };
            return Ok(());
        }
        let live = match first {
            b'{' => true,
            // The object as a string, or null.
            b'"' => false,
            b'n' if starts(input.rest(), "null", input.last).decided()?.is_some() => false,
            _ => {
                if first == b'`'
                    && !self.fenced
                    && let Some(length) = fence_length(input.rest()).decided()?
                {
                    if ends.fence.is_empty() {
                        self.repair(input, Repair::JsonWrapper, "nothing may surround the JSON object")?;
                        self.wrapper = Some(Wrapper::Fence);
                    }
                    input.at += length;
                    self.fenced = true;
                    return Ok(());
                }
                return fail(ErrorKind::MalformedCall, "its arguments must be a JSON object");
            }
        };
        if !live {
            self.aside.get_or_insert_default().reset();
        }
        let node = if live { input.cx.schema.root } else { UNKNOWN };
        self.object.renew(self.lexer.fresh(), node, self.quotes().filter(|_| live));
        self.state = JsonState::Reading { live };
        Ok(())
    }

    /// After the object.
    pub(super) fn named_tail(&mut self, input: &mut Input<'_>, ends: &Ends) -> Flow {
        input.next_byte()?;
        let Ends { close, implicit_closers, .. } = *ends;
        let rest = input.rest();
        if close.is_empty() {
            let ended = Scan::first_of(implicit_closers.iter().map(|mark| starts(rest, mark, input.last)));
            return match ended.decided()? {
                Some(()) => Err(Progress::CallEnd),
                None => fail(ErrorKind::MalformedCall, "nothing may follow its arguments"),
            };
        }
        // At the end of a message, half a closer is a call that was cut off.
        let closed = starts(rest, close, false);
        let fenced = if ends.fence.is_empty() { self.wrapper.is_none() } else { self.fenced };
        let fence_end = if fenced { Scan::NoMatch } else { starts(rest, FENCE, false) };
        if closed.is_match() {
            input.at += close.len();
            return Err(Progress::CallEnd);
        }
        if fence_end.is_match() {
            input.at += FENCE.len();
            (self.fenced, self.wrapper) = (true, None);
            return Ok(());
        }
        if rest.starts_with(['}', ']']) {
            self.extra_bracket(input)?;
            input.at += 1;
            return Ok(());
        }
        let ended = Scan::first_of(implicit_closers.iter().map(|mark| starts(rest, mark, false)));
        if ended.is_match() {
            input.repair(Repair::MissingClose, format!("Close the call with {close}."))?;
            return Err(Progress::CallEnd);
        }
        if [closed, fence_end, ended].iter().any(Scan::is_incomplete) {
            return Err(Progress::Incomplete);
        }
        fail(ErrorKind::MalformedCall, &format!("only {close} may follow the JSON object"))
    }
}
