//! The body of a call whose arguments are raw text in tags, from after the tag that opened its function.

pub mod format;
mod head;
mod typing;
mod value;

use crate::arguments::{Bad, Context, Failure, Found, Io, Object, Step};
use crate::arguments::{Fields, Lists};
use crate::error::{ErrorKind, Repair};
use crate::limits::ATTEMPT_CHARS;
use crate::protocols::body::Body;
use crate::syntax::quoting::Alternation;
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Closer, Closers, Delimiters, Scan, ws_run};
use crate::syntax::tags::{Attributes, CallTag, OpenTag, Parameter, begins, closes};

use head::Head;
use value::{Read, Value};

pub use typing::reads_as;
pub use value::holds;

#[derive(Debug)]
enum State {
    /// A function of the same block is opened here.
    Opener,
    /// In a tag, before an attribute.
    Head,
    /// The attributes are read, and so is the name.
    Named,
    /// After a tag with attributes, where a call must continue.
    Headed,
    /// Directly behind what opened the function.
    Opened,
    /// In front of a parameter, or of what closes the function.
    Between,
    Value,
    /// The arguments are one JSON object.
    Object(Box<Object>),
    /// Reading on behind a failure in that object.
    Skip(Skip),
    /// The function is closed; `blanks` behind it were looked at.
    Tail {
        blanks: usize,
    },
    /// The call is the one tag that was read.
    Alone,
    /// The tag has attributes and is followed by something that is not a parameter: the closing tag is searched for, outside of quotes.
    Lost(Skip, Closers),
}

#[derive(Debug)]
pub struct Params {
    opened: OpenTag,
    state: State,
    fields: Fields,
    head: Head,
    /// Of the parameter that was opened last.
    value: Value,
    /// The tool's name is known.
    named: bool,
    /// The arguments were one JSON object.
    whole: bool,
    /// The call has failed: only its end is searched for, outside of quotes.
    failed: bool,
    quotes: Alternation,
}

impl Body for Params {
    fn feed(&mut self, io: &mut Io<'_>) -> Step {
        loop {
            match self.step(io) {
                Ok(None) => {}
                Ok(Some(step)) => return step,
                Err((kind, message)) => return Step::Failed(Failure { kind, message, skip: Skip::Body }),
            }
        }
    }

    fn read_on(&mut self, io: &mut Io<'_>) -> Step {
        if !self.failed {
            self.failed = true;
            self.value.fail();
            if let State::Object(object) = &self.state {
                self.state = State::Skip(object.skip());
            }
        }
        self.feed(io)
    }

    fn feed_plain(&mut self, found: &mut Found, text: &str, _: &Delimiters) -> Option<bool> {
        matches!(self.state, State::Value).then(|| self.value.feed_plain(found, text))?
    }

    /// The next function of the block.
    fn next(&mut self) -> Option<Box<dyn Body>> {
        Some(Box::new(Params { state: State::Opener, ..Params::new(self.opened, "") }))
    }

    fn is_complete(&self) -> bool {
        !self.opened.wrapped && !self.failed && matches!(self.state, State::Tail { .. })
    }

    fn unterminated(&self) -> bool {
        matches!(self.state, State::Value | State::Object(_) | State::Head)
    }

    fn finish(&self, _: &Context<'_>, found: &mut Found) {
        if self.whole { found.args.release() } else { found.args.close() }
    }
}

fn first(opened: OpenTag) -> State {
    if opened.attributes == Attributes::None { State::Opened } else { State::Head }
}

impl Params {
    /// As new, with its memory.
    pub fn renew(&mut self, opened: OpenTag, name: &str) {
        self.fields.reset();
        self.head = Head::default();
        (self.opened, self.state) = (opened, first(opened));
        (self.named, self.whole, self.failed) = (!name.is_empty(), false, false);
        self.quotes = Alternation::START;
    }

    /// `name`: the tool's name as written; empty if not known yet.
    pub fn new(opened: OpenTag, name: &str) -> Self {
        Params {
            opened,
            state: first(opened),
            fields: Fields::new(Lists::Own),
            head: Head::default(),
            value: Value::new(opened.row),
            named: !name.is_empty(),
            whole: false,
            failed: false,
            quotes: Alternation::START,
        }
    }

    fn step(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        match &mut self.state {
            State::Opener => self.opener(io),
            State::Head => self.attribute(io),
            State::Named => self.arguments(io),
            State::Headed => self.headed(io),
            State::Opened => self.opened(io),
            State::Between => self.between(io),
            State::Value => self.value(io),
            State::Object(object) => match object.feed(io) {
                Ok(false) => Ok(Some(Step::Need)),
                Ok(true) => self.to(State::Between),
                Err(Failure { kind, message, skip }) => {
                    self.state = State::Skip(skip);
                    Err((kind, message))
                }
            },
            State::Skip(skip) => {
                if read_over(io, skip) {
                    self.to(State::Between)
                } else {
                    Ok(Some(Step::Need))
                }
            }
            State::Tail { blanks } => {
                let blanks = *blanks;
                self.tail(io, blanks)
            }
            State::Alone => Ok(Some(Step::Done)),
            State::Lost(skip, closers) => {
                let Some(length) = skip.read(io.window, &mut io.at, io.last, &Closer::Other(closers)) else {
                    return Ok(Some(Step::Need));
                };
                io.at += length;
                self.to(State::Alone)
            }
        }
    }

    fn to(&mut self, state: State) -> Result<Option<Step>, Bad> {
        self.state = state;
        Ok(None)
    }

    fn repair(&self, io: &mut Io<'_>, repair: Repair) -> Result<(), Bad> {
        if self.failed {
            return Ok(());
        }
        let cx = io.cx;
        cx.repair(io.found, repair).map_err(|kind| (kind, "Write the call in the usual form.".into()))
    }

    /// What belongs to the format's own grammar: listed as a repair, but read in strict mode, too.
    fn usual_repair(&self, io: &mut Io<'_>, repair: Repair) {
        if !self.failed && !io.cx.strict {
            io.found.repair(repair);
        }
    }

    /// The call is complete: what has waited is written.
    fn complete(&mut self, io: &mut Io<'_>) -> Result<(), Bad> {
        if self.failed || self.whole {
            return Ok(());
        }
        self.fields.finish(&io.cx, io.found)
    }

    /// It is complete, and what should close it is not there.
    fn complete_unclosed(&mut self, io: &mut Io<'_>) -> Result<(), Bad> {
        self.repair(io, Repair::MissingClose)?;
        self.complete(io)
    }

    fn opener(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        let found = match self.opened.row.opener(io.rest(), io.last, false, &|_, _| false) {
            Scan::Incomplete => return Ok(Some(Step::Need)),
            Scan::Match(found) => found,
            Scan::NoMatch => return self.to(State::Opened),
        };
        let name = found.name.map(|name| io.rest()[name].to_owned());
        io.at += found.body;
        self.opened = OpenTag { wrapped: self.opened.wrapped, ..found.opened };
        self.state = first(self.opened);
        self.named = name.is_some();
        Ok(name.filter(|_| !self.failed).map(Step::Named))
    }

    fn opened(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        if self.opened.styled {
            self.repair(io, Repair::TagStyle)?;
        }
        if !self.opened.wrapped && !self.opened.foreign {
            self.usual_repair(io, Repair::MissingWrapper);
        }
        if self.opened.empty {
            return self.closed(io);
        }
        io.at = ws_run(io.window, io.at);
        match io.rest().bytes().next() {
            None if !io.last => Ok(Some(Step::Need)),
            Some(b'{') if self.failed => self.to(State::Skip(Skip::TokenStart)),
            Some(b'{') if self.head.given => {
                let message = format!("{}: a JSON object cannot follow attributes.", io.cx.tool);
                self.state = State::Skip(Skip::TokenStart);
                Err((ErrorKind::MalformedCall, message))
            }
            Some(b'{') => {
                self.whole = true;
                let object = Object::new(&io.cx, io.cx.schema.root, String::new(), 0);
                self.to(State::Object(Box::new(object)))
            }
            _ => self.to(State::Between),
        }
    }

    fn between(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        if self.failed {
            // Anything that is not a tag.
            while let Some(&byte) = io.window.as_bytes().get(io.at)
                && !(byte == b'<' && self.quotes.open().is_none())
            {
                self.quotes.step(byte);
                io.at += 1;
            }
        }
        io.at = ws_run(io.window, io.at);
        let (rest, last) = (io.rest(), io.last);
        let look = match rest.as_bytes() {
            [] if !last || self.failed => Scan::Incomplete,
            [] => {
                self.complete_unclosed(io)?;
                Scan::Match(Some(Step::Done))
            }
            [b'<'] if !last => Scan::Incomplete,
            [b'<', b'/', ..] => self.closing(io)?,
            [b'<', ..] if rest.starts_with(self.opened.row.parameter.open) => self.parameter(io)?,
            [b'<', ..] => self.opening(io)?,
            _ if self.failed => Scan::Incomplete,
            _ => self.parameter(io)?,
        };
        match look {
            Scan::Incomplete => Ok(Some(Step::Need)),
            Scan::Match(step) => {
                self.quotes = Alternation::START;
                Ok(step)
            }
            Scan::NoMatch if self.failed => {
                // Whatever it is, it is no mark.
                self.quotes.step(b'<');
                io.at += 1;
                Ok(None)
            }
            Scan::NoMatch => {
                let tool = io.cx.tool;
                let message = format!("{tool}: a call may contain only parameters in tags.");
                Err((ErrorKind::MalformedCall, message))
            }
        }
    }

    /// At a closing tag.
    fn closing(&mut self, io: &mut Io<'_>) -> Result<Scan<Option<Step>>, Bad> {
        let (rest, last, row) = (io.rest(), io.last, self.opened.row);
        let own = self.opened.tag.closes(rest, io.cx.tool, last);
        if let Scan::Match(length) = own {
            io.at += length;
            return self.closed(io).map(Scan::Match);
        }
        let block = closes(rest, row.block, last);
        if let Scan::Match(length) = block {
            match self.opened.tag {
                CallTag::Block => self.complete(io)?,
                CallTag::Word(_) | CallTag::Own => self.complete_unclosed(io)?,
            }
            io.at += length;
            return Ok(Scan::Match(Some(Step::Done)));
        }
        let function = row.closes_function(rest, last);
        if let Scan::Match(length) = function {
            self.repair(io, Repair::TagStyle)?;
            io.at += length;
            return self.closed(io).map(Scan::Match);
        }
        let parameter = row.closes_parameter(rest, last);
        if let Scan::Match(length) = parameter {
            self.repair(io, Repair::TagStyle)?;
            io.at += length;
            return Ok(Scan::Match(None));
        }
        Ok(own.or(|| block).or(|| function).or(|| parameter).map(|_| None))
    }

    /// At a tag that may open something.
    fn opening(&mut self, io: &mut Io<'_>) -> Result<Scan<Option<Step>>, Bad> {
        let row = self.opened.row;
        match row.opener(io.rest(), io.last, false, &|_, _| false) {
            Scan::Incomplete => return Ok(Scan::Incomplete),
            Scan::Match(_) => {
                self.complete_unclosed(io)?;
                return Ok(Scan::Match(Some(self.another())));
            }
            Scan::NoMatch => {}
        }
        match begins(&io.rest()[1..], row.block, io.last) {
            Scan::Incomplete => return Ok(Scan::Incomplete),
            Scan::Match(_) => {
                self.complete_unclosed(io)?;
                return Ok(Scan::Match(Some(Step::Done)));
            }
            Scan::NoMatch => {}
        }
        self.parameter(io)
    }

    /// Where a parameter opens, its value is read next.
    fn parameter(&mut self, io: &mut Io<'_>) -> Result<Scan<Option<Step>>, Bad> {
        let (cx, rest) = (io.cx, io.rest());
        let declared = |name: &str| cx.schema.declares(cx.schema.root, name);
        let Parameter { tag, key, apart, empty, styled, end } =
            match self.opened.row.parameter(rest, io.last, &declared) {
                Scan::Match(_) if self.whole && !self.failed => return Ok(Scan::NoMatch),
                Scan::Match(found) => found,
                Scan::Incomplete => return Ok(Scan::Incomplete),
                Scan::NoMatch => return Ok(Scan::NoMatch),
            };
        io.at += end;
        self.value.open(&rest[tag], apart, styled);
        let Some(key) = key else {
            self.head = Head::of_parameter();
            self.state = State::Head;
            if self.failed {
                return Ok(Scan::Match(None));
            }
            let message = format!("{}: the tag of a parameter must not have attributes.", cx.tool);
            return Err((ErrorKind::MalformedCall, message));
        };
        self.state = if empty { State::Between } else { State::Value };
        if styled {
            self.repair(io, Repair::TagStyle)?;
        }
        if !self.failed {
            let slot = self.fields.open(&cx, io.found, &rest[key], false)?;
            self.value.begin(&cx, io.found, slot)?;
        }
        if empty {
            self.value.end(&cx, io.found)?;
        }
        Ok(Scan::Match(None))
    }

    fn value(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        match self.value.read(io, self.opened.tag)? {
            Read::Need => return Ok(Some(Step::Need)),
            Read::Closed => {}
            Read::Open if self.value.kept && !self.failed => {
                self.state = State::Between;
                return Err((ErrorKind::UnterminatedValue, "A value is not closed.".into()));
            }
            Read::Open if self.value.apart => {}
            Read::Open => self.usual_repair(io, Repair::MissingClose),
        }
        self.state = State::Between;
        self.value.end(&io.cx, io.found)?;
        Ok(None)
    }

    /// The function is closed.
    fn closed(&mut self, io: &mut Io<'_>) -> Result<Option<Step>, Bad> {
        self.state = State::Tail { blanks: 0 };
        self.complete(io)?;
        Ok(self.opened.foreign.then_some(Step::Done))
    }

    /// Another function is opened at `io.at`.
    fn another(&mut self) -> Step {
        if !self.opened.wrapped {
            return Step::Done;
        }
        // A call that counts for nothing is read on by the same body.
        self.state = State::Opener;
        Step::Next
    }

    fn tail(&mut self, io: &mut Io<'_>, looked: usize) -> Result<Option<Step>, Bad> {
        let row = self.opened.row;
        let blanks = ws_run(io.rest(), looked);
        self.state = State::Tail { blanks };
        let (rest, last) = (&io.rest()[blanks..], io.last);
        if self.opened.foreign || (!self.opened.wrapped && blanks > ATTEMPT_CHARS) {
            return Ok(Some(Step::Done));
        }
        let mut needs = rest.is_empty() && !last;
        if rest.starts_with('<') {
            let ends = closes(rest, row.block, last);
            if let Scan::Match(length) = ends {
                io.at += blanks + length;
                return Ok(Some(Step::Done));
            }
            needs |= ends == Scan::Incomplete;
            if self.opened.wrapped {
                let function = row.opener(rest, last, false, &|_, _| false);
                if let Scan::Match(_) = function {
                    io.at += blanks;
                    return Ok(Some(self.another()));
                }
                let stray = row.closes_function(rest, last).or(|| row.closes_parameter(rest, last));
                if let Scan::Match(length) = stray {
                    self.repair(io, Repair::TagStyle)?;
                    io.at += blanks + length;
                    return self.to(State::Tail { blanks: 0 });
                }
                needs |= function == Scan::Incomplete || stray == Scan::Incomplete;
            }
        }
        if needs {
            return Ok(Some(Step::Need));
        }
        if self.opened.wrapped {
            self.repair(io, Repair::MissingClose)?;
        }
        Ok(Some(Step::Done))
    }
}

/// Reads over the rest of a JSON object. True: it has ended.
fn read_over(io: &mut Io<'_>, skip: &mut Skip) -> bool {
    let bytes = io.window.as_bytes();
    loop {
        match skip {
            Skip::Bracketed { .. } | Skip::Quoted { .. } | Skip::ValueStart | Skip::TokenStart => {}
            Skip::Key { .. } | Skip::Bare { .. } | Skip::After | Skip::AfterEmpty | Skip::Body => return true,
        }
        let Some(&byte) = bytes.get(io.at) else { return false };
        *skip = skip.step(byte);
        io.at += 1;
    }
}
