//! The one lexer of tags. It is fed windows of a text, remembers how far it has looked, and hands out lexemes.
//!
//! A window starts where the last one was consumed to. Only a tag, or what could begin one, is held back; text, comments and
//! CDATA come in parts. Which tags fit together is the reader's business.

use super::entities::entity;
use crate::syntax::scan::{Scan, is_ws, starts, trim, ws_run};

/// One lexeme.
#[derive(Debug, PartialEq, Eq)]
pub enum Lexeme<'w> {
    /// Text as it stands.
    Text(&'w str),
    /// An entity, decoded.
    Char(char),
    /// `<` or `&` that begins nothing: text.
    Stray(&'w str),
    /// A part of a CDATA section, as it stands.
    Cdata(&'w str),
    Open {
        name: &'w str,
        attributes: &'w str,
        empty: bool,
    },
    Close(&'w str),
    /// A part of what is ignored: a comment, an instruction, a document type.
    Ignored,
    /// The window ends here; nothing is wrong so far.
    Need,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Content,
    Cdata,
    Comment,
    Instruction,
    /// `depth`: brackets of the internal subset.
    Doctype {
        depth: usize,
        quote: Option<u8>,
    },
}

/// How far the closing tag of a raw element was recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ending {
    #[default]
    Slash,
    /// So many bytes of its name.
    Name(usize),
    Behind,
}

/// Lexer state between windows.
#[derive(Clone, Debug, Default)]
pub struct Lexer {
    state: State,
    /// Bytes of a held tag that were looked at already, and whether the last of them are in a quote or behind `=`.
    looked: usize,
    quote: Option<u8>,
    equals: bool,
    ending: Ending,
    /// What the last lexeme has that XML forbids.
    pub fault: Option<&'static str>,
}

/// Could this byte begin a name? Digits are no XML, but count items: `<0>`.
fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':') || !byte.is_ascii()
}

fn in_name(byte: u8) -> bool {
    begins_name(byte) || matches!(byte, b'-' | b'.')
}

/// Does XML allow the character, if only as a number?
fn is_allowed(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// Bytes of the name that the text starts with.
pub fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|byte| begins_name(*byte)) {
        return 0;
    }
    bytes.iter().position(|byte| !in_name(*byte)).unwrap_or(bytes.len())
}

/// Can an element have this name, as XML has it?
pub fn is_name(text: &str) -> bool {
    let begins = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    begins && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

const CDATA: &str = "<![CDATA[";
const COMMENT: &str = "<!--";
const DOCTYPE: &str = "<!DOCTYPE";

impl Lexer {
    /// Is a comment, an instruction, a document type or a CDATA section open?
    pub fn is_inside(&self) -> bool {
        self.state != State::Content
    }

    /// Is nothing open, nor a tag held of which a part was looked at?
    pub fn is_between(&self) -> bool {
        self.state == State::Content && self.looked == 0
    }

    /// One that stands where this one does, for whoever looks at a held tag by other rules.
    pub fn fresh(&self) -> Self {
        Lexer { state: self.state, ..Lexer::default() }
    }

    /// The next lexeme of `window` from byte `*at`, which moves behind it. `Need` leaves `*at` where the next window has to
    /// start. With `raw`, the content is text up to the closing tag of that name; only entities and CDATA are read in it.
    pub fn next<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, raw: Option<&str>) -> Lexeme<'w> {
        self.fault = None;
        let start = *at;
        match self.state {
            State::Content => self.content(window, at, last, raw),
            State::Cdata => match self.until(window, at, last, "]]>") {
                true => Lexeme::Cdata(&window[start..*at - 3]),
                false if *at == start => Lexeme::Need,
                false => Lexeme::Cdata(&window[start..*at]),
            },
            State::Comment => {
                let ended = self.until(window, at, last, "--");
                match (ended, starts(&window[*at..], ">", last)) {
                    // What stands in front of it first: where it stands must not depend on where windows end.
                    (true, _) if *at > start + 2 => {
                        *at -= 2;
                        self.state = State::Comment;
                    }
                    (true, Scan::Match(())) => *at += 1,
                    (true, Scan::Incomplete) => {
                        *at = start;
                        self.state = State::Comment;
                    }
                    (true, Scan::NoMatch) => {
                        *at = start + 1;
                        self.state = State::Comment;
                        self.fault = Some("a comment contains --");
                    }
                    (false, _) => {}
                }
                if *at == start { Lexeme::Need } else { Lexeme::Ignored }
            }
            State::Instruction => {
                self.until(window, at, last, "?>");
                if *at == start { Lexeme::Need } else { Lexeme::Ignored }
            }
            State::Doctype { depth, quote } => {
                *at = self.doctype(window, start, depth, quote);
                if *at == start { Lexeme::Need } else { Lexeme::Ignored }
            }
        }
    }

    /// Reads to behind `end`, and back to content; false: to where it could begin.
    fn until(&mut self, window: &str, at: &mut usize, last: bool, end: &str) -> bool {
        let rest = &window[*at..];
        if let Some(found) = memchr::memmem::find(rest.as_bytes(), end.as_bytes()) {
            *at += found + end.len();
            self.state = State::Content;
            return true;
        }
        let most = if last { 0 } else { (end.len() - 1).min(rest.len()) };
        let begins = |held: &usize| end.as_bytes().starts_with(&rest.as_bytes()[rest.len() - held..]);
        *at = window.len() - (1..=most).rev().find(begins).unwrap_or(0);
        false
    }

    fn content<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, raw: Option<&str>) -> Lexeme<'w> {
        let bytes = window.as_bytes();
        let start = *at;
        let run = memchr::memchr2(b'<', b'&', &bytes[start..]).unwrap_or(bytes.len() - start);
        if run > 0 {
            *at += if raw.is_some() { run } else { self.brackets(&window[start..], run, last) };
            return if *at == start { Lexeme::Need } else { Lexeme::Text(&window[start..*at]) };
        }
        let rest = &window[start..];
        let Some(&first) = rest.as_bytes().first() else { return Lexeme::Need };
        if first == b'&' {
            return match entity(rest, last) {
                Scan::Match((c, length)) => {
                    if !is_allowed(c) {
                        self.fault = Some("this character is not allowed in XML");
                    }
                    *at += length;
                    Lexeme::Char(c)
                }
                Scan::Incomplete => Lexeme::Need,
                Scan::NoMatch => self.stray(window, at, "& must be written &amp;"),
            };
        }
        let mark = match raw {
            Some(name) => match self.closing(rest, name, last) {
                Scan::Match(()) => {
                    let close = start + 2 + ws_run(&rest[2..], 0);
                    *at += rest.find('>').map_or(rest.len(), |end| end + 1);
                    return Lexeme::Close(&window[close..close + name.len()]);
                }
                Scan::Incomplete => return Lexeme::Need,
                Scan::NoMatch => starts(rest, CDATA, last),
            },
            None => match self.special(window, at, last) {
                Some(lexeme) => return lexeme,
                None => starts(rest, CDATA, last),
            },
        };
        match mark {
            Scan::Match(()) => {
                self.state = State::Cdata;
                *at += CDATA.len();
                Lexeme::Cdata("")
            }
            Scan::Incomplete => Lexeme::Need,
            Scan::NoMatch if raw.is_none() => self.tag(window, at, last),
            Scan::NoMatch => self.stray(window, at, "< must be written &lt;"),
        }
    }

    /// How much of a run of text is one lexeme: up to the end of CDATA, which no text may contain, or that alone.
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

    fn stray<'w>(&mut self, window: &'w str, at: &mut usize, fault: &'static str) -> Lexeme<'w> {
        self.fault = Some(fault);
        *at += 1;
        Lexeme::Stray(&window[*at - 1..*at])
    }

    /// Comments, instructions and document types.
    fn special<'w>(&mut self, window: &'w str, at: &mut usize, last: bool) -> Option<Lexeme<'w>> {
        let rest = &window[*at..];
        let (comment, instruction) = (starts(rest, COMMENT, last), starts(rest, "<?", last));
        let known = rest.len().min(DOCTYPE.len());
        let doctype = match rest.as_bytes()[..known].eq_ignore_ascii_case(&DOCTYPE.as_bytes()[..known]) {
            true if known == DOCTYPE.len() => Scan::Match(()),
            true if !last => Scan::Incomplete,
            _ => Scan::NoMatch,
        };
        let (state, length) = match (comment, instruction, doctype) {
            (Scan::Match(()), _, _) => (State::Comment, COMMENT.len()),
            (_, Scan::Match(()), _) => match rest.as_bytes().get(2) {
                Some(byte) if begins_name(*byte) => (State::Instruction, 2),
                None if !last => return Some(Lexeme::Need),
                _ => return None,
            },
            (_, _, Scan::Match(())) => (State::Doctype { depth: 0, quote: None }, DOCTYPE.len()),
            (Scan::Incomplete, _, _) | (_, Scan::Incomplete, _) | (_, _, Scan::Incomplete) => {
                return Some(Lexeme::Need);
            }
            (Scan::NoMatch, Scan::NoMatch, Scan::NoMatch) => return None,
        };
        self.state = state;
        *at += length;
        Some(Lexeme::Ignored)
    }

    /// Reads on in a document type, of which nothing is heeded. Returns where it, or the window, ends.
    fn doctype(&mut self, window: &str, from: usize, mut depth: usize, mut quote: Option<u8>) -> usize {
        for (at, &byte) in window.as_bytes().iter().enumerate().skip(from) {
            match (byte, quote) {
                (_, Some(open)) if byte != open => {}
                (b'"' | b'\'', _) => quote = if quote.is_some() { None } else { Some(byte) },
                (b'[', _) => depth += 1,
                (b']', _) => depth = depth.saturating_sub(1),
                (b'>', _) if depth == 0 => {
                    self.state = State::Content;
                    return at + 1;
                }
                _ => {}
            }
        }
        self.state = State::Doctype { depth, quote };
        window.len()
    }

    /// Is this the closing tag of that name? Looks at each byte once, however the text is cut.
    fn closing(&mut self, rest: &str, name: &str, last: bool) -> Scan {
        let bytes = rest.as_bytes();
        let mut at = self.looked.max(1);
        while let Some(&byte) = bytes.get(at) {
            self.ending = match self.ending {
                Ending::Slash if at == 1 && byte == b'/' => Ending::Slash,
                Ending::Slash if at > 1 && is_ws(byte) => Ending::Slash,
                Ending::Slash if at > 1 && name.as_bytes().first() == Some(&byte) => Ending::Name(1),
                Ending::Name(known) if name.as_bytes().get(known) == Some(&byte) => Ending::Name(known + 1),
                Ending::Name(known) if known == name.len() && is_ws(byte) => Ending::Behind,
                Ending::Behind if is_ws(byte) => Ending::Behind,
                Ending::Name(known) if known == name.len() && byte == b'>' => return self.looked_at(Scan::Match(())),
                Ending::Behind if byte == b'>' => return self.looked_at(Scan::Match(())),
                _ => return self.looked_at(Scan::NoMatch),
            };
            at += 1;
        }
        self.looked = at;
        if last { self.looked_at(Scan::NoMatch) } else { Scan::Incomplete }
    }

    fn looked_at(&mut self, mark: Scan) -> Scan {
        (self.looked, self.ending) = (0, Ending::Slash);
        mark
    }

    /// A tag, from its `<`. Another `<` outside quotes, or the end, shows that it is none.
    fn tag<'w>(&mut self, window: &'w str, at: &mut usize, last: bool) -> Lexeme<'w> {
        let start = *at;
        let bytes = window.as_bytes();
        if self.looked == 0 {
            match bytes.get(start + 1) {
                None if !last => return Lexeme::Need,
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
            return Lexeme::Need;
        }
        (self.looked, self.quote, self.equals) = (0, None, false);
        let parts = (found == Some(true)).then(|| parts(&window[start + 1..end])).flatten();
        match parts {
            Some(lexeme) => {
                if matches!(lexeme, Lexeme::Close(_)) && is_ws(bytes[start + 2]) {
                    self.fault = Some("a closing tag must begin with its name");
                }
                *at = end + 1;
                lexeme
            }
            None => self.stray(window, at, "< must be written &lt;"),
        }
    }
}

/// What stands between `<` and `>`.
fn parts(inner: &str) -> Option<Lexeme<'_>> {
    if let Some(rest) = inner.strip_prefix('/') {
        let name = trim(rest);
        return (name_length(name) == name.len() && !name.is_empty()).then_some(Lexeme::Close(name));
    }
    let length = name_length(inner);
    let (name, rest) = inner.split_at(length);
    let (rest, empty) = rest.strip_suffix('/').map_or((rest, false), |rest| (rest, true));
    let spaced = rest.as_bytes().first().is_none_or(|byte| is_ws(*byte));
    (length > 0 && spaced).then_some(Lexeme::Open { name, attributes: rest, empty })
}

/// One attribute: its name, its value as written, and whether XML allows it so.
pub fn attributes(source: &str) -> impl Iterator<Item = (&str, &str, bool)> {
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
        let behind = ws_run(source, at);
        spaced = behind > at;
        at = behind;
        Some((name, value, fine))
    })
}
