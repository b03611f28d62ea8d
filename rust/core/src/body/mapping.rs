//! The body of a call as a YAML mapping: `key: value`, one field to a line.
//!
//! A plain string goes out as it comes: quoted text, block scalars, the first line of plain text. Other values are built up to the
//! next key and typed there. A body that starts with `{` is one JSON object, or a flow mapping where that is no JSON.

use super::{Bad, Context, Failure, Fields, Format, Found, Io, Lists, Object, Skip, Slot, Step, is_field, messages};
use crate::coerce;
use crate::error::{ErrorKind, Repair};
use crate::protocol::tags::{Form, Opener, closer, opener};
use crate::scan::{Mark, starts, ws_run};
use crate::schema::{Choice, NodeId, Schema, UNKNOWN};
use crate::tree::Tree;
use crate::yaml::{Builder, Ends, Fault, Lax, Lexeme, Lexer, json_of};

#[derive(Debug)]
enum State {
    Start,
    /// A key is next.
    Between,
    /// Behind a key.
    Value(Slot),
    /// In a string that is passed on.
    Live(Slot),
    /// In another value; `verbatim`: it is text to the letter.
    Build {
        slot: Slot,
        builder: Box<Builder>,
        verbatim: bool,
    },
    /// In a value without a key: all of the arguments, in braces, or nothing.
    Whole(Box<Builder>),
    Json(Box<Object>),
    /// Behind it.
    Behind,
    /// Reading on after an error: by lines, or in JSON.
    On,
    InJson(Skip),
    Closed,
}

#[derive(Debug)]
pub struct Mapping {
    /// As the opening tag has it.
    name: String,
    form: Form,
    lexer: Lexer,
    fields: Fields,
    state: State,
    /// The column of the keys. `inline`: the first one stands in the line of the opening tag, and so says little.
    column: Option<usize>,
    inline: bool,
    json: bool,
    /// A value without quotes has a `<` in it: part of a closing tag, perhaps.
    mark: bool,
    watched: bool,
}

/// What ends the mapping.
struct Around<'a> {
    name: &'a str,
    declared: &'a str,
    form: Form,
    schema: &'a Schema,
    /// Another call of the tool ends this one.
    opens: bool,
}

impl Around<'_> {
    /// The closing tag at the beginning of `rest`, and its length.
    fn closer(&self, rest: &str, line: bool, last: bool) -> (Mark, usize) {
        if !rest.starts_with('<') {
            let broken = self.form == Form::Broken && line;
            return (if broken { starts(rest, "/>", last) } else { Mark::No }, 2);
        }
        match closer(rest, self.name, last) {
            (Mark::No, _) if self.name != self.declared => closer(rest, self.declared, last),
            found => found,
        }
    }
}

impl Ends for Around<'_> {
    fn close(&self, rest: &str, line: bool, last: bool) -> Mark {
        self.closer(rest, line, last).0
    }

    fn open(&self, rest: &str, last: bool) -> Mark {
        if !self.opens || !rest.starts_with('<') {
            return Mark::No;
        }
        match opener(rest, last) {
            Opener::Need => Mark::Partial,
            Opener::Tag { name, .. } if rest[name.clone()] == *self.name => Mark::Yes,
            Opener::Tag { .. } | Opener::No => Mark::No,
        }
    }

    fn is_key(&self, word: &str) -> bool {
        is_field(self.schema, word)
    }
}

/// What a value ends at.
enum Next {
    Key(String, bool),
    Close,
    Open,
}

/// The next step, if it is one for the parser.
type Progress = Result<Option<Step>, Bad>;

const NO_MAPPING: &str = "the body of a call is lines of `key: value`";

impl Format for Mapping {
    fn feed(&mut self, io: &mut Io<'_>) -> Step {
        loop {
            let step = match &mut self.state {
                State::Start => self.start(io),
                State::Json(object) => match object.feed(io) {
                    Ok(true) => {
                        self.state = State::Behind;
                        Ok(None)
                    }
                    Ok(false) => return Step::Need,
                    Err(Failure { kind, message, skip }) => {
                        self.state = State::InJson(skip);
                        Err((kind, message))
                    }
                },
                State::Behind => self.behind(io),
                State::On | State::InJson(_) | State::Closed => return Step::Done,
                _ => self.lexeme(io),
            };
            match step {
                Ok(None) => {}
                Ok(Some(step)) => return step,
                Err((kind, message)) => {
                    if !matches!(self.state, State::InJson(_) | State::Closed) {
                        self.state = State::On;
                    }
                    return Step::Failed(Failure { kind, message, skip: Skip::Body });
                }
            }
        }
    }

    /// Reads on after an error: up to the closing tag, which is looked for where it is no text's.
    fn read_on(&mut self, io: &mut Io<'_>) -> Step {
        loop {
            match &mut self.state {
                State::Closed => return Step::Done,
                State::Json(object) => self.state = State::InJson(object.skip()),
                State::Behind => self.state = State::InJson(Skip::After),
                State::Start if self.form == Form::Empty => return Step::Done,
                State::Start if self.json => self.state = State::InJson(Skip::ValueStart),
                State::InJson(skip) => {
                    let broken = self.form == Form::Broken;
                    let close = if broken { "/>".to_owned() } else { format!("</{}>", self.name) };
                    let closed = skip.read(io.window, &mut io.at, io.last, &close);
                    io.at += if closed { close.len() } else { 0 };
                    return if closed { Step::Done } else { Step::Need };
                }
                _ => {
                    let mut lexer = std::mem::take(&mut self.lexer);
                    let around = self.around(&io.cx, false);
                    let step = loop {
                        match lexer.next(io.window, &mut io.at, io.last, &around) {
                            Lexeme::Need | Lexeme::End => break Step::Need,
                            Lexeme::Close => {
                                io.at += around.closer(io.rest(), true, true).1;
                                break Step::Done;
                            }
                            _ => {}
                        }
                    };
                    self.lexer = lexer;
                    return step;
                }
            }
        }
    }

    /// Takes text in a string that is passed on.
    #[inline]
    fn feed_plain(&mut self, found: &mut Found, text: &str) -> Option<bool> {
        let State::Live(slot) = &self.state else { return None };
        if !self.lexer.feed_plain(text) {
            return None;
        }
        self.mark |= self.watched && text.contains('<');
        slot.push_plain(found, text);
        Some(true)
    }

    fn unterminated(&self) -> bool {
        self.lexer.is_open() || self.mark || matches!(self.state, State::Json(_))
    }

    /// The call is closed.
    fn finish(&self, found: &mut Found) {
        if self.json { found.args.release() } else { found.args.close() }
    }
}

impl Mapping {
    pub fn new(name: &str, form: Form, json: bool) -> Self {
        Mapping {
            name: name.to_owned(),
            form,
            lexer: Lexer::default(),
            fields: Fields::new(Lists::Own),
            state: State::Start,
            column: None,
            inline: false,
            json,
            mark: false,
            watched: false,
        }
    }

    fn around<'a>(&'a self, cx: &Context<'a>, opens: bool) -> Around<'a> {
        Around { name: &self.name, declared: cx.tool, form: self.form, schema: cx.schema, opens }
    }

    fn start(&mut self, io: &mut Io<'_>) -> Progress {
        if self.form == Form::Broken {
            note(io, Repair::UnclosedTag, "The opening tag of a call ends with >.")?;
        }
        if self.form == Form::Empty {
            return self.close(io);
        }
        self.state = if self.json {
            State::Json(Box::new(Object::new(&io.cx, io.cx.schema.root, String::new(), 0)))
        } else {
            State::Between
        };
        Ok(None)
    }

    /// Everything is read.
    fn close(&mut self, io: &mut Io<'_>) -> Progress {
        self.state = State::Closed;
        if !self.json {
            self.fields.finish(&io.cx, io.found)?;
        }
        Ok(Some(Step::Done))
    }

    /// The message has ended where the call could be closed.
    fn close_at_end(&mut self, io: &mut Io<'_>) -> Progress {
        if !io.last || self.unterminated() || (self.column.is_none() && !self.json) {
            return Ok(Some(Step::Need));
        }
        if let State::Value(_) | State::Build { .. } = self.state {
            self.end_value(io)?;
        }
        note(io, Repair::MissingClose, "The call is not closed.")?;
        self.close(io)
    }

    /// Behind a JSON object.
    fn behind(&mut self, io: &mut Io<'_>) -> Progress {
        let start = io.at;
        io.at = ws_run(io.window, io.at);
        let rest = io.rest();
        if rest.is_empty() {
            return self.close_at_end(io);
        }
        let line = io.window[start..io.at].contains('\n') || self.form == Form::Broken;
        match self.around(&io.cx, false).closer(rest, line, io.last) {
            (Mark::Yes, length) => {
                io.at += length;
                self.close(io)
            }
            (Mark::Partial, _) => Ok(Some(Step::Need)),
            (Mark::No, _) => {
                self.state = State::InJson(Skip::After);
                Err((ErrorKind::MalformedCall, format!("Behind the JSON object only </{}> may follow.", self.name)))
            }
        }
    }

    fn lexeme(&mut self, io: &mut Io<'_>) -> Progress {
        let mut lexer = std::mem::take(&mut self.lexer);
        let lexeme = lexer.next(io.window, &mut io.at, io.last, &self.around(&io.cx, true));
        self.lexer = lexer;
        let (line, column) = self.lexer.place();
        match lexeme {
            Lexeme::Need => return Ok(Some(Step::Need)),
            Lexeme::Bad(what) => return Err(self.malformed(&io.cx, what)),
            Lexeme::Lax(lax) => {
                let (repair, what) = match lax {
                    Lax::Backslash => (Repair::RelaxedYaml, "In double quotes a backslash is written \\\\."),
                    Lax::Verbatim => {
                        (Repair::VerbatimText, "Such text stands in double quotes, or behind | on lines of its own.")
                    }
                };
                note(io, repair, what)?;
                if let State::Build { verbatim, .. } = &mut self.state {
                    *verbatim |= lax == Lax::Verbatim;
                }
                return Ok(None);
            }
            _ => {}
        }
        if let State::Live(slot) = &self.state {
            match &lexeme {
                Lexeme::Part(part) => {
                    self.mark |= self.watched && part.contains('<');
                    slot.push(io.found, part);
                }
                Lexeme::Own(part) => {
                    self.mark |= self.watched && part.contains('<');
                    slot.push(io.found, part);
                }
                Lexeme::Char(c) => slot.push(io.found, c.encode_utf8(&mut [0; 4])),
                _ => {
                    if let State::Live(slot) = std::mem::replace(&mut self.state, State::Between) {
                        slot.end(&io.cx, io.found)?;
                    }
                }
            }
            return Ok(None);
        }
        // What ends the value in front.
        let next = match lexeme {
            Lexeme::Key { text, quoted } if self.is_key(line, column) => Next::Key(text, quoted),
            Lexeme::Close => Next::Close,
            Lexeme::Open => Next::Open,
            Lexeme::End if self.lexer.is_open() => return Ok(Some(Step::Need)),
            Lexeme::End => return self.close_at_end(io),
            other => {
                self.part(io, other, column)?;
                return Ok(None);
            }
        };
        if matches!((&next, &self.state), (Next::Key(..), State::Whole(_))) {
            return Err(self.malformed(&io.cx, NO_MAPPING));
        }
        self.end_value(io)?;
        match next {
            Next::Key(text, quoted) => self.key(io, &text, quoted, line, column)?,
            Next::Open => {
                if io.found.used(Repair::VerbatimText) {
                    return Err((ErrorKind::MalformedCall, messages::unclosed(&io.cx)));
                }
                note(io, Repair::MissingClose, "The call is not closed.")?;
                return self.close(io);
            }
            Next::Close => {
                io.at += self.around(&io.cx, true).closer(io.rest(), true, true).1;
                return self.close(io);
            }
        }
        Ok(None)
    }

    /// Is it a key of the mapping, or of a value in it?
    fn is_key(&self, line: usize, column: usize) -> bool {
        matches!(self.state, State::Between | State::Whole(_))
            || self.column.is_none_or(|own| column <= own || (self.inline && line == 0))
    }

    fn key(&mut self, io: &mut Io<'_>, text: &str, quoted: bool, line: usize, column: usize) -> Result<(), Bad> {
        match self.column {
            Some(own) if own == column => {}
            None => {
                self.column = Some(column);
                self.inline = line == 0;
            }
            Some(own) if self.inline && column < own => {
                self.column = Some(column);
                self.inline = false;
            }
            Some(_) => return Err(self.malformed(&io.cx, "the keys of a call stand in one column")),
        }
        self.lexer.base = column;
        (self.mark, self.watched) = (false, false);
        let slot = self.fields.open(&io.cx, io.found, text, quoted)?;
        let node = io.cx.schema.node(slot.node());
        if node.takes_string() && !node.takes_container() {
            self.lexer.expect_text();
        }
        self.state = State::Value(slot);
        Ok(())
    }

    /// A part of a value.
    fn part(&mut self, io: &mut Io<'_>, lexeme: Lexeme<'_>, column: usize) -> Result<(), Bad> {
        if let Lexeme::Start { quoted } = lexeme {
            self.watched = !quoted || self.lexer.in_block();
        }
        match &lexeme {
            Lexeme::Part(part) => self.mark |= self.watched && part.contains('<'),
            Lexeme::Own(part) => self.mark |= self.watched && part.contains('<'),
            _ => {}
        }
        let base = self.column.map_or(-1, |column| column as isize);
        match std::mem::replace(&mut self.state, State::On) {
            State::Value(mut slot) => {
                if matches!(lexeme, Lexeme::Start { .. }) && slot.is_string(&io.cx) && column as isize > base {
                    slot.start(&io.cx, io.found)?;
                    self.state = State::Live(slot);
                    return Ok(());
                }
                let builder = Box::new(Builder::new(io.cx.limits.depth.saturating_sub(1), base));
                self.state = State::Build { slot, builder, verbatim: false };
            }
            State::Between if self.column.is_none() => {
                self.state = State::Whole(Box::new(Builder::new(io.cx.limits.depth, base)));
            }
            State::Between => return Err(self.malformed(&io.cx, NO_MAPPING)),
            state => self.state = state,
        }
        match &mut self.state {
            State::Build { builder, .. } | State::Whole(builder) => builder.lexeme(lexeme, column),
            _ => Ok(()),
        }
        .map_err(|fault| self.fault(&io.cx, &fault))
    }

    /// The value that is open is complete.
    fn end_value(&mut self, io: &mut Io<'_>) -> Result<(), Bad> {
        match std::mem::replace(&mut self.state, State::Between) {
            State::Value(mut slot) if slot.is_string(&io.cx) => {
                let key = slot.path();
                note(io, Repair::EmptyValue, &format!("{key} has no value; empty text is written \"\"."))?;
                slot.start(&io.cx, io.found)?;
                slot.end(&io.cx, io.found)
            }
            State::Value(slot) => self.put(io, slot, Tree::Scalar { text: String::new(), quoted: false }),
            State::Build { slot, builder, verbatim } => {
                let mut tree = builder.finish().map_err(|fault| self.fault(&io.cx, &fault))?;
                if let Tree::Scalar { quoted, .. } = &mut tree {
                    *quoted |= verbatim;
                }
                self.put(io, slot, tree)
            }
            State::Whole(builder) => {
                let members = match builder.finish().map_err(|fault| self.fault(&io.cx, &fault))? {
                    Tree::Map(members) => members,
                    Tree::Scalar { text, quoted: false } if json_of(&text).as_deref() == Some("null") => Vec::new(),
                    _ => return Err(self.malformed(&io.cx, NO_MAPPING)),
                };
                for (key, tree) in members {
                    let slot = self.fields.open(&io.cx, io.found, &key, false)?;
                    self.put(io, slot, tree)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn put(&mut self, io: &mut Io<'_>, slot: Slot, mut tree: Tree) -> Result<(), Bad> {
        resolve(io.cx.schema, slot.node(), &mut tree);
        self.fields.close(&io.cx, io.found, slot, tree)
    }

    fn fault(&self, cx: &Context<'_>, fault: &Fault) -> Bad {
        match fault {
            Fault::Malformed(what) => self.malformed(cx, what),
            Fault::Duplicate(_) => (ErrorKind::DuplicateArgument, format!("In a value {fault}. Give it once.")),
            Fault::TooDeep => (ErrorKind::TooDeep, messages::too_deep(cx.limits)),
        }
    }

    fn malformed(&self, cx: &Context<'_>, what: &str) -> Bad {
        let (line, column) = self.lexer.place();
        let example = cx.protocol.example(cx);
        let message = format!("{}, line {}, column {}: {what}. Write:\n{example}", cx.tool, line + 1, column + 1);
        (ErrorKind::MalformedCall, message)
    }
}

fn note(io: &mut Io<'_>, repair: Repair, what: &str) -> Result<(), Bad> {
    let Io { cx, found, .. } = io;
    cx.repair(found, repair).map_err(|kind| (kind, format!("{what} Write:\n{}", cx.protocol.example(cx))))
}

/// Plain scalars as the core schema has them, where their type takes no such text. Recursion is bounded by the tree's depth.
fn resolve(schema: &Schema, id: NodeId, tree: &mut Tree) {
    match tree {
        Tree::Scalar { text, quoted: false } => {
            let Some(json) = json_of(text).filter(|json| json != text) else { return };
            let node = schema.node(id);
            let string = |choice: &Choice| match choice {
                Choice::String => true,
                Choice::Literal(literal) => literal.text.as_deref() == Some(text),
                _ => false,
            };
            if node.is_unknown() || coerce::takes_bare(node, &json) || !node.choices.iter().any(string) {
                *text = json.into_owned();
            }
        }
        Tree::Scalar { .. } => {}
        Tree::List(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                resolve(schema, schema.item(id, at), item);
            }
        }
        Tree::Map(members) => {
            for (key, member) in members {
                resolve(schema, schema.member(id, key).unwrap_or(UNKNOWN), member);
            }
        }
    }
}
