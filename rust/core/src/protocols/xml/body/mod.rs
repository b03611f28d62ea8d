//! The body of a call in elements, one for each field: `<name><key>value</key></name>`.
//!
//! A plain string goes out as it comes, up to the closing tag of its own name. Other values are read as trees, up to the closing tag
//! that fits, and typed there. A body that starts with `{` is one JSON object.

mod ends;
mod fast_path;
mod recovery;

use crate::arguments::elements::{Fault, Outcome, Reader, content};
use crate::arguments::{Bad, Context, Failure, Fields, Found, Io, Lists, Object, Slot, Step, messages};
use crate::error::{ErrorKind, Repair};
use crate::protocols::body::{Body, Form};
use crate::schema::Schema;
use crate::syntax::json::is_plain;
use crate::syntax::quoting::Alternation;
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Delimiters, Scan, ws_run};
use crate::syntax::tags::TYPES;
use crate::syntax::tree::UntypedValue;
use crate::syntax::xml::{self, XmlLexeme, XmlLexer};
use recovery::on_in;

#[derive(Debug)]
enum State {
    /// Behind the opening tag.
    Start,
    Between,
    /// In a string that is passed on.
    Live {
        name: String,
        slot: Slot,
    },
    Collect {
        name: String,
        slot: Slot,
        reader: Reader,
    },
    Json(Object),
    /// Behind it.
    Behind,
    /// In text that stands for the one field.
    Text(String),
    /// Reading on after an error: between elements, in one of this name, or in JSON.
    On,
    InElement(String),
    InJson(Skip),
    Closed,
}

#[derive(Debug)]
pub struct Elements {
    /// As the opening tag has it.
    name: String,
    form: Form,
    lexer: XmlLexer,
    fields: Fields,
    state: State,
    /// Fields were read; text was, which is none.
    any: bool,
    stray: bool,
    json: bool,
    /// The closing tag has the name in another style.
    styled: bool,
    /// The quotes of text between elements.
    quotes: Alternation,
}

/// The one field of a tool whose text may stand without its tags: its only required one, or its only one, if it is a string.
pub fn lone_text(schema: &Schema) -> Option<&str> {
    let object = schema.node(schema.root).object.as_ref()?;
    let name = match (&object.required[..], object.properties.len()) {
        ([name], _) => name.as_str(),
        ([], 1) => object.properties.at(0).0,
        _ => return None,
    };
    object.properties.get(name).filter(|id| schema.node(**id).is_string()).map(|_| name)
}

impl Body for Elements {
    fn feed(&mut self, io: &mut Io<'_>) -> Step {
        loop {
            let step = match &mut self.state {
                State::Start => self.start(io),
                State::Between => self.between(io),
                State::Live { .. } => self.live(io),
                State::Collect { .. } => self.collect(io),
                State::Json(object) => match object.feed(io) {
                    Err(Failure { kind, message, skip }) => {
                        self.state = State::InJson(skip);
                        Err((kind, message))
                    }
                    Ok(true) => {
                        self.state = State::Behind;
                        Ok(None)
                    }
                    Ok(false) => Ok(Some(Step::Need)),
                },
                State::Behind => self.behind(io),
                State::Text(_) => self.text(io),
                State::On | State::InElement(_) | State::InJson(_) | State::Closed => return Step::Done,
            };
            match step {
                Ok(None) => {}
                Ok(Some(step)) => return step,
                Err((kind, message)) => return Step::Failed(Failure { kind, message, skip: Skip::Body }),
            }
        }
    }

    fn read_on(&mut self, io: &mut Io<'_>) -> Step {
        self.skip_to_end(io)
    }

    /// Takes text in a string that is passed on.
    #[inline]
    fn feed_plain(&mut self, found: &mut Found, text: &str, _: &Delimiters) -> Option<bool> {
        let State::Live { slot, .. } = &self.state else { return None };
        if self.lexer.is_inside() || memchr::memchr2(b'<', b'&', text.as_bytes()).is_some() {
            return None;
        }
        let plain = text.bytes().all(is_plain);
        if plain {
            slot.push_plain(found, text)
        } else {
            slot.push(found, text)
        }
        Some(plain)
    }

    fn unterminated(&self) -> bool {
        !matches!(self.state, State::Start | State::Between | State::Behind | State::Closed)
    }

    /// The call is closed.
    fn finish(&self, _: &Context<'_>, found: &mut Found) {
        if self.json { found.args.release() } else { found.args.close() }
    }
}

impl Elements {
    /// As new, with its memory.
    pub fn renew(&mut self, name: &str, form: Form) {
        let mut old = std::mem::replace(self, Elements::new("", form));
        old.name.clear();
        old.name.push_str(name);
        old.fields.reset();
        (self.name, self.fields) = (old.name, old.fields);
    }

    pub fn new(name: &str, form: Form) -> Self {
        Elements {
            name: name.to_owned(),
            form,
            lexer: XmlLexer::default(),
            fields: Fields::new(Lists::Elements),
            state: State::Start,
            any: false,
            stray: false,
            json: false,
            styled: false,
            quotes: Alternation::START,
        }
    }

    fn start(&mut self, io: &mut Io<'_>) -> Progress {
        let near_miss = match self.form {
            Form::Line => Some((Repair::BareName, "A call must be enclosed in tags with the tool's name.")),
            Form::Broken => Some((Repair::UnclosedTag, "The opening tag of a call must end with >.")),
            Form::Open | Form::Empty => None,
        };
        if let Some((repair, what)) = near_miss {
            note(io, repair, what)?;
        }
        if self.form == Form::Empty {
            return self.close(io);
        }
        io.at = ws_run(io.window, io.at);
        match io.rest().as_bytes().first() {
            None => return Ok(Some(Step::Need)),
            Some(b'{') => {
                self.json = true;
                self.state = State::Json(Object::new(&io.cx, io.cx.schema.root, String::new(), 0));
            }
            Some(_) => self.state = State::Between,
        }
        Ok(None)
    }

    fn between(&mut self, io: &mut Io<'_>) -> Progress {
        let behind_line = self.form == Form::Line && self.any;
        if behind_line && let Some(step) = self.behind_line(io)? {
            return Ok(Some(step));
        }
        if !self.lexer.is_inside() && self.in_quotes(io) {
            if !io.rest().starts_with('<') {
                return self.close_at_end(io);
            }
            return Err((
                ErrorKind::MalformedCall,
                "A call may contain only fields, without quotes around them.".into(),
            ));
        }
        if self.lexer.is_between() {
            let begin = io.at;
            io.at = ws_run(io.window, begin);
            if io.at > begin {
                self.quotes = Alternation::START;
            }
            if fast_path::element(io).is_some() {
                self.any = true;
                return Ok(None);
            }
        }
        if !behind_line {
            match self.end_mark(io) {
                Scan::Match(()) => return self.close(io),
                Scan::Incomplete => return Ok(Some(Step::Need)),
                Scan::NoMatch => {}
            }
        }
        let begin = io.at;
        match self.next(io) {
            XmlLexeme::Need => return self.close_at_end(io),
            XmlLexeme::Ignored => {}
            XmlLexeme::Text(text) if text.trim_ascii().is_empty() => self.quotes = Alternation::START,
            XmlLexeme::Text(_) | XmlLexeme::Cdata(_) | XmlLexeme::Char(_) | XmlLexeme::Stray(_) => {
                self.quotes.run(&io.window[begin..io.at]);
                if !self.any && !self.stray && lone_text(io.cx.schema).is_some() {
                    self.state = State::Text(io.window[begin..io.at].to_owned());
                } else {
                    self.stray(io)?;
                }
            }
            XmlLexeme::Open { name, attributes, empty } => self.field(io, name, attributes, empty)?,
            XmlLexeme::Close(_) => note(io, Repair::Markup, "A closing tag has no opening tag.")?,
        }
        Ok(None)
    }

    /// Skips text between elements, while a quote is open in it, to its end or to a tag. Returns whether the quote is still open.
    fn in_quotes(&mut self, io: &mut Io<'_>) -> bool {
        while self.quotes.open().is_some() {
            match io.window.as_bytes().get(io.at) {
                None | Some(b'<') => return true,
                Some(byte) => self.quotes.step(*byte),
            }
            io.at += 1;
        }
        false
    }

    /// What stands between elements. Where `/>` could end the call, text ends in front of each slash.
    fn next<'w>(&mut self, io: &mut Io<'w>) -> XmlLexeme<'w> {
        let rest = io.rest();
        let text = !self.lexer.is_inside() && !rest.is_empty() && !rest.starts_with(['<', '&']);
        if self.form != Form::Broken || !text {
            return self.lexer.next(io.window, &mut io.at, io.last, None);
        }
        let behind = &rest.as_bytes()[1..];
        let length = 1 + memchr::memchr3(b'<', b'&', b'/', behind).unwrap_or(behind.len());
        io.at += length;
        XmlLexeme::Text(&rest[..length])
    }

    fn stray(&mut self, io: &mut Io<'_>) -> Result<(), Bad> {
        self.stray = true;
        note(io, Repair::Markup, "A call may contain only fields.")
    }

    /// The opening tag of a field.
    fn field(&mut self, io: &mut Io<'_>, name: &str, attributes: &str, closed: bool) -> Result<(), Bad> {
        self.any = true;
        self.quotes = Alternation::START;
        self.quotes.run(attributes);
        let begun = match self.quotes.open() {
            None => self.begin(io, name, attributes, closed),
            Some(_) => {
                self.state = State::On;
                return Err((ErrorKind::MalformedCall, "A quote in a tag is not closed.".into()));
            }
        };
        self.quotes = Alternation::START;
        match begun {
            Ok(state) => {
                self.state = state;
                Ok(())
            }
            Err(bad) => {
                self.state = if closed { State::On } else { on_in(io.cx.schema, name) };
                Err(bad)
            }
        }
    }

    fn begin(&mut self, io: &mut Io<'_>, name: &str, attributes: &str, closed: bool) -> Result<State, Bad> {
        let cx = io.cx;
        let mut slot = self.fields.open(&cx, io.found, name, false)?;
        let node = cx.schema.node(slot.node());
        let scalar = !node.is_unknown() && !node.takes_container();
        if scalar && !attributes.trim_ascii().is_empty() {
            // An attribute can be ignored only if it says what the schema says.
            if xml::attributes(attributes).any(|(name, ..)| !TYPES.contains(&name)) {
                let message = format!("A field must not have attributes. Write: {}", cx.writer.example(&cx));
                return Err((ErrorKind::MalformedCall, message));
            }
            note(io, Repair::Markup, "A field must not have attributes.")?;
        }
        if slot.is_string(&cx) {
            slot.start(&cx, io.found)?;
            if !closed {
                return Ok(State::Live { name: name.to_owned(), slot });
            }
            slot.end(io.found)?;
            return Ok(State::Between);
        }
        let mut reader = Reader::element(cx.schema, name, slot.node(), (&self.name, cx.schema.root));
        let mut refused = None;
        if !scalar {
            reader.attributes(attributes, 0, &mut |fault, _| allows(io, fault, &mut refused));
        }
        if let Some(bad) = refused {
            return Err(bad);
        }
        if closed {
            let tree = reader.take(cx.schema);
            self.fields.close(&cx, io.found, slot, tree)?;
            return Ok(State::Between);
        }
        Ok(State::Collect { name: name.to_owned(), slot, reader })
    }

    fn live(&mut self, io: &mut Io<'_>) -> Progress {
        let State::Live { name, slot } = &self.state else { return Ok(None) };
        loop {
            match self.lexer.next(io.window, &mut io.at, io.last, Some(name)) {
                XmlLexeme::Need => return Ok(Some(Step::Need)),
                XmlLexeme::Text(text) | XmlLexeme::Cdata(text) | XmlLexeme::Stray(text) => slot.push(io.found, text),
                XmlLexeme::Char(c) => slot.push(io.found, c.encode_utf8(&mut [0; 4])),
                XmlLexeme::Open { .. } | XmlLexeme::Close(_) | XmlLexeme::Ignored => break,
            }
        }
        if let State::Live { slot, .. } = std::mem::replace(&mut self.state, State::On) {
            slot.end(io.found)?;
        }
        self.state = State::Between;
        Ok(None)
    }

    fn collect(&mut self, io: &mut Io<'_>) -> Progress {
        let State::Collect { reader, .. } = &mut self.state else { return Ok(None) };
        let mut refused = None;
        let (schema, depth, window, last) = (io.cx.schema, io.cx.limits.depth, io.window, io.last);
        let mut at = io.at;
        let outcome =
            reader.feed(schema, depth, window, &mut at, last, &mut |fault, _| allows(io, fault, &mut refused));
        io.at = at;
        let tree = match outcome {
            Outcome::Need => return Ok(Some(Step::Need)),
            Outcome::Done(tree) | Outcome::Unclosed(tree) => tree,
            Outcome::TooDeep => return Err((ErrorKind::TooDeep, messages::too_deep(io.cx.limits))),
            Outcome::Refused => return Err(refused.unwrap_or((ErrorKind::MalformedCall, String::new()))),
        };
        if let State::Collect { slot, .. } = std::mem::replace(&mut self.state, State::On) {
            self.fields.close(&io.cx, io.found, slot, tree)?;
        }
        self.state = State::Between;
        Ok(None)
    }

    fn text(&mut self, io: &mut Io<'_>) -> Progress {
        let Some(key) = lone_text(io.cx.schema) else { return Ok(None) };
        let begin = io.at;
        let mark = self.end_mark(io);
        let lexeme = match mark {
            Scan::Match(()) => XmlLexeme::Close(""),
            Scan::Incomplete => XmlLexeme::Need,
            Scan::NoMatch => self.next(io),
        };
        let State::Text(source) = &mut self.state else { return Ok(None) };
        match lexeme {
            XmlLexeme::Need => return Ok(Some(Step::Need)),
            XmlLexeme::Open { name, attributes, empty } if name == key => {
                self.stray(io)?;
                self.field(io, name, attributes, empty)?;
            }
            XmlLexeme::Close(_) if mark == Scan::Match(()) => {
                let text = content(source).trim_ascii().to_owned();
                self.state = State::Closed;
                note(io, Repair::BareText, &format!("The text must be in <{key}> tags."))?;
                let slot = self.fields.open(&io.cx, io.found, key, true)?;
                self.fields.close(&io.cx, io.found, slot, UntypedValue::Scalar { text, quoted: true })?;
                return self.close(io);
            }
            _ => source.push_str(&io.window[begin..io.at]),
        }
        Ok(None)
    }
}

/// The next step, if it is one for the parser.
type Progress = Result<Option<Step>, Bad>;

fn note(io: &mut Io<'_>, repair: Repair, what: &str) -> Result<(), Bad> {
    let Io { cx, found, .. } = io;
    cx.repair(found, repair).map_err(|kind| (kind, what.to_owned()))
}

/// May what has this fault be read all the same?
fn allows(io: &mut Io<'_>, fault: Fault, refused: &mut Option<Bad>) -> bool {
    match fault {
        Fault::Xml(_) => true,
        Fault::Markup(what) => match note(io, Repair::Markup, what) {
            Ok(()) => true,
            Err(bad) => {
                *refused = Some(bad);
                false
            }
        },
    }
}
