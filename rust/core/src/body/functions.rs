//! The body of a call whose parameters stand in tags, from behind what opened its function.

use std::borrow::Cow;

use super::fields::{Fields, Slot};
use super::{Bad, Context, Failure, Format, Found, Io, Object, Skip, Step};
use crate::error::{ErrorKind, Repair};
use crate::functions::{
    CDATA, Look, Opened, PARAMETER, Parameter, Tag, VALUE, WRAPPER, begins, closes, closes_function, closes_parameter,
    opener, opens, parameter,
};
use crate::scan::{Mark, is_ws, starts, ws_run};
use crate::tree::Tree;
use crate::xml::decode_part;

use super::tree::Lists;

#[derive(Debug)]
enum State {
    /// A function of the same block is opened here.
    Opener,
    /// In front of a parameter, or of what closes the function. `first`: directly behind what opened it.
    Between {
        first: bool,
    },
    Value(Box<Value>),
    /// The arguments are one JSON object.
    Object(Box<Object>),
    /// Reading on behind a failure in that object.
    Skip(Skip),
    /// The function is closed; `blanks` behind it were looked at.
    Tail {
        blanks: usize,
    },
}

#[derive(Debug)]
pub struct Functions {
    opened: Opened,
    state: State,
    fields: Fields,
    /// The arguments were one JSON object.
    whole: bool,
    /// The call has failed: only its end is looked for.
    failed: bool,
}

/// What one state made of the window.
enum Move {
    To(State),
    Step(Step),
}

impl Format for Functions {
    fn feed(&mut self, io: &mut Io<'_>) -> Step {
        loop {
            let moved = match &mut self.state {
                State::Opener => self.opener(io),
                State::Between { first } => {
                    let first = *first;
                    self.between(io, first)
                }
                State::Value(_) => self.value(io),
                State::Object(object) => match object.feed(io) {
                    Ok(true) => Ok(Move::To(State::Between { first: false })),
                    Ok(false) => Ok(Move::Step(Step::Need)),
                    Err(Failure { kind, message, skip }) => {
                        self.state = State::Skip(skip);
                        Err((kind, message))
                    }
                },
                State::Skip(skip) => Ok(read_over(io, skip)),
                State::Tail { blanks } => {
                    let blanks = *blanks;
                    self.tail(io, blanks)
                }
            };
            match moved {
                Ok(Move::To(next)) => self.state = next,
                Ok(Move::Step(step)) => return step,
                Err((kind, message)) => {
                    return Step::Failed(Failure { kind, message, skip: Skip::Body });
                }
            }
        }
    }

    fn read_on(&mut self, io: &mut Io<'_>) -> Step {
        if !self.failed {
            self.failed = true;
            match &mut self.state {
                State::Value(value) => value.slot = None,
                State::Object(object) => self.state = State::Skip(object.skip()),
                State::Opener | State::Between { .. } | State::Skip(_) | State::Tail { .. } => {}
            }
        }
        self.feed(io)
    }

    /// Takes text that is inside a string which is passed on, and ends nothing.
    fn feed_plain(&mut self, found: &mut Found, text: &str) -> Option<bool> {
        let State::Value(value) = &mut self.state else { return None };
        if !value.is_live() || memchr::memchr2(b'<', b'&', text.as_bytes()).is_some() {
            return None;
        }
        value.take(found, text, false);
        Some(false)
    }

    /// The next function of the block.
    fn next(&mut self) -> Option<Box<dyn Format>> {
        Some(Box::new(Functions { state: State::Opener, ..Functions::new(self.opened) }))
    }

    /// Is the call complete, but for what may still belong to it?
    fn is_complete(&self) -> bool {
        !self.opened.wrapped && !self.failed && matches!(self.state, State::Tail { .. })
    }

    /// Is a value open?
    fn unterminated(&self) -> bool {
        matches!(self.state, State::Value(_) | State::Object(_))
    }

    fn finish(&self, found: &mut Found) {
        if self.whole { found.args.release() } else { found.args.close() }
    }
}

impl Functions {
    pub fn new(opened: Opened) -> Self {
        Functions {
            opened,
            state: State::Between { first: true },
            fields: Fields::new(Lists::Elements),
            whole: false,
            failed: false,
        }
    }

    fn repair(&self, io: &mut Io<'_>, repair: Repair) -> Result<(), Bad> {
        if self.failed {
            return Ok(());
        }
        let cx = io.cx;
        cx.repair(io.found, repair).map_err(|kind| (kind, format!("Write it in the usual form: {}", example(&cx))))
    }

    /// The call is complete: what has waited is written.
    fn complete(&mut self, io: &mut Io<'_>) -> Result<(), Bad> {
        if self.failed || self.whole {
            return Ok(());
        }
        self.fields.finish(&io.cx, io.found)
    }

    /// It is complete, and what should close it is not there.
    fn complete_unclosed(&mut self, io: &mut Io<'_>) -> Result<(), Bad> {
        self.repair(io, Repair::MissingClose)?;
        self.complete(io)
    }

    fn opener(&mut self, io: &mut Io<'_>) -> Result<Move, Bad> {
        match opener(io.rest(), io.last, false, &|_, _| false) {
            Look::Need => Ok(Move::Step(Step::Need)),
            Look::Yes(found) => {
                let name = io.rest()[found.name].to_owned();
                io.at += found.body;
                self.opened = Opened { wrapped: self.opened.wrapped, ..found.opened };
                self.state = State::Between { first: true };
                Ok(if self.failed { Move::To(State::Between { first: true }) } else { Move::Step(Step::Named(name)) })
            }
            Look::No => Ok(Move::To(State::Between { first: true })),
        }
    }

    fn between(&mut self, io: &mut Io<'_>, first: bool) -> Result<Move, Bad> {
        if first {
            if self.opened.styled {
                self.repair(io, Repair::TagStyle)?;
            }
            if !self.opened.wrapped {
                self.repair(io, Repair::MissingWrapper)?;
            }
            if self.opened.empty {
                return self.closed(io);
            }
        }
        io.at = ws_run(io.window, io.at);
        let (rest, last) = (io.rest(), io.last);
        let Some(&byte) = rest.as_bytes().first() else {
            if !last || self.failed {
                return Ok(Move::Step(Step::Need));
            }
            self.complete_unclosed(io)?;
            return Ok(Move::Step(Step::Done));
        };
        if byte == b'{' && first {
            if self.failed {
                return Ok(Move::To(State::Skip(Skip::TokenStart)));
            }
            self.whole = true;
            let object = Object::new(&io.cx, io.cx.schema.root, String::new(), 0);
            return Ok(Move::To(State::Object(Box::new(object))));
        }
        // Nothing else begins like the usual parameter.
        if rest.as_bytes().get(1) == Some(&b'p')
            && let Look::Yes(state) = self.parameter(io)?
        {
            return Ok(Move::To(state));
        }
        if byte == b'<' {
            let mut needs = false;
            let mut at = |look: Look<usize>| {
                needs |= look == Look::Need;
                if let Look::Yes(length) = look { Some(length) } else { None }
            };
            if let Some(length) = at(self.closes(io, rest)) {
                io.at += length;
                return self.closed(io);
            }
            if let Some(length) = at(closes(rest, WRAPPER, last)) {
                match self.opened.tag {
                    Tag::Wrapper => self.complete(io)?,
                    Tag::Function(_) | Tag::Own => self.complete_unclosed(io)?,
                }
                io.at += length;
                return Ok(Move::Step(Step::Done));
            }
            if let Some(length) = at(closes_function(rest, last)) {
                self.repair(io, Repair::TagStyle)?;
                io.at += length;
                return self.closed(io);
            }
            if let Some(length) = at(closes_parameter(rest, last)) {
                self.repair(io, Repair::TagStyle)?;
                io.at += length;
                return Ok(Move::To(State::Between { first: false }));
            }
            let function = opener(rest, last, false, &|_, _| false).map(|_| 0);
            if at(function).is_some() {
                self.complete_unclosed(io)?;
                return Ok(self.another());
            }
            if at(begins(&rest[1..], WRAPPER, last)).is_some() {
                self.complete_unclosed(io)?;
                return Ok(Move::Step(Step::Done));
            }
            match self.parameter(io)? {
                Look::Yes(state) => return Ok(Move::To(state)),
                Look::Need => return Ok(Move::Step(Step::Need)),
                Look::No if needs => return Ok(Move::Step(Step::Need)),
                Look::No => {}
            }
        } else if !self.failed {
            match self.parameter(io)? {
                Look::Yes(state) => return Ok(Move::To(state)),
                Look::Need => return Ok(Move::Step(Step::Need)),
                Look::No => {}
            }
        }
        if self.failed {
            // Whatever it is, it is no mark.
            io.at += memchr::memchr(b'<', &rest.as_bytes()[1..]).map_or(rest.len(), |length| 1 + length);
            return Ok(Move::To(State::Between { first: false }));
        }
        let message = format!("{}: parameters stand in tags, and nothing else. Write: {}", io.cx.tool, example(&io.cx));
        Err((ErrorKind::MalformedCall, message))
    }

    /// The closing tag of the function.
    fn closes(&self, io: &Io<'_>, rest: &str) -> Look<usize> {
        match self.opened.tag {
            Tag::Function(tag) => closes(rest, tag, io.last),
            Tag::Own => closes(rest, io.cx.tool, io.last),
            Tag::Wrapper => Look::No,
        }
    }

    /// A parameter opens at `io.at`: its value is read next.
    fn parameter(&mut self, io: &mut Io<'_>) -> Result<Look<State>, Bad> {
        let (cx, rest) = (io.cx, io.rest());
        let declared = |name: &str| {
            let object = cx.schema.node(cx.schema.root).object.as_ref();
            object.is_some_and(|object| object.properties.get(name).is_some())
        };
        let Parameter { tag, key, apart, empty, styled, end } = match parameter(rest, io.last, &declared) {
            Look::Yes(_) if self.whole && !self.failed => return Ok(Look::No),
            Look::Yes(found) => found,
            Look::Need => return Ok(Look::Need),
            Look::No => return Ok(Look::No),
        };
        if styled {
            self.repair(io, Repair::TagStyle)?;
        }
        io.at += end;
        let mut value = Box::new(Value::new(&rest[tag], apart));
        let opened = (!self.failed).then(|| self.fields.open(&cx, io.found, &rest[key], false)).transpose();
        match opened {
            Ok(slot) => value.slot = slot,
            Err(bad) => {
                self.state = if empty { State::Between { first: false } } else { State::Value(value) };
                return Err(bad);
            }
        }
        if empty {
            self.state = State::Between { first: false };
            value.end(&cx, io.found, &mut self.fields)?;
            return Ok(Look::Yes(State::Between { first: false }));
        }
        Ok(Look::Yes(State::Value(value)))
    }

    fn value(&mut self, io: &mut Io<'_>) -> Result<Move, Bad> {
        let State::Value(value) = &mut self.state else { return Ok(Move::Step(Step::Need)) };
        let outer = Outer { function: self.opened.tag, failed: self.failed };
        match value.read(io, outer)? {
            Read::Need => return Ok(Move::Step(Step::Need)),
            Read::Closed => {}
            Read::Open => {
                if value.kept {
                    let message =
                        "A value with a tag of a call in it is never closed. Write &lt; for the < of such tags.";
                    self.state = State::Between { first: false };
                    return Err((ErrorKind::UnterminatedValue, message.into()));
                }
                if !value.apart && !self.failed {
                    let cx = io.cx;
                    let repaired = cx.repair(io.found, Repair::MissingClose);
                    repaired.map_err(|kind| (kind, format!("A parameter is not closed. Write: {}", example(&cx))))?;
                }
            }
        }
        let State::Value(value) = std::mem::replace(&mut self.state, State::Between { first: false }) else {
            return Ok(Move::Step(Step::Need));
        };
        value.end(&io.cx, io.found, &mut self.fields)?;
        Ok(Move::To(State::Between { first: false }))
    }

    /// The function is closed.
    fn closed(&mut self, io: &mut Io<'_>) -> Result<Move, Bad> {
        self.state = State::Tail { blanks: 0 };
        self.complete(io)?;
        Ok(Move::To(State::Tail { blanks: 0 }))
    }

    /// Another function is opened at `io.at`.
    fn another(&mut self) -> Move {
        if !self.opened.wrapped {
            return Move::Step(Step::Done);
        }
        // A call that counts for nothing is read on by the same body.
        self.state = State::Opener;
        Move::Step(Step::Next)
    }

    fn tail(&mut self, io: &mut Io<'_>, blanks: usize) -> Result<Move, Bad> {
        let rest = io.rest();
        let blanks = ws_run(rest, blanks);
        self.state = State::Tail { blanks };
        let (rest, last) = (&rest[blanks..], io.last);
        let done = |at: &mut usize, length: usize| {
            *at += length;
            Ok(Move::Step(Step::Done))
        };
        let mut needs = rest.is_empty() && !last;
        if rest.starts_with('<') {
            let ends = closes(rest, WRAPPER, last);
            if let Look::Yes(length) = ends {
                return done(&mut io.at, blanks + length);
            }
            needs |= ends == Look::Need;
            if self.opened.wrapped {
                let function = opener(rest, last, false, &|_, _| false);
                if let Look::Yes(_) = function {
                    io.at += blanks;
                    return Ok(self.another());
                }
                let stray = closes_function(rest, last).or(|| closes_parameter(rest, last));
                if let Look::Yes(length) = stray {
                    self.repair(io, Repair::TagStyle)?;
                    io.at += blanks + length;
                    return Ok(Move::To(State::Tail { blanks: 0 }));
                }
                needs |= function == Look::Need || stray == Look::Need;
            }
        }
        if needs {
            return Ok(Move::Step(Step::Need));
        }
        if self.opened.wrapped {
            self.repair(io, Repair::MissingClose)?;
        }
        done(&mut io.at, 0)
    }
}

fn example(cx: &Context<'_>) -> String {
    cx.protocol.example(cx)
}

/// Reads over the rest of a JSON object.
fn read_over(io: &mut Io<'_>, skip: &mut Skip) -> Move {
    let bytes = io.window.as_bytes();
    loop {
        match skip {
            Skip::Bracketed { .. } | Skip::Quoted { .. } | Skip::ValueStart | Skip::TokenStart => {}
            Skip::Key { .. } | Skip::Bare | Skip::After | Skip::Body => {
                return Move::To(State::Between { first: false });
            }
        }
        let Some(&byte) = bytes.get(io.at) else { return Move::Step(Step::Need) };
        *skip = skip.step(byte);
        io.at += 1;
    }
}

/// What may end a value from outside.
#[derive(Clone, Copy)]
struct Outer {
    function: Tag,
    failed: bool,
}

/// How a value ends.
enum Read {
    Need,
    /// With its closing tag.
    Closed,
    /// In front of another tag.
    Open,
}

/// What stands at `<`.
enum At {
    Need,
    Text,
    /// The closing tag, of so many bytes.
    Close(usize),
    /// A closing tag that closes nothing.
    Kept(usize),
    Outer,
}

/// The value of one parameter.
#[derive(Debug, Default)]
struct Value {
    /// The name of its tag.
    tag: Cow<'static, str>,
    /// Its key stood between tags.
    apart: bool,
    /// `None` where the call has failed.
    slot: Option<Slot>,
    /// Its parts go out as they come.
    live: bool,
    text: String,
    /// Something other than blanks was there.
    begun: bool,
    /// Blanks that may be the end, and the last byte in front of them.
    blanks: String,
    before: u8,
    /// It began with a CDATA section; `Some(true)`: one is open.
    cdata: Option<bool>,
    /// It began with a tag that is no part of it.
    inner: bool,
    /// A tag that could end it, or begin another call, was taken for text: then its own must end it.
    kept: bool,
    /// Blanks behind a closing tag that were looked at.
    looked: usize,
}

impl Value {
    fn new(tag: &str, apart: bool) -> Self {
        let tag = if tag == PARAMETER { Cow::Borrowed(PARAMETER) } else { Cow::Owned(tag.to_owned()) };
        Value { tag, apart, ..Value::default() }
    }

    /// Does text go straight out?
    fn is_live(&self) -> bool {
        self.live && self.begun && self.cdata != Some(true)
    }

    /// Passes decoded text on.
    fn pass(&mut self, found: &mut Found, part: &str) {
        match &self.slot {
            Some(slot) if self.live => slot.push(found, part),
            Some(_) => self.text.push_str(part),
            None => {}
        }
    }

    /// The value begins with something that is no blank.
    fn begin(&mut self, cx: &Context<'_>, found: &mut Found) -> Result<(), Bad> {
        self.begun = true;
        if let Some(slot) = &mut self.slot
            && !self.inner
            && slot.is_string(cx)
        {
            slot.start(cx, found)?;
            self.live = true;
        }
        Ok(())
    }

    fn flush_blanks(&mut self, found: &mut Found) {
        let blanks = std::mem::take(&mut self.blanks);
        self.pass(found, &blanks);
    }

    /// Takes text without tags, of which `ended` says that a `<` follows. Returns the bytes taken: an entity may be cut.
    fn take(&mut self, found: &mut Found, part: &str, ended: bool) -> usize {
        let kept = part.trim_end_matches(|c: char| c.is_ascii() && is_ws(c as u8));
        let tail = &part[kept.len()..];
        if !kept.is_empty() {
            self.flush_blanks(found);
            let taken = decode_part(kept, ended || !tail.is_empty(), &mut |part| self.pass(found, part));
            if taken > 0 {
                self.before = kept.as_bytes()[taken - 1];
            }
            if taken < kept.len() {
                return taken;
            }
        }
        self.blanks.push_str(tail);
        part.len()
    }

    /// May a tag that is not the value's own end it here? In the middle of a line, and behind an opening quote, it is spoken of.
    fn is_edge(&self) -> bool {
        !self.begun
            || self.blanks.contains(['\n', '\r'])
            || (self.blanks.is_empty() && !matches!(self.before, b'"' | b'\'' | b'`' | b'(' | b'[' | b'{'))
    }

    /// Reads on from `io.at`.
    fn read(&mut self, io: &mut Io<'_>, outer: Outer) -> Result<Read, Bad> {
        loop {
            if self.cdata == Some(true) {
                if !self.section(io) {
                    return Ok(Read::Need);
                }
                continue;
            }
            if !self.begun {
                io.at = ws_run(io.window, io.at);
            }
            let rest = io.rest();
            let Some(&byte) = rest.as_bytes().first() else { return Ok(Read::Need) };
            if byte != b'<' {
                if !self.begun {
                    self.begin(&io.cx, io.found)?;
                }
                let end = memchr::memchr(b'<', rest.as_bytes());
                let part = &rest[..end.unwrap_or(rest.len())];
                let taken = self.take(io.found, part, end.is_some());
                io.at += taken;
                if taken < part.len() {
                    return Ok(Read::Need);
                }
                continue;
            }
            match self.at(io, outer) {
                At::Need => return Ok(Read::Need),
                At::Close(length) => {
                    io.at += length;
                    return Ok(Read::Closed);
                }
                At::Outer => return Ok(Read::Open),
                At::Kept(length) => {
                    if !outer.failed {
                        io.found.repair(Repair::InnerTags);
                    }
                    self.kept = true;
                    self.looked = 0;
                    self.special(io, length)?;
                    continue;
                }
                At::Text => {}
            }
            let special = if self.begun && self.cdata.is_none() {
                Look::No
            } else {
                match starts(rest, CDATA, io.last) {
                    Mark::Yes => Look::Yes(()),
                    Mark::Partial => Look::Need,
                    Mark::No => Look::No,
                }
            };
            match special {
                Look::Need => return Ok(Read::Need),
                Look::Yes(()) => {
                    if !self.begun {
                        self.begin(&io.cx, io.found)?;
                    }
                    self.flush_blanks(io.found);
                    self.cdata = Some(true);
                    io.at += CDATA.len();
                }
                Look::No => {
                    if !self.begun {
                        match begins(&rest[1..], VALUE, io.last) {
                            Look::Need => return Ok(Read::Need),
                            Look::Yes(length) if rest.as_bytes()[1 + length] == b'>' => self.inner = true,
                            Look::Yes(_) | Look::No => {}
                        }
                        self.begin(&io.cx, io.found)?;
                    }
                    self.special(io, 1)?;
                }
            }
        }
    }

    /// Takes what looks like a tag, or a part of one, as text.
    fn special(&mut self, io: &mut Io<'_>, length: usize) -> Result<(), Bad> {
        if !self.begun {
            self.begin(&io.cx, io.found)?;
        }
        self.flush_blanks(io.found);
        let part = &io.rest()[..length];
        self.pass(io.found, part);
        self.before = part.as_bytes()[length - 1];
        io.at += length;
        Ok(())
    }

    /// Reads in a CDATA section. True: it has ended.
    fn section(&mut self, io: &mut Io<'_>) -> bool {
        let rest = io.rest();
        let end = memchr::memmem::find(rest.as_bytes(), b"]]>");
        let held = if rest.ends_with("]]") { 2 } else { usize::from(rest.ends_with(']')) };
        let part = &rest[..end.unwrap_or(rest.len() - held)];
        self.pass(io.found, part);
        self.before = b'>';
        io.at += part.len() + if end.is_some() { 3 } else { 0 };
        if end.is_some() {
            self.cdata = Some(false);
        }
        end.is_some()
    }

    fn at(&mut self, io: &Io<'_>, outer: Outer) -> At {
        let (rest, last) = (io.rest(), io.last);
        let mut needs = false;
        match closes(rest, &self.tag, last) {
            Look::Yes(length) => return self.close(io, length),
            Look::Need => needs = true,
            Look::No => {}
        }
        if self.is_edge() {
            let function = match outer.function {
                Tag::Function(tag) => closes(rest, tag, last),
                Tag::Own => closes(rest, io.cx.tool, last),
                Tag::Wrapper => Look::No,
            };
            let another = || match self.apart {
                true => begins(&rest[1..], &self.tag, last),
                false => opens(rest, &self.tag, last),
            };
            match function.or(|| closes(rest, WRAPPER, last)).or(another) {
                Look::Yes(_) => return At::Outer,
                Look::Need => needs = true,
                Look::No => {}
            }
            // Another call may be spoken of here, but then the value must be closed.
            let call = match outer.function {
                Tag::Function(tag) => opens(rest, tag, last),
                Tag::Own | Tag::Wrapper => Look::No,
            };
            match call.or(|| begins(&rest[1..], WRAPPER, last)) {
                Look::Yes(_) => self.kept = true,
                Look::Need => needs = true,
                Look::No => {}
            }
        }
        if needs { At::Need } else { At::Text }
    }

    /// A closing tag of the value's own, of so many bytes: it is one if a tag follows.
    fn close(&mut self, io: &Io<'_>, length: usize) -> At {
        let rest = io.rest();
        let behind = ws_run(rest, length + self.looked);
        self.looked = behind - length;
        match rest.as_bytes().get(behind) {
            Some(b'<') => At::Close(length),
            _ if io.cx.strict => At::Close(length),
            Some(_) => At::Kept(length),
            None if io.last => At::Close(length),
            None => At::Need,
        }
    }

    /// The value is complete.
    fn end(mut self, cx: &Context<'_>, found: &mut Found, fields: &mut Fields) -> Result<(), Bad> {
        if !self.begun {
            self.begin(cx, found)?;
        }
        let Some(slot) = self.slot.take() else { return Ok(()) };
        if self.live {
            return slot.end(cx, found);
        }
        if self.inner
            && let Some(text) = without_value_tags(&self.text)
        {
            cx.repair(found, Repair::TagStyle)
                .map_err(|kind| (kind, format!("Write it in the usual form: {}", example(cx))))?;
            let text = text.to_owned();
            return fields.close(cx, found, slot, Tree::Scalar { text, quoted: false });
        }
        fields.close(cx, found, slot, Tree::Scalar { text: self.text, quoted: false })
    }
}

/// What stands in `<value>…</value>`, where that is all.
fn without_value_tags(text: &str) -> Option<&str> {
    let rest = &text[VALUE.len() + 2..];
    let at = rest.rfind('<')?;
    let Look::Yes(length) = closes(&rest[at..], VALUE, true) else { return None };
    (at + length == rest.len()).then(|| rest[..at].trim_matches(|c: char| c.is_ascii() && is_ws(c as u8)))
}
