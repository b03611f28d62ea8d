//! The one YAML lexer. It is fed windows of a text, consumes what it can tell, and hands out lexemes.
//!
//! It knows lines, quotes, brackets and block scalars, and nothing of what may follow what: where a quote opens and what it
//! closes never depends on whether the text in front was right. So the same lexer reads on after an error.

use super::block::{Block, Head};
use super::peek::{self, Ahead};
use super::plain::{Plain, Stopped};
use super::quoted::Quoted;
use super::text::Text;
use crate::scan::Mark;

/// What a YAML text stands in.
pub trait Ends {
    /// Does the text end here? `line`: only blanks stand in front of it in its line.
    fn close(&self, rest: &str, line: bool, last: bool) -> Mark;

    /// Does something begin here, at the start of a line, that is no part of the text?
    fn open(&self, rest: &str, last: bool) -> Mark;

    /// May the word be a key of the outermost mapping?
    fn is_key(&self, word: &str) -> bool;
}

/// A text that stands alone.
pub struct NoEnds;

impl Ends for NoEnds {
    fn close(&self, _: &str, _: bool, _: bool) -> Mark {
        Mark::No
    }

    fn open(&self, _: &str, _: bool) -> Mark {
        Mark::No
    }

    fn is_key(&self, _: &str) -> bool {
        true
    }
}

/// One lexeme. `Part`, `Own` and `Char` are content of the scalar that was started.
#[derive(Debug, PartialEq, Eq)]
pub enum Lexeme<'w> {
    /// The window ends here; nothing is wrong so far.
    Need,
    /// The text ends here: there is no more.
    End,
    /// [`Ends::close`] and [`Ends::open`] stand here; nothing of them is consumed.
    Close,
    Open,
    /// The `-` of an item.
    Dash,
    /// A key with its colon.
    Key {
        text: String,
        quoted: bool,
    },
    /// One of `[ ] { } , :` in a flow collection.
    Punct(u8),
    /// A scalar starts.
    Start {
        quoted: bool,
    },
    Part(&'w str),
    Own(String),
    Char(char),
    /// The scalar ends.
    Stop,
    /// Not YAML, but it can mean one thing only, and is read as that.
    Lax(Lax),
    /// Not the YAML that is read here.
    Bad(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lax {
    /// A backslash in front of a character that is no escape.
    Backslash,
    /// A plain text that YAML would refuse.
    Verbatim,
}

#[derive(Debug)]
pub(super) enum Mode {
    /// In the indentation of a line.
    Line {
        indent: usize,
        tab: bool,
    },
    /// A node may start. `inline`: behind a key in the same line.
    Node {
        inline: bool,
    },
    /// In an anchor, alias or tag.
    Property {
        inline: bool,
    },
    Plain(Plain),
    Quoted(Quoted),
    Block(Block),
    Text(Box<Text>),
    /// Behind a quoted scalar or a flow collection.
    After {
        blank: bool,
    },
    Comment,
    /// In a flow collection. `adjacent`: behind a quoted scalar or a bracket; `line`: only blanks are in front in the line.
    Flow {
        blank: bool,
        adjacent: bool,
        line: bool,
    },
}

#[derive(Debug)]
pub struct Lexer {
    mode: Mode,
    /// The column of the last key or dash: what belongs to it stands deeper.
    parent: isize,
    /// Open brackets.
    flow: usize,
    /// The value that comes next is a text, whatever it looks like.
    text: bool,
    /// Blanks in front of it.
    gap: String,
    /// Bytes behind the consumed ones that were looked at already.
    seen: usize,
    begun: bool,
    /// Of the next byte, counted from 0, in characters.
    line: usize,
    column: usize,
    /// Of the last lexeme.
    place: (usize, usize),
    /// Lines that start in this column or before it are of the outermost mapping.
    pub base: usize,
}

impl Default for Lexer {
    fn default() -> Self {
        Lexer {
            mode: Mode::Line { indent: 0, tab: false },
            parent: -1,
            flow: 0,
            text: false,
            gap: String::new(),
            seen: 0,
            begun: false,
            line: 0,
            column: 0,
            place: (0, 0),
            base: 0,
        }
    }
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// What a line break is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    No,
    /// A carriage return, and the window ends.
    Need,
    Yes(usize),
}

pub(super) fn line_break(bytes: &[u8], at: usize, last: bool) -> Break {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\n'), _) => Break::Yes(1),
        (Some(b'\r'), Some(b'\n')) => Break::Yes(2),
        (Some(b'\r'), None) if !last => Break::Need,
        (Some(b'\r'), _) => Break::Yes(1),
        _ => Break::No,
    }
}

/// Is the byte at `at` behind an indicator a blank, a line break or the end? `None`: it is not there yet.
pub(super) fn separates(bytes: &[u8], at: usize, last: bool) -> Option<bool> {
    match bytes.get(at) {
        None => last.then_some(true),
        Some(byte) => Some(is_blank(*byte) || matches!(byte, b'\n' | b'\r')),
    }
}

pub(super) fn is_flow_mark(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

const ONE_DOCUMENT: &str = "one document only: leave out --- and ...";
const NO_DIRECTIVES: &str = "directives (%) are not read";
const NO_TABS: &str = "a tab cannot indent a line: use spaces";
const NO_PROPERTIES: &str =
    "anchors (&), aliases (*) and tags (!) are not read: put text that starts so into double quotes";
const RESERVED: &str = "no plain text starts so: put it into double quotes";
const NO_KEY: &str = "a key is missing in front of the colon";
const NO_COMPLEX_KEY: &str = "keys are plain or quoted text: ? is not read";
const INLINE_DASH: &str = "a list starts on a line of its own";
const NO_ESCAPE: &str = "a backslash in a key is written \\\\";
const BEHIND: &str = "something stands behind the value";
const BAD_HEAD: &str = "behind | and > only -, + and a digit may stand: put text that starts so into double quotes";

impl Lexer {
    /// The value of the key that was just read is a text: what is no YAML is taken to the letter.
    pub fn expect_text(&mut self) {
        self.text = true;
    }

    /// Line and column of the last lexeme, counted from 0.
    pub fn place(&self) -> (usize, usize) {
        self.place
    }

    /// Is a quote, a bracket or a block scalar open?
    pub fn is_open(&self) -> bool {
        self.flow > 0 || matches!(self.mode, Mode::Quoted(_))
    }

    pub fn in_block(&self) -> bool {
        matches!(self.mode, Mode::Block(_))
    }

    /// Takes text that is inside a scalar that started, all of it, and is in JSON what it is. False: nothing was done.
    #[inline]
    pub fn feed_plain(&mut self, text: &str) -> bool {
        let taken = match &mut self.mode {
            Mode::Quoted(quoted) => quoted.is_plain(text),
            Mode::Block(block) => block.is_plain(text),
            _ => false,
        };
        if taken {
            self.column += count_chars(text);
        }
        taken
    }

    /// The next lexeme of `window` from byte `*at`, which moves behind it. `Need` leaves `*at` where the next window has to
    /// start.
    pub fn next<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, ends: &dyn Ends) -> Lexeme<'w> {
        loop {
            let before = *at;
            let start = (self.line, self.column);
            let lexeme = self.step(window, at, last, ends);
            self.count(&window[before..*at]);
            let Some(lexeme) = lexeme else { continue };
            // Windows may begin anywhere, so only what does not depend on that is a place.
            match lexeme {
                Lexeme::Start { .. } | Lexeme::Key { .. } | Lexeme::Dash | Lexeme::Punct(_) => self.place = start,
                Lexeme::Bad(_) | Lexeme::Lax(_) | Lexeme::Close | Lexeme::Open | Lexeme::End => {
                    self.place = (self.line, self.column);
                }
                Lexeme::Need | Lexeme::Part(_) | Lexeme::Own(_) | Lexeme::Char(_) | Lexeme::Stop => {}
            }
            return lexeme;
        }
    }

    fn count(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut from = 0;
        while let Some(offset) = memchr::memchr2(b'\n', b'\r', &bytes[from..]) {
            from += offset + if bytes[from + offset..].starts_with(b"\r\n") { 2 } else { 1 };
            self.line += 1;
            self.column = 0;
        }
        self.column += count_chars(&text[from..]);
    }

    fn step<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, ends: &dyn Ends) -> Option<Lexeme<'w>> {
        match &mut self.mode {
            Mode::Line { .. } => self.indentation(window, at, last, ends),
            Mode::Node { inline } => {
                let inline = *inline;
                self.node(window, at, last, ends, inline)
            }
            Mode::Property { inline } => {
                let inline = *inline;
                self.property(window, at, last, ends, inline)
            }
            Mode::Plain(plain) => {
                let (lexeme, stopped) = plain.next(window, at, last, ends, self.parent, self.flow > 0);
                if let Some(stopped) = stopped {
                    self.mode = match stopped {
                        Stopped::Line { indent, tab } => Mode::Line { indent, tab },
                        Stopped::Comment => Mode::Comment,
                        Stopped::Here { line } if self.flow > 0 => Mode::Flow { blank: line, adjacent: false, line },
                        Stopped::Here { .. } => Mode::After { blank: false },
                    };
                }
                Some(lexeme)
            }
            Mode::Quoted(quoted) => {
                let lexeme = quoted.next(window, at, last);
                if lexeme == Lexeme::Stop {
                    self.mode = self.behind();
                }
                Some(lexeme)
            }
            Mode::Block(block) => {
                let lexeme = block.next(window, at, last, ends, self.parent);
                if lexeme == Lexeme::Stop {
                    let (indent, tab) = (block.spaces, false);
                    self.mode = Mode::Line { indent, tab };
                }
                Some(lexeme)
            }
            Mode::Text(text) => {
                let (lexeme, indent) = text.next(window, at, last, ends, self.parent);
                if lexeme == Lexeme::Stop {
                    self.mode = match indent {
                        Some(indent) => Mode::Line { indent, tab: false },
                        None => Mode::After { blank: false },
                    };
                }
                Some(lexeme)
            }
            Mode::After { .. } => self.after(window, at, last, ends),
            Mode::Comment => self.comment(window, at, last, ends),
            Mode::Flow { .. } => self.flow(window, at, last, ends),
        }
    }

    /// Behind a quoted scalar or a bracket.
    fn behind(&self) -> Mode {
        match self.flow {
            0 => Mode::After { blank: false },
            _ => Mode::Flow { blank: false, adjacent: true, line: false },
        }
    }

    fn at_end<'w>(last: bool) -> Option<Lexeme<'w>> {
        Some(if last { Lexeme::End } else { Lexeme::Need })
    }

    fn bad<'w>(&mut self, what: &'static str, mode: Mode) -> Option<Lexeme<'w>> {
        self.mode = mode;
        Some(Lexeme::Bad(what))
    }

    fn start<'w>(&mut self, quoted: bool, mode: Mode) -> Option<Lexeme<'w>> {
        self.begun = true;
        self.text = false;
        self.gap.clear();
        self.mode = mode;
        Some(Lexeme::Start { quoted })
    }

    fn indentation<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, ends: &dyn Ends) -> Option<Lexeme<'w>> {
        let Mode::Line { indent, tab } = &mut self.mode else { return None };
        let bytes = window.as_bytes();
        loop {
            match bytes.get(*at) {
                None => return Self::at_end(last),
                Some(b' ') => *indent += usize::from(!*tab),
                Some(b'\t') => *tab = true,
                Some(b'\n' | b'\r') => match line_break(bytes, *at, last) {
                    Break::Yes(length) => {
                        (*indent, *tab) = (0, false);
                        *at += length;
                        return None;
                    }
                    _ => return Some(Lexeme::Need),
                },
                Some(_) => break,
            }
            *at += 1;
        }
        let (indent, tab) = (*indent, *tab);
        let rest = &window[*at..];
        match ends.close(rest, true, last) {
            Mark::Yes => return Some(Lexeme::Close),
            Mark::Partial => return Some(Lexeme::Need),
            Mark::No => {}
        }
        if indent <= self.base {
            match ends.open(rest, last) {
                Mark::Yes => return Some(Lexeme::Open),
                Mark::Partial => return Some(Lexeme::Need),
                Mark::No => {}
            }
        }
        if indent == 0 && !tab {
            match peek::document_mark(rest, last) {
                Mark::Partial => return Some(Lexeme::Need),
                Mark::Yes => {
                    if std::mem::replace(&mut self.begun, true) || rest.starts_with('.') {
                        return self.bad(ONE_DOCUMENT, Mode::Comment);
                    }
                    *at += 3;
                    self.mode = Mode::After { blank: false };
                    return None;
                }
                Mark::No => {}
            }
        }
        match bytes[*at] {
            b'#' => self.mode = Mode::Comment,
            b'%' if indent == 0 => return self.bad(NO_DIRECTIVES, Mode::Comment),
            _ if tab => return self.bad(NO_TABS, Mode::Node { inline: false }),
            _ => self.mode = Mode::Node { inline: false },
        }
        None
    }

    fn node<'w>(
        &mut self,
        window: &'w str,
        at: &mut usize,
        last: bool,
        ends: &dyn Ends,
        inline: bool,
    ) -> Option<Lexeme<'w>> {
        let bytes = window.as_bytes();
        let Some(&byte) = bytes.get(*at) else { return Self::at_end(last) };
        let rest = &window[*at..];
        match byte {
            b' ' | b'\t' => {
                let run = bytes[*at..].iter().take_while(|byte| is_blank(**byte)).count();
                if self.text {
                    self.gap.push_str(&rest[..run]);
                }
                *at += run;
                return None;
            }
            b'\n' | b'\r' => {
                return match line_break(bytes, *at, last) {
                    Break::Yes(length) => {
                        *at += length;
                        self.text = false;
                        self.mode = Mode::Line { indent: 0, tab: false };
                        None
                    }
                    _ => Some(Lexeme::Need),
                };
            }
            b'#' => {
                self.text = false;
                self.mode = Mode::Comment;
                return None;
            }
            b'<' => match ends.close(rest, false, last) {
                Mark::Yes => return Some(Lexeme::Close),
                Mark::Partial => return Some(Lexeme::Need),
                Mark::No => {}
            },
            _ => {}
        }
        let what = match byte {
            b'"' | b'\'' => {
                if !inline {
                    match peek::quoted_key(rest, last, &mut self.seen) {
                        Ahead::Need => return Some(Lexeme::Need),
                        Ahead::Key { length, behind } => {
                            let text = Quoted::whole(&rest[..=length]);
                            *at += behind;
                            let wrong = text.is_none();
                            let key = self.key(text.unwrap_or_default(), true);
                            return if wrong { Some(Lexeme::Bad(NO_ESCAPE)) } else { key };
                        }
                        Ahead::No => {}
                    }
                }
                *at += 1;
                return self.start(true, Mode::Quoted(Quoted::new(byte)));
            }
            b'[' | b'{' if !self.text => {
                *at += 1;
                self.begun = true;
                self.flow = 1;
                self.mode = Mode::Flow { blank: true, adjacent: false, line: false };
                return Some(Lexeme::Punct(byte));
            }
            b'|' | b'>' => match peek::block_head(rest, last, &mut self.seen) {
                Head::Need => return Some(Lexeme::Need),
                Head::Yes { block, length } => {
                    *at += length;
                    return self.start(true, Mode::Block(block));
                }
                Head::No => Some(BAD_HEAD),
            },
            b'&' | b'*' | b'!' => {
                let property = !self.text || {
                    match peek::property(rest, last, &mut self.seen) {
                        Mark::Partial => return Some(Lexeme::Need),
                        mark => mark == Mark::Yes,
                    }
                };
                if property {
                    return self.bad(NO_PROPERTIES, Mode::Property { inline });
                }
                Some(NO_PROPERTIES)
            }
            b'[' | b'{' | b']' | b'}' | b',' | b'%' | b'@' | b'`' => Some(RESERVED),
            b'-' | b'?' | b':' => match separates(bytes, *at + 1, last) {
                None => return Some(Lexeme::Need),
                Some(false) => None,
                Some(true) if byte == b'-' && !inline => {
                    *at += 1;
                    self.begun = true;
                    self.parent = self.column as isize;
                    return Some(Lexeme::Dash);
                }
                Some(true) => Some(match byte {
                    b'-' => INLINE_DASH,
                    b'?' => NO_COMPLEX_KEY,
                    _ => NO_KEY,
                }),
            },
            _ => None,
        };
        if self.text {
            let text = Text::new(&self.gap, what.is_some());
            return self.start(false, Mode::Text(Box::new(text)));
        }
        if let Some(what) = what {
            return self.bad(what, Mode::Plain(Plain::default()));
        }
        if !inline {
            match peek::plain_string(rest, last, ends, &mut self.seen) {
                Ahead::Need => return Some(Lexeme::Need),
                Ahead::Key { length, behind } => {
                    let text = rest[..length].trim_end_matches([' ', '\t']).to_owned();
                    *at += behind;
                    return self.key(text, false);
                }
                Ahead::No => {}
            }
        }
        self.start(false, Mode::Plain(Plain::default()))
    }

    fn key<'w>(&mut self, text: String, quoted: bool) -> Option<Lexeme<'w>> {
        self.begun = true;
        self.parent = self.column as isize;
        self.text = false;
        self.gap.clear();
        self.mode = Mode::Node { inline: true };
        Some(Lexeme::Key { text, quoted })
    }

    /// The rest of an anchor, alias or tag, which was told to be bad.
    fn property<'w>(
        &mut self,
        window: &'w str,
        at: &mut usize,
        last: bool,
        ends: &dyn Ends,
        inline: bool,
    ) -> Option<Lexeme<'w>> {
        let bytes = window.as_bytes();
        loop {
            match bytes.get(*at) {
                None => return Self::at_end(last),
                Some(b'<') => match ends.close(&window[*at..], false, last) {
                    Mark::Yes => return Some(Lexeme::Close),
                    Mark::Partial => return Some(Lexeme::Need),
                    Mark::No => {}
                },
                Some(byte) if is_blank(*byte) || matches!(byte, b'\n' | b'\r') => break,
                Some(byte) if self.flow > 0 && is_flow_mark(*byte) => break,
                Some(_) => {}
            }
            *at += 1;
        }
        self.mode = match self.flow {
            0 => Mode::Node { inline },
            _ => Mode::Flow { blank: false, adjacent: false, line: false },
        };
        None
    }

    fn after<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, ends: &dyn Ends) -> Option<Lexeme<'w>> {
        let Mode::After { blank } = &mut self.mode else { return None };
        let bytes = window.as_bytes();
        match bytes.get(*at) {
            None => Self::at_end(last),
            Some(b' ' | b'\t') => {
                *at += bytes[*at..].iter().take_while(|byte| is_blank(**byte)).count();
                *blank = true;
                None
            }
            Some(b'\n' | b'\r') => match line_break(bytes, *at, last) {
                Break::Yes(length) => {
                    *at += length;
                    self.mode = Mode::Line { indent: 0, tab: false };
                    None
                }
                _ => Some(Lexeme::Need),
            },
            Some(b'#') if *blank => {
                self.mode = Mode::Comment;
                None
            }
            Some(_) => match ends.close(&window[*at..], false, last) {
                Mark::Yes => Some(Lexeme::Close),
                Mark::Partial => Some(Lexeme::Need),
                Mark::No => self.bad(BEHIND, Mode::Plain(Plain::default())),
            },
        }
    }

    /// To the end of the line.
    fn comment<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, ends: &dyn Ends) -> Option<Lexeme<'w>> {
        let bytes = window.as_bytes();
        loop {
            let Some(offset) = memchr::memchr3(b'\n', b'\r', b'<', &bytes[*at..]) else {
                *at = bytes.len();
                return Self::at_end(last);
            };
            *at += offset;
            if bytes[*at] != b'<' {
                break;
            }
            match ends.close(&window[*at..], false, last) {
                Mark::Yes => return Some(Lexeme::Close),
                Mark::Partial => return Some(Lexeme::Need),
                Mark::No => *at += 1,
            }
        }
        let Break::Yes(length) = line_break(bytes, *at, last) else { return Some(Lexeme::Need) };
        *at += length;
        self.mode = match self.flow {
            0 => Mode::Line { indent: 0, tab: false },
            _ => Mode::Flow { blank: true, adjacent: false, line: true },
        };
        None
    }

    fn flow<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, ends: &dyn Ends) -> Option<Lexeme<'w>> {
        let Mode::Flow { blank, adjacent, line } = &mut self.mode else { return None };
        let bytes = window.as_bytes();
        let start = *at;
        let byte = loop {
            match bytes.get(*at) {
                None => return Self::at_end(last),
                Some(b' ' | b'\t') => {
                    *at += 1;
                    *blank = true;
                }
                Some(b'\n' | b'\r') => match line_break(bytes, *at, last) {
                    Break::Yes(length) => {
                        *at += length;
                        (*blank, *line) = (true, true);
                    }
                    _ => return Some(Lexeme::Need),
                },
                Some(_) if *at > start => return None,
                Some(byte) => break *byte,
            }
        };
        let rest = &window[*at..];
        let (blank, adjacent) = (*blank, *adjacent);
        match ends.close(rest, *line, last) {
            Mark::Yes => return Some(Lexeme::Close),
            Mark::Partial => return Some(Lexeme::Need),
            Mark::No => {}
        }
        let what = match byte {
            b'#' if blank => {
                self.mode = Mode::Comment;
                return None;
            }
            b'[' | b'{' | b',' => {
                *at += 1;
                self.flow += usize::from(byte != b',');
                self.mode = Mode::Flow { blank: false, adjacent: false, line: false };
                return Some(Lexeme::Punct(byte));
            }
            b']' | b'}' => {
                *at += 1;
                self.flow -= 1;
                self.mode = self.behind();
                return Some(Lexeme::Punct(byte));
            }
            b'"' | b'\'' => {
                *at += 1;
                return self.start(true, Mode::Quoted(Quoted::new(byte)));
            }
            b':' | b'-' | b'?' => {
                let marks = match bytes.get(*at + 1) {
                    _ if byte == b':' && adjacent => Some(true),
                    Some(next) if is_flow_mark(*next) => Some(true),
                    _ => separates(bytes, *at + 1, last),
                };
                match marks {
                    None => return Some(Lexeme::Need),
                    Some(false) => None,
                    Some(true) if byte == b':' => {
                        *at += 1;
                        self.mode = Mode::Flow { blank: false, adjacent: false, line: false };
                        return Some(Lexeme::Punct(byte));
                    }
                    Some(true) => Some(RESERVED),
                }
            }
            b'&' | b'*' | b'!' => return self.bad(NO_PROPERTIES, Mode::Property { inline: true }),
            b'|' | b'>' | b'%' | b'@' | b'`' | b'#' => Some(RESERVED),
            _ => None,
        };
        match what {
            Some(what) => self.bad(what, Mode::Plain(Plain::default())),
            None => self.start(false, Mode::Plain(Plain::default())),
        }
    }
}

fn count_chars(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}
