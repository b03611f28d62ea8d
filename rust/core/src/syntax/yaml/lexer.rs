//! The one YAML lexer. It is fed windows of a text, consumes what it can tell, and hands out lexemes.
//!
//! It knows lines, quotes, brackets and block scalars, and nothing of what may follow what: where a quote opens and what it
//! closes never depends on whether the text in front was right. So the same lexer reads on after an error.

use std::ops::ControlFlow::{Break, Continue};

use super::block::Block;
use super::lexeme::{Ends, Lexeme};
use super::pair::{Pair, pair};
use super::plain::{Plain, Stopped};
use super::quoted::Quoted;
use super::text::Text;
use super::window::{Step, Window};
use crate::syntax::quoting::Alternation;

/// How far ahead the text is scanned for quotes.
const AHEAD_BYTES: usize = 256;
/// Most lexemes are no longer.
const SHORT_BYTES: usize = 32;

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
    Text(Text),
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
    pub(super) mode: Mode,
    /// The column of the last key or dash: what belongs to it stands deeper.
    pub(super) parent: isize,
    /// Open brackets.
    pub(super) flow: usize,
    /// The value that comes next is a text, whatever it looks like.
    pub(super) text: bool,
    /// Blanks in front of it.
    pub(super) gap: String,
    /// Bytes behind the consumed ones that were looked at already.
    pub(super) seen: usize,
    pub(super) begun: bool,
    /// Of the next byte, counted from 0, in characters.
    line: usize,
    pub(super) column: usize,
    /// Of the last lexeme.
    place: (usize, usize),
    /// Lines that start in this column or before it are of the outermost mapping.
    pub base: usize,
    /// The quotes of the consumed text, judged by their places alone, and the scalars in which they are ignored.
    quotes: Alternation,
    /// This many of the next bytes contain no quote.
    clear: usize,
    whole: Whole,
    lost: bool,
}

/// A scalar that ends by its own rules, whatever quotes are in it: one that begins where no quote is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    No,
    /// In quotes; `empty`: it is empty so far.
    Quoted {
        empty: bool,
    },
    Block,
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
            quotes: Alternation::START,
            clear: 0,
            whole: Whole::No,
            lost: false,
        }
    }
}

impl Lexer {
    /// The quote that is open in unquoted text.
    pub fn open_quote(&self) -> Option<u8> {
        self.quotes.open()
    }

    /// An error came before, so what looks like a block scalar may not be one.
    pub fn lose(&mut self) {
        self.lost = true;
    }

    /// The scalar that is open now, if its own rules may say where it ends.
    #[inline]
    fn scalar(&self) -> Whole {
        match &self.mode {
            Mode::Quoted(_) => Whole::Quoted { empty: true },
            Mode::Block(_) if !self.lost || self.whole == Whole::Block => Whole::Block,
            _ => Whole::No,
        }
    }

    /// Tracks the quotes of a text that was consumed, before the rest of the window. `was`: the scalar that was open before it.
    #[inline]
    fn follow(&mut self, was: Whole, text: &str, rest: &str) {
        let whole = self.whole != Whole::No || matches!(self.mode, Mode::Quoted(_) | Mode::Block(_));
        if text.len() <= self.clear && !whole && self.quotes.pass(text) {
            self.clear -= text.len();
        } else {
            self.follow_on(was, text, rest);
        }
    }

    /// This many bytes were consumed, and `rest` follows.
    #[inline]
    fn skip(&mut self, bytes: usize, rest: &str) {
        self.clear = match self.clear.checked_sub(bytes) {
            Some(clear) => clear,
            None => {
                let ahead = &rest.as_bytes()[..rest.len().min(AHEAD_BYTES)];
                memchr::memchr2(b'"', b'\'', ahead).unwrap_or(ahead.len())
            }
        };
    }

    fn follow_on(&mut self, was: Whole, text: &str, rest: &str) {
        self.skip(text.len(), rest);
        let now = self.scalar();
        match (&mut self.whole, now) {
            (Whole::No, Whole::No) => self.quotes.run(text),
            // It begins here. One that began while a quote was open is text like any other, to its end.
            (Whole::No, now) if was == Whole::No && self.quotes.open().is_none() => self.whole = now,
            (Whole::No, _) => self.quotes.run(text),
            (Whole::Quoted { empty }, Whole::Quoted { .. }) => *empty &= text.is_empty(),
            (Whole::Block, Whole::Block) => {}
            (Whole::Quoted { empty }, _) => {
                self.quotes = if *empty && text.len() <= 1 { Alternation::START } else { Alternation::CLOSED };
                self.whole = Whole::No;
            }
            (Whole::Block, _) => (self.quotes, self.whole) = (Alternation::START, Whole::No),
        }
    }

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
            Mode::Text(plain) => plain.is_plain(text),
            _ => false,
        };
        if taken {
            self.column += count_chars(text);
            self.follow(self.scalar(), text, "");
        }
        taken
    }

    /// Takes the next line, with the line break in front, if it is a [`Pair`] in column 0. It reads so, lexeme for lexeme.
    pub fn pair<'w>(&mut self, window: &'w str, at: &mut usize, ends: &dyn Ends) -> Option<Pair<'w>> {
        if !matches!(self.mode, Mode::Line { .. } | Mode::After { .. }) {
            return None;
        }
        let (pair, length) = pair(&window[*at..], ends)?;
        let (text, rest) = window[*at..].split_at(length);
        let mut quotes = self.quotes;
        if text.len() > self.clear || !quotes.pass(text) {
            quotes.run(text);
            if self.quotes.open().is_some() || quotes.open().is_some() {
                return None;
            }
        }
        self.quotes = quotes;
        self.skip(length, rest);
        *at += length;
        // A line break is next: in which column it stands nobody asks.
        self.line += 1;
        (self.begun, self.parent, self.mode) = (true, 0, Mode::After { blank: false });
        Some(pair)
    }

    /// The next lexeme of `window` from byte `*at`, which moves behind it. `Need` leaves `*at` where the next window has to
    /// start.
    pub fn next<'w>(&mut self, window: &'w str, at: &mut usize, last: bool, ends: &dyn Ends) -> Lexeme<'w> {
        let mut w = Window { text: window, at: *at, last, ends };
        loop {
            let before = w.at;
            let start = (self.line, self.column);
            let was = self.scalar();
            let step = self.step(&mut w);
            self.count(&window[before..w.at]);
            self.follow(was, &window[before..w.at], &window[w.at..]);
            let Break(lexeme) = step else { continue };
            // Windows may begin anywhere, so only what does not depend on that is a place.
            match lexeme {
                Lexeme::Start { .. } | Lexeme::Key { .. } | Lexeme::Dash | Lexeme::Punct(_) => self.place = start,
                Lexeme::Bad(_) | Lexeme::Lax(_) | Lexeme::Close | Lexeme::Open | Lexeme::End => {
                    self.place = (self.line, self.column);
                }
                Lexeme::Need | Lexeme::Part(_) | Lexeme::Own(_) | Lexeme::Char(_) | Lexeme::Stop => {}
            }
            *at = w.at;
            return lexeme;
        }
    }

    #[inline]
    fn count(&mut self, text: &str) {
        let is_plain = |byte: u8| byte.is_ascii() && !matches!(byte, b'\n' | b'\r');
        if text.len() <= SHORT_BYTES && text.bytes().all(is_plain) {
            self.column += text.len();
        } else {
            self.count_on(text);
        }
    }

    fn count_on(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut line = text;
        if let Some(end) = memchr::memrchr2(b'\n', b'\r', bytes) {
            let lone = |at: &usize| bytes.get(at + 1) != Some(&b'\n');
            self.line += memchr::memchr_iter(b'\n', bytes).count();
            self.line += memchr::memchr_iter(b'\r', bytes).filter(lone).count();
            self.column = 0;
            line = &text[end + 1..];
        }
        self.column += count_chars(line);
    }

    fn step<'w>(&mut self, w: &mut Window<'w, '_>) -> Step<'w> {
        let step = match self.mode {
            Mode::Line { .. } => return self.indentation(w),
            Mode::Node { inline } => return self.node(w, inline),
            Mode::Property { inline } => return self.property(w, inline),
            Mode::After { .. } => return self.after(w),
            Mode::Comment => return self.comment(w),
            Mode::Flow { .. } => return self.in_flow(w),
            Mode::Plain(ref mut plain) => plain.next(w, self.parent, self.flow > 0),
            Mode::Quoted(ref mut quoted) => quoted.next(w),
            Mode::Block(ref mut block) => block.next(w, self.parent),
            Mode::Text(ref mut text) => text.next(w, self.parent),
        };
        if let Break(Lexeme::Stop) = step {
            self.mode = self.after_scalar();
        }
        step
    }

    fn after_scalar(&self) -> Mode {
        let line = |indent, tab| match self.flow {
            0 => Mode::Line { indent, tab },
            _ => Mode::Flow { blank: true, adjacent: false, line: true },
        };
        match &self.mode {
            Mode::Block(block) => line(block.spaces, false),
            Mode::Text(text) => text.indentation_after().map_or(self.behind(), |indent| line(indent, false)),
            Mode::Plain(plain) => match plain.stopped {
                Stopped::Line { indent, tab } => line(indent, tab),
                Stopped::Comment => Mode::Comment,
                Stopped::Here if self.flow > 0 => Mode::Flow { blank: false, adjacent: false, line: false },
                Stopped::Here => self.behind(),
            },
            _ => self.behind(),
        }
    }

    /// Behind a quoted scalar or a bracket.
    pub(super) fn behind(&self) -> Mode {
        match self.flow {
            0 => Mode::After { blank: false },
            _ => Mode::Flow { blank: false, adjacent: true, line: false },
        }
    }

    /// A lexeme, and on in a mode.
    pub(super) fn out<'w>(&mut self, lexeme: Lexeme<'w>, mode: Mode) -> Step<'w> {
        self.mode = mode;
        Break(lexeme)
    }

    /// On in a mode.
    pub(super) fn go<'w>(&mut self, mode: Mode) -> Step<'w> {
        self.mode = mode;
        Continue(())
    }

    pub(super) fn start<'w>(&mut self, quoted: bool, mode: Mode) -> Step<'w> {
        self.begun = true;
        self.text = false;
        self.gap.clear();
        self.out(Lexeme::Start { quoted }, mode)
    }
}

fn count_chars(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}
