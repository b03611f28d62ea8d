//! The body of a call whose arguments are raw text in tags, from after the tag that opened its function.

pub mod format;
mod head;
mod typing;
mod value;

use crate::arguments::{Bad, Context, Fields, Flow, Found, Io, Lists, Step, steps};
use crate::error::{ErrorKind, Repair};
use crate::limits::ATTEMPT_CHARS;
use crate::protocols::bodies::object_in_tag::ObjectInTag;
use crate::protocols::body::Body;
use crate::syntax::quoting::Alternation;
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Closer, Closers, Delimiters, Scan, ws_run};
use crate::syntax::tags::{Attributes, CallTag, OpenTag, Parameter, begins, closes};

use head::TagAttributes;
use value::ParameterValue;

pub use typing::reads_as;
pub use value::holds;

#[derive(Debug)]
enum ParamsState {
    /// A function of the same block is opened here.
    Opener,
    /// In a tag, before an attribute.
    Head,
    /// The attributes are read, and so is the name.
    Named,
    /// After a tag with attributes, where a call must continue.
    Headed,
    /// Directly after what opened the function.
    Opened,
    /// Before a parameter, or before what closes the function.
    Between,
    Value,
    /// The arguments are one JSON object.
    Object(ObjectInTag),
    /// The function is closed; so many bytes of whitespace after it were scanned.
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
    state: ParamsState,
    fields: Fields,
    head: TagAttributes,
    /// Of the parameter that was opened last.
    value: ParameterValue,
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
        steps(|| self.step(io))
    }

    fn read_on(&mut self, io: &mut Io<'_>) -> Step {
        if !self.failed {
            self.failed = true;
            self.value.fail();
            if let ParamsState::Object(object) = &mut self.state {
                *object = ObjectInTag::Failed(object.skip());
            }
        }
        self.feed(io)
    }

    fn feed_plain(&mut self, found: &mut Found, text: &str, _: &Delimiters) -> Option<bool> {
        matches!(self.state, ParamsState::Value).then(|| self.value.feed_plain(found, text))?
    }

    /// The next function of the block.
    fn next(&mut self) -> Option<Box<dyn Body>> {
        Some(Box::new(Params { state: ParamsState::Opener, ..Params::new(self.opened, "") }))
    }

    fn is_complete(&self) -> bool {
        !self.opened.wrapped && !self.failed && matches!(self.state, ParamsState::Tail { .. })
    }

    fn unterminated(&self) -> bool {
        matches!(self.state, ParamsState::Value | ParamsState::Object(ObjectInTag::Reading(_)) | ParamsState::Head)
    }

    fn finish(&self, _: &Context<'_>, found: &mut Found) {
        if self.whole { found.args.release() } else { found.args.close() }
    }
}

fn first(opened: OpenTag) -> ParamsState {
    if opened.attributes == Attributes::None { ParamsState::Opened } else { ParamsState::Head }
}

impl Params {
    /// Starts over, and keeps the allocations.
    pub fn renew(&mut self, opened: OpenTag, name: &str) {
        self.fields.reset();
        self.head = TagAttributes::default();
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
            head: TagAttributes::default(),
            value: ParameterValue::new(opened.row),
            named: !name.is_empty(),
            whole: false,
            failed: false,
            quotes: Alternation::START,
        }
    }

    fn step(&mut self, io: &mut Io<'_>) -> Flow {
        match &mut self.state {
            ParamsState::Opener => self.opener(io),
            ParamsState::Head => self.attribute(io),
            ParamsState::Named => self.arguments(io),
            ParamsState::Headed => self.headed(io),
            ParamsState::Opened => self.opened(io),
            ParamsState::Between => self.between(io),
            ParamsState::Value => self.value(io),
            ParamsState::Object(object) => {
                match object {
                    ObjectInTag::Failed(skip) => read_over(io, skip)?,
                    object => object.feed(io)?,
                }
                self.to(ParamsState::Between)
            }
            ParamsState::Tail { blanks } => {
                let blanks = *blanks;
                self.tail(io, blanks)
            }
            ParamsState::Alone => Err(Step::Done),
            ParamsState::Lost(skip, closers) => {
                let close = skip.read(io.window, &mut io.at, io.last, &Closer::Other(closers));
                io.at += close.ok_or(Step::Need)?;
                self.to(ParamsState::Alone)
            }
        }
    }

    fn to(&mut self, state: ParamsState) -> Flow {
        self.state = state;
        Ok(())
    }

    fn repair(&self, io: &mut Io<'_>, repair: Repair) -> Result<(), Bad> {
        if self.failed { Ok(()) } else { io.repair(repair, "Write the call in the usual form.") }
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

    fn opener(&mut self, io: &mut Io<'_>) -> Flow {
        let Some(found) = self.opened.row.opener(io.rest(), io.last, false, &|_, _| false).decided()? else {
            return self.to(ParamsState::Opened);
        };
        let name = found.name.map(|name| io.rest()[name].to_owned());
        io.at += found.body;
        self.opened = OpenTag { wrapped: self.opened.wrapped, ..found.opened };
        self.state = first(self.opened);
        self.named = name.is_some();
        name.filter(|_| !self.failed).map_or(Ok(()), |name| Err(Step::Named(name)))
    }

    fn opened(&mut self, io: &mut Io<'_>) -> Flow {
        if self.opened.styled {
            self.repair(io, Repair::TagStyle)?;
        }
        if !self.opened.wrapped && !self.opened.foreign {
            self.usual_repair(io, Repair::MissingWrapper);
        }
        if self.opened.empty {
            return self.closed(io);
        }
        match io.next_byte() {
            Ok(b'{') => {}
            Err(need) if !io.last => return Err(need),
            _ => return self.to(ParamsState::Between),
        }
        if self.failed || self.head.given {
            self.state = ParamsState::Object(ObjectInTag::Failed(Skip::TokenStart));
            let message = || format!("{}: a JSON object cannot follow attributes.", io.cx.tool);
            return if self.failed { Ok(()) } else { Err((ErrorKind::MalformedCall, message()).into()) };
        }
        self.whole = true;
        self.to(ParamsState::Object(ObjectInTag::new(&io.cx)))
    }

    fn between(&mut self, io: &mut Io<'_>) -> Flow {
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
        let mark = match rest.as_bytes() {
            [] if !last || self.failed => return Err(Step::Need),
            [] => {
                self.complete_unclosed(io)?;
                return Err(Step::Done);
            }
            [b'<'] if !last => return Err(Step::Need),
            [b'<', b'/', ..] => self.closing(io)?,
            [b'<', ..] if rest.starts_with(self.opened.row.parameter.open) => self.parameter(io)?,
            [b'<', ..] => self.opening(io)?,
            _ if self.failed => return Err(Step::Need),
            _ => self.parameter(io)?,
        };
        if mark {
            self.quotes = Alternation::START;
            return Ok(());
        }
        if !self.failed {
            let message = format!("{}: a call may contain only parameters in tags.", io.cx.tool);
            return Err((ErrorKind::MalformedCall, message).into());
        }
        self.quotes.step(b'<');
        io.at += 1;
        Ok(())
    }

    /// At a closing tag. False: it is not one of a call.
    fn closing(&mut self, io: &mut Io<'_>) -> Flow<bool> {
        let (rest, last, row) = (io.rest(), io.last, self.opened.row);
        let own = self.opened.tag.closes(rest, io.cx.tool, last);
        if let Scan::Match(length) = own {
            io.at += length;
            return self.closed(io).map(|()| true);
        }
        let block = closes(rest, row.block, last);
        if let Scan::Match(length) = block {
            match self.opened.tag {
                CallTag::Block => self.complete(io)?,
                CallTag::Word(_) | CallTag::Own => self.complete_unclosed(io)?,
            }
            io.at += length;
            return Err(Step::Done);
        }
        let function = row.closes_function(rest, last);
        let stray = function.or(|| row.closes_parameter(rest, last));
        if let Scan::Match(length) = stray {
            self.repair(io, Repair::TagStyle)?;
            io.at += length;
            return if function.is_match() { self.closed(io).map(|()| true) } else { Ok(true) };
        }
        Ok(own.or(|| block).or(|| stray).decided()?.is_some())
    }

    /// At a tag that may open something. False: it opens nothing.
    fn opening(&mut self, io: &mut Io<'_>) -> Flow<bool> {
        if self.opened.row.opener(io.rest(), io.last, false, &|_, _| false).decided()?.is_some() {
            self.complete_unclosed(io)?;
            return Err(self.another());
        }
        if begins(&io.rest()[1..], self.opened.row.block, io.last).decided()?.is_some() {
            self.complete_unclosed(io)?;
            return Err(Step::Done);
        }
        self.parameter(io)
    }

    /// Where a parameter opens, its value is read next. False: none opens.
    fn parameter(&mut self, io: &mut Io<'_>) -> Flow<bool> {
        let (cx, rest) = (io.cx, io.rest());
        let declared = |name: &str| cx.schema.declares(cx.schema.root, name);
        let found = self.opened.row.parameter(rest, io.last, &declared).decided()?;
        let Some(Parameter { tag, key, apart, empty, styled, end }) = found.filter(|_| !self.whole || self.failed)
        else {
            return Ok(false);
        };
        io.at += end;
        self.value.open(&rest[tag], apart, styled);
        let Some(key) = key else {
            self.head = TagAttributes::of_parameter();
            self.state = ParamsState::Head;
            let message = || format!("{}: the tag of a parameter must not have attributes.", cx.tool);
            return if self.failed { Ok(true) } else { Err((ErrorKind::MalformedCall, message()).into()) };
        };
        self.state = if empty { ParamsState::Between } else { ParamsState::Value };
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
        Ok(true)
    }

    fn value(&mut self, io: &mut Io<'_>) -> Flow {
        let closed = self.value.read(io, self.opened.tag)?;
        self.state = ParamsState::Between;
        if !closed && self.value.kept && !self.failed {
            return Err((ErrorKind::UnterminatedValue, "A value is not closed.".into()).into());
        }
        if !closed && !self.value.opened.apart {
            self.usual_repair(io, Repair::MissingClose);
        }
        Ok(self.value.end(&io.cx, io.found)?)
    }

    /// The function is closed.
    fn closed(&mut self, io: &mut Io<'_>) -> Flow {
        self.state = ParamsState::Tail { blanks: 0 };
        self.complete(io)?;
        if self.opened.foreign { Err(Step::Done) } else { Ok(()) }
    }

    /// Another function is opened at `io.at`.
    fn another(&mut self) -> Step {
        if !self.opened.wrapped {
            return Step::Done;
        }
        // If the call has failed, the same body goes on with the next one.
        (self.state, self.quotes) = (ParamsState::Opener, Alternation::START);
        Step::Next
    }

    fn tail(&mut self, io: &mut Io<'_>, looked: usize) -> Flow {
        let row = self.opened.row;
        let blanks = ws_run(io.rest(), looked);
        self.state = ParamsState::Tail { blanks };
        let (rest, last) = (&io.rest()[blanks..], io.last);
        if self.opened.foreign || (!self.opened.wrapped && blanks > ATTEMPT_CHARS) {
            return Err(Step::Done);
        }
        let mut needs = rest.is_empty() && !last;
        if rest.starts_with('<') {
            let ends = closes(rest, row.block, last);
            if let Scan::Match(length) = ends {
                io.at += blanks + length;
                return Err(Step::Done);
            }
            needs |= ends.is_incomplete();
            if self.opened.wrapped {
                let function = row.opener(rest, last, false, &|_, _| false);
                if function.is_match() {
                    io.at += blanks;
                    return Err(self.another());
                }
                let stray = row.closes_function(rest, last).or(|| row.closes_parameter(rest, last));
                if let Scan::Match(length) = stray {
                    self.repair(io, Repair::TagStyle)?;
                    io.at += blanks + length;
                    return self.to(ParamsState::Tail { blanks: 0 });
                }
                needs |= function.is_incomplete() || stray.is_incomplete();
            }
        }
        if needs {
            return Err(Step::Need);
        }
        if self.opened.wrapped {
            self.repair(io, Repair::MissingClose)?;
        }
        Err(Step::Done)
    }
}

/// Reads over the rest of a JSON object.
fn read_over(io: &mut Io<'_>, skip: &mut Skip) -> Flow {
    while let Skip::Bracketed { .. } | Skip::Quoted { .. } | Skip::ValueStart | Skip::TokenStart = skip {
        let byte = io.window.as_bytes().get(io.at).ok_or(Step::Need)?;
        *skip = skip.step(*byte);
        io.at += 1;
    }
    Ok(())
}
