//! The start of a call: OPEN, the tool's name and the first characters of the body, or other forms that models write.

use std::ops::Range;
use std::sync::Arc;

use super::is_plain_name;
use crate::arguments::is_declared;
use crate::error::Repair;
use crate::formats::attempt::{Attempt, Style};
use crate::formats::body::{Markers, Opening, Wrapper, json_start};
use crate::formats::commitment::{bad, misspelled, unreadable};
use crate::formats::settings::Settings;
use crate::limits::{ATTEMPT_CHARS, NAME_CHARS};
use crate::schema::{Additional, Schema};
use crate::syntax::marks::{OPEN, SPELLINGS};
use crate::syntax::misspelled::{goes_on, meant};
use crate::syntax::pairs::{Following, Lookahead};
use crate::syntax::quoting::is_quote;
use crate::syntax::scan::{Closers, Delimiters, Scan, first_chars, is_ws, starts, starts_as, ws_run};
use crate::syntax::tags::{OpenTag, QWEN3CODER, named_tag};
use crate::tools::{Lookup, Tools, without_namespace};

/// Scans a place where a call could begin.
pub(super) fn attempt(tools: &Tools, settings: &Settings, text: &str) -> Attempt {
    let open = &settings.delimiters.open;
    match starts(text, open, false) {
        Scan::Match(()) => CallHead::new((tools, settings), text, open.len(), None).attempt(),
        Scan::Incomplete => Attempt::Incomplete,
        Scan::NoMatch if open == OPEN => match respelled(tools, settings, text).unwrap_or_else(|other| other) {
            Attempt::Text(_) => misspelled(tools, settings, &SPELLINGS, text, false),
            attempt => attempt,
        },
        // Only the first byte was that of a marker.
        Scan::NoMatch => Attempt::text(text),
    }
}

/// What is in a call's place; an error if it is not what was looked for.
type Tried<T = Attempt> = Result<T, Attempt>;

/// OPEN in other case, with spaces, or with the tool's name as an attribute: `<CALL>`, `<call >`, `<call name="…">`.
#[cold]
fn respelled(tools: &Tools, settings: &Settings, text: &str) -> Tried {
    const STEP: Attempt = Attempt::Text(1);
    let begin = &OPEN[..OPEN.len() - 1];
    starts_as(text, begin, false).decided_or(Attempt::Incomplete)?.ok_or(STEP)?;
    let end = first_chars(text, ATTEMPT_CHARS);
    let after = ws_run(&text[..end], begin.len());
    let word = &text[1..begin.len()];
    // A call ends in the spelling of its opening.
    let delimiters = (word != &begin[1..]).then(|| Delimiters::of(&format!("<{word}>"), &format!("</{word}>")));
    let style = Style { repairs: vec![Repair::TagStyle], delimiters: delimiters.map(Arc::new) };
    let opened = |open: usize| CallHead::new((tools, settings), text, open, Some(style));
    match text.as_bytes()[..end].get(after) {
        None if end == text.len() => return Err(Attempt::Incomplete),
        Some(b'>') => match opened(after + 1).attempt() {
            Attempt::Call { name: Some((_, lookup)), .. } if lookup.tool().is_none() => return Err(STEP),
            attempt => return Ok(attempt),
        },
        Some(_) if after > begin.len() => {
            let name = starts_as(&text[after..end], "name", end < text.len());
            name.decided_or(Attempt::Incomplete)?.ok_or(STEP)?;
        }
        _ => return Err(STEP),
    }
    let head = named_tag(&text[..end], begin.len(), end < text.len());
    let head = head.decided_or(Attempt::Incomplete)?.ok_or(STEP)?;
    let name = head.name.clone().ok_or(STEP)?;
    let lookup = tools.lookup(&text[name.clone()]);
    if lookup.tool().is_none() {
        return Err(STEP);
    }
    match head.end.filter(|_| !head.more && !head.empty) {
        Some(end) => opened(end).body(&FoundName { ends: name.end, written: name, lookup, end }),
        None => {
            let opening = Opening::Params(OpenTag::of_attributes(&QWEN3CODER, "call"));
            Ok(Attempt::named(head.from, (name, lookup), head.from, opening))
        }
    }
}

/// Whether arguments with the members `name` and `arguments` alone never fit: an object with both can only be a call.
pub(super) fn may_repeat_name(schema: &Schema) -> bool {
    let keys = ["name", "arguments"];
    schema.node(schema.root).object.as_ref().is_some_and(|object| {
        let undeclared = !object.explicitly_open() && keys.iter().all(|key| object.properties.get(key).is_none());
        let misses = object.required.iter().any(|key| !keys.contains(&key.as_str()));
        undeclared && (misses || object.additional == Additional::Closed)
    })
}

/// A tool's name.
struct FoundName {
    written: Range<usize>,
    lookup: Lookup,
    /// Where the name ends, without and with its decoration.
    ends: usize,
    end: usize,
}

/// Where an object begins, in a wrapper or not.
type Start = Scan<(usize, Option<Wrapper>)>;

/// The text of an attempt, up to [`ATTEMPT_CHARS`] after what opens it.
struct CallHead<'a> {
    tools: &'a Tools,
    settings: &'a Settings,
    text: &'a str,
    /// Where the opening ends.
    open: usize,
    /// The text was cut after `ATTEMPT_CHARS`.
    last: bool,
    /// How the opening differs from the usual one.
    style: Option<Style>,
}

impl<'a> CallHead<'a> {
    fn new((tools, settings): (&'a Tools, &'a Settings), text: &'a str, open: usize, style: Option<Style>) -> Self {
        let end = open + first_chars(&text[open..], ATTEMPT_CHARS);
        CallHead { tools, settings, text: &text[..end], open, last: end < text.len(), style }
    }

    fn delimiters(&self) -> &Delimiters {
        let own = || self.style.as_ref()?.delimiters.as_deref();
        own().unwrap_or(&self.settings.delimiters)
    }

    fn need(&self) -> Attempt {
        if self.last { Attempt::Text(self.open) } else { Attempt::Incomplete }
    }

    fn closers(&self) -> Closers {
        let respelled = self.style.as_ref().is_some_and(|style| style.delimiters.is_some());
        if respelled { Closers::Spelled(&["</call>"]) } else { Closers::Own }
    }

    fn bad(&self, tool: usize) -> Attempt {
        bad(self.tools, self.open, tool, self.closers(), false)
    }

    fn call(&self, named: Option<&FoundName>, body: usize, opening: Opening, repair: Option<Repair>) -> Attempt {
        let mut style = self.style.clone();
        if let Some(repair) = repair {
            style.get_or_insert_default().repairs.push(repair);
        }
        let name = named.map(|named| (named.written.clone(), named.lookup));
        Attempt::Call { lead: 0, open: self.open, name, body, opening, style: style.map(Box::new) }
    }

    fn attempt(&self) -> Attempt {
        self.read().unwrap_or_else(|other| other)
    }

    fn read(&self) -> Tried {
        let (tools, text) = (self.tools, self.text);
        let bytes = text.as_bytes();
        let start = ws_run(text, self.open);
        if let Some((at, wrapper)) = self.envelope(start).decided_or(self.need())? {
            return Ok(self.envelope_at(at, wrapper));
        }
        let length = self.delimiters().name_run(&text[start..]);
        let end = start + length;
        let written = &text[start..end];
        let long = first_chars(written, NAME_CHARS) < length;
        let direct = length == 0 || matches!(bytes.get(end), Some(b'=' | b'"' | b'\''));
        if length > 0 && end == bytes.len() {
            return Err(self.need());
        }
        let lookup = tools.lookup(written);
        if lookup.tool().is_none() || direct {
            if let Some(named) = self.decorated(start).decided_or(self.need())? {
                return self.body(&named);
            }
            let tool = meant(&text[self.open..], self.last, self.delimiters(), &|name| tools.find(name));
            match tool.decided_or(self.need())? {
                Some(tool) => return Ok(self.bad(tool)),
                None if self.is_nameless(end).decided_or(self.need())?.is_some() => {
                    return Ok(unreadable(tools, self.open, None, self.closers()));
                }
                None if direct || long => return Err(Attempt::Text(self.open)),
                None => {}
            }
        }
        self.body(&FoundName { written: start..end, lookup, ends: end, end })
    }

    /// Whether arguments follow OPEN where a name should be: the key ends at byte `end`, and a value follows, or a quote after
    /// whitespace.
    fn is_nameless(&self, end: usize) -> Scan {
        let Some(value) = self.text[end..].strip_prefix('=') else { return Scan::NoMatch };
        let blanks = ws_run(value, 0);
        match value.as_bytes().get(blanks) {
            None => Scan::at_end(self.last),
            Some(byte) if blanks == 0 => Scan::some((!b"=<>".contains(byte)).then_some(())),
            Some(byte) => Scan::some(is_quote(*byte).then_some(())),
        }
    }

    /// An object with the call's name and arguments, or a list of such objects, in a wrapper or not.
    fn envelope(&self, at: usize) -> Start {
        let rest = &self.text[at..];
        let is_tool = || self.tools.find(&rest[..self.delimiters().name_run(rest)]).is_some();
        match rest.as_bytes().first() {
            None => Scan::Incomplete,
            Some(b'[') => json_start(self.text, at, false, true, true),
            // A tool may have the name of a fence.
            Some(_) => self.object(at).filter(|(_, wrapper)| wrapper.is_none() || !is_tool()),
        }
    }

    fn envelope_at(&self, at: usize, wrapper: Option<Wrapper>) -> Attempt {
        self.call(None, at, Opening::Envelope(wrapper, Markers::Close), Some(Repair::CallStyle))
    }

    /// An object, in a wrapper or not.
    fn object(&self, at: usize) -> Start {
        json_start(self.text, at, self.last, true, false)
    }

    /// The name of a declared tool in quotes, after a namespace, or followed by a colon, a comma or an opening parenthesis.
    #[inline(never)]
    fn decorated(&self, start: usize) -> Scan<FoundName> {
        let (text, bytes) = (self.text, self.text.as_bytes());
        let quote = bytes[start];
        let quoted = is_quote(quote) || quote == b'`';
        let from = start + usize::from(quoted);
        let ends = |c: char| match quoted {
            // A name has no whitespace. Prose also quotes tags.
            true => c == char::from(quote) || c.is_ascii_whitespace() || self.delimiters().is_first(c),
            false => c.is_ascii_whitespace() || "(,{\"'=`".contains(c) || self.delimiters().is_first(c),
        };
        let Some(length) = text[from..].find(ends) else {
            return Scan::at_end(self.last);
        };
        let mut end = from + length;
        if quoted && bytes[end] != quote {
            return Scan::NoMatch;
        }
        let mut word = &text[from..end];
        let mut styled = quoted;
        end += usize::from(quoted);
        if !quoted && let Some(name) = word.strip_suffix(':') {
            (word, styled) = (name, true);
        } else if matches!(bytes.get(end), Some(b',' | b':')) {
            (end, styled) = (end + 1, true);
        }
        let (lookup, styled) =
            match (self.tools.lookup(word), without_namespace(word).map(|name| self.tools.lookup(name))) {
                (Lookup::Unknown | Lookup::Open, Some(lookup)) => (lookup, true),
                (lookup, _) => (lookup, styled),
            };
        let Some(tool) = lookup.tool() else { return Scan::NoMatch };
        match bytes.get(end) {
            None if !self.last => return Scan::Incomplete,
            Some(byte) if is_ws(*byte) || b"({`".contains(byte) => {}
            Some(_) if text[end..].starts_with(|c| self.delimiters().is_first(c)) => {}
            _ => return Scan::NoMatch,
        }
        let lookup = if styled { Lookup::Folded(tool) } else { lookup };
        Scan::Match(FoundName { written: start..end, lookup, ends: from + length, end })
    }

    /// Whether the object begins with the name of this tool again, and cannot be its arguments.
    #[inline(never)]
    fn repeats_name(&self, at: usize, tool: usize) -> Scan {
        let tool = self.tools.at(tool);
        if !may_repeat_name(&tool.schema) {
            return Scan::NoMatch;
        }
        // One byte is enough to reject most objects.
        let key = ws_run(self.text, at + 1);
        if self.text.as_bytes().get(key + 1).is_some_and(|byte| *byte != b'n') {
            return Scan::NoMatch;
        }
        let mut at = at;
        for part in ["{", "\"name\"", ":", &format!("\"{}\"", tool.name), ","] {
            match starts(&self.text[at..], part, self.last) {
                Scan::Match(()) => at = ws_run(self.text, at + part.len()),
                mark => return mark,
            }
        }
        Scan::Match(())
    }

    /// What follows the name.
    fn body(&self, named: &FoundName) -> Tried {
        let CallHead { tools, text, open, last, .. } = *self;
        let bytes = text.as_bytes();
        let delimiters = self.delimiters();
        let tool = named.lookup.tool();
        let token = ws_run(text, named.end);
        let opened = |at: usize, opening: Opening| Ok(self.call(Some(named), at, opening, None));
        let pairs = || opened(named.end, Opening::OWN);
        let &byte = bytes.get(token).ok_or(self.need())?;
        if byte == b'(' && tool.is_some() {
            let inside = ws_run(text, token + 1);
            return match bytes.get(inside).ok_or(self.need())? {
                b'{' => opened(inside, Opening::Object(Some(Wrapper::Parentheses))),
                _ => Ok(self.call(Some(named), token, Opening::Keywords, Some(Repair::CallStyle))),
            };
        }
        if let Some((at, wrapper)) = self.object(token).decided_or(self.need())? {
            let repeats = tool.filter(|_| wrapper.is_none()).map_or(Scan::NoMatch, |tool| self.repeats_name(at, tool));
            return match repeats.decided_or(self.need())? {
                Some(()) => Ok(self.envelope_at(at, None)),
                None => opened(at, Opening::Object(wrapper)),
            };
        }
        if token > named.end && byte != b',' {
            let rest = &text[token..];
            let is_field = |key: &str| tool.is_some_and(|tool| is_declared(&tools.at(tool).schema, key));
            match Lookahead::default().look(rest, last, delimiters) {
                Following::Need => return Err(self.need()),
                Following::Pair { length, direct, .. } if direct || is_field(&rest[..length]) => return pairs(),
                _ => {}
            }
        }
        // A declared tool's name that continues like a call is a call or an error.
        if tool.is_some() && goes_on(text, named.ends, last, delimiters).decided_or(self.need())?.is_some() {
            return pairs();
        }
        // Prose, unless it is closed like a call. That needs a known name, or one that directly follows OPEN.
        let plain = || named.written.start == open && is_plain_name(&text[named.written.clone()]);
        if tool.is_none() && !plain() {
            return Err(Attempt::Text(open));
        }
        let mut at = named.end;
        while let Some(offset) = text[at..].find(|c| delimiters.is_first(c)) {
            at += offset;
            let rest = &text[at..];
            match (starts(rest, &delimiters.open, last), delimiters.closes(rest, last).void()) {
                (Scan::Match(()), _) => return Err(Attempt::Text(open)),
                (_, Scan::Match(())) => return pairs(),
                (Scan::Incomplete, _) | (_, Scan::Incomplete) => return Err(self.need()),
                (Scan::NoMatch, Scan::NoMatch) => at += rest.chars().next().map_or(1, char::len_utf8),
            }
        }
        Err(self.need())
    }
}
