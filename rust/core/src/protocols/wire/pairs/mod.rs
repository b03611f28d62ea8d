//! The body of a call in pairs: `key=value key=value`.
//!
//! One state for each place in the text; everything that must be seen before deciding is in front of the window.

mod equals;
mod fast_path;
mod quotes;
mod typographic;
mod value;
mod word;
mod write;

use crate::arguments::MAX_PROBLEMS;
use crate::arguments::builder::{Collision, Probe, Target};
use crate::arguments::keys::{Field, is_declared, resolve};
use crate::arguments::{Context, Failure, Found, Io, Object, Step, messages};
use crate::error::{ErrorKind, ProblemKind, Repair};
use crate::protocols::body::{Body, read_close};
use crate::syntax::pairs::{Following, Lookahead, QuotedPart, colon_key, may_trail};
use crate::syntax::quoting::is_quote;
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Delimiters, Scan, is_ws, ws_run};
use equals::Equals;
use quotes::{InQuotes, verbatim};
use typographic::Typographic;
use value::{Text, Value, collided, duplicate};
use word::InWord;

pub use write::write_pairs;

#[derive(Debug)]
enum State {
    /// Between pairs. `line`: a line break was among the blanks; `bare`: a bare value that may take in tokens is in front.
    Gap {
        line: bool,
        bare: bool,
        key: Lookahead,
    },
    /// Behind `=`.
    Equals(Equals),
    Quoted(InQuotes),
    Bare(InWord),
    Typographic(Typographic),
    /// Bracketed text that is a string, to the letter.
    Verbatim {
        value: Value,
        skip: Skip,
    },
    Json {
        field: Field,
        target: Target,
        start: usize,
        object: Box<Object>,
    },
    /// Directly behind a quoted or bracketed value.
    After {
        quoted: bool,
        /// The value is an empty text.
        empty: bool,
        ahead: Lookahead,
    },
}

#[derive(Debug)]
pub struct Pairs {
    state: State,
    /// The last value was bare, and a delimiter's first character is in it.
    bare_mark: bool,
}

impl Default for Pairs {
    fn default() -> Self {
        Pairs { state: gap(false), bare_mark: false }
    }
}

fn gap(bare: bool) -> State {
    State::Gap { line: false, bare, key: Lookahead::default() }
}

/// Behind a value, with what was seen ahead of it.
fn gap_ahead(bare: bool, next: Following) -> State {
    match next {
        Following::Pair { length, direct: true, .. } => {
            State::Gap { line: false, bare, key: Lookahead::at_key(length) }
        }
        _ => gap(bare),
    }
}

fn behind(quoted: bool) -> State {
    State::After { quoted, empty: false, ahead: Lookahead::after_value() }
}

/// What one state made of the window.
enum Move {
    To(State),
    /// More text is needed.
    Stay,
    Done,
    Fail(Failure),
}

/// Whether the end of a value was guessed.
fn is_unsure(found: &Found) -> bool {
    found.used(Repair::UnquotedSpaces) || found.used(Repair::InnerQuotes)
}

fn fail(kind: ErrorKind, message: impl Into<String>, skip: Skip) -> Move {
    Move::Fail(Failure { kind, message: message.into(), skip })
}

impl Body for Pairs {
    fn feed(&mut self, io: &mut Io<'_>) -> Step {
        let step = self.run(io);
        read_close(io, step)
    }

    fn skip(&self) -> Skip {
        match &self.state {
            State::Gap { .. } => Skip::TokenStart,
            State::Equals(_) => Skip::ValueStart,
            State::Quoted(InQuotes { quoted, .. }) => Skip::in_quotes(quoted.quote),
            State::Bare(InWord { word, .. }) => word.skip(),
            State::Typographic(typographic) => typographic.skip(),
            State::Verbatim { skip, .. } => *skip,
            State::Json { object, .. } => object.skip(),
            State::After { empty: true, .. } => Skip::AfterEmpty,
            State::After { empty: false, .. } => Skip::After,
        }
    }

    fn closable(&self, found: &Found) -> bool {
        let between = match &self.state {
            State::Gap { .. } | State::After { .. } => true,
            State::Equals(_) | State::Quoted(_) | State::Bare(_) | State::Typographic(_) => false,
            State::Verbatim { .. } | State::Json { .. } => false,
        };
        between && !self.bare_mark && !is_unsure(found)
    }

    fn unterminated(&self) -> bool {
        matches!(self.state, State::Quoted(_) | State::Typographic(_) | State::Verbatim { .. } | State::Json { .. })
    }

    #[inline]
    fn feed_plain(&mut self, found: &mut Found, text: &str, delimiters: &Delimiters) -> Option<bool> {
        let State::Quoted(InQuotes { value, quoted, marks, kept: None, .. }) = &mut self.state else { return None };
        if !matches!(value.text, Text::Live { .. }) {
            return None;
        }
        if marks.is_idle() && quoted.is_plain(text, delimiters) {
            value.push_plain(found, text);
            return Some(true);
        }
        if !quoted.is_inside(text) {
            return None;
        }
        let mut at = 0;
        loop {
            match quoted.next(text, &mut at, false) {
                QuotedPart::Plain(part) => {
                    marks.watch(part, delimiters);
                    value.push_plain(found, part);
                }
                QuotedPart::Char(c) => {
                    marks.cut();
                    value.push_char(found, c);
                }
                QuotedPart::Quote | QuotedPart::Need => return Some(false),
            }
        }
    }

    fn skip_all(&self) -> Skip {
        Skip::TokenStart
    }

    fn finish(&self, cx: &Context<'_>, found: &mut Found) {
        finish(cx, found);
    }
}

impl Pairs {
    /// Reads the body from `io.at`.
    fn run(&mut self, io: &mut Io<'_>) -> Step {
        loop {
            let bare_mark = &mut self.bare_mark;
            let moved = match &mut self.state {
                State::Gap { line, bare, key } => {
                    if let Some(open_ended) = fast_path::pairs(io) {
                        (*line, *bare, *key, *bare_mark) = (false, open_ended, Lookahead::default(), false);
                    }
                    gap_step(io, line, *bare, key)
                }
                State::Equals(equals) => equals.step(io, bare_mark),
                State::Quoted(quoted) => quoted.step(io),
                State::Bare(bare) => bare.step(io, bare_mark),
                State::Typographic(typographic) => typographic.step(io),
                State::Verbatim { value, skip } => verbatim(io, value, skip),
                State::Json { field, target, start, object } => match object.feed(io) {
                    Ok(false) => Move::Stay,
                    Err(failure) => Move::Fail(failure),
                    Ok(true) if io.found.args.end(*target, *start) => Move::To(behind(false)),
                    Ok(true) => duplicate(field, Skip::After),
                },
                State::After { quoted, empty, ahead } => {
                    let skip = if *empty { Skip::AfterEmpty } else { Skip::After };
                    after(io, *quoted, skip, ahead)
                }
            };
            match moved {
                Move::To(next) => self.state = next,
                Move::Stay => return Step::Need,
                Move::Done => return Step::Done,
                Move::Fail(failure) => return Step::Failed(failure),
            }
        }
    }
}

fn gap_step(io: &mut Io<'_>, line: &mut bool, bare: bool, key: &mut Lookahead) -> Move {
    let cx = io.cx;
    // Blanks are consumed as they come, so `key` is only ever ahead of a token.
    let token = ws_run(io.window, io.at);
    *line |= crate::syntax::scan::has_line_break(&io.window[io.at..token]);
    io.at = token;
    let rest = io.rest();
    let broken = || no_pair(&cx, rest, bare && !*line);
    if rest.starts_with(',') {
        return broken();
    }
    // What the end of the message leaves undecided is an incomplete call, so this never looks at `last`.
    let (length, direct) = match key.look(rest, false, cx.delimiters) {
        Following::Need | Following::End => return Move::Stay,
        Following::Close => return Move::Done,
        Following::Open { .. } if *line => {
            let unsure = is_unsure(io.found).then_some(ErrorKind::MalformedCall);
            return match unsure.map_or_else(|| cx.repair(io.found, Repair::MissingClose), Err) {
                Ok(()) => Move::Done,
                Err(kind) => fail(kind, messages::UNCLOSED, Skip::TokenStart),
            };
        }
        // A parenthesis that begins a key is not one of a name.
        Following::Pair { .. } if rest.starts_with('(') => return no_pair(&cx, rest, false),
        Following::Pair { length, direct, .. } => (length, direct),
        Following::Other => match colon_pair(&cx, rest, false) {
            Scan::Incomplete => return Move::Stay,
            Scan::NoMatch => return broken(),
            Scan::Match((length, end)) => {
                let written = &rest[..length];
                if let Err(kind) = cx.repair(io.found, Repair::ColonSeparator) {
                    return fail(kind, format!("Write = instead of a colon: {written}=…"), Skip::TokenStart);
                }
                io.at += end;
                return equals(io, written, true);
            }
        },
        Following::Open { .. } | Following::Trailing { .. } => return broken(),
    };
    let written = &rest[..length];
    if !direct {
        if !is_declared(cx.schema, written) {
            return broken();
        }
        if let Err(kind) = cx.repair(io.found, Repair::SpacedEquals) {
            return fail(kind, format!("Do not put spaces around `=`: write {written}=…"), Skip::TokenStart);
        }
    }
    io.at += ws_run(rest, length) + 1;
    equals(io, written, false)
}

/// After a key and `=`, or a colon.
fn equals(io: &mut Io<'_>, written: &str, colon: bool) -> Move {
    let cx = io.cx;
    let field = match resolve(&cx, io.found, written) {
        Ok(field) => field,
        Err((kind, message)) => return fail(kind, message, Skip::ValueStart),
    };
    if field.is_piece() || io.found.args.in_pieces() {
        match io.found.args.probe(&field.steps) {
            Probe::Blocked => return collided(&field, Collision::Taken),
            Probe::Gap { next } => return collided(&field, Collision::Gap { next }),
            Probe::Items(_) if !cx.schema.node(field.node).collects() => {
                return collided(&field, Collision::Taken);
            }
            Probe::Vacant | Probe::Whole | Probe::Items(_) => {}
        }
    }
    Move::To(State::Equals(Equals { field, ahead: Lookahead::default(), colon }))
}

/// A declared key and a colon at the start of the text, as [`colon_key`] finds them.
fn colon_pair(cx: &Context<'_>, text: &str, last: bool) -> Scan<(usize, usize)> {
    colon_key(text, last, cx.delimiters, &|key| is_declared(cx.schema, key))
}

/// Whether, in a call with colons for `=`, the text after a value goes on with another such pair.
fn follows_colon(io: &Io<'_>, rest: &str) -> Scan {
    let from = ws_run(rest, usize::from(rest.starts_with(',')));
    if from == 0 || !io.found.used(Repair::ColonSeparator) {
        return Scan::NoMatch;
    }
    match colon_pair(&io.cx, &rest[from..], io.last) {
        Scan::Incomplete => Scan::Incomplete,
        Scan::NoMatch => Scan::NoMatch,
        Scan::Match(_) => Scan::Match(()),
    }
}

fn no_pair(cx: &Context<'_>, rest: &str, continues: bool) -> Move {
    // Not the whole token: its end may not be there yet.
    let length = match cx.delimiters.key_run(rest) {
        0 => rest.chars().next().map_or(0, char::len_utf8),
        length => length,
    };
    let message = messages::no_pair(cx, &rest[..length]);
    let strict = continues && cx.strict;
    let kind = if strict { ErrorKind::Strict(Repair::UnquotedSpaces) } else { ErrorKind::MalformedCall };
    fail(kind, message, Skip::TokenStart)
}

fn after(io: &mut Io<'_>, quoted: bool, skip: Skip, ahead: &mut Lookahead) -> Move {
    let cx = io.cx;
    let rest = io.rest();
    let junk = match rest.as_bytes().first() {
        Some(byte) if skip == Skip::AfterEmpty && is_quote(*byte) => ErrorKind::Strict(Repair::QuoteStyle),
        _ if quoted => ErrorKind::Strict(Repair::InnerQuotes),
        _ => ErrorKind::MalformedCall,
    };
    match (rest.as_bytes().first(), cx.delimiters.closes(rest, io.last).void()) {
        (None, _) | (_, Scan::Incomplete) => Move::Stay,
        (_, Scan::Match(())) => Move::To(gap(false)),
        (Some(byte), Scan::NoMatch) if is_ws(*byte) => Move::To(gap(false)),
        (Some(byte), Scan::NoMatch) => {
            let next = if may_trail(*byte) { ahead.look(rest, io.last, cx.delimiters) } else { Following::Other };
            let colon = if next == Following::Other { follows_colon(io, rest) } else { Scan::NoMatch };
            match (next, colon) {
                (Following::Need, _) | (_, Scan::Incomplete) => Move::Stay,
                (Following::Pair { .. }, _) | (_, Scan::Match(())) => comma(io, Move::To(gap(false))),
                (Following::Trailing { length }, _) => trailing(io, length, Move::To(gap(false))),
                _ if *byte == b',' => fail(junk, NO_COMMAS, Skip::After),
                _ => {
                    let message =
                        format!("{}: a space is missing after a value. Write quotes inside quotes as \\\".", cx.tool);
                    fail(junk, message, skip)
                }
            }
        }
    }
}

/// Passes over a comma between two pairs.
fn comma(io: &mut Io<'_>, then: Move) -> Move {
    match io.cx.repair(io.found, Repair::CommaSeparator) {
        Ok(()) => {
            io.at += 1;
            then
        }
        Err(kind) => fail(kind, NO_COMMAS, Skip::After),
    }
}

/// Passes over punctuation after the last value.
fn trailing(io: &mut Io<'_>, length: usize, then: Move) -> Move {
    match io.cx.repair(io.found, Repair::TrailingCharacters) {
        Ok(()) => {
            io.at += length;
            then
        }
        Err(kind) => fail(kind, "Nothing may follow the last value of the call.", Skip::After),
    }
}

const NO_COMMAS: &str = "Separate arguments with spaces, not with commas: a=1 b=2";

/// Puts pieces into their places, and reports what is missing.
fn finish(cx: &Context<'_>, found: &mut Found) {
    let mut missing: Vec<(String, String)> = Vec::new();
    found.args.write_pieces(&mut |id, path, has| {
        let Some(object) = &cx.schema.node(id).object else { return };
        let room = MAX_PROBLEMS - missing.len();
        for name in object.required.iter().filter(|name| !has(name)).take(room) {
            let field = messages::join(path, name);
            let message = messages::missing(cx, id, &field, name);
            missing.push((field, message));
        }
    });
    for (field, message) in missing {
        found.problem(ProblemKind::MissingRequired, field, message);
    }
    found.missing(cx, cx.schema.root, &String::new, |args, name| args.has_root_key(name));
    found.args.close();
}
