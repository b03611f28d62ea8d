//! The lexer of XML. It is fed windows of a text, remembers how far it has scanned, and returns lexemes.
//!
//! A window starts where the previous one was consumed to. Only tags and their beginnings are held back; text, comments
//! and CDATA come in parts. The reader decides which tags match.

use super::entities::entity;
use crate::syntax::scan::{Scan, is_ws, starts, starts_as, trim, ws_run};

/// One lexeme.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum XmlLexeme<'w> {
    /// Text that is unchanged from the source.
    Text(&'w str),
    /// A decoded entity.
    Char(char),
    /// `<` or `&` that is text.
    Stray(&'w str),
    /// A part of a CDATA section, unchanged from the source.
    Cdata(&'w str),
    Open {
        name: &'w str,
        attributes: &'w str,
        empty: bool,
    },
    Close(&'w str),
    /// A part of a comment, an instruction or a document type. It is ignored.
    Ignored,
    /// The window ends here. There is no error so far.
    Need,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum XmlState {
    #[default]
    Content,
    Cdata,
    Comment,
    Instruction,
    /// `depth`: open brackets of the internal subset.
    Doctype {
        depth: usize,
        quote: Option<u8>,
    },
}

/// How much of the closing tag of a raw element was recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ending {
    #[default]
    Slash,
    /// This many bytes of its name.
    Name(usize),
    After,
}

/// Lexer state between windows.
#[derive(Clone, Debug, Default)]
pub(crate) struct XmlLexer {
    state: XmlState,
    /// Bytes of a held tag that were scanned already, and whether the last of them are in a quote or after `=`.
    looked: usize,
    quote: Option<u8>,
    equals: bool,
    ending: Ending,
    /// What XML forbids in the last lexeme.
    pub fault: Option<&'static str>,
}

/// Whether this byte can begin a name. XML forbids digits, but here `<0>` is an item of a list.
fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':') || !byte.is_ascii()
}

fn in_name(byte: u8) -> bool {
    begins_name(byte) || matches!(byte, b'-' | b'.')
}

/// Whether XML allows the character, also as an entity.
fn is_allowed(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// The length of the name at the start of the text.
pub(crate) fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|byte| begins_name(*byte)) {
        return 0;
    }
    bytes.iter().position(|byte| !in_name(*byte)).unwrap_or(bytes.len())
}

/// Whether XML allows this name for an element.
pub(crate) fn is_name(text: &str) -> bool {
    let begins = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    begins && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

const CDATA: &str = "<![CDATA[";
const COMMENT: &str = "<!--";
const DOCTYPE: &str = "<!DOCTYPE";

impl XmlLexer {
    /// Whether a comment, an instruction, a document type or a CDATA section is open.
    pub(crate) fn is_inside(&self) -> bool {
        self.state != XmlState::Content
    }

    /// Whether nothing is open, and no scanned part of a tag is held.
    pub(crate) fn is_between(&self) -> bool {
        self.state == XmlState::Content && self.looked == 0
    }

    /// A lexer in the same state, which can scan a held tag by other rules.
    pub(crate) fn fresh(&self) -> Self {
        XmlLexer { state: self.state, ..XmlLexer::default() }
    }

    /// The next lexeme of `window` from byte `*at`, which moves past it. After `Need`, the next window must start at `*at`. With
    /// `raw`, the content is text up to the closing tag of that name; only entities and CDATA are read in it.
    pub(crate) fn next<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, raw: Option<&str>) -> XmlLexeme<'w> {
        self.fault = None;
        let start = *at;
        match self.state {
            XmlState::Content => return self.content(window, at, last, raw),
            XmlState::Cdata => {
                let end = if self.until(window, at, last, "]]>") { 3 } else { 0 };
                if *at > start {
                    return XmlLexeme::Cdata(&window[start..*at - end]);
                }
            }
            XmlState::Comment => {
                if self.until(window, at, last, "--") {
                    self.state = XmlState::Comment;
                    match starts(&window[*at..], ">", last) {
                        // What precedes the end is returned first: the place of a fault must not depend on the windows.
                        _ if *at > start + 2 => *at -= 2,
                        Scan::Incomplete => *at = start,
                        Scan::Match(()) => {
                            *at += 1;
                            self.state = XmlState::Content;
                        }
                        Scan::NoMatch => {
                            *at = start + 1;
                            self.fault = Some("a comment contains --");
                        }
                    }
                }
            }
            XmlState::Instruction => drop(self.until(window, at, last, "?>")),
            XmlState::Doctype { depth, quote } => *at = self.doctype(window, start, depth, quote),
        }
        if *at == start { XmlLexeme::Need } else { XmlLexeme::Ignored }
    }

    /// Reads past `end`, and returns to content. False: `end` was not found, and what could begin it is held back.
    fn until(&mut self, window: &str, at: &mut usize, last: bool, end: &str) -> bool {
        let rest = &window[*at..];
        if let Some(found) = memchr::memmem::find(rest.as_bytes(), end.as_bytes()) {
            *at += found + end.len();
            self.state = XmlState::Content;
            return true;
        }
        let most = if last { 0 } else { (end.len() - 1).min(rest.len()) };
        let begins = |held: &usize| end.as_bytes().starts_with(&rest.as_bytes()[rest.len() - held..]);
        *at = window.len() - (1..=most).rev().find(begins).unwrap_or(0);
        false
    }

    fn content<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, raw: Option<&str>) -> XmlLexeme<'w> {
        let bytes = window.as_bytes();
        let start = *at;
        let run = memchr::memchr2(b'<', b'&', &bytes[start..]).unwrap_or(bytes.len() - start);
        if run > 0 {
            *at += if raw.is_some() { run } else { self.brackets(&window[start..], run, last) };
            return if *at == start { XmlLexeme::Need } else { XmlLexeme::Text(&window[start..*at]) };
        }
        let rest = &window[start..];
        let Some(&first) = rest.as_bytes().first() else { return XmlLexeme::Need };
        if first == b'&' {
            return match entity(rest, last) {
                Scan::Match((c, length)) => {
                    if !is_allowed(c) {
                        self.fault = Some("this character is not allowed in XML");
                    }
                    *at += length;
                    XmlLexeme::Char(c)
                }
                Scan::Incomplete => XmlLexeme::Need,
                Scan::NoMatch => self.stray(window, at, "& must be written &amp;"),
            };
        }
        let section = || starts(rest, CDATA, last).map(|()| (XmlState::Cdata, CDATA.len()));
        let found = match raw {
            None => special(rest, last).or(section),
            Some(name) => match self.closing(rest, name, last) {
                Scan::Match(()) => {
                    let close = start + 2 + ws_run(&rest[2..], 0);
                    *at += rest.find('>').map_or(rest.len(), |end| end + 1);
                    return XmlLexeme::Close(&window[close..close + name.len()]);
                }
                Scan::Incomplete => return XmlLexeme::Need,
                Scan::NoMatch => section(),
            },
        };
        match found {
            Scan::Match((state, length)) => {
                self.state = state;
                *at += length;
                if state == XmlState::Cdata { XmlLexeme::Cdata("") } else { XmlLexeme::Ignored }
            }
            Scan::Incomplete => XmlLexeme::Need,
            Scan::NoMatch if raw.is_none() => self.tag(window, at, last),
            Scan::NoMatch => self.stray(window, at, "< must be written &lt;"),
        }
    }

    /// The length of the next lexeme in a run of text: up to `]]>`, which text must not contain, or only that.
    fn brackets(&mut self, text: &str, run: usize, last: bool) -> usize {
        const END: &str = "]]>";
        if text.starts_with(END) {
            self.fault = Some("]]> must be written ]]&gt;");
            return END.len();
        }
        if let Some(end) = memchr::memmem::find(&text.as_bytes()[..run], END.as_bytes()) {
            return end;
        }
        let held = [2, 1].into_iter().find(|held| text[..run].ends_with(&END[..*held]));
        if last || run < text.len() { run } else { run - held.unwrap_or(0) }
    }

    fn stray<'w>(&mut self, window: &'w str, at: &mut usize, fault: &'static str) -> XmlLexeme<'w> {
        self.fault = Some(fault);
        *at += 1;
        XmlLexeme::Stray(&window[*at - 1..*at])
    }

    /// Continues in a document type, which is ignored. Returns where it, or the window, ends.
    fn doctype(&mut self, window: &str, from: usize, mut depth: usize, mut quote: Option<u8>) -> usize {
        for (at, &byte) in window.as_bytes().iter().enumerate().skip(from) {
            match (byte, quote) {
                (_, Some(open)) if byte != open => {}
                (b'"' | b'\'', _) => quote = if quote.is_some() { None } else { Some(byte) },
                (b'[', _) => depth += 1,
                (b']', _) => depth = depth.saturating_sub(1),
                (b'>', _) if depth == 0 => {
                    self.state = XmlState::Content;
                    return at + 1;
                }
                _ => {}
            }
        }
        self.state = XmlState::Doctype { depth, quote };
        window.len()
    }

    /// Whether this is the closing tag of that name. Each byte is scanned once, whatever the windows are.
    fn closing(&mut self, rest: &str, name: &str, last: bool) -> Scan {
        let bytes = rest.as_bytes();
        let mut at = self.looked.max(1);
        let found = loop {
            let Some(&byte) = bytes.get(at) else { break Scan::at_end(last) };
            self.ending = match self.ending {
                Ending::Slash if at == 1 && byte == b'/' => Ending::Slash,
                Ending::Slash if at > 1 && is_ws(byte) => Ending::Slash,
                Ending::Slash if at > 1 && name.as_bytes().first() == Some(&byte) => Ending::Name(1),
                Ending::Name(known) if name.as_bytes().get(known) == Some(&byte) => Ending::Name(known + 1),
                Ending::Name(known) if known == name.len() && is_ws(byte) => Ending::After,
                Ending::After if is_ws(byte) => Ending::After,
                Ending::Name(known) if known == name.len() && byte == b'>' => break Scan::Match(()),
                Ending::After if byte == b'>' => break Scan::Match(()),
                _ => break Scan::NoMatch,
            };
            at += 1;
        };
        self.looked = at;
        if !found.is_incomplete() {
            (self.looked, self.ending) = (0, Ending::Slash);
        }
        found
    }

    /// A tag from its `<` on. If another `<` outside quotes, or the end of the text, comes first, it is not a tag.
    fn tag<'w>(&mut self, window: &'w str, at: &mut usize, last: bool) -> XmlLexeme<'w> {
        let start = *at;
        let bytes = window.as_bytes();
        if self.looked == 0 {
            match bytes.get(start + 1) {
                None if !last => return XmlLexeme::Need,
                Some(byte) if begins_name(*byte) || *byte == b'/' => {}
                _ => return self.stray(window, at, "< must be written &lt;"),
            }
        }
        let mut end = start + self.looked.max(1);
        let found = loop {
            let Some(&byte) = bytes.get(end) else { break None };
            match (byte, self.quote) {
                (_, Some(quote)) if byte == quote => self.quote = None,
                (_, Some(_)) => {}
                (b'>', None) => break Some(true),
                (b'<', None) => break Some(false),
                (b'"' | b'\'', None) if self.equals => self.quote = Some(byte),
                _ => {}
            }
            self.equals = byte == b'=' || (self.equals && is_ws(byte));
            end += 1;
        };
        if found.is_none() && !last {
            self.looked = end - start;
            return XmlLexeme::Need;
        }
        (self.looked, self.quote, self.equals) = (0, None, false);
        let parts = (found == Some(true)).then(|| parts(&window[start + 1..end])).flatten();
        match parts {
            Some(lexeme) => {
                if matches!(lexeme, XmlLexeme::Close(_)) && is_ws(bytes[start + 2]) {
                    self.fault = Some("a closing tag must begin with its name");
                }
                *at = end + 1;
                lexeme
            }
            None => self.stray(window, at, "< must be written &lt;"),
        }
    }
}

/// The beginning of a comment, an instruction or a document type: the state in it, and the length of its mark.
fn special(text: &str, last: bool) -> Scan<(XmlState, usize)> {
    let instruction = || {
        starts(text, "<?", last).and_then(|()| match text.as_bytes().get(2) {
            None => Scan::at_end(last),
            Some(byte) => Scan::some(begins_name(*byte).then_some((XmlState::Instruction, 2))),
        })
    };
    let doctype = XmlState::Doctype { depth: 0, quote: None };
    let comment = starts(text, COMMENT, last).map(|()| (XmlState::Comment, COMMENT.len()));
    comment.or(instruction).or(|| starts_as(text, DOCTYPE, last).map(|()| (doctype, DOCTYPE.len())))
}

/// The parts of a tag between `<` and `>`.
fn parts(inner: &str) -> Option<XmlLexeme<'_>> {
    if let Some(rest) = inner.strip_prefix('/') {
        let name = trim(rest);
        return (name_length(name) == name.len() && !name.is_empty()).then_some(XmlLexeme::Close(name));
    }
    let length = name_length(inner);
    let (name, rest) = inner.split_at(length);
    let (rest, empty) = rest.strip_suffix('/').map_or((rest, false), |rest| (rest, true));
    let spaced = rest.as_bytes().first().is_none_or(|byte| is_ws(*byte));
    (length > 0 && spaced).then_some(XmlLexeme::Open { name, attributes: rest, empty })
}

/// The attributes of a tag: names, values as written, and whether XML allows this spelling.
pub(crate) fn attributes(source: &str) -> impl Iterator<Item = (&str, &str, bool)> {
    let mut at = ws_run(source, 0);
    let mut spaced = at > 0;
    std::iter::from_fn(move || {
        let bytes = source.as_bytes();
        if at >= bytes.len() {
            return None;
        }
        let start = at;
        while at < bytes.len() && !is_ws(bytes[at]) && bytes[at] != b'=' {
            at += 1;
        }
        let name = &source[start..at];
        let equals = ws_run(source, at);
        let mut fine = spaced
            && !name.is_empty()
            && name_length(name) == name.len()
            && !name.starts_with(|c: char| c.is_ascii_digit());
        let mut value = "";
        if bytes.get(equals) == Some(&b'=') {
            at = ws_run(source, equals + 1);
            match bytes.get(at) {
                Some(&quote @ (b'"' | b'\'')) => {
                    let end = memchr::memchr(quote, &bytes[at + 1..]).map_or(bytes.len(), |end| at + 1 + end);
                    value = &source[at + 1..end];
                    let allowed = |at: usize| entity(&value[at..], true).filter(|(c, _)| is_allowed(*c)).is_match();
                    fine &= !value.contains('<') && memchr::memchr_iter(b'&', value.as_bytes()).all(allowed);
                    at = (end + 1).min(bytes.len());
                }
                _ => {
                    let end = bytes[at..].iter().position(|byte| is_ws(*byte)).map_or(bytes.len(), |end| at + end);
                    value = &source[at..end];
                    fine = false;
                    at = end;
                }
            }
        } else {
            fine = false;
        }
        let next = ws_run(source, at);
        spaced = next > at;
        at = next;
        Some((name, value, fine))
    })
}
