//! The body of a call as a YAML mapping: `key: value`, one field to a line.
//!
//! A plain string goes out as it comes: quoted text, block scalars, the first line of plain text. Other values are built up to the
//! next key and typed there. A body that starts with `{` is one JSON object, or a flow mapping where that is no JSON.

mod tag;
mod typed;
mod values;

use crate::arguments::{Bad, Context, Failure, Fields, Found, Io, Lists, Object, Slot, Step, messages};
use crate::error::{ErrorKind, Repair};
use crate::protocols::body::{Body, Form};
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Closer, Delimiters, Scan, ws_run};
use crate::syntax::yaml::{Lax, TreeBuilder, YamlFault, YamlLexeme, YamlLexer};
use tag::Tag;

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
        builder: Box<TreeBuilder>,
        verbatim: bool,
    },
    /// In a value without a key: all of the arguments, in braces, or nothing.
    Whole(Box<TreeBuilder>),
    Json(Box<Object>),
    /// Behind it.
    Behind,
    /// How to skip the rest after an error: by lines, as JSON, or from inside quotes.
    On,
    InText(Skip),
    Closed,
}

#[derive(Debug)]
pub struct Mapping {
    tag: Tag,
    lexer: YamlLexer,
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

/// What a value ends at.
enum Next {
    Key(String, bool),
    Close,
    Open,
}

/// The next step, if it is one for the parser.
type Progress = Result<Option<Step>, Bad>;

const OPEN_QUOTE: &str =
    "a quote in plain text is not closed: put the text into double quotes, with \\\" for each quote in it";
const NO_MAPPING: &str = "the body of a call must consist of `key: value` lines";

impl Body for Mapping {
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
                        self.state = State::InText(skip);
                        Err((kind, message))
                    }
                },
                State::Behind => self.behind(io),
                State::On | State::InText(_) | State::Closed => return Step::Done,
                State::Between if matches!(self.column, None | Some(0)) => self.lines(io),
                _ => self.lexeme(io),
            };
            match step {
                Ok(None) => {}
                Ok(Some(step)) => return step,
                Err((kind, message)) => {
                    if !matches!(self.state, State::InText(_) | State::Closed) {
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
                State::Json(object) => self.state = State::InText(object.skip()),
                State::Behind => self.state = State::InText(Skip::After),
                State::Start if self.tag.form == Form::Empty => return Step::Done,
                State::Start if self.json => self.state = State::InText(Skip::ValueStart),
                State::InText(skip) => {
                    let broken = self.tag.form == Form::Broken;
                    let close = if broken { "/>".to_owned() } else { format!("</{}>", self.tag.name) };
                    let closed = skip.read(io.window, &mut io.at, io.last, &Closer::Text(&close));
                    io.at += closed.unwrap_or(0);
                    return if closed.is_some() { Step::Done } else { Step::Need };
                }
                _ => {
                    self.lexer.lose();
                    let around = self.tag.around(&io.cx, false);
                    loop {
                        match self.lexer.next(io.window, &mut io.at, io.last, &around) {
                            YamlLexeme::Need | YamlLexeme::End => return Step::Need,
                            YamlLexeme::Close if self.lexer.open_quote().is_some() => {
                                let quote = self.lexer.open_quote().unwrap_or(b'"');
                                self.state = State::InText(Skip::in_quotes(quote));
                                break;
                            }
                            YamlLexeme::Close => {
                                io.at += around.closer(io.rest(), true, true).1;
                                return Step::Done;
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }

    /// Takes text in a string that is passed on.
    #[inline]
    fn feed_plain(&mut self, found: &mut Found, text: &str, _: &Delimiters) -> Option<bool> {
        let State::Live(slot) = &self.state else { return None };
        if !self.lexer.feed_plain(text) {
            return None;
        }
        self.mark |= self.watched && !self.mark && text.as_bytes().contains(&b'<');
        slot.push_plain(found, text);
        Some(true)
    }

    fn ends_bare(&self) -> bool {
        !self.json
    }

    fn unterminated(&self) -> bool {
        self.lexer.is_open() || self.lexer.open_quote().is_some() || self.mark || matches!(self.state, State::Json(_))
    }

    /// The call is closed.
    fn finish(&self, _: &Context<'_>, found: &mut Found) {
        if self.json { found.args.release() } else { found.args.close() }
    }
}

impl Mapping {
    pub fn new(name: &str, form: Form, json: bool) -> Self {
        Mapping::with(name.to_owned(), form, json)
    }

    /// As new, with its memory.
    pub fn renew(&mut self, name: &str, form: Form, json: bool) {
        let mut own = std::mem::take(&mut self.tag.name);
        own.clear();
        own.push_str(name);
        *self = Mapping::with(own, form, json);
    }

    fn with(name: String, form: Form, json: bool) -> Self {
        Mapping {
            tag: Tag { name, form },
            lexer: YamlLexer::default(),
            fields: Fields::new(Lists::Own),
            state: State::Start,
            column: None,
            inline: false,
            json,
            mark: false,
            watched: false,
        }
    }

    fn start(&mut self, io: &mut Io<'_>) -> Progress {
        if self.tag.form == Form::Broken {
            note(io, Repair::UnclosedTag, "The opening tag of a call must end with >.")?;
        }
        if self.tag.form == Form::Empty {
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
        let line = io.window[start..io.at].contains('\n') || self.tag.form == Form::Broken;
        match self.tag.around(&io.cx, false).closer(rest, line, io.last) {
            (Scan::Match(()), length) => {
                io.at += length;
                self.close(io)
            }
            (Scan::Incomplete, _) => Ok(Some(Step::Need)),
            (Scan::NoMatch, _) => {
                self.state = State::InText(Skip::After);
                Err((ErrorKind::MalformedCall, format!("Only </{}> may follow the JSON object.", self.tag.name)))
            }
        }
    }

    fn lexeme(&mut self, io: &mut Io<'_>) -> Progress {
        let lexeme = self.lexer.next(io.window, &mut io.at, io.last, &self.tag.around(&io.cx, true));
        let (line, column) = self.lexer.place();
        match lexeme {
            YamlLexeme::Need => return Ok(Some(Step::Need)),
            YamlLexeme::Bad(what) => return Err(self.malformed(&io.cx, what)),
            YamlLexeme::Lax(lax) => {
                let (repair, what) = match lax {
                    Lax::Backslash => (Repair::RelaxedYaml, "In double quotes, write a backslash as \\\\."),
                    Lax::Verbatim => {
                        (Repair::VerbatimText, "Put such text into double quotes, or after | on lines of its own.")
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
        let mut one = [0; 4];
        let content = lexeme.content(&mut one);
        self.mark |= self.watched && !self.mark && content.is_some_and(|text| text.as_bytes().contains(&b'<'));
        if let State::Live(slot) = &self.state {
            if let Some(text) = content {
                slot.push(io.found, text);
            } else if let State::Live(slot) = std::mem::replace(&mut self.state, State::Between) {
                slot.end(io.found)?;
            }
            return Ok(None);
        }
        // What ends the value in front.
        let next = match lexeme {
            YamlLexeme::Key { text, quoted } if self.is_key(line, column) => Next::Key(text, quoted),
            YamlLexeme::Close => Next::Close,
            YamlLexeme::Open => Next::Open,
            YamlLexeme::End if self.lexer.is_open() => return Ok(Some(Step::Need)),
            YamlLexeme::End => return self.close_at_end(io),
            other => {
                self.part(io, other, column)?;
                return Ok(None);
            }
        };
        if let (Next::Close | Next::Open, Some(quote)) = (&next, self.lexer.open_quote()) {
            self.state = State::InText(Skip::in_quotes(quote));
            return Err(self.malformed(&io.cx, OPEN_QUOTE));
        }
        if matches!((&next, &self.state), (Next::Key(..), State::Whole(_))) {
            return Err(self.malformed(&io.cx, NO_MAPPING));
        }
        self.end_value(io)?;
        match next {
            Next::Key(text, quoted) => self.key(io, &text, quoted, line, column)?,
            Next::Open => {
                if io.found.used(Repair::VerbatimText) {
                    return Err((ErrorKind::MalformedCall, messages::UNCLOSED.into()));
                }
                note(io, Repair::MissingClose, "The call is not closed.")?;
                return self.close(io);
            }
            Next::Close => {
                io.at += self.tag.around(&io.cx, true).closer(io.rest(), true, true).1;
                return self.close(io);
            }
        }
        Ok(None)
    }

    fn fault(&self, cx: &Context<'_>, fault: &YamlFault) -> Bad {
        match fault {
            YamlFault::Malformed(what) => self.malformed(cx, what),
            YamlFault::Duplicate(_) => (ErrorKind::DuplicateArgument, format!("In a value, {fault}. Give it once.")),
            YamlFault::TooDeep => (ErrorKind::TooDeep, messages::too_deep(cx.limits)),
        }
    }

    fn malformed(&self, cx: &Context<'_>, what: &str) -> Bad {
        let (line, column) = self.lexer.place();
        let message = format!("{}, line {}, column {}: {what}.", cx.tool, line + 1, column + 1);
        (ErrorKind::MalformedCall, message)
    }
}

fn note(io: &mut Io<'_>, repair: Repair, what: &str) -> Result<(), Bad> {
    let Io { cx, found, .. } = io;
    cx.repair(found, repair).map_err(|kind| (kind, what.to_owned()))
}
