//! The body of a call as one JSON object that says the tool's name and its arguments, or a list of such objects.
//!
//! Once the name is known, the arguments are typed and passed on as they come. In front of it they are read without types,
//! and written as JSON that is typed when the name is there.

use std::borrow::Cow;
use std::mem::{replace, swap, take};

use super::{Args, Bad, Context, Failure, Format, Found, Io, Object, Skip, Step, Wrapper, messages};
use crate::error::{ErrorKind, ProblemKind, Repair};
use crate::json::{Lexeme, Lexer, Place, Value, parse, plain_key};
use crate::limits::NAME_CHARS;
use crate::protocol::bare::{Look, look};
use crate::scan::{Mark, find_mark, first_chars, starts, ws_run};
use crate::schema::UNKNOWN;

/// What the value of a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Name,
    Arguments,
    /// Read, and not passed on.
    Other,
}

/// Keys of an envelope: those of the name, those of the arguments, and what says nothing of the call.
const KEYS: [&str; 8] = ["name", "tool", "function", "arguments", "parameters", "args", "id", "type"];

#[derive(Debug)]
enum State {
    /// At the opening bracket.
    Start,
    Key {
        first: bool,
    },
    /// In a key, of which so much is read.
    InKey(String),
    Colon,
    /// In front of a value, or behind the arguments in front of which a name was.
    Value,
    /// Its JSON goes to the arguments, typed, or beside them, as it is.
    Reading {
        object: Box<Object>,
        live: bool,
    },
    Comma,
    /// In a list, behind a call. `comma`: and behind a comma.
    Between {
        comma: bool,
    },
    /// Behind the last bracket.
    Tail,
    /// Behind an error.
    Lost(Lost),
}

/// How the rest of a failed call is read.
#[derive(Debug)]
struct Lost {
    skip: Skip,
    /// Nothing was read but where the error is: CLOSE may stand there.
    fresh: bool,
    /// The error leaves no doubt where strings and brackets end, so the next call of a list is one.
    sound: bool,
    /// In a list, behind the failed call.
    between: bool,
}

#[derive(Debug)]
pub struct Envelope {
    state: State,
    lexer: Lexer,
    /// What was opened around the JSON and is not closed yet.
    wrapper: Option<Wrapper>,
    /// There are no markers, so it must be plain that it is a call.
    guarded: bool,
    /// Nor a fence: its last bracket ends the call.
    bare: bool,
    /// An object is open of which the list is a member.
    wrapped: bool,
    list: bool,
    /// In an object that is the value of "function".
    inner: bool,
    key: Cow<'static, str>,
    name: Option<String>,
    /// Arguments that came in front of the name, or beside others, as JSON.
    held: Option<String>,
    given: bool,
    /// Where JSON is written that is not passed on.
    aside: Option<Box<Args>>,
}

impl Format for Envelope {
    fn feed(&mut self, io: &mut Io<'_>) -> Step {
        loop {
            match self.step(io) {
                Ok(None) => {}
                Ok(Some(step)) => return step,
                Err((kind, message)) => {
                    let sound = !matches!(
                        kind,
                        ErrorKind::InvalidJson
                            | ErrorKind::UnterminatedValue
                            | ErrorKind::Strict(Repair::RelaxedJson | Repair::InnerQuotes)
                    );
                    self.lose(sound);
                    return Step::Failed(Failure { kind, message, skip: Skip::Body });
                }
            }
        }
    }

    /// Reads on behind an error, by quotes and brackets alone.
    fn read_on(&mut self, io: &mut Io<'_>) -> Step {
        if !matches!(self.state, State::Lost(_)) {
            self.lose(true);
        }
        let list = self.around().0;
        let State::Lost(lost) = &mut self.state else { return Step::Need };
        let close = io.cx.delimiters.close.as_str();
        while let Some(&byte) = io.window.as_bytes().get(io.at) {
            if self.bare && lost.skip == Skip::After {
                break;
            }
            if (replace(&mut lost.fresh, false) || lost.skip == Skip::After) && byte == close.as_bytes()[0] {
                match starts(io.rest(), close, io.last) {
                    Mark::Yes => {
                        io.at += close.len();
                        return Step::Done;
                    }
                    Mark::Partial => {
                        lost.fresh = true;
                        return Step::Need;
                    }
                    Mark::No => {}
                }
            }
            if lost.between {
                match byte {
                    b' ' | b'\t' | b'\r' | b'\n' | b',' => {}
                    b'{' => {
                        lost.between = false;
                        return Step::Next;
                    }
                    _ => lost.between = false,
                }
            }
            if lost.skip != Skip::After {
                let closing =
                    matches!(byte, b'}' | b']') && !matches!(lost.skip, Skip::Bracketed { string: Some(_), .. });
                lost.skip = lost.skip.step(byte);
                let behind = closing && matches!(lost.skip, Skip::Bracketed { depth, .. } if depth == list);
                lost.between |= behind && self.list && lost.sound;
            }
            io.at += 1;
        }
        if self.bare && lost.skip == Skip::After { Step::Done } else { Step::Need }
    }

    #[inline]
    fn feed_plain(&mut self, found: &mut Found, text: &str) -> Option<bool> {
        match &mut self.state {
            State::Reading { object, live: true } => object.feed_plain(found, text),
            _ => None,
        }
    }

    /// The body of the call that follows.
    fn next(&mut self) -> Option<Box<dyn Format>> {
        Some(Box::new(Envelope {
            state: State::Start,
            lexer: self.lexer.fresh(),
            wrapper: self.wrapper,
            guarded: self.guarded,
            bare: self.bare,
            wrapped: self.wrapped,
            list: self.list,
            inner: false,
            key: Cow::Borrowed(""),
            name: None,
            held: None,
            given: false,
            aside: None,
        }))
    }

    fn closable(&self) -> bool {
        matches!(self.state, State::Tail)
    }

    fn unterminated(&self) -> bool {
        !self.closable()
    }

    fn finish(&self, found: &mut Found) {
        found.args.release();
    }
}

impl Envelope {
    pub fn new(cx: &Context<'_>, wrapper: Option<Wrapper>) -> Self {
        Envelope {
            state: State::Start,
            lexer: Lexer::new(!cx.strict).with_comments(),
            wrapper,
            guarded: false,
            bare: false,
            wrapped: false,
            list: false,
            inner: false,
            key: Cow::Borrowed(""),
            name: None,
            held: None,
            given: false,
            aside: None,
        }
    }

    /// One without markers.
    pub fn bare(cx: &Context<'_>, fenced: bool, wrapped: bool) -> Self {
        Envelope { guarded: true, bare: !fenced, wrapped, ..Envelope::new(cx, None) }
    }

    /// The brackets that are open, and the string.
    fn open(&self) -> (usize, Option<u8>) {
        let (list, object) = self.around();
        match &self.state {
            State::Start | State::Between { .. } => (list, None),
            State::Reading { object: value, .. } => (object + value.brackets(), value.open_quote()),
            State::Tail => (0, None),
            _ => (object, self.lexer.open_quote()),
        }
    }

    /// The brackets that are open around an object of a list, and in it.
    fn around(&self) -> (usize, usize) {
        let list = usize::from(self.list) + usize::from(self.wrapped);
        (list, list + 1 + usize::from(self.inner))
    }

    /// From here on only the call's end is looked for.
    fn lose(&mut self, sound: bool) {
        let (depth, string) = self.open();
        let skip = if matches!(self.state, State::Tail) { Skip::After } else { Skip::in_brackets(depth, string) };
        let between = matches!(self.state, State::Between { .. });
        self.state = State::Lost(Lost { skip, fresh: string.is_none(), sound, between });
    }

    fn step(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        match &mut self.state {
            State::Start => return self.start(io),
            State::Key { .. } | State::InKey(_) | State::Colon => return self.key(io),
            State::Value => {
                if self.name.is_some()
                    && let Some(json) = self.held.take()
                {
                    self.state = State::Comma;
                    self.arguments(io, &json)?;
                    return Ok(None);
                }
                return self.value(io);
            }
            State::Reading { object, live } => {
                let mut aside = self.aside.as_mut().filter(|_| !*live);
                if let Some(aside) = &mut aside {
                    swap(&mut io.found.args, aside);
                }
                let read = object.feed(io);
                if let Some(aside) = aside {
                    swap(&mut io.found.args, aside);
                }
                match read {
                    Ok(false) => return Ok(Some(Step::Need)),
                    Ok(true) => {}
                    Err(failure) => return Err((failure.kind, failure.message)),
                }
                let live = *live;
                self.state = State::Comma;
                if !live {
                    return self.read(io);
                }
            }
            State::Comma => return self.comma(io),
            State::Between { .. } => return self.between(io),
            State::Tail => return self.tail(io),
            State::Lost(_) => return Ok(Some(Step::Need)),
        }
        Ok(None)
    }

    fn start(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        if self.wrapper.is_some() && !io.found.used(Repair::JsonWrapper) {
            self.repair(io, Repair::JsonWrapper, "nothing stands around the JSON object")?;
        }
        io.at = ws_run(io.window, io.at);
        match io.rest().bytes().next() {
            None => return Ok(Some(Step::Need)),
            Some(b'[') if !self.list => self.list = true,
            Some(_) if self.guarded => match io.cx.tools.map(|tools| look(tools, io.rest(), io.last)) {
                Some(Look::Need) => return Ok(Some(Step::Need)),
                Some(Look::Text) => {
                    return Err(self.bad(io, ErrorKind::MalformedCall, "an object of the list gives no arguments"));
                }
                _ => self.state = State::Key { first: true },
            },
            Some(_) => self.state = State::Key { first: true },
        }
        io.at += 1;
        Ok(None)
    }

    fn repair(&self, io: &mut Io<'_>, repair: Repair, what: &str) -> Result<(), Bad> {
        io.cx.repair(io.found, repair).map_err(|kind| (kind, self.said(&io.cx, what)))
    }

    fn said(&self, cx: &Context<'_>, what: &str) -> String {
        format!("The call is not written as it should be: {what}. Write it like this: {}", cx.protocol.example(cx))
    }

    fn bad(&self, io: &Io<'_>, kind: ErrorKind, what: &str) -> Bad {
        (kind, self.said(&io.cx, what))
    }

    fn next_lexeme<'w>(&mut self, io: &mut Io<'w>, place: Place) -> Result<Option<Lexeme<'w>>, Bad> {
        let lexeme = self.lexer.next(io.window, &mut io.at, false, place);
        if take(&mut self.lexer.repaired) {
            io.found.repair(Repair::RelaxedJson);
        }
        match lexeme {
            Lexeme::Need => Ok(None),
            Lexeme::Bad(what) => Err(self.bad(io, ErrorKind::InvalidJson, what)),
            Lexeme::Lax(what) => Err(self.bad(io, ErrorKind::Strict(Repair::RelaxedJson), what)),
            Lexeme::Word(word) => match find_mark(word, &io.cx.delimiters.close) {
                None => Ok(Some(lexeme)),
                Some(close) => {
                    io.at -= word.len() - close;
                    Err(self.bad(io, ErrorKind::InvalidJson, "a key is expected"))
                }
            },
            lexeme => Ok(Some(lexeme)),
        }
    }

    fn key(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        if matches!(self.state, State::Key { .. }) && !self.lexer.in_comment() {
            io.at = ws_run(io.window, io.at);
            if let Some((key, length)) = plain_key(io.rest()) {
                io.at += length;
                self.key = known(key);
                self.state = State::Colon;
            }
        }
        let place = if matches!(self.state, State::Colon) { Place::Punctuation } else { Place::Key };
        let Some(lexeme) = self.next_lexeme(io, place)? else { return Ok(Some(Step::Need)) };
        match (&mut self.state, lexeme) {
            (State::InKey(key), Lexeme::Plain(part)) => key.push_str(part),
            (State::InKey(key), Lexeme::Char(c)) => key.push(c),
            (State::InKey(key), Lexeme::StringEnd) => {
                self.key = known(key);
                self.state = State::Colon;
            }
            (State::Key { .. }, Lexeme::StringStart) => self.state = State::InKey(String::new()),
            (State::Key { .. }, Lexeme::Word(word)) if !word.is_empty() => {
                self.repair(io, Repair::RelaxedJson, "keys stand in double quotes")?;
                self.key = known(word);
                self.state = State::Colon;
            }
            (State::Key { first }, Lexeme::Punct(b'}')) => {
                if !*first {
                    self.repair(io, Repair::RelaxedJson, "a comma stands in front of }")?;
                }
                return self.end(io);
            }
            (State::Colon, Lexeme::Punct(b':')) => self.state = State::Value,
            (State::Colon, lexeme) => return Err(self.misplaced(io, lexeme, "a colon is missing behind a key")),
            (_, lexeme) => return Err(self.misplaced(io, lexeme, "a key is expected")),
        }
        Ok(None)
    }

    /// A lexeme that was not expected; brackets count when reading on.
    fn misplaced(&self, io: &mut Io<'_>, lexeme: Lexeme<'_>, what: &str) -> Bad {
        if matches!(lexeme, Lexeme::Punct(_)) {
            io.at -= 1;
        }
        self.bad(io, ErrorKind::InvalidJson, what)
    }

    fn role(&self) -> Role {
        match &*self.key {
            "name" | "tool" | "function" => Role::Name,
            "arguments" | "parameters" | "args" => Role::Arguments,
            _ => Role::Other,
        }
    }

    /// In front of a value.
    fn value(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        io.at = ws_run(io.window, io.at);
        let Some(byte) = io.rest().bytes().next() else { return Ok(Some(Step::Need)) };
        if self.role() == Role::Name
            && let Some((name, length)) = plain_key(io.rest())
        {
            io.at += length;
            self.state = State::Comma;
            return self.named(io, name.to_owned());
        }
        if byte == b'{' && self.key == "function" && !self.inner {
            self.repair(io, Repair::KeyAlias, "name and arguments stand in no other object")?;
            io.at += 1;
            self.inner = true;
            self.state = State::Key { first: true };
            return Ok(None);
        }
        if self.guarded && self.role() == Role::Other && !matches!(&*self.key, "id" | "type") {
            let key = messages::shorten(&self.key);
            let what = format!("{key} stands beside the arguments, which are the members of \"arguments\"");
            return Err(self.bad(io, ErrorKind::MalformedCall, &what));
        }
        let arguments = self.role() == Role::Arguments;
        if arguments && self.key != "arguments" {
            self.repair(io, Repair::KeyAlias, "the arguments stand under the key \"arguments\"")?;
        }
        let live = arguments && !self.given && self.name.is_some() && byte == b'{';
        self.given |= arguments && live;
        let node = if live { io.cx.schema.root } else { UNKNOWN };
        if !live {
            self.aside.get_or_insert_default().reset();
        }
        let object = Object::new(&io.cx, node, String::new(), 0).with_comments();
        // The name is known at its first quote.
        let object = match self.role() {
            Role::Name => object,
            Role::Arguments | Role::Other => object.with_quotes(self.around().1, &KEYS),
        };
        self.state = State::Reading { object: Box::new(object), live };
        Ok(None)
    }

    /// A value is read that stands beside the arguments, or is to be typed.
    fn read(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        let json = self.aside.as_mut().map(|aside| take(&mut aside.json)).unwrap_or_default();
        match self.role() {
            Role::Name if json.starts_with('"') => match decoded(&json) {
                Some(name) => self.named(io, name),
                None => Ok(None),
            },
            Role::Name if self.key == "name" => {
                Err(self.bad(io, ErrorKind::MalformedCall, "the tool's name is a string"))
            }
            Role::Arguments if self.given => {
                self.again(io, &json)?;
                Ok(None)
            }
            Role::Arguments => {
                self.given = true;
                match self.name {
                    Some(_) => self.arguments(io, &json)?,
                    None => self.held = Some(json),
                }
                Ok(None)
            }
            Role::Name | Role::Other => {
                if !matches!(&*self.key, "id" | "type") {
                    let message = format!(
                        "{} stands beside the arguments, where nothing is read; arguments stand inside \"arguments\".",
                        messages::shorten(&self.key)
                    );
                    io.found.problem(ProblemKind::UnknownField, self.key.to_string(), message);
                }
                Ok(None)
            }
        }
    }

    fn named(&mut self, io: &mut Io<'_>, name: String) -> Result<Option<Step>, Bad> {
        if self.key != "name" {
            self.repair(io, Repair::KeyAlias, "the tool's name stands under the key \"name\"")?;
        }
        match &self.name {
            Some(first) if *first == name => return Ok(None),
            Some(_) => return Err(self.bad(io, ErrorKind::DuplicateArgument, "there are two names")),
            None => {}
        }
        if name.is_empty() || first_chars(&name, NAME_CHARS) < name.len() {
            return Err(self.bad(io, ErrorKind::MalformedCall, "the tool's name has 1 to 128 characters"));
        }
        self.name = Some(name.clone());
        if self.held.is_some() {
            self.state = State::Value;
        }
        Ok(Some(Step::Named(name)))
    }

    /// Types arguments that are there as a whole, and writes them.
    fn arguments(&self, io: &mut Io<'_>, json: &str) -> Result<(), Bad> {
        let text;
        let (source, encoded) = match json.bytes().next() {
            Some(b'{') => (json, false),
            Some(b'n') => ("{}", false),
            Some(b'"') => {
                self.repair(io, Repair::EncodedArguments, "the arguments are an object, not a string")?;
                text = decoded(json).unwrap_or_default();
                match text.trim() {
                    "" | "null" => ("{}", true),
                    text => (text, true),
                }
            }
            _ => ("", false),
        };
        if !source.starts_with('{') {
            return Err(self.bad(io, ErrorKind::MalformedCall, "the arguments are an object"));
        }
        let mut object = Object::new(&io.cx, io.cx.schema.root, String::new(), 0);
        if encoded {
            object = object.with_comments().with_quotes(0, &[]);
        }
        let mut inner = Io { cx: io.cx, found: &mut *io.found, window: source, at: 0, last: true };
        match object.feed(&mut inner) {
            Ok(true) if inner.rest().trim().is_empty() => Ok(()),
            Ok(_) if encoded => Err(self.bad(io, ErrorKind::InvalidJson, "the arguments are one object")),
            Ok(_) => Ok(()),
            Err(failure) => Err((failure.kind, failure.message)),
        }
    }

    /// Arguments that were given before: the same again are none.
    fn again(&mut self, io: &mut Io<'_>, json: &str) -> Result<(), Bad> {
        let same = match &self.held {
            Some(first) => first == json,
            None => {
                let mut aside = self.aside.take().unwrap_or_default();
                aside.reset();
                swap(&mut io.found.args, &mut aside);
                let typed = self.arguments(io, json);
                swap(&mut io.found.args, &mut aside);
                typed?;
                io.found.args.json == aside.json
            }
        };
        let differ =
            || self.bad(io, ErrorKind::DuplicateArgument, "the arguments are given twice, with different values");
        if same { Ok(()) } else { Err(differ()) }
    }

    /// Behind a value.
    fn comma(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        match self.punct(io)? {
            Punct::Need => return Ok(Some(Step::Need)),
            Punct::Close => {
                self.missing_bracket(io)?;
                return self.end(io);
            }
            Punct::Is(b',') => self.state = State::Key { first: false },
            Punct::Is(b'}') => return self.end(io),
            Punct::Is(byte) => return Err(self.misplaced(io, Lexeme::Punct(byte), "a comma or } is expected")),
        }
        Ok(None)
    }

    /// Punctuation behind a value, or CLOSE, which stays.
    fn punct(&mut self, io: &mut Io<'_>) -> Result<Punct, Bad> {
        let lexeme = self.next_lexeme(io, Place::Punctuation);
        if lexeme.is_err() {
            match starts(io.rest(), &io.cx.delimiters.close, io.last) {
                Mark::Yes => return Ok(Punct::Close),
                Mark::Partial => return Ok(Punct::Need),
                Mark::No => {}
            }
        }
        Ok(match lexeme? {
            Some(Lexeme::Punct(byte)) => Punct::Is(byte),
            _ => Punct::Need,
        })
    }

    fn missing_bracket(&self, io: &mut Io<'_>) -> Result<(), Bad> {
        self.repair(io, Repair::UnbalancedBrackets, "a bracket is missing at its end")
    }

    /// The object's last bracket is read.
    fn end(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        if take(&mut self.inner) {
            self.state = State::Comma;
            return Ok(None);
        }
        self.state = if self.list { State::Between { comma: false } } else { State::Tail };
        if self.name.is_none() {
            return Err(self.bad(io, ErrorKind::MalformedCall, "it has no \"name\""));
        }
        if !self.given {
            self.arguments(io, "{}")?;
        }
        Ok(None)
    }

    /// Behind an object of a list.
    fn between(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        let State::Between { comma } = self.state else { return Ok(None) };
        match self.punct(io)? {
            Punct::Need => return Ok(Some(Step::Need)),
            Punct::Close => {
                self.missing_bracket(io)?;
                self.state = State::Tail;
            }
            Punct::Is(b',') if !comma => self.state = State::Between { comma: true },
            Punct::Is(b'{') => {
                io.at -= 1;
                if !comma {
                    self.repair(io, Repair::RelaxedJson, "a comma stands between the objects of a list")?;
                }
                return Ok(Some(Step::Next));
            }
            Punct::Is(b']') => {
                if comma {
                    self.repair(io, Repair::RelaxedJson, "a comma stands in front of ]")?;
                }
                self.state = State::Tail;
            }
            Punct::Is(byte) => return Err(self.misplaced(io, Lexeme::Punct(byte), "a comma or ] is expected")),
        }
        Ok(None)
    }

    /// Behind the last bracket.
    fn tail(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        if self.wrapped {
            match self.punct(io)? {
                Punct::Need => return Ok(Some(Step::Need)),
                Punct::Is(b'}') => self.wrapped = false,
                Punct::Is(_) | Punct::Close => {
                    return Err(self.bad(io, ErrorKind::MalformedCall, "} is expected behind the list"));
                }
            }
        }
        if self.bare {
            return Ok(Some(Step::Done));
        }
        io.at = ws_run(io.window, io.at);
        let rest = io.rest();
        let Some(byte) = rest.bytes().next() else { return Ok(Some(Step::Need)) };
        match starts(rest, &io.cx.delimiters.close, io.last) {
            Mark::Yes => {
                io.at += io.cx.delimiters.close.len();
                return Ok(Some(Step::Done));
            }
            Mark::Partial => return Ok(Some(Step::Need)),
            Mark::No => {}
        }
        let results = io.cx.protocol.result_marks().iter().map(|mark| &**mark);
        let marks = results.chain([io.cx.delimiters.open.as_str()]).map(|mark| starts(rest, mark, io.last));
        match marks.reduce(|a, b| if a == Mark::Yes || b == Mark::No { a } else { b }) {
            Some(Mark::Yes) => {
                self.repair(io, Repair::MissingClose, "it is not closed")?;
                return Ok(Some(Step::Done));
            }
            Some(Mark::Partial) => return Ok(Some(Step::Need)),
            Some(Mark::No) | None => {}
        }
        if let Some(wrapper) = self.wrapper {
            match starts(rest, wrapper.close(), io.last) {
                Mark::Yes => {
                    io.at += wrapper.close().len();
                    self.wrapper = None;
                    return Ok(None);
                }
                Mark::Partial => return Ok(Some(Step::Need)),
                Mark::No => {}
            }
        }
        match (byte, tag(rest, io.last)) {
            (b'}' | b']', _) => {
                self.repair(io, Repair::UnbalancedBrackets, "there is a bracket too many at its end")?;
                io.at += 1;
                Ok(None)
            }
            (b'{', _) if !self.list => {
                self.repair(io, Repair::MissingClose, "it is not closed")?;
                Ok(Some(Step::Next))
            }
            (_, Tag::Need) => Ok(Some(Step::Need)),
            (_, Tag::Yes(length)) => {
                self.repair(io, Repair::StrayTag, "a tag stands behind the JSON object")?;
                io.at += length;
                Ok(None)
            }
            (_, Tag::No) => {
                let what = format!("behind the JSON only {} may follow", io.cx.delimiters.close);
                Err(self.bad(io, ErrorKind::MalformedCall, &what))
            }
        }
    }
}

/// A key, of which most are known.
fn known(key: &str) -> Cow<'static, str> {
    match KEYS.iter().find(|known| **known == key) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(key.to_owned()),
    }
}

/// The text of a JSON string.
fn decoded(json: &str) -> Option<String> {
    match parse(json, 1) {
        Ok(Value::String(text)) => Some(text.into_owned()),
        _ => None,
    }
}

/// What stands behind a value.
enum Punct {
    Need,
    Is(u8),
    Close,
}

enum Tag {
    Need,
    No,
    Yes(usize),
}

/// Characters of a tag.
const TAG_CHARS: usize = 64;

/// Does the text start with a tag, or with the beginning of one, where nothing follows?
fn tag(text: &str, last: bool) -> Tag {
    let Some(name) = text.strip_prefix('<') else { return Tag::No };
    let ends = |c: char| c.is_whitespace() || "<>{}[]\"'".contains(c);
    let window = &name[..first_chars(name, TAG_CHARS)];
    match window.char_indices().find(|(_, c)| ends(*c)) {
        Some((0, _)) => Tag::No,
        Some((at, '>')) => Tag::Yes(1 + at + 1),
        Some(_) => Tag::No,
        None if window.len() < name.len() => Tag::No,
        None if last => Tag::Yes(text.len()),
        None => Tag::Need,
    }
}
