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
use crate::arguments::{Context, Flow, Input, Object, Progress, ReadError, Report, messages, missing, steps};
use crate::error::{ErrorKind, Repair};
use crate::formats::body::{Body, read_close};
use crate::syntax::pairs::{Following, Lookahead, QuotedPart, colon_key, may_trail};
use crate::syntax::quoting::{Alternation, Outside, Quote, is_quote};
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Delimiters, Scan, has_line_break, is_ws, ws_run};
use equals::Equals;
use quotes::{InQuotes, verbatim};
use typographic::Typographic;
use value::{PairValue, ValueText, collided, duplicate};
use word::{Bare, InWord};

pub(crate) use write::{write_key, write_pairs, written_literal};

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
        recovery: Recovery,
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
        /// How the rest is read if the call fails here.
        recovery: Recovery,
        ahead: Lookahead,
    },
}

#[derive(Debug)]
pub(crate) struct Pairs {
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
    PairsState::After { quoted, recovery: Recovery::AFTER, ahead: Lookahead::after_value() }
}

/// The next state, or what the parser is told.
type NextState = Flow<PairsState>;

/// Whether the end of a value was guessed.
fn is_unsure(report: &Report) -> bool {
    report.used(Repair::UnquotedSpaces) || report.used(Repair::InnerQuotes)
}

fn fail<T>(kind: ErrorKind, message: impl Into<String>, recovery: Recovery) -> Flow<T> {
    Err(Progress::failed(kind, message.into(), recovery))
}

/// What was read. After an error, the rest is read with this `recovery`.
fn or_fail<T>(read: Result<T, ReadError>, recovery: Recovery) -> Flow<T> {
    read.map_err(|(kind, message)| Progress::failed(kind, message, recovery))
}

/// A repair. Where that is an error, the rest is read with this `recovery`.
fn repair(input: &mut Input<'_>, repair: Repair, recovery: Recovery, message: impl FnOnce() -> String) -> Flow {
    or_fail(input.cx.repair_or(input.report, repair, message), recovery)
}

/// How to read the rest if the call fails in a value that is not quoted, and has these quotes.
fn bare_recovery(quotes: Alternation) -> Recovery {
    quotes.open().map_or(Recovery::Bare(Outside::WORD), Recovery::in_quotes)
}

impl Body for Pairs {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        let step = steps(|| self.step(input));
        read_close(input, step)
    }

    fn recovery(&self) -> Recovery {
        match &self.state {
            PairsState::Gap { .. } => Recovery::TokenStart,
            PairsState::Equals(_) => Recovery::ValueStart,
            PairsState::Quoted(InQuotes { quoted, .. }) => Recovery::in_quotes(Quote::Plain(quoted.quote)),
            PairsState::Bare(InWord { word: Bare { quotes, .. }, .. })
            | PairsState::Typographic(Typographic { quotes, .. }) => bare_recovery(*quotes),
            PairsState::Verbatim { recovery, .. } | PairsState::After { recovery, .. } => *recovery,
            PairsState::Json { object, .. } => object.recovery(),
        }
    }

    fn closable(&self, report: &Report) -> bool {
        let between = matches!(self.state, PairsState::Gap { .. } | PairsState::After { .. });
        between && !self.bare_mark && !is_unsure(report)
    }

    fn unterminated(&self) -> bool {
        matches!(
            self.state,
            PairsState::Quoted(_) | PairsState::Typographic(_) | PairsState::Verbatim { .. } | PairsState::Json { .. }
        )
    }

    #[inline]
    fn feed_plain(&mut self, report: &mut Report, text: &str, delimiters: &Delimiters) -> Option<bool> {
        let PairsState::Quoted(InQuotes { value, quoted, marks, kept: None, .. }) = &mut self.state else {
            return None;
        };
        if !matches!(value.text, ValueText::Live { .. }) {
            return None;
        }
        if marks.is_idle() && quoted.is_plain(text, delimiters) {
            value.push_plain(report, text);
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
                    value.push_plain(report, part);
                }
                QuotedPart::Char(c) => {
                    marks.cut();
                    value.push_char(report, c);
                }
                QuotedPart::Quote | QuotedPart::Need => return Some(false),
            }
        }
    }

    fn recovery_at_start(&self) -> Recovery {
        Recovery::TokenStart
    }

    /// Puts pieces into their places, and reports what is missing.
    fn finish(&self, cx: &Context<'_>, report: &mut Report) {
        let mut problems = Vec::new();
        report.args.write_pieces(&mut |id, path, has| {
            let room = MAX_PROBLEMS - problems.len();
            problems.extend(missing(cx, id, &|| path.to_owned(), room, has));
        });
        for problem in problems {
            report.problem(problem.kind, problem.field, problem.message);
        }
        report.missing(cx, cx.schema.root, &String::new, |args, name| args.has_root_key(name));
        report.args.close();
    }
}

impl Pairs {
    fn step(&mut self, input: &mut Input<'_>) -> Flow {
        let bare_mark = &mut self.bare_mark;
        self.state = match &mut self.state {
            PairsState::Gap { line, bare, key } => {
                if let Some(open_ended) = fast_path::pairs(input) {
                    (*line, *bare, *key, *bare_mark) = (false, open_ended, Lookahead::default(), false);
                }
                gap_step(input, line, *bare, key)?
            }
            PairsState::Equals(equals) => equals.step(input, bare_mark)?,
            PairsState::Quoted(quoted) => quoted.step(input)?,
            PairsState::Bare(bare) => bare.step(input, bare_mark)?,
            PairsState::Typographic(typographic) => typographic.step(input)?,
            PairsState::Verbatim { value, recovery } => verbatim(input, value, recovery)?,
            PairsState::Json { field, target, start, object } => {
                object.feed(input)?;
                if !input.report.args.end(*target, *start) {
                    return duplicate(field, Recovery::AFTER);
                }
                behind(false)
            }
            PairsState::After { quoted, recovery, ahead } => after(input, *quoted, *recovery, ahead)?,
        };
        Ok(())
    }
}

fn gap_step(input: &mut Input<'_>, line: &mut bool, bare: bool, key: &mut Lookahead) -> NextState {
    let cx = input.cx;
    // Whitespace is consumed as it arrives, so `key` is only ever ahead of a token.
    let token = ws_run(input.window, input.at);
    *line |= has_line_break(&input.window[input.at..token]);
    input.at = token;
    let rest = input.rest();
    let broken = || no_pair(&cx, rest, bare && !*line);
    if rest.starts_with(',') {
        return broken();
    }
    // What the end of the message leaves undecided is an incomplete call, so this never looks at `last`.
    let (length, direct) = match key.look(rest, false, cx.delimiters) {
        Following::Need | Following::End => return Err(Progress::Incomplete),
        Following::Close => return Err(Progress::CallEnd),
        Following::Open { .. } if *line => {
            if is_unsure(input.report) {
                return fail(ErrorKind::MalformedCall, messages::UNCLOSED, Recovery::TokenStart);
            }
            repair(input, Repair::MissingClose, Recovery::TokenStart, || messages::UNCLOSED.to_owned())?;
            return Err(Progress::CallEnd);
        }
        // A parenthesis that begins a key is not one of a name.
        Following::Pair { .. } if rest.starts_with('(') => return no_pair(&cx, rest, false),
        Following::Pair { length, direct, .. } => (length, direct),
        Following::Other => {
            let Some((length, end)) = colon_pair(&cx, rest, false).decided()? else { return broken() };
            let written = &rest[..length];
            let message = || format!("Write = instead of a colon: {written}=…");
            repair(input, Repair::ColonSeparator, Recovery::TokenStart, message)?;
            input.at += end;
            return equals(input, written, true);
        }
        Following::Open { .. } | Following::Trailing { .. } => return broken(),
    };
    let written = &rest[..length];
    if !direct {
        if !is_declared(cx.schema, written) {
            return broken();
        }
        let message = || format!("Do not put spaces around `=`: write {written}=…");
        repair(input, Repair::SpacedEquals, Recovery::TokenStart, message)?;
    }
    input.at += ws_run(rest, length) + 1;
    equals(input, written, false)
}

/// After a key and `=`, or a colon.
fn equals(input: &mut Input<'_>, written: &str, colon: bool) -> NextState {
    let cx = input.cx;
    let field = or_fail(resolve(&cx, input.report, written), Recovery::ValueStart)?;
    if field.is_piece() || input.report.args.in_pieces() {
        match input.report.args.probe(&field.steps) {
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

/// Whether, in a call with colons for `=`, another such pair follows a value.
fn follows_colon(input: &Input<'_>, rest: &str) -> Scan {
    let from = ws_run(rest, usize::from(rest.starts_with(',')));
    if from == 0 || !input.report.used(Repair::ColonSeparator) {
        return Scan::NoMatch;
    }
    colon_pair(&input.cx, &rest[from..], input.last).void()
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
    fail(kind, message, Recovery::TokenStart)
}

fn after(input: &mut Input<'_>, quoted: bool, recovery: Recovery, ahead: &mut Lookahead) -> NextState {
    let cx = input.cx;
    let rest = input.rest();
    let junk = match rest.as_bytes().first() {
        Some(byte) if recovery == Recovery::AFTER_EMPTY && is_quote(*byte) => ErrorKind::Strict(Repair::QuoteStyle),
        _ if quoted => ErrorKind::Strict(Repair::InnerQuotes),
        _ => ErrorKind::MalformedCall,
    };
    let (Some(byte), closes) = (rest.bytes().next(), cx.delimiters.closes(rest, input.last).decided()?) else {
        return Err(Progress::Incomplete);
    };
    if closes.is_some() || is_ws(byte) {
        return Ok(gap(false));
    }
    match if may_trail(byte) { ahead.look(rest, input.last, cx.delimiters) } else { Following::Other } {
        Following::Need => return Err(Progress::Incomplete),
        Following::Pair { .. } => comma(input)?,
        Following::Trailing { length } => trailing(input, length)?,
        Following::Other if follows_colon(input, rest).decided()?.is_some() => comma(input)?,
        _ if byte == b',' => return fail(junk, NO_COMMAS, Recovery::AFTER),
        _ => {
            let message = format!("{}: a space is missing after a value. Write quotes inside quotes as \\\".", cx.tool);
            return fail(junk, message, recovery);
        }
    }
    Ok(gap(false))
}

/// Passes over a comma between two pairs.
fn comma(input: &mut Input<'_>) -> Flow {
    repair(input, Repair::CommaSeparator, Recovery::AFTER, || NO_COMMAS.to_owned())?;
    input.at += 1;
    Ok(())
}

/// Passes over punctuation after the last value.
fn trailing(input: &mut Input<'_>, length: usize) -> Flow {
    let message = || "Nothing may follow the last value of the call.".to_owned();
    repair(input, Repair::TrailingCharacters, Recovery::AFTER, message)?;
    input.at += length;
    Ok(())
}

const NO_COMMAS: &str = "Separate arguments with spaces, not with commas: a=1 b=2";
