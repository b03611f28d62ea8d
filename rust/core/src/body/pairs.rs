//! The body of a call in pairs: `key=value key=value`.
//!
//! One state for each place in the text; everything that must be seen before deciding is in front of the window.

use super::args::{Collision, Probe, Target};
use super::place::{Field, is_declared, resolve};
use super::{Context, Failure, Found, Io, Object, Skip, Step, messages};
use crate::coerce;
use crate::error::{ErrorKind, Repair};
use crate::json::{push_char, push_str};
use crate::pairs::{Ahead, Next, Part, Quoted, bare_run, separated};
use crate::scan::{Delimiters, Mark, is_ws, starts, ws_run};
use crate::schema::{Choice, NodeId};

#[derive(Debug)]
enum State {
    /// Between pairs. `line`: a line break was among the blanks; `bare`: a bare value that may take in tokens is in front.
    Gap {
        line: bool,
        bare: bool,
        key: Ahead,
    },
    /// Behind `=`.
    Equals(Equals),
    Quoted(InQuotes),
    Bare(InWord),
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
        ahead: Ahead,
    },
}

#[derive(Debug)]
struct Equals {
    field: Field,
    ahead: Ahead,
}

#[derive(Debug)]
struct InQuotes {
    value: Value,
    quoted: Quoted,
    /// A quote was content.
    kept: bool,
    marks: Marks,
    ahead: Ahead,
}

#[derive(Debug)]
struct InWord {
    value: Value,
    word: Bare,
    ahead: Ahead,
}

/// A string being read.
#[derive(Debug)]
struct Value {
    field: Field,
    text: Text,
}

#[derive(Debug)]
enum Text {
    /// Written as it comes, from this byte of the arguments on.
    Live { target: Target, start: usize },
    /// Typed at its end.
    Collect(String),
}

/// What a bare value has shown so far.
#[derive(Clone, Copy, Debug, Default)]
struct Bare {
    /// It has a character.
    filled: bool,
    /// It may take in tokens that are no pairs.
    open_ended: bool,
    /// It took one in.
    joined: bool,
    has_open: bool,
    /// The first character of a delimiter is in it.
    has_mark: bool,
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
    State::Gap { line: false, bare, key: Ahead::default() }
}

fn behind(quoted: bool) -> State {
    State::After { quoted, ahead: Ahead::default() }
}

/// What one state made of the window.
enum Move {
    To(State),
    /// More text is needed.
    Stay,
    Done,
    Fail(Failure),
}

fn fail(kind: ErrorKind, message: impl Into<String>, skip: Skip) -> Move {
    Move::Fail(Failure { kind, message: message.into(), skip })
}

/// Has OPEN or CLOSE stood in a text? Both lie within plain runs, which a window may cut.
#[derive(Debug, Default)]
struct Marks {
    seen: bool,
    /// The end of the run so far, from where a delimiter may have begun.
    tail: String,
}

impl Marks {
    fn watch(&mut self, run: &str, delimiters: &Delimiters) {
        let (open, close) = (&delimiters.open, &delimiters.close);
        let first = memchr::memchr2(open.as_bytes()[0], close.as_bytes()[0], run.as_bytes());
        if self.seen || (self.tail.is_empty() && first.is_none()) {
            return;
        }
        self.tail.push_str(run);
        self.seen = self.tail.contains(open.as_str()) || self.tail.contains(close.as_str());
        let longest = open.len().max(close.len());
        let keep = (self.tail.len().saturating_sub(longest)..).find(|at| self.tail.is_char_boundary(*at));
        self.tail.drain(..keep.unwrap_or(0));
    }

    fn cut(&mut self) {
        self.tail.clear();
    }
}

impl Value {
    /// Text that needs no escapes in JSON.
    fn push_plain(&mut self, found: &mut Found, part: &str) {
        match &mut self.text {
            Text::Live { .. } => found.args.json.push_str(part),
            Text::Collect(text) => text.push_str(part),
        }
    }

    fn push_str(&mut self, found: &mut Found, part: &str) {
        match &mut self.text {
            Text::Live { .. } => push_str(&mut found.args.json, part),
            Text::Collect(text) => text.push_str(part),
        }
    }

    fn push_char(&mut self, found: &mut Found, c: char) {
        match &mut self.text {
            Text::Live { .. } => push_char(&mut found.args.json, c),
            Text::Collect(text) => text.push(c),
        }
    }

    /// The value is complete.
    fn done(&mut self, io: &mut Io<'_>, quoted: bool, next: State) -> Move {
        let skip = if quoted { Skip::After } else { Skip::Bare };
        match std::mem::replace(&mut self.text, Text::Collect(String::new())) {
            Text::Live { target, start } => {
                io.found.args.json.push('"');
                if io.found.args.end(target, start) { Move::To(next) } else { duplicate(&io.cx, &self.field, skip) }
            }
            Text::Collect(text) => match typed(io, &self.field, &text, quoted) {
                Ok(()) => Move::To(next),
                Err((kind, message)) => fail(kind, message, skip),
            },
        }
    }
}

impl Pairs {
    /// How to read on when the call is given up here.
    pub fn skip(&self) -> Skip {
        match &self.state {
            State::Gap { .. } => Skip::TokenStart,
            State::Equals(_) => Skip::ValueStart,
            State::Quoted(InQuotes { quoted, .. }) => Skip::Quoted { quote: quoted.quote, escape: false },
            State::Bare(_) => Skip::Bare,
            State::Verbatim { skip, .. } => *skip,
            State::Json { object, .. } => object.skip(),
            State::After { .. } => Skip::After,
        }
    }

    /// The message has ended, and nothing is left of it: may the call be taken as closed here?
    pub fn closable(&self, found: &Found) -> bool {
        let between = match &self.state {
            State::Gap { .. } | State::After { .. } => true,
            State::Equals(_) | State::Quoted(_) | State::Bare(_) => false,
            State::Verbatim { .. } | State::Json { .. } => false,
        };
        between && !self.bare_mark && !found.used(Repair::UnquotedSpaces) && !found.used(Repair::InnerQuotes)
    }

    /// Is a quote or a bracket open?
    pub fn unterminated(&self) -> bool {
        matches!(self.state, State::Quoted(_) | State::Verbatim { .. } | State::Json { .. })
    }

    /// Takes text that is inside a quoted string, all of it, and cannot end it. False: nothing was done.
    #[inline]
    pub fn feed_plain(&mut self, found: &mut Found, text: &str, delimiters: &Delimiters) -> bool {
        let State::Quoted(InQuotes { value, quoted, marks, .. }) = &mut self.state else { return false };
        if !matches!(value.text, Text::Live { .. }) || !quoted.is_inside(text) {
            return false;
        }
        let mut at = 0;
        loop {
            match quoted.next(text, &mut at, false) {
                Part::Plain(part) => {
                    marks.watch(part, delimiters);
                    value.push_plain(found, part);
                }
                Part::Char(c) => {
                    marks.cut();
                    value.push_char(found, c);
                }
                Part::Quote | Part::Need => return true,
            }
        }
    }

    /// Reads the body from `io.at`.
    pub fn feed(&mut self, io: &mut Io<'_>) -> Step {
        loop {
            let bare_mark = &mut self.bare_mark;
            let moved = match &mut self.state {
                State::Gap { line, bare, key } => gap_step(io, line, *bare, key),
                State::Equals(equals) => equals.step(io, bare_mark),
                State::Quoted(quoted) => quoted.step(io),
                State::Bare(bare) => bare.step(io, bare_mark),
                State::Verbatim { value, skip } => verbatim(io, value, skip),
                State::Json { field, target, start, object } => match object.feed(io) {
                    Step::Need => Move::Stay,
                    Step::Failed(failure) => Move::Fail(failure),
                    Step::Done if io.found.args.end(*target, *start) => Move::To(behind(false)),
                    Step::Done => duplicate(&io.cx, field, Skip::After),
                },
                State::After { quoted, ahead } => after(io, *quoted, ahead),
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

impl Equals {
    fn step(&mut self, io: &mut Io<'_>, bare_mark: &mut bool) -> Move {
        let Equals { field, ahead } = self;
        *bare_mark = false;
        let cx = io.cx;
        let mut rest = io.rest();
        let blank = match rest.as_bytes().first() {
            None => return Move::Stay,
            Some(byte) => is_ws(*byte),
        };
        match starts(rest, &cx.delimiters.close, io.last) {
            Mark::Partial => return Move::Stay,
            Mark::Yes => return empty(io, field),
            Mark::No => {}
        }
        if blank {
            match ahead.look(rest, io.last, cx.delimiters) {
                Next::Need => return Move::Stay,
                Next::Close | Next::End | Next::Open { line: true } => return empty(io, field),
                Next::Pair { at, length, direct, .. } if direct || is_declared(cx.schema, &rest[at..at + length]) => {
                    return empty(io, field);
                }
                Next::Pair { .. } | Next::Open { .. } | Next::Other { .. } => {}
            }
            let path = field.path();
            if !field.declared {
                let message = format!("Behind {path}= stands no value. The empty string is written {path}=\"\"");
                return fail(ErrorKind::MalformedCall, message, Skip::TokenStart);
            }
            if let Err(kind) = cx.repair(io.found, Repair::SpacedEquals) {
                return fail(kind, format!("No blanks around `=`: write {path}=…"), Skip::TokenStart);
            }
            rest = &rest[ws_run(rest, 0)..];
        }
        let node = cx.schema.node(field.node);
        let byte = rest.as_bytes()[0];
        let bracket = matches!(byte, b'{' | b'[');
        let json = bracket && (node.takes_container() || !node.takes_string());
        if bracket && !json && rest.len() < 2 && !io.last {
            return Move::Stay;
        }
        io.at = io.window.len() - rest.len();
        let field = std::mem::take(field);
        if json {
            return match io.found.args.place(&field.steps, field.is_piece()) {
                Ok(target) => {
                    let start = io.found.args.begin(target, field.root_key());
                    let object = Box::new(Object::new(&cx, field.node, field.path(), false));
                    Move::To(State::Json { field, target, start, object })
                }
                Err(collision) => collided(&cx, &field, collision),
            };
        }
        let quote = byte == b'"' || byte == b'\'';
        let text = match text(io, &field, quote) {
            Ok(text) => text,
            Err(collision) => return collided(&cx, &field, collision),
        };
        let open_ended = (node.takes_string() || takes_strings_as_items(&cx, field.node))
            && cx.schema.declares_properties(cx.schema.root);
        let value = Value { field, text };
        let ahead = Ahead::default();
        if quote {
            io.at += 1;
            let quoted = Quoted::new(byte);
            Move::To(State::Quoted(InQuotes { value, quoted, kept: false, marks: Marks::default(), ahead }))
        } else if bracket && ["{\"", "[\"", "[{"].iter().any(|start| rest.starts_with(start)) {
            Move::To(State::Verbatim { value, skip: Skip::ValueStart })
        } else {
            Move::To(State::Bare(InWord { value, word: Bare { open_ended, ..Bare::default() }, ahead }))
        }
    }
}

impl InWord {
    fn step(&mut self, io: &mut Io<'_>, bare_mark: &mut bool) -> Move {
        let InWord { value, word, ahead } = self;
        let Io { cx, window, last, .. } = *io;
        let bytes = window.as_bytes();
        let (open, close) = (&cx.delimiters.open, &cx.delimiters.close);
        loop {
            let start = io.at;
            let end = start + cx.delimiters.bare_run(&window[start..]);
            if end > start {
                word.filled = true;
                value.push_str(io.found, &window[start..end]);
                io.at = end;
            }
            let Some(&byte) = bytes.get(end) else {
                if last {
                    return word.done(io, value, bare_mark);
                }
                return Move::Stay;
            };
            let rest = &window[end..];
            let c = rest.chars().next().unwrap_or(' ');
            if cx.delimiters.is_first(c) {
                match (starts(rest, open, last), starts(rest, close, last)) {
                    (_, Mark::Yes) => return word.done(io, value, bare_mark),
                    (Mark::Partial, _) | (_, Mark::Partial) => return Move::Stay,
                    (opens, Mark::No) => word.has_open |= opens == Mark::Yes,
                }
                word.has_mark = true;
            } else if is_ws(byte) {
                if !word.open_ended || cx.strict || word.runs_into_call() {
                    return word.done(io, value, bare_mark);
                }
                let next = ahead.look(rest, last, cx.delimiters);
                if next == Next::Need {
                    return Move::Stay;
                }
                *ahead = Ahead::default();
                let token = ws_run(rest, 0);
                let ends = matches!(next, Next::Close | Next::End)
                    || crate::scan::has_line_break(&rest[..token])
                    || word.ends_at(&cx, rest, next);
                if ends {
                    return word.done(io, value, bare_mark);
                }
                // The blanks, and the token behind them, belong to the value.
                io.found.repair(Repair::UnquotedSpaces);
                word.joined = true;
                value.push_str(io.found, &rest[..token]);
                io.at = end + token;
                continue;
            } else if byte == b',' && word.filled && !word.runs_into_call() {
                // A comma between two pairs is no part of either.
                match rest.as_bytes().get(1) {
                    None if !last => return Move::Stay,
                    Some(blank) if is_ws(*blank) => {
                        let next = ahead.look(rest, last, cx.delimiters);
                        if next == Next::Need {
                            return Move::Stay;
                        }
                        *ahead = Ahead::default();
                        if word.ends_at(&cx, rest, next) {
                            let done = word.done(io, value, bare_mark);
                            if matches!(done, Move::Fail(_)) {
                                return done;
                            }
                            if let Err(kind) = cx.repair(io.found, Repair::CommaSeparator) {
                                return fail(kind, NO_COMMAS, Skip::After);
                            }
                            io.at += 1;
                            return done;
                        }
                    }
                    None | Some(_) => {}
                }
            }
            value.push_char(io.found, c);
            word.filled = true;
            io.at = end + c.len_utf8();
        }
    }
}

impl Bare {
    /// It took in a token, and OPEN is in it.
    fn runs_into_call(self) -> bool {
        self.joined && self.has_open
    }

    /// The value ends here.
    fn done(self, io: &mut Io<'_>, value: &mut Value, bare_mark: &mut bool) -> Move {
        if self.runs_into_call() {
            let path = value.field.path();
            let close = &io.cx.delimiters.close;
            let message = format!(
                "The value of {path} runs into another call. Put it into quotes and close the call: {path}=\"…\"{close}"
            );
            return fail(ErrorKind::MalformedCall, message, Skip::Bare);
        }
        *bare_mark = self.has_mark;
        value.done(io, false, gap(self.open_ended))
    }

    /// Does what follows the value end it, being a pair?
    fn ends_at(self, cx: &Context<'_>, rest: &str, next: Next) -> bool {
        match next {
            Next::Pair { at, length, direct, .. } => {
                (direct && !self.joined) || is_declared(cx.schema, &rest[at..at + length])
            }
            Next::Need | Next::Close | Next::End | Next::Open { .. } | Next::Other { .. } => false,
        }
    }
}

fn gap_step(io: &mut Io<'_>, line: &mut bool, bare: bool, key: &mut Ahead) -> Move {
    let cx = io.cx;
    // Blanks are consumed as they come, so `key` is only ever ahead of a token.
    let token = ws_run(io.window, io.at);
    *line |= crate::scan::has_line_break(&io.window[io.at..token]);
    io.at = token;
    let rest = io.rest();
    if rest.starts_with(',') {
        return no_pair(&cx, rest, bare && !*line);
    }
    // What the end of the message leaves undecided is an incomplete call, so this never looks at `last`.
    let (length, direct) = match key.look(rest, false, cx.delimiters) {
        Next::Need | Next::End => return Move::Stay,
        Next::Close => return Move::Done,
        Next::Open { .. } if *line => {
            let kind = if io.found.used(Repair::UnquotedSpaces) || io.found.used(Repair::InnerQuotes) {
                ErrorKind::MalformedCall
            } else {
                match cx.repair(io.found, Repair::MissingClose) {
                    Ok(()) => return Move::Done,
                    Err(kind) => kind,
                }
            };
            return fail(kind, messages::unclosed(&cx), Skip::TokenStart);
        }
        Next::Pair { length, direct, .. } => (length, direct),
        Next::Open { .. } | Next::Other { .. } => return no_pair(&cx, rest, bare && !*line),
    };
    let written = &rest[..length];
    if !direct {
        if !is_declared(cx.schema, written) {
            return no_pair(&cx, rest, bare && !*line);
        }
        if let Err(kind) = cx.repair(io.found, Repair::SpacedEquals) {
            return fail(kind, format!("No blanks around `=`: write {written}=…"), Skip::TokenStart);
        }
    }
    io.at += ws_run(rest, length) + 1;
    match resolve(&cx, io.found, written) {
        Ok(field) if !field.is_piece() && !io.found.args.in_pieces() => {
            Move::To(State::Equals(Equals { field, ahead: Ahead::default() }))
        }
        Ok(field) => match io.found.args.probe(&field.steps) {
            Probe::Blocked => collided(&cx, &field, Collision::Taken),
            Probe::Gap { next } => collided(&cx, &field, Collision::Gap { next }),
            Probe::Items(_) if !cx.schema.node(field.node).collects() => collided(&cx, &field, Collision::Taken),
            Probe::Vacant | Probe::Whole | Probe::Items(_) => {
                Move::To(State::Equals(Equals { field, ahead: Ahead::default() }))
            }
        },
        Err((kind, message)) => fail(kind, message, Skip::ValueStart),
    }
}

fn no_pair(cx: &Context<'_>, rest: &str, continues: bool) -> Move {
    // Not the whole token: its end may not be there yet.
    let token = bare_run(rest, cx.delimiters);
    let token = if token.is_empty() { &rest[..rest.chars().next().map_or(0, char::len_utf8)] } else { token };
    let message = format!(
        "{}: {} is no key=value pair. Put values with blanks into quotes, for example: {}",
        cx.tool,
        messages::shorten(token),
        messages::call_example(cx)
    );
    let strict = continues && cx.strict;
    let kind = if strict { ErrorKind::Strict(Repair::UnquotedSpaces) } else { ErrorKind::MalformedCall };
    fail(kind, message, Skip::TokenStart)
}

impl InQuotes {
    fn step(&mut self, io: &mut Io<'_>) -> Move {
        let InQuotes { value, quoted, kept, marks, ahead } = self;
        let Io { cx, window, last, .. } = *io;
        loop {
            match quoted.next(window, &mut io.at, last) {
                Part::Plain(part) => {
                    marks.watch(part, cx.delimiters);
                    value.push_plain(io.found, part);
                    continue;
                }
                Part::Char(c) => {
                    marks.cut();
                    value.push_char(io.found, c);
                    continue;
                }
                Part::Need => return Move::Stay,
                Part::Quote => {}
            }
            let rest = &window[io.at + 1..];
            let close = starts(rest, &cx.delimiters.close, last);
            let next = if cx.strict {
                Next::Close
            } else if !(rest.is_empty() || separated(rest) || close != Mark::No) {
                Next::Other { line: false }
            } else {
                ahead.look(rest, last, cx.delimiters)
            };
            let closes = match next {
                Next::Need => return Move::Stay,
                Next::Close | Next::End | Next::Open { line: true } => true,
                Next::Pair { at, length, .. } => {
                    separated(rest) && (!*kept || is_declared(cx.schema, &rest[at..at + length]))
                }
                Next::Open { line: false } | Next::Other { .. } => false,
            };
            io.at += 1;
            if closes {
                if *kept && marks.seen {
                    let path = value.field.path();
                    let message = format!(
                        "{path}: quotes inside a value that also has call tags in it must be escaped: {path}=\"say \\\"hi\\\"\""
                    );
                    return fail(ErrorKind::UnterminatedValue, message, Skip::After);
                }
                return value.done(io, true, behind(true));
            }
            *ahead = Ahead::default();
            io.found.repair(Repair::InnerQuotes);
            *kept = true;
            marks.cut();
            value.push_char(io.found, quoted.quote as char);
        }
    }
}

fn verbatim(io: &mut Io<'_>, value: &mut Value, skip: &mut Skip) -> Move {
    let start = io.at;
    while let Some(&byte) = io.window.as_bytes().get(io.at) {
        *skip = skip.step(byte);
        io.at += 1;
        if *skip == Skip::After {
            value.push_str(io.found, &io.window[start..io.at]);
            return value.done(io, true, behind(false));
        }
    }
    value.push_str(io.found, &io.window[start..io.at]);
    Move::Stay
}

fn after(io: &mut Io<'_>, quoted: bool, ahead: &mut Ahead) -> Move {
    let cx = io.cx;
    let rest = io.rest();
    let junk = if quoted { ErrorKind::Strict(Repair::InnerQuotes) } else { ErrorKind::MalformedCall };
    match (rest.as_bytes().first(), starts(rest, &cx.delimiters.close, io.last)) {
        (None, _) | (_, Mark::Partial) => Move::Stay,
        (_, Mark::Yes) => Move::To(gap(false)),
        (Some(byte), Mark::No) if is_ws(*byte) => Move::To(gap(false)),
        (Some(b','), Mark::No) => match ahead.look(rest, io.last, cx.delimiters) {
            Next::Need => Move::Stay,
            Next::Pair { .. } => match cx.repair(io.found, Repair::CommaSeparator) {
                Ok(()) => {
                    io.at += 1;
                    Move::To(gap(false))
                }
                Err(kind) => fail(kind, NO_COMMAS, Skip::After),
            },
            Next::Close | Next::End | Next::Open { .. } | Next::Other { .. } => fail(junk, NO_COMMAS, Skip::After),
        },
        (Some(_), Mark::No) => {
            let message = format!(
                "{}: a blank is missing behind a value. Quotes inside quotes are written \\\". For example: {}",
                cx.tool,
                messages::call_example(&cx)
            );
            fail(junk, message, Skip::After)
        }
    }
}

const NO_COMMAS: &str = "Pairs stand side by side without commas: a=1 b=2";

/// Where the text of a string goes: straight out if its type takes it whatever it is.
fn text(io: &mut Io<'_>, field: &Field, quoted: bool) -> Result<Text, Collision> {
    let node = io.cx.schema.node(field.node);
    let live = if quoted { node.is_unknown() || node.has(&Choice::String) } else { node.is_string() };
    let args = &mut io.found.args;
    if !live {
        return Ok(Text::Collect(String::new()));
    }
    let target = args.place(&field.steps, field.is_piece())?;
    let start = args.begin(target, field.root_key());
    args.json.push('"');
    Ok(Text::Live { target, start })
}

fn takes_strings_as_items(cx: &Context<'_>, id: NodeId) -> bool {
    cx.schema.node(id).collects() && cx.schema.node(cx.schema.item(id, 0)).takes_string()
}

/// `a=` without a value.
fn empty(io: &mut Io<'_>, field: &Field) -> Move {
    if let Err(kind) = io.cx.repair(io.found, Repair::EmptyValue) {
        let message = format!("The empty string is written {}=\"\"", field.path());
        return fail(kind, message, Skip::TokenStart);
    }
    match typed(io, field, "", true) {
        Ok(()) => Move::To(gap(false)),
        Err((kind, message)) => fail(kind, message, Skip::TokenStart),
    }
}

/// Types a complete text and puts it into its place.
fn typed(io: &mut Io<'_>, field: &Field, text: &str, quoted: bool) -> Result<(), (ErrorKind, String)> {
    let (cx, id) = (io.cx, field.node);
    let repeated = |_| (ErrorKind::DuplicateArgument, twice(&cx, field));
    let probe = io.found.args.probe(&field.steps);
    let length = match probe {
        Probe::Items(length) => Some(length),
        Probe::Vacant => Some(0),
        Probe::Whole | Probe::Blocked | Probe::Gap { .. } => None,
    };
    let items = length.and_then(|at| Some((at, coerce::items(cx.schema, id, text, quoted, at)?)));
    let (outcome, again) = match items {
        Some((length, (items, outcome))) => {
            io.found.args.append(&field.steps, length, &items).map_err(repeated)?;
            (outcome, None)
        }
        None => {
            let args = &mut io.found.args;
            let target = args.place(&field.steps, field.is_piece()).map_err(repeated)?;
            let start = args.begin(target, field.root_key());
            let outcome = coerce::scalar(cx.schema, id, text, quoted, &mut args.json);
            let same = args.end(target, start);
            (outcome, matches!(target, Target::Again(_)).then_some(same))
        }
    };
    if outcome.converted {
        cx.repair(io.found, Repair::Coerced)
            .map_err(|kind| (kind, messages::not_as_written(cx.schema, id, &field.path(), text)))?;
    }
    if again == Some(false) {
        return Err((ErrorKind::DuplicateArgument, twice(&cx, field)));
    }
    if let Some(kind) = outcome.problem
        && again.is_none()
    {
        let message = messages::violation(cx.schema, id, kind, &field.path(), text);
        io.found.problem(kind, field.path(), message);
    }
    Ok(())
}

fn twice(cx: &Context<'_>, field: &Field) -> String {
    let path = field.path();
    format!(
        "{path} is given twice, with different values. Give it once: {path}={}",
        messages::example(cx.schema, field.node)
    )
}

fn duplicate(cx: &Context<'_>, field: &Field, skip: Skip) -> Move {
    fail(ErrorKind::DuplicateArgument, twice(cx, field), skip)
}

fn collided(cx: &Context<'_>, field: &Field, collision: Collision) -> Move {
    match collision {
        Collision::Taken => duplicate(cx, field, Skip::ValueStart),
        Collision::Gap { next } => {
            let message = format!("{}: the next index is [{next}]; indexes count from 0 without gaps.", field.path());
            fail(ErrorKind::MalformedCall, message, Skip::ValueStart)
        }
    }
}
