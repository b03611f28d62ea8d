//! The body of a call as one JSON object that says the tool's name and its arguments, or a list of such objects.
//!
//! Once the name is known, the arguments are typed and passed on as they come. In front of it they are read without types,
//! and written as JSON that is typed when the name is there.

mod end;
pub mod format;
mod lost;
mod members;
pub mod unmarked;

use std::borrow::Cow;
use std::mem::{swap, take};

use crate::arguments::object::Quotes;
use crate::arguments::{Args, Bad, Context, Failure, Found, Io, Object, Step};
use crate::error::{ErrorKind, Repair};
use crate::protocols::body::{Body, Markers, Wrapper};
use crate::schema::UNKNOWN;
use crate::syntax::json::{JsonLexeme, JsonLexer, TokenSet, plain_string};
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Delimiters, find_mark, ws_run};
use unmarked::{Look, look};

use lost::Lost;
use members::{KEYS, Role, known};

#[derive(Debug, Default)]
enum State {
    /// At the opening bracket.
    #[default]
    Start,
    Key {
        first: bool,
    },
    /// In a key, of which so much is read.
    InKey(String),
    Colon,
    /// In front of a value, or behind the arguments in front of which a name was.
    Value,
    /// The JSON of a value goes to the arguments, typed, or beside them, as it is.
    Reading {
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

#[derive(Debug, Default)]
pub struct Envelope {
    state: State,
    lexer: JsonLexer,
    /// What was opened around the JSON and is not closed yet.
    wrapper: Option<Wrapper>,
    /// There are no markers, so it must be plain that it is a call.
    guarded: bool,
    /// Nor a fence: its last bracket ends the call.
    bare: bool,
    /// An object is open of which the list is a member.
    wrapped: bool,
    list: bool,
    /// In an object that is the value of "function", as without markers it may be.
    inner: bool,
    key: Cow<'static, str>,
    /// The tool's name, once it is known.
    name: String,
    /// The value that is read.
    object: Object,
    /// Arguments that came in front of the name, or beside others, as JSON.
    held: Option<String>,
    given: bool,
    /// Where JSON is written that is not passed on.
    aside: Option<Box<Args>>,
}

impl Body for Envelope {
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
                    self.lose(sound, (io.window, io.at));
                    return Step::Failed(Failure { kind, message, skip: Skip::Body });
                }
            }
        }
    }

    fn read_on(&mut self, io: &mut Io<'_>) -> Step {
        if !matches!(self.state, State::Lost(_)) {
            self.lose(true, ("", 0));
        }
        let list = if self.list { self.around() } else { 0 };
        match &mut self.state {
            State::Lost(lost) => lost.read(io, self.bare, list),
            _ => Step::Need,
        }
    }

    fn feed_plain(&mut self, found: &mut Found, text: &str, _: &Delimiters) -> Option<bool> {
        match self.state {
            State::Reading { live: true } => self.object.feed_plain(found, text),
            _ => None,
        }
    }

    /// The body of the call that follows.
    fn next(&mut self) -> Option<Box<dyn Body>> {
        let Envelope { wrapper, guarded, bare, wrapped, list, .. } = *self;
        let lexer = self.lexer.fresh();
        Some(Box::new(Envelope { lexer, wrapper, guarded, bare, wrapped, list, ..Envelope::default() }))
    }

    fn closable(&self, _: &Found) -> bool {
        matches!(self.state, State::Tail)
    }

    fn unterminated(&self) -> bool {
        !matches!(self.state, State::Tail)
    }

    fn finish(&self, _: &Context<'_>, found: &mut Found) {
        found.args.release();
    }
}

impl Envelope {
    pub fn new(cx: &Context<'_>, wrapper: Option<Wrapper>, markers: Markers) -> Self {
        let mut envelope = Envelope::default();
        envelope.renew(cx, wrapper, markers);
        envelope
    }

    /// As new, with its memory.
    pub fn renew(&mut self, cx: &Context<'_>, wrapper: Option<Wrapper>, markers: Markers) {
        (self.guarded, self.bare, self.wrapped) = match markers {
            Markers::Close => (false, false, false),
            Markers::Fence { wrapped } => (true, false, wrapped),
            Markers::Bracket { wrapped } => (true, true, wrapped),
        };
        self.lexer = JsonLexer::new(!cx.strict).in_calls().with_comments();
        self.name.clear();
        (self.state, self.wrapper, self.list) = (State::Start, wrapper, false);
        (self.inner, self.held, self.given) = (false, None, false);
    }

    /// Brackets that are open around the objects.
    fn around(&self) -> usize {
        usize::from(self.list) + usize::from(self.wrapped)
    }

    /// Brackets that are open around what stands in an object.
    fn within(&self) -> usize {
        self.around() + 1 + usize::from(self.inner)
    }

    /// From here on only the call's end is looked for.
    fn lose(&mut self, sound: bool, place: (&str, usize)) {
        let (around, within) = (self.around(), self.within());
        self.state = State::Lost(match &self.state {
            State::Tail => Lost::behind(),
            State::Start => Lost::inside(around, None, sound, false, place),
            State::Between { .. } => Lost::inside(around, None, sound, true, place),
            State::Reading { .. } => {
                Lost::inside(within + self.object.brackets(), self.object.open_quote(), sound, false, place)
            }
            _ => Lost::inside(within, self.lexer.open_quote(), sound, false, place),
        });
    }

    fn step(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        match &self.state {
            State::Start => self.start(io),
            State::Key { .. } | State::InKey(_) | State::Colon => self.key(io),
            State::Value => {
                if !self.name.is_empty()
                    && let Some(json) = self.held.take()
                {
                    self.state = State::Comma;
                    self.arguments(io, &json)?;
                    return Ok(None);
                }
                self.value(io)
            }
            State::Reading { live } => self.reading(io, *live),
            State::Comma => self.comma(io),
            State::Between { .. } => self.between(io),
            State::Tail => self.tail(io),
            State::Lost(_) => Ok(Some(Step::Need)),
        }
    }

    /// In a value. What does not go out is written beside the arguments.
    fn reading(&mut self, io: &mut Io<'_>, live: bool) -> Result<Option<Step>, Bad> {
        let mut aside = self.aside.as_mut().filter(|_| !live);
        if let Some(aside) = &mut aside {
            swap(&mut io.found.args, aside);
        }
        let read = self.object.feed(io);
        if let Some(aside) = aside {
            swap(&mut io.found.args, aside);
        }
        if !read.map_err(|failure| (failure.kind, failure.message))? {
            return Ok(Some(Step::Need));
        }
        self.state = State::Comma;
        if live { Ok(None) } else { self.read(io) }
    }

    fn start(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        if self.wrapper.is_some() && !io.found.used(Repair::JsonWrapper) {
            self.repair(io, Repair::JsonWrapper, "nothing may surround the JSON object")?;
        }
        io.at = ws_run(io.window, io.at);
        match io.rest().bytes().next() {
            None => return Ok(Some(Step::Need)),
            Some(b'[') if !self.list => self.list = true,
            Some(_) if self.guarded => match io.cx.tools.map(|tools| look(tools, io.rest(), io.last)) {
                Some(Look::Need) => return Ok(Some(Step::Need)),
                Some(Look::Text) => {
                    return Err(self.bad(ErrorKind::MalformedCall, "an object in the list has no arguments"));
                }
                _ => self.state = State::Key { first: true },
            },
            Some(_) => self.state = State::Key { first: true },
        }
        io.at += 1;
        Ok(None)
    }

    fn repair(&self, io: &mut Io<'_>, repair: Repair, what: &str) -> Result<(), Bad> {
        io.cx.repair(io.found, repair).map_err(|kind| (kind, self.said(what)))
    }

    fn said(&self, what: &str) -> String {
        format!("The call cannot be read: {what}.")
    }

    fn bad(&self, kind: ErrorKind, what: &str) -> Bad {
        (kind, self.said(what))
    }

    fn next_lexeme<'w>(&mut self, io: &mut Io<'w>, place: TokenSet) -> Result<Option<JsonLexeme<'w>>, Bad> {
        let lexeme = self.lexer.next(io.window, &mut io.at, false, place);
        if take(&mut self.lexer.repaired) {
            io.found.repair(Repair::RelaxedJson);
        }
        match lexeme {
            JsonLexeme::Need => Ok(None),
            JsonLexeme::Bad(what) => Err(self.bad(ErrorKind::InvalidJson, what)),
            JsonLexeme::Lax(what) => Err(self.bad(ErrorKind::Strict(Repair::RelaxedJson), what)),
            JsonLexeme::Word(word) => match find_mark(word, &io.cx.delimiters.close) {
                None => Ok(Some(lexeme)),
                Some(close) => {
                    io.at -= word.len() - close;
                    Err(self.bad(ErrorKind::InvalidJson, "a key is expected"))
                }
            },
            lexeme => Ok(Some(lexeme)),
        }
    }

    fn key(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        if matches!(self.state, State::Key { .. }) && !self.lexer.in_comment() {
            io.at = ws_run(io.window, io.at);
            if let Some((key, length)) = plain_string(io.rest()) {
                io.at += length;
                self.key = known(key);
                self.state = State::Colon;
            }
        }
        let place = if matches!(self.state, State::Colon) { TokenSet::Punctuation } else { TokenSet::Key };
        let Some(lexeme) = self.next_lexeme(io, place)? else { return Ok(Some(Step::Need)) };
        match (&mut self.state, lexeme) {
            (State::InKey(key), JsonLexeme::Plain(part)) => key.push_str(part),
            (State::InKey(key), JsonLexeme::Char(c)) => key.push(c),
            (State::InKey(key), JsonLexeme::StringEnd) => {
                self.key = known(key);
                self.state = State::Colon;
            }
            (State::Key { .. }, JsonLexeme::StringStart) => self.state = State::InKey(String::new()),
            (State::Key { .. }, JsonLexeme::Word(word)) if !word.is_empty() => {
                self.repair(io, Repair::RelaxedJson, "keys need double quotes")?;
                self.key = known(word);
                self.state = State::Colon;
            }
            (State::Key { first }, JsonLexeme::Punct(b'}')) => {
                if !*first {
                    self.repair(io, Repair::RelaxedJson, "a comma must not precede }")?;
                }
                return self.end(io);
            }
            (State::Colon, JsonLexeme::Punct(b':')) => self.state = State::Value,
            (State::Colon, lexeme) => return Err(self.misplaced(io, lexeme, "a colon is missing after a key")),
            (_, lexeme) => return Err(self.misplaced(io, lexeme, "a key is expected")),
        }
        Ok(None)
    }

    /// A lexeme that was not expected; brackets count when reading on.
    fn misplaced(&self, io: &mut Io<'_>, lexeme: JsonLexeme<'_>, what: &str) -> Bad {
        if matches!(lexeme, JsonLexeme::Punct(_)) {
            io.at -= 1;
        }
        self.bad(ErrorKind::InvalidJson, what)
    }

    /// In front of a value.
    fn value(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        io.at = ws_run(io.window, io.at);
        let Some(byte) = io.rest().bytes().next() else { return Ok(Some(Step::Need)) };
        if self.role() == Role::Name
            && let Some((name, length)) = plain_string(io.rest())
        {
            io.at += length;
            self.state = State::Comma;
            return self.named(io, name);
        }
        if self.guarded && byte == b'{' && self.key == "function" && !self.inner && self.name.is_empty() {
            self.repair(io, Repair::KeyAlias, "name and arguments must not be in another object")?;
            io.at += 1;
            self.inner = true;
            self.state = State::Key { first: true };
            return Ok(None);
        }
        let arguments = self.role() == Role::Arguments;
        if arguments && self.key != "arguments" {
            self.repair(io, Repair::KeyAlias, "the arguments belong under the key \"arguments\"")?;
        }
        let live = arguments && !self.given && !self.name.is_empty() && byte == b'{';
        self.given |= arguments && live;
        let node = if live { io.cx.schema.root } else { UNKNOWN };
        if !live {
            self.aside.get_or_insert_default().reset();
        }
        // The name is known at its first quote; and where the call ends with its last bracket, anything may follow that.
        let quotes = (self.role() != Role::Name && !self.bare).then(|| Quotes::new(self.within(), &KEYS));
        self.object.renew(self.lexer.fresh(), node, quotes);
        self.state = State::Reading { live };
        Ok(None)
    }
}
