//! The body of a call as JSON: one object that says the tool's name and its arguments, a list of such objects, or the arguments alone
//! after a name.
//!
//! Once the name is known, the arguments are typed and passed on as they arrive. Before that they are read without types,
//! and kept as JSON that is typed when the name is known.

mod end;
pub(crate) mod fence;
pub(crate) mod marked;
mod members;
pub(crate) mod named;
mod named_recovery;
mod near_misses;
pub(crate) mod object;
pub(crate) mod part;
mod recovery;
mod rules;
pub(crate) mod unmarked;

use std::borrow::Cow;
use std::mem::{swap, take};

use crate::arguments::{ArgumentsBuilder, Context, Flow, Input, Object, Progress, ReadError, Report, steps};
use crate::error::{ErrorKind, Repair};
use crate::formats::body::{Body, Markers, Wrapper};
use crate::schema::UNKNOWN;
use crate::syntax::json::{JsonLexeme, JsonLexer, TokenSet, plain_string};
use crate::syntax::quoting::{Quote, outside_quotes};
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Delimiters, Scan, find_mark, ws_run};
use unmarked::{UnmarkedObject, is_broken, look};

pub(crate) use rules::{Ends, JsonRules, NameKey};

use members::{KEYS, Role};
use named_recovery::NamedRecovery;
use near_misses::missing_bracket;
use recovery::MembersRecovery;

#[derive(Debug, Default)]
enum JsonState {
    /// At the opening bracket.
    #[default]
    Start,
    /// At the object of a call whose opening should have a name and has none.
    Nameless,
    Key {
        first: bool,
    },
    /// In a key, of which so much is read.
    InKey(String),
    Colon,
    /// Before a value, or after the name that arguments were waiting for.
    Value,
    /// The JSON of a value goes to the arguments, typed, or to a place of its own, unchanged.
    Reading {
        live: bool,
    },
    Comma,
    /// In a list, after a call. `comma`: and after a comma.
    Between {
        comma: bool,
    },
    /// After the last bracket; so many bytes of whitespace after it were scanned.
    Tail {
        blanks: usize,
    },
    /// After an error.
    Recovering(MembersRecovery),
    /// After an error in a call whose name precedes the object.
    RecoveringNamed(NamedRecovery),
}

#[derive(Debug, Default)]
pub(crate) struct JsonCall {
    state: JsonState,
    lexer: JsonLexer,
    /// What was opened around the JSON and is not closed yet.
    wrapper: Option<Wrapper>,
    /// There are no markers, so it must be certain that it is a call.
    guarded: bool,
    /// Nor a fence: its last bracket ends the call.
    bare: bool,
    /// An object is open of which the list is a member.
    wrapped: bool,
    list: bool,
    /// In an object that is the value of "function", as without markers it may be.
    inner: bool,
    /// A fence was opened before the arguments, or closed after them.
    fenced: bool,
    key: Cow<'static, str>,
    /// The tool's name, once it is known.
    name: String,
    /// The value that is read.
    object: Object,
    /// Arguments that came before the name, as JSON.
    held: Option<String>,
    given: bool,
    /// Another member is an object.
    misplaced: bool,
    native: Option<JsonRules>,
    /// It is not decided yet that this is a call.
    undecided: bool,
    /// Where JSON is written that is not sent.
    aside: Option<Box<ArgumentsBuilder>>,
}

impl Body for JsonCall {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        let step = steps(|| self.step(input));
        let Progress::Failed(failure) = step else { return step };
        if self.undecided {
            return Progress::Text;
        }
        let sound = !matches!(
            failure.kind,
            ErrorKind::InvalidJson
                | ErrorKind::UnterminatedValue
                | ErrorKind::Strict(Repair::RelaxedJson | Repair::InnerQuotes)
        );
        self.lose(sound, (input.window, input.at));
        Progress::failed(failure.kind, failure.message, Recovery::Body)
    }

    fn recover(&mut self, input: &mut Input<'_>) -> Progress {
        if let Some(ends) = self.ends() {
            self.lose(true, (input.window, input.at));
            let JsonState::RecoveringNamed(lost) = &mut self.state else { return Progress::Incomplete };
            return lost.read(input, &ends);
        }
        if let (JsonState::Tail { blanks }, Some(native)) = (&self.state, self.native) {
            return self.native_tail(input, native.close, *blanks);
        }
        if !matches!(self.state, JsonState::Recovering(_)) {
            self.lose(true, (input.window, input.at));
        }
        let list = if self.list { self.around() } else { 0 };
        let closers = self.native.map_or(&[][..], |native| native.close);
        let JsonState::Recovering(lost) = &mut self.state else { return Progress::Incomplete };
        match lost.read(input, self.bare, list, closers) {
            Progress::CallEnd if !closers.is_empty() => self.native_tail(input, closers, 0),
            step => step,
        }
    }

    fn feed_plain(&mut self, report: &mut Report, text: &str, _: &Delimiters) -> Option<bool> {
        match self.state {
            JsonState::Reading { live: true } => self.object.feed_plain(report, text),
            _ => None,
        }
    }

    /// The body of the call that follows.
    fn next(&mut self) -> Option<Box<dyn Body>> {
        let JsonCall { wrapper, guarded, bare, wrapped, list, native, .. } = *self;
        let lexer = self.lexer.fresh();
        Some(Box::new(JsonCall { lexer, wrapper, guarded, bare, wrapped, list, native, ..JsonCall::default() }))
    }

    fn waits(&self) -> bool {
        self.native.is_some() && self.list
    }

    fn may_be_text(&self) -> bool {
        self.undecided
    }

    /// The last bracket completes it; what may follow only belongs to it.
    fn is_complete(&self) -> bool {
        self.native.is_some() && self.ends().is_none() && matches!(self.state, JsonState::Tail { .. })
    }

    fn closable(&self, _: &Report) -> bool {
        matches!(self.state, JsonState::Tail { .. })
    }

    fn unterminated(&self) -> bool {
        !matches!(self.state, JsonState::Tail { .. })
    }
}

impl JsonCall {
    /// Starts over, and keeps the allocations.
    pub(crate) fn reset(&mut self, cx: &Context<'_>, wrapper: Option<Wrapper>, markers: Markers) {
        (self.guarded, self.bare, self.wrapped) = match markers {
            Markers::Close => (false, false, false),
            Markers::Fence { wrapped } => (true, false, wrapped),
            Markers::Bracket { wrapped } => (true, true, wrapped),
        };
        self.lexer = JsonLexer::new(!cx.strict).in_calls().with_comments();
        self.name.clear();
        (self.state, self.wrapper, self.list) = (JsonState::Start, wrapper, false);
        (self.inner, self.held, self.given, self.misplaced, self.fenced) = (false, None, false, false, false);
        (self.native, self.undecided) = (None, false);
    }

    /// The same in a native format.
    pub(crate) fn reset_native(&mut self, cx: &Context<'_>, rules: JsonRules) {
        self.reset(cx, None, Markers::Close);
        self.lexer = JsonLexer::new(!cx.strict).in_calls().in_native();
        (self.native, self.undecided, self.bare) = (Some(rules), rules.may_be_text, true);
    }

    /// The same where the opening has the name.
    pub(crate) fn reset_named(&mut self, cx: &Context<'_>, ends: Ends, nameless: bool) {
        self.reset_native(cx, JsonRules { name: NameKey::Opening(ends), ..JsonRules::USUAL });
        if nameless {
            self.state = JsonState::Nameless;
        }
    }

    /// The quote of the string that is open, if one is.
    pub(crate) fn open_quote(&self) -> Option<Quote> {
        match self.state {
            JsonState::Reading { .. } => self.object.open_quote(),
            _ => self.lexer.quote.map(Quote::Plain),
        }
    }

    fn ends(&self) -> Option<Ends> {
        self.native.as_ref().and_then(JsonRules::ends)
    }

    /// Brackets that are open around the objects.
    fn around(&self) -> usize {
        usize::from(self.list) + usize::from(self.wrapped)
    }

    /// Brackets that are open around the members of an object.
    fn within(&self) -> usize {
        self.around() + 1 + usize::from(self.inner)
    }

    /// From here on, only the call's end is searched for.
    fn lose(&mut self, sound: bool, place: (&str, usize)) {
        if self.ends().is_some() {
            self.state = JsonState::RecoveringNamed(match &self.state {
                JsonState::RecoveringNamed(_) => return,
                JsonState::Tail { .. } => NamedRecovery::behind(),
                JsonState::Reading { .. } => {
                    NamedRecovery::inside(self.object.brackets(), self.object.open_quote(), place)
                }
                // The name or the fence has failed: what follows may go on with its last word.
                _ => NamedRecovery::after(place.0, place.1),
            });
            return;
        }
        let (around, within) = (self.around(), self.within());
        self.state = JsonState::Recovering(match &self.state {
            JsonState::Tail { .. } => MembersRecovery::behind(),
            JsonState::Start => MembersRecovery::inside(around, None, sound, false, place),
            JsonState::Between { .. } => MembersRecovery::inside(around, None, sound, true, place),
            JsonState::Reading { .. } => {
                MembersRecovery::inside(within + self.object.brackets(), self.object.open_quote(), sound, false, place)
            }
            _ => MembersRecovery::inside(within, self.lexer.quote.map(Quote::Plain), sound, false, place),
        });
    }

    fn step(&mut self, input: &mut Input<'_>) -> Flow {
        match &self.state {
            JsonState::Start => self.start(input),
            JsonState::Nameless => fail(ErrorKind::MalformedCall, "it has no name"),
            JsonState::Key { .. } | JsonState::InKey(_) | JsonState::Colon => self.key(input),
            JsonState::Value => match self.held.take_if(|_| !self.name.is_empty()) {
                Some(json) => {
                    self.state = JsonState::Comma;
                    self.arguments(input, &json)
                }
                None => self.value(input),
            },
            JsonState::Reading { live } => self.reading(input, *live),
            JsonState::Comma => self.comma(input),
            JsonState::Between { .. } => self.between(input),
            JsonState::Tail { blanks } => self.tail(input, *blanks),
            JsonState::Recovering(_) | JsonState::RecoveringNamed(_) => Err(Progress::Incomplete),
        }
    }

    /// In a value. What is not sent is written to a place of its own.
    fn reading(&mut self, input: &mut Input<'_>, live: bool) -> Flow {
        if let Some(aside) = self.aside.as_mut().filter(|_| !live) {
            swap(&mut input.report.args, aside);
        }
        let read = self.object.feed(input);
        let invalid = matches!(&read, Err(Progress::Failed(failure)) if failure.kind == ErrorKind::InvalidJson);
        let unclosed = invalid && self.object.lacks_bracket();
        let read = match unclosed.then(|| self.closer(input)) {
            Some(Scan::Incomplete) => Err(Progress::Incomplete),
            Some(Scan::Match(_)) => {
                let closed = self.object.close(&input.cx, input.report).and_then(|()| missing_bracket(input));
                closed.map_err(Progress::from)
            }
            Some(Scan::NoMatch) | None => read,
        };
        if let Some(aside) = self.aside.as_mut().filter(|_| !live) {
            swap(&mut input.report.args, aside);
        }
        read?;
        self.state = JsonState::Comma;
        if !live {
            self.read(input)?;
        }
        if let Some(ends) = self.ends() {
            (self.state, self.fenced) = (JsonState::Tail { blanks: 0 }, false);
            // A string, or null, may only be what precedes the object.
            return if live && ends.close.is_empty() { Err(Progress::CallEnd) } else { Ok(()) };
        }
        Ok(())
    }

    fn start(&mut self, input: &mut Input<'_>) -> Flow {
        if let Some(ends) = self.ends() {
            return self.start_named(input, &ends);
        }
        if self.wrapper.is_some() && !input.report.used(Repair::JsonWrapper) {
            self.repair(input, Repair::JsonWrapper, "nothing may surround the JSON object")?;
        }
        if self.native.is_some() && !self.list && !self.undecided {
            self.open_fence(input)?;
        }
        let first = input.next_byte()?;
        if self.undecided
            && !self.list
            && let Some(tools) = input.cx.tools
            && let Some(()) = is_broken(tools, input.rest(), input.last).decided()?
        {
            self.undecided = false;
        }
        match first {
            b'[' if !self.list => self.list = true,
            _ if self.guarded => match input.cx.tools.map(|tools| look(tools, input.rest(), input.last)) {
                Some(UnmarkedObject::Need) => return Err(Progress::Incomplete),
                Some(UnmarkedObject::Text) => {
                    return fail(ErrorKind::MalformedCall, "an object in the list has no arguments");
                }
                _ => self.state = JsonState::Key { first: true },
            },
            b'{' => self.state = JsonState::Key { first: true },
            _ => return fail(ErrorKind::MalformedCall, "the list has no object"),
        }
        input.at += 1;
        Ok(())
    }

    fn repair(&self, input: &mut Input<'_>, repair: Repair, what: &str) -> Result<(), ReadError> {
        input.cx.repair_or(input.report, repair, || said(what))
    }

    fn next_lexeme<'w>(&mut self, input: &mut Input<'w>, place: TokenSet) -> Flow<JsonLexeme<'w>> {
        let lexeme = self.lexer.next(input.window, &mut input.at, false, place);
        if take(&mut self.lexer.repaired) {
            input.report.repair(Repair::RelaxedJson);
        }
        match lexeme {
            JsonLexeme::Need => Err(Progress::Incomplete),
            JsonLexeme::Bad(what) => fail(ErrorKind::InvalidJson, what),
            JsonLexeme::Lax(what) => fail(ErrorKind::Strict(Repair::RelaxedJson), what),
            JsonLexeme::Word(word) => match find_mark(word, &input.cx.delimiters.close) {
                None => Ok(lexeme),
                Some(close) => {
                    input.at -= word.len() - outside_quotes(word, close);
                    fail(ErrorKind::InvalidJson, "a key is expected")
                }
            },
            lexeme => Ok(lexeme),
        }
    }

    fn key(&mut self, input: &mut Input<'_>) -> Flow {
        if matches!(self.state, JsonState::Key { .. }) && !self.lexer.in_comment() {
            input.at = ws_run(input.window, input.at);
            if let Some((key, length)) = plain_string(input.rest()) {
                input.at += length;
                self.named_key(input, key)?;
            }
        }
        let place = if matches!(self.state, JsonState::Colon) { TokenSet::Punctuation } else { TokenSet::Key };
        let lexeme = self.next_lexeme(input, place)?;
        match (&mut self.state, lexeme) {
            (JsonState::InKey(key), JsonLexeme::Plain(part)) => key.push_str(part),
            (JsonState::InKey(key), JsonLexeme::Char(c)) => key.push(c),
            (JsonState::InKey(key), JsonLexeme::StringEnd) => {
                let key = take(key);
                return self.named_key(input, &key);
            }
            (JsonState::Key { .. }, JsonLexeme::StringStart) => self.state = JsonState::InKey(String::new()),
            (JsonState::Key { .. }, JsonLexeme::Word(word)) if !word.is_empty() => {
                self.repair(input, Repair::RelaxedJson, "keys need double quotes")?;
                return self.named_key(input, word);
            }
            (JsonState::Key { first }, JsonLexeme::Punct(b'}')) => {
                if !*first {
                    self.repair(input, Repair::RelaxedJson, "a comma must not precede }")?;
                }
                return self.end(input);
            }
            (JsonState::Colon, JsonLexeme::Punct(b':')) => self.state = JsonState::Value,
            (JsonState::Colon, lexeme) => return self.misplaced(input, lexeme, "a colon is missing after a key"),
            (_, lexeme) => return self.misplaced(input, lexeme, "a key is expected"),
        }
        Ok(())
    }

    /// A key is read; most are known.
    fn named_key(&mut self, input: &mut Input<'_>, key: &str) -> Flow {
        let known = KEYS.iter().find(|known| **known == key);
        self.key = known.map_or_else(|| Cow::Owned(key.to_owned()), |known| Cow::Borrowed(*known));
        self.state = JsonState::Colon;
        if let Some(JsonRules { name: NameKey::NameIsKey, .. }) = self.native {
            return self.named(input, key);
        }
        match self.role() {
            Role::Other if self.undecided && !self.ignores(key) => Err(Progress::Text),
            _ => Ok(()),
        }
    }

    /// Before a value that may show that this is a call: the name is a string, the arguments are an object.
    fn decide(&mut self, byte: u8) -> Flow {
        match (self.role(), byte) {
            (Role::Name, b'"' | b'\'') | (Role::Other, _) => Ok(()),
            (Role::Arguments, b'{') if self.name.is_empty() => Ok(()),
            (Role::Arguments, b'{') => {
                self.undecided = false;
                Err(Progress::ToolName(self.name.as_str().into()))
            }
            (Role::Name | Role::Arguments, _) => Err(Progress::Text),
        }
    }

    /// A lexeme that was not expected; brackets count during recovery.
    fn misplaced(&self, input: &mut Input<'_>, lexeme: JsonLexeme<'_>, what: &str) -> Flow {
        if matches!(lexeme, JsonLexeme::Punct(_)) {
            input.at -= 1;
        }
        fail(ErrorKind::InvalidJson, what)
    }

    /// Before a value.
    fn value(&mut self, input: &mut Input<'_>) -> Flow {
        let byte = input.next_byte()?;
        if self.undecided {
            self.decide(byte)?;
        }
        if self.role() == Role::Name
            && let Some((name, length)) = plain_string(input.rest())
        {
            input.at += length;
            self.state = JsonState::Comma;
            return self.named(input, name);
        }
        if self.guarded && byte == b'{' && self.key == "function" && !self.inner && self.name.is_empty() {
            self.repair(input, Repair::KeyAlias, "name and arguments must not be in another object")?;
            input.at += 1;
            self.inner = true;
            self.state = JsonState::Key { first: true };
            return Ok(());
        }
        let arguments = self.role() == Role::Arguments;
        if arguments && !self.is_own(&self.key) {
            self.repair(input, Repair::KeyAlias, "the arguments belong under the key \"arguments\"")?;
        }
        let live = arguments && !self.given && !self.name.is_empty() && byte == b'{';
        self.given |= live;
        let node = if live { input.cx.schema.root } else { UNKNOWN };
        if !live {
            self.aside.get_or_insert_default().reset();
        }
        // The name is known at its first quote; and where the call ends with its last bracket, anything may follow that.
        let quotes = self.quotes().filter(|_| self.role() != Role::Name);
        self.object.renew(self.lexer.fresh(), node, quotes);
        self.state = JsonState::Reading { live };
        Ok(())
    }
}

/// A sentence for the model.
fn said(what: &str) -> String {
    format!("The call cannot be read: {what}.")
}

fn fail<T>(kind: ErrorKind, what: &str) -> Flow<T> {
    Err((kind, said(what)).into())
}
