//! The value of one parameter: text up to the tag that ends it, without the blanks around it.

use std::borrow::Cow;
use std::mem::{replace, take};

use super::super::fields::{Fields, Slot};
use super::super::{Bad, Context, Found, Io};
use crate::error::Repair;
use crate::functions::{CDATA, Look, PARAMETER, Tag, VALUE, WRAPPER, begins, closes, opens};
use crate::json::is_plain;
use crate::scan::{Mark, has_line_break, is_ws, starts, ws_run};
use crate::tree::Tree;
use crate::xml::decode_part;

/// What may end a value from outside.
#[derive(Clone, Copy)]
pub struct Outer {
    pub function: Tag,
    pub failed: bool,
}

/// How a value ends.
pub enum Read {
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

/// Blanks that may be the end of a value.
#[derive(Debug)]
struct Blanks {
    /// Where they begin in what is written.
    from: usize,
    line_break: bool,
    /// They hold back what is written.
    hold: bool,
}

#[derive(Debug, Default)]
pub struct Value {
    /// The name of its tag.
    tag: Cow<'static, str>,
    /// Its key stood between tags.
    pub apart: bool,
    /// `None` where the call has failed.
    pub slot: Option<Slot>,
    /// Its parts go out as they come.
    live: bool,
    text: String,
    /// Something other than blanks was there.
    begun: bool,
    blanks: Option<Blanks>,
    /// The last byte in front of them.
    before: u8,
    /// It began with a CDATA section; `Some(true)`: one is open.
    cdata: Option<bool>,
    /// It began with a tag that is no part of it.
    inner: bool,
    /// A tag that could end it, or begin another call, was taken for text: then its own must end it.
    pub kept: bool,
    /// Blanks behind a closing tag that were looked at.
    looked: usize,
}

impl Value {
    pub fn open(&mut self, tag: &str, apart: bool) {
        let tag = if tag == PARAMETER { Cow::Borrowed(PARAMETER) } else { Cow::Owned(tag.to_owned()) };
        *self = Value { tag, apart, ..Value::default() };
    }

    /// The call has failed: only the value's end is looked for.
    pub fn fail(&mut self) {
        (self.slot, self.live) = (None, false);
    }

    /// See [`Body::feed_plain`](super::super::Body::feed_plain).
    pub fn feed_plain(&mut self, found: &mut Found, text: &str) -> Option<bool> {
        if !self.live || self.cdata == Some(true) {
            return None;
        }
        let mut plain = self.blanks.is_none();
        for byte in text.bytes() {
            if matches!(byte, b'<' | b'&') {
                return None;
            }
            plain &= is_plain(byte);
        }
        let (text, blanks) = split(text);
        if let Some(byte) = text.bytes().last() {
            self.keep_blanks(found);
            self.write(found, text);
            self.before = byte;
        }
        self.take_blanks(found, blanks);
        Some(plain)
    }

    /// Writes decoded text.
    fn write(&mut self, found: &mut Found, part: &str) {
        match &self.slot {
            Some(slot) if self.live => slot.push(found, part),
            Some(_) => self.text.push_str(part),
            None => {}
        }
    }

    /// Something that is no blank comes next.
    fn begin(&mut self, cx: &Context<'_>, found: &mut Found) -> Result<(), Bad> {
        if !replace(&mut self.begun, true)
            && let Some(slot) = &mut self.slot
            && !self.inner
            && slot.is_string(cx)
        {
            slot.start(cx, found)?;
            self.live = true;
        }
        Ok(())
    }

    /// Blanks that were taken are a part of the value.
    fn keep_blanks(&mut self, found: &mut Found) {
        if let Some(Blanks { hold: true, .. }) = self.blanks.take() {
            found.args.release();
        }
    }

    /// Takes blanks, which may be its end.
    fn take_blanks(&mut self, found: &mut Found, part: &str) {
        if part.is_empty() {
            return;
        }
        let json = &found.args.json;
        let from = if self.live { json.len() } else { self.text.len() };
        let hold = self.blanks.is_none() && self.live && found.args.hold();
        let blanks = self.blanks.get_or_insert(Blanks { from, line_break: false, hold });
        blanks.line_break |= has_line_break(part);
        self.write(found, part);
    }

    /// Takes text without tags, of which `ended` says that a `<` follows. Returns the bytes taken: an entity may be cut.
    fn take(&mut self, found: &mut Found, part: &str, ended: bool) -> usize {
        let (text, blanks) = split(part);
        if !text.is_empty() {
            self.keep_blanks(found);
            let taken = decode_part(text, ended || !blanks.is_empty(), &mut |part| self.write(found, part));
            if taken > 0 {
                self.before = text.as_bytes()[taken - 1];
            }
            if taken < text.len() {
                return taken;
            }
        }
        self.take_blanks(found, blanks);
        part.len()
    }

    /// May a tag that is not the value's own end it here? In the middle of a line, and behind an opening quote, it is spoken of.
    fn is_edge(&self) -> bool {
        match &self.blanks {
            _ if !self.begun => true,
            Some(blanks) => blanks.line_break,
            None => !matches!(self.before, b'"' | b'\'' | b'`' | b'(' | b'[' | b'{'),
        }
    }

    /// Reads on from `io.at`.
    pub fn read(&mut self, io: &mut Io<'_>, outer: Outer) -> Result<Read, Bad> {
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
            let end = memchr::memchr(b'<', rest.as_bytes());
            if end != Some(0) {
                let part = &rest[..end.unwrap_or(rest.len())];
                if !part.is_empty() {
                    self.begin(&io.cx, io.found)?;
                }
                let taken = self.take(io.found, part, end.is_some());
                io.at += taken;
                if taken < part.len() || end.is_none() {
                    return Ok(Read::Need);
                }
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
                    self.take_tag(io, length)?;
                }
                At::Text => {
                    if !self.markup(io)? {
                        return Ok(Read::Need);
                    }
                }
            }
        }
    }

    /// Takes a `<` that is none of ours. False: that cannot be told yet.
    fn markup(&mut self, io: &mut Io<'_>) -> Result<bool, Bad> {
        let (rest, last) = (io.rest(), io.last);
        if !self.begun || self.cdata.is_some() {
            match starts(rest, CDATA, last) {
                Mark::Partial => return Ok(false),
                Mark::Yes => {
                    self.begin(&io.cx, io.found)?;
                    self.keep_blanks(io.found);
                    self.cdata = Some(true);
                    io.at += CDATA.len();
                    return Ok(true);
                }
                Mark::No => {}
            }
        }
        if !self.begun {
            match begins(&rest[1..], VALUE, last) {
                Look::Need => return Ok(false),
                Look::Yes(length) => self.inner = rest.as_bytes()[1 + length] == b'>',
                Look::No => {}
            }
        }
        self.take_tag(io, 1)?;
        Ok(true)
    }

    /// Takes what looks like a tag, or a part of one, as text.
    fn take_tag(&mut self, io: &mut Io<'_>, length: usize) -> Result<(), Bad> {
        self.begin(&io.cx, io.found)?;
        self.keep_blanks(io.found);
        let part = &io.rest()[..length];
        self.write(io.found, part);
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
        self.write(io.found, part);
        self.before = b'>';
        io.at += part.len() + if end.is_some() { 3 } else { 0 };
        if end.is_some() {
            self.cdata = Some(false);
        }
        end.is_some()
    }

    fn at(&mut self, io: &Io<'_>, outer: Outer) -> At {
        let (rest, last) = (io.rest(), io.last);
        let own = closes(rest, &self.tag, last);
        if let Look::Yes(length) = own {
            return self.close(io, length);
        }
        let ends = if self.is_edge() { own.or(|| self.outer(io, outer.function)) } else { own };
        match ends {
            Look::Yes(_) => return At::Outer,
            Look::Need => return At::Need,
            Look::No if !self.is_edge() => return At::Text,
            Look::No => {}
        }
        // Another call may be spoken of here, but then the value must be closed.
        let call = match outer.function {
            Tag::Function(tag) => opens(rest, tag, last),
            Tag::Own | Tag::Wrapper => Look::No,
        };
        match call.or(|| begins(&rest[1..], WRAPPER, last)) {
            Look::Need => At::Need,
            found => {
                self.kept |= found != Look::No;
                At::Text
            }
        }
    }

    /// Does a tag stand here that ends the value from outside?
    fn outer(&self, io: &Io<'_>, function: Tag) -> Look<usize> {
        let (rest, last) = (io.rest(), io.last);
        let another = || match self.apart {
            true => begins(&rest[1..], &self.tag, last),
            false => opens(rest, &self.tag, last),
        };
        function.closes(rest, io.cx.tool, last).or(|| closes(rest, WRAPPER, last)).or(another)
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
    pub fn end(&mut self, cx: &Context<'_>, found: &mut Found, fields: &mut Fields) -> Result<(), Bad> {
        self.begin(cx, found)?;
        let Some(slot) = self.slot.take() else { return Ok(()) };
        let from = self.blanks.as_ref().map(|blanks| blanks.from);
        self.keep_blanks(found);
        if self.live {
            found.args.json.truncate(from.unwrap_or(usize::MAX));
            return slot.end(found);
        }
        let mut text = take(&mut self.text);
        text.truncate(from.unwrap_or(usize::MAX));
        if self.inner
            && let Some(inner) = without_value_tags(&text)
        {
            cx.repair(found, Repair::TagStyle).map_err(|kind| (kind, "Write the call in the usual form.".into()))?;
            text = inner.to_owned();
        }
        fields.close(cx, found, slot, Tree::Scalar { text, quoted: false })
    }
}

/// A text without the blanks at its end, and those.
fn split(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().rposition(|byte| !is_ws(byte)).map_or(0, |at| at + 1))
}

/// What stands in `<value>…</value>`, where that is all.
fn without_value_tags(text: &str) -> Option<&str> {
    let rest = &text[VALUE.len() + 2..];
    let at = rest.rfind('<')?;
    let Look::Yes(length) = closes(&rest[at..], VALUE, true) else { return None };
    (at + length == rest.len()).then(|| rest[..at].trim_matches(|c: char| c.is_ascii() && is_ws(c as u8)))
}
