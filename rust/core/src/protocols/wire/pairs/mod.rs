//! The body of a call in pairs: `key=value key=value`.
//!
//! One state for each place in the text; everything that must be seen before deciding is in the window.

mod equals;
mod fast_path;
mod quotes;
mod typographic;
mod value;
mod word;
mod write;

use crate::arguments::MAX_PROBLEMS;
use crate::arguments::builder::{Collision, Probe, Target};
use crate::arguments::keys::{ResolvedKey, is_declared, resolve};
use crate::arguments::{Context, Failure, Flow, Found, Io, Object, Step, messages, missing, steps};
use crate::error::{ErrorKind, Repair};
use crate::protocols::body::{Body, read_close};
use crate::syntax::pairs::{Following, Lookahead, QuotedPart, colon_key, may_trail};
use crate::syntax::quoting::is_quote;
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Delimiters, Scan, has_line_break, is_ws, ws_run};
use equals::Equals;
use quotes::{InQuotes, verbatim};
use typographic::Typographic;
use value::{PairValue, ValueText, collided, duplicate};
use word::InWord;

pub use write::write_pairs;

#[derive(Debug)]
enum PairsState {
    /// Between pairs. `line`: there was a line break; `bare`: a bare value that may take in tokens precedes.
    Gap {
        line: bool,
        bare: bool,
        key: Lookahead,
    },
    /// After `=`.
    Equals(Equals),
    Quoted(InQuotes),
    Bare(InWord),
    Typographic(Typographic),
    /// Bracketed text that is a string, unchanged.
    Verbatim {
        value: PairValue,
        skip: Skip,
    },
    Json {
        field: ResolvedKey,
        target: Target,
        start: usize,
        object: Box<Object>,
    },
    /// Directly after a quoted or bracketed value.
    After {
        quoted: bool,
        /// The value is an empty text.
        empty: bool,
        ahead: Lookahead,
    },
}

#[derive(Debug)]
pub struct Pairs {
    state: PairsState,
    /// The last value was bare, and a delimiter's first character is in it.
    bare_mark: bool,
}

impl Default for Pairs {
    fn default() -> Self {
        Pairs { state: gap(false), bare_mark: false }
    }
}

fn gap(bare: bool) -> PairsState {
    PairsState::Gap { line: false, bare, key: Lookahead::default() }
}

/// After a value, with what was seen after it.
fn gap_ahead(bare: bool, next: Following) -> PairsState {
    match next {
        Following::Pair { length, direct: true, .. } => {
            PairsState::Gap { line: false, bare, key: Lookahead::at_key(length) }
        }
        _ => gap(bare),
    }
}

fn behind(quoted: bool) -> PairsState {
    PairsState::After { quoted, empty: false, ahead: Lookahead::after_value() }
}

/// The next state, or what the parser is told.
type NextState = Flow<PairsState>;

/// Whether the end of a value was guessed.
fn is_unsure(found: &Found) -> bool {
    found.used(Repair::UnquotedSpaces) || found.used(Repair::InnerQuotes)
}

fn fail<T>(kind: ErrorKind, message: impl Into<String>, skip: Skip) -> Flow<T> {
    Err(Step::Failed(Failure { kind, message: message.into(), skip }))
}

/// A repair. Where that is an error, the rest is read with this `skip`.
fn repair(io: &mut Io<'_>, repair: Repair, skip: Skip, message: impl FnOnce() -> String) -> Flow {
    let repaired = io.cx.repair_or(io.found, repair, message);
    repaired.map_err(|(kind, message)| Step::Failed(Failure { kind, message, skip }))
}

impl Body for Pairs {
    fn feed(&mut self, io: &mut Io<'_>) -> Step {
        let step = steps(|| self.step(io));
        read_close(io, step)
    }

    fn skip(&self) -> Skip {
        match &self.state {
            PairsState::Gap { .. } => Skip::TokenStart,
            PairsState::Equals(_) => Skip::ValueStart,
            PairsState::Quoted(InQuotes { quoted, .. }) => Skip::in_quotes(quoted.quote),
            PairsState::Bare(InWord { word, .. }) => word.skip(),
            PairsState::Typographic(typographic) => typographic.skip(),
            PairsState::Verbatim { skip, .. } => *skip,
            PairsState::Json { object, .. } => object.skip(),
            PairsState::After { empty: true, .. } => Skip::AfterEmpty,
            PairsState::After { empty: false, .. } => Skip::After,
        }
    }

    fn closable(&self, found: &Found) -> bool {
        let between = match &self.state {
            PairsState::Gap { .. } | PairsState::After { .. } => true,
            PairsState::Equals(_) | PairsState::Quoted(_) | PairsState::Bare(_) | PairsState::Typographic(_) => false,
            PairsState::Verbatim { .. } | PairsState::Json { .. } => false,
        };
        between && !self.bare_mark && !is_unsure(found)
    }

    fn unterminated(&self) -> bool {
        matches!(
            self.state,
            PairsState::Quoted(_) | PairsState::Typographic(_) | PairsState::Verbatim { .. } | PairsState::Json { .. }
        )
    }

    #[inline]
    fn feed_plain(&mut self, found: &mut Found, text: &str, delimiters: &Delimiters) -> Option<bool> {
        let PairsState::Quoted(InQuotes { value, quoted, marks, kept: None, .. }) = &mut self.state else {
            return None;
        };
        if !matches!(value.text, ValueText::Live { .. }) {
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
    fn step(&mut self, io: &mut Io<'_>) -> Flow {
        let bare_mark = &mut self.bare_mark;
        self.state = match &mut self.state {
            PairsState::Gap { line, bare, key } => {
                if let Some(open_ended) = fast_path::pairs(io) {
                    (*line, *bare, *key, *bare_mark) = (false, open_ended, Lookahead::default(), false);
                }
                gap_step(io, line, *bare, key)?
            }
            PairsState::Equals(equals) => equals.step(io, bare_mark)?,
            PairsState::Quoted(quoted) => quoted.step(io)?,
            PairsState::Bare(bare) => bare.step(io, bare_mark)?,
            PairsState::Typographic(typographic) => typographic.step(io)?,
            PairsState::Verbatim { value, skip } => verbatim(io, value, skip)?,
            PairsState::Json { field, target, start, object } => {
                object.feed(io)?;
                if !io.found.args.end(*target, *start) {
                    return duplicate(field, Skip::After);
                }
                behind(false)
            }
            PairsState::After { quoted, empty, ahead } => {
                let skip = if *empty { Skip::AfterEmpty } else { Skip::After };
                after(io, *quoted, skip, ahead)?
            }
        };
        Ok(())
    }
}

fn gap_step(io: &mut Io<'_>, line: &mut bool, bare: bool, key: &mut Lookahead) -> NextState {
    let cx = io.cx;
    // Whitespace is consumed as it comes, so `key` is only ever ahead of a token.
    let token = ws_run(io.window, io.at);
    *line |= has_line_break(&io.window[io.at..token]);
    io.at = token;
    let rest = io.rest();
    let broken = || no_pair(&cx, rest, bare && !*line);
    if rest.starts_with(',') {
        return broken();
    }
    // What the end of the message leaves undecided is an incomplete call, so this never looks at `last`.
    let (length, direct) = match key.look(rest, false, cx.delimiters) {
        Following::Need | Following::End => return Err(Step::Need),
        Following::Close => return Err(Step::Done),
        Following::Open { .. } if *line => {
            if is_unsure(io.found) {
                return fail(ErrorKind::MalformedCall, messages::UNCLOSED, Skip::TokenStart);
            }
            repair(io, Repair::MissingClose, Skip::TokenStart, || messages::UNCLOSED.to_owned())?;
            return Err(Step::Done);
        }
        // A parenthesis that begins a key is not one of a name.
        Following::Pair { .. } if rest.starts_with('(') => return no_pair(&cx, rest, false),
        Following::Pair { length, direct, .. } => (length, direct),
        Following::Other => {
            let Some((length, end)) = colon_pair(&cx, rest, false).decided()? else { return broken() };
            let written = &rest[..length];
            let message = || format!("Write = instead of a colon: {written}=…");
            repair(io, Repair::ColonSeparator, Skip::TokenStart, message)?;
            io.at += end;
            return equals(io, written, true);
        }
        Following::Open { .. } | Following::Trailing { .. } => return broken(),
    };
    let written = &rest[..length];
    if !direct {
        if !is_declared(cx.schema, written) {
            return broken();
        }
        let message = || format!("Do not put spaces around `=`: write {written}=…");
        repair(io, Repair::SpacedEquals, Skip::TokenStart, message)?;
    }
    io.at += ws_run(rest, length) + 1;
    equals(io, written, false)
}

/// After a key and `=`, or a colon.
fn equals(io: &mut Io<'_>, written: &str, colon: bool) -> NextState {
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
    Ok(PairsState::Equals(Equals { field, ahead: Lookahead::default(), colon }))
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
    colon_pair(&io.cx, &rest[from..], io.last).void()
}

fn no_pair(cx: &Context<'_>, rest: &str, continues: bool) -> NextState {
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

fn after(io: &mut Io<'_>, quoted: bool, skip: Skip, ahead: &mut Lookahead) -> NextState {
    let cx = io.cx;
    let rest = io.rest();
    let junk = match rest.as_bytes().first() {
        Some(byte) if skip == Skip::AfterEmpty && is_quote(*byte) => ErrorKind::Strict(Repair::QuoteStyle),
        _ if quoted => ErrorKind::Strict(Repair::InnerQuotes),
        _ => ErrorKind::MalformedCall,
    };
    let (Some(byte), closes) = (rest.bytes().next(), cx.delimiters.closes(rest, io.last).decided()?) else {
        return Err(Step::Need);
    };
    if closes.is_some() || is_ws(byte) {
        return Ok(gap(false));
    }
    match if may_trail(byte) { ahead.look(rest, io.last, cx.delimiters) } else { Following::Other } {
        Following::Need => return Err(Step::Need),
        Following::Pair { .. } => comma(io)?,
        Following::Trailing { length } => trailing(io, length)?,
        Following::Other if follows_colon(io, rest).decided()?.is_some() => comma(io)?,
        _ if byte == b',' => return fail(junk, NO_COMMAS, Skip::After),
        _ => {
            let message = format!("{}: a space is missing after a value. Write quotes inside quotes as \\\".", cx.tool);
            return fail(junk, message, skip);
        }
    }
    Ok(gap(false))
}

/// Passes over a comma between two pairs.
fn comma(io: &mut Io<'_>) -> Flow {
    repair(io, Repair::CommaSeparator, Skip::After, || NO_COMMAS.to_owned())?;
    io.at += 1;
    Ok(())
}

/// Passes over punctuation after the last value.
fn trailing(io: &mut Io<'_>, length: usize) -> Flow {
    let message = || "Nothing may follow the last value of the call.".to_owned();
    repair(io, Repair::TrailingCharacters, Skip::After, message)?;
    io.at += length;
    Ok(())
}

const NO_COMMAS: &str = "Separate arguments with spaces, not with commas: a=1 b=2";

/// Puts pieces into their places, and reports what is missing.
fn finish(cx: &Context<'_>, found: &mut Found) {
    let mut problems = Vec::new();
    found.args.write_pieces(&mut |id, path, has| {
        let room = MAX_PROBLEMS - problems.len();
        problems.extend(missing(cx, id, &|| path.to_owned(), room, has));
    });
    for problem in problems {
        found.problem(problem.kind, problem.field, problem.message);
    }
    found.missing(cx, cx.schema.root, &String::new, |args, name| args.has_root_key(name));
    found.args.close();
}
