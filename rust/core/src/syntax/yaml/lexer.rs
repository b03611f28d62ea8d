//! The YAML lexer. It is fed windows of a text, consumes what is certain, and returns lexemes.
//!
//! It knows lines, quotes, brackets and block scalars, but no grammar. Where a quote opens and what it closes never
//! depends on whether the text before it was correct, so the same lexer reads the rest after an error.

use std::ops::ControlFlow::{Break, Continue};

use super::block::BlockScalar;
use super::lexeme::{Surroundings, YamlLexeme};
use super::pair::{Pair, pair};
use super::plain::{PlainScalar, Stopped};
use super::quoted::QuotedScalar;
use super::text::TextScalar;
use super::window::{TextWindow, YamlStep};
use crate::syntax::quoting::{Alternation, Quote, find_quote};

/// How far ahead the text is scanned for quotes.
const AHEAD_BYTES: usize = 256;
/// Most lexemes are not longer.
const SHORT_BYTES: usize = 32;

#[derive(Debug)]
pub(super) enum Mode {
    /// In the indentation of a line.
    Line {
        indent: usize,
        tab: bool,
    },
    /// A node may begin. `inline`: after a key in the same line.
    Node {
        inline: bool,
    },
    /// In an anchor, alias or tag.
    Property {
        inline: bool,
    },
    Plain(PlainScalar),
    Quoted(QuotedScalar),
    Block(BlockScalar),
    Text(TextScalar),
    /// After a quoted scalar or a flow collection.
    After {
        blank: bool,
    },
    Comment,
    /// In a flow collection. `adjacent`: after a quoted scalar or a bracket. `line`: only whitespace precedes it in its
    /// line.
    Flow {
        blank: bool,
        adjacent: bool,
        line: bool,
    },
}

#[derive(Debug, Default)]
pub(crate) struct YamlLexer {
    pub(super) mode: Mode,
    /// The least indentation of what belongs to the last key or dash.
    pub(super) inner: usize,
    /// The number of open brackets.
    pub(super) flow: usize,
    /// The value of the last key is a text: what is not YAML is taken verbatim.
    pub text: bool,
    /// The whitespace before it.
    pub(super) gap: String,
    /// Bytes after the consumed ones that were scanned already.
    pub(super) seen: usize,
    pub(super) begun: bool,
    /// The line and column of the next byte. They count from 0, in characters.
    line: usize,
    pub(super) column: usize,
    /// The line and column of the last lexeme. They count from 0.
    pub place: (usize, usize),
    /// Lines that start in this column or before it belong to the outermost mapping.
    pub base: usize,
    /// The quotes of the consumed text, judged by the bytes around them, except in scalars that ignore them.
    quotes: Alternation,
    /// This many of the next bytes contain no quote.
    clear: usize,
    opaque: OpaqueScalar,
    /// There was an error: what looks like a block scalar may not be one.
    pub lost: bool,
}

/// A scalar that ends by its own rules, whatever quotes are in it. It began where no quote was open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum OpaqueScalar {
    #[default]
    No,
    /// In quotes. `empty`: it is empty so far.
    Quoted {
        empty: bool,
    },
    Block,
}

impl Default for Mode {
    fn default() -> Self {
        Mode::Line { indent: 0, tab: false }
    }
}

impl YamlLexer {
    /// The quote that is open in unquoted text.
    pub(crate) fn open_quote(&self) -> Option<Quote> {
        self.quotes.open()
    }

    /// The current scalar, if its own rules may decide where it ends.
    #[inline]
    fn scalar(&self) -> OpaqueScalar {
        match &self.mode {
            Mode::Quoted(_) => OpaqueScalar::Quoted { empty: true },
            Mode::Block(_) if !self.lost || self.opaque == OpaqueScalar::Block => OpaqueScalar::Block,
            _ => OpaqueScalar::No,
        }
    }

    /// Tracks the quotes of consumed text. `rest` is the rest of the window, and `was` the scalar before the text.
    #[inline]
    fn follow(&mut self, was: OpaqueScalar, text: &str, rest: &str) {
        let opaque = self.opaque != OpaqueScalar::No || matches!(self.mode, Mode::Quoted(_) | Mode::Block(_));
        if text.len() <= self.clear && !opaque && self.quotes.pass(text) {
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
                find_quote(ahead).unwrap_or(ahead.len())
            }
        };
    }

    fn follow_on(&mut self, was: OpaqueScalar, text: &str, rest: &str) {
        self.skip(text.len(), rest);
        let now = self.scalar();
        match (&mut self.opaque, now) {
            (OpaqueScalar::No, OpaqueScalar::No) => self.quotes.run(text),
            // A scalar begins here. One that began while a quote was open is ordinary text up to its end.
            (OpaqueScalar::No, now) if was == OpaqueScalar::No && self.quotes.open().is_none() => self.opaque = now,
            (OpaqueScalar::No, _) => self.quotes.run(text),
            (OpaqueScalar::Quoted { empty }, OpaqueScalar::Quoted { .. }) => *empty &= text.is_empty(),
            (OpaqueScalar::Block, OpaqueScalar::Block) => {}
            (OpaqueScalar::Quoted { empty }, _) => {
                self.quotes = if *empty && text.len() <= 1 { Alternation::START } else { Alternation::CLOSED };
                self.opaque = OpaqueScalar::No;
            }
            (OpaqueScalar::Block, _) => (self.quotes, self.opaque) = (Alternation::START, OpaqueScalar::No),
        }
    }

    /// Whether a quote or a bracket is open.
    pub(crate) fn is_open(&self) -> bool {
        self.flow > 0 || matches!(self.mode, Mode::Quoted(_))
    }

    pub(crate) fn in_block(&self) -> bool {
        matches!(self.mode, Mode::Block(_))
    }

    /// Consumes text that is content of the current scalar and needs no escape in JSON. False: nothing was consumed.
    #[inline]
    pub(crate) fn feed_plain(&mut self, text: &str) -> bool {
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

    /// Consumes a line break and the next line, if that is a [`Pair`] in column 0. Reading its lexemes has the same
    /// result.
    pub(crate) fn pair<'w>(&mut self, window: &'w str, at: &mut usize, ends: &dyn Surroundings) -> Option<Pair<'w>> {
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
        // A line break is next, so its column does not matter.
        self.line += 1;
        (self.begun, self.inner, self.mode) = (true, 1, Mode::After { blank: false });
        Some(pair)
    }

    /// The next lexeme of `window` from byte `*at`, which moves past it. After `Need`, the next window must start at
    /// `*at`.
    pub(crate) fn next<'w>(
        &mut self,
        window: &'w str,
        at: &mut usize,
        last: bool,
        ends: &dyn Surroundings,
    ) -> YamlLexeme<'w> {
        let mut w = TextWindow { text: window, at: *at, last, ends };
        loop {
            let before = w.at;
            let start = (self.line, self.column);
            let was = self.scalar();
            let step = self.step(&mut w);
            self.count(&window[before..w.at]);
            self.follow(was, &window[before..w.at], &window[w.at..]);
            let Break(lexeme) = step else { continue };
            // The place of a part of a scalar would depend on the windows, so it is not recorded.
            match lexeme {
                YamlLexeme::Start { .. } | YamlLexeme::Key { .. } | YamlLexeme::Dash | YamlLexeme::Punct(_) => {
                    self.place = start
                }
                YamlLexeme::Bad(_) | YamlLexeme::Lax(_) | YamlLexeme::Close | YamlLexeme::Open | YamlLexeme::End => {
                    self.place = (self.line, self.column);
                }
                _ => {}
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

    fn step<'w>(&mut self, w: &mut TextWindow<'w, '_>) -> YamlStep<'w> {
        let step = match self.mode {
            Mode::Line { .. } => return self.indentation(w),
            Mode::Node { inline } => return self.node(w, inline),
            Mode::Property { inline } => return self.property(w, inline),
            Mode::After { .. } => return self.after(w),
            Mode::Comment => return self.comment(w),
            Mode::Flow { .. } => return self.in_flow(w),
            Mode::Plain(ref mut plain) => plain.next(w, self.inner, self.flow > 0),
            Mode::Quoted(ref mut quoted) => quoted.next(w),
            Mode::Block(ref mut block) => block.next(w, self.inner),
            Mode::Text(ref mut text) => text.next(w, self.inner),
        };
        if let Break(YamlLexeme::Stop) = step {
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
            Mode::Text(text) => text.indentation_after().map_or(self.after_node(), |indent| line(indent, false)),
            Mode::Plain(plain) => match plain.stopped {
                Stopped::Line { indent, tab } => line(indent, tab),
                Stopped::Comment => Mode::Comment,
                Stopped::Here if self.flow > 0 => Mode::Flow { blank: false, adjacent: false, line: false },
                Stopped::Here => self.after_node(),
            },
            _ => self.after_node(),
        }
    }

    /// The mode after a quoted scalar or a bracket.
    pub(super) fn after_node(&self) -> Mode {
        match self.flow {
            0 => Mode::After { blank: false },
            _ => Mode::Flow { blank: false, adjacent: true, line: false },
        }
    }

    /// Returns a lexeme and continues in a mode.
    pub(super) fn out<'w>(&mut self, lexeme: YamlLexeme<'w>, mode: Mode) -> YamlStep<'w> {
        self.mode = mode;
        Break(lexeme)
    }

    /// Continues in a mode.
    pub(super) fn go<'w>(&mut self, mode: Mode) -> YamlStep<'w> {
        self.mode = mode;
        Continue(())
    }

    pub(super) fn start<'w>(&mut self, quoted: bool, mode: Mode) -> YamlStep<'w> {
        self.begun = true;
        self.text = false;
        self.gap.clear();
        self.out(YamlLexeme::Start { quoted }, mode)
    }
}

fn count_chars(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}
