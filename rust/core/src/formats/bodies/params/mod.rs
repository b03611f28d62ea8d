//! The body of a call whose arguments are raw text in tags, from after the tag that opened its function.

mod head;
mod typing;
mod value;

use std::mem::take;

use crate::arguments::{Context, Fields, Flow, Input, Lists, Progress, ReadError, Report, steps};
use crate::error::{ErrorKind, Repair};
use crate::formats::body::{Body, ObjectInTag};
use crate::limits::ATTEMPT_CHARS;
use crate::syntax::quoting::Alternation;
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::{Closer, Closers, Delimiters, Scan, starts, ws_run};
use crate::syntax::tags::{CallTag, OpenTag, OpenerAttributes, Parameter, begins, closes, is_markup};

use head::FunctionAttributes;
use value::{Ended, ParameterValue};

pub(crate) use typing::{reads_as, write_text};
pub(crate) use value::holds;

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
    Recovering(Recovery, Closers),
}

#[derive(Debug)]
pub(crate) struct Params {
    opened: OpenTag,
    state: ParamsState,
    fields: Fields,
    head: FunctionAttributes,
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
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        steps(|| self.step(input))
    }

    fn recover(&mut self, input: &mut Input<'_>) -> Progress {
        if !self.failed {
            self.failed = true;
            self.value.fail();
            if let ParamsState::Object(object) = &mut self.state {
                *object = ObjectInTag::Failed(object.recovery());
            }
        }
        self.feed(input)
    }

    fn feed_plain(&mut self, report: &mut Report, text: &str, _: &Delimiters) -> Option<bool> {
        matches!(self.state, ParamsState::Value).then(|| self.value.feed_plain(report, text))?
    }

    /// The next function of the block.
    fn next(&mut self) -> Option<Box<dyn Body>> {
        Some(Box::new(Params { state: ParamsState::Opener, ..Params::new(self.opened) }))
    }

    fn is_complete(&self) -> bool {
        !self.opened.wrapped && !self.failed && matches!(self.state, ParamsState::Tail { .. })
    }

    fn unterminated(&self) -> bool {
        matches!(self.state, ParamsState::Value | ParamsState::Object(ObjectInTag::Reading(_)) | ParamsState::Head)
    }

    fn finish(&self, _: &Context<'_>, report: &mut Report) {
        if self.whole { report.args.release() } else { report.args.close() }
    }
}

fn first(opened: OpenTag) -> ParamsState {
    if opened.attributes == OpenerAttributes::None { ParamsState::Opened } else { ParamsState::Head }
}

impl Params {
    /// Starts over, and keeps the allocations.
    /// `name`: the tool's name as written; empty if not known yet.
    pub(crate) fn reset(&mut self, opened: OpenTag, name: &str) {
        let (mut fields, value) = (take(&mut self.fields), self.value.fresh(opened.row));
        fields.reset(Lists::Own);
        *self = Params { fields, value, named: !name.is_empty(), ..Params::new(opened) };
    }

    pub(crate) fn new(opened: OpenTag) -> Self {
        Params {
            opened,
            state: first(opened),
            fields: Fields::default(),
            head: FunctionAttributes::default(),
            value: ParameterValue::new(opened.row),
            named: false,
            whole: false,
            failed: false,
            quotes: Alternation::START,
        }
    }

    fn step(&mut self, input: &mut Input<'_>) -> Flow {
        match &mut self.state {
            ParamsState::Opener => self.opener(input),
            ParamsState::Head => self.attribute(input),
            ParamsState::Named => self.arguments(input),
            ParamsState::Headed => self.headed(input),
            ParamsState::Opened => self.opened(input),
            ParamsState::Between => self.between(input),
            ParamsState::Value => self.value(input),
            ParamsState::Object(object) => {
                match object {
                    ObjectInTag::Failed(recovery) => read_over(input, recovery)?,
                    object => object.feed(input)?,
                }
                self.to(ParamsState::Between)
            }
            ParamsState::Tail { blanks } => {
                let blanks = *blanks;
                self.tail(input, blanks)
            }
            ParamsState::Alone => Err(Progress::CallEnd),
            ParamsState::Recovering(recovery, closers) => {
                let close = recovery.read(input.window, &mut input.at, input.last, &Closer::Other(closers));
                input.at += close.ok_or(Progress::Incomplete)?;
                self.to(ParamsState::Alone)
            }
        }
    }

    fn to(&mut self, state: ParamsState) -> Flow {
        self.state = state;
        Ok(())
    }

    fn repair(&self, input: &mut Input<'_>, repair: Repair) -> Result<(), ReadError> {
        if self.failed { Ok(()) } else { input.repair(repair, "Write the call in the usual form.") }
    }

    /// What belongs to the format's own grammar: listed as a repair, but read in strict mode, too.
    fn usual_repair(&self, input: &mut Input<'_>, repair: Repair) {
        if !self.failed && !input.cx.strict {
            input.report.repair(repair);
        }
    }

    /// The call is complete: what has waited is written.
    fn complete(&mut self, input: &mut Input<'_>) -> Result<(), ReadError> {
        if self.failed || self.whole {
            return Ok(());
        }
        self.fields.finish(&input.cx, input.report)
    }

    /// It is complete, and what should close it is not there.
    fn complete_unclosed(&mut self, input: &mut Input<'_>) -> Result<(), ReadError> {
        self.repair(input, Repair::MissingClose)?;
        self.complete(input)
    }

    fn opener(&mut self, input: &mut Input<'_>) -> Flow {
        let Some(found) = self.opened.row.opener(input.rest(), input.last, false, &|_, _| false).decided()? else {
            return self.to(ParamsState::Opened);
        };
        let name = found.name.map(|name| input.rest()[name].to_owned());
        input.at += found.body;
        self.opened = OpenTag { wrapped: self.opened.wrapped, ..found.opened };
        self.state = first(self.opened);
        self.named = name.is_some();
        name.filter(|_| !self.failed).map_or(Ok(()), |name| Err(Progress::ToolName(name.into())))
    }

    fn opened(&mut self, input: &mut Input<'_>) -> Flow {
        if self.opened.styled {
            self.repair(input, Repair::TagStyle)?;
        }
        if !self.opened.wrapped && !self.opened.foreign {
            self.usual_repair(input, Repair::MissingWrapper);
        }
        if self.opened.empty {
            return self.closed(input);
        }
        match input.next_byte() {
            Ok(b'{') => {}
            Err(need) if !input.last => return Err(need),
            _ => return self.to(ParamsState::Between),
        }
        if self.failed || self.head.given {
            self.state = ParamsState::Object(ObjectInTag::Failed(Recovery::TokenStart));
            let message = || format!("{}: a JSON object cannot follow attributes.", input.cx.tool);
            return if self.failed { Ok(()) } else { Err((ErrorKind::MalformedCall, message()).into()) };
        }
        self.whole = true;
        self.to(ParamsState::Object(ObjectInTag::new(&input.cx)))
    }

    fn between(&mut self, input: &mut Input<'_>) -> Flow {
        if self.failed {
            // Anything that is not a tag.
            while let Some(&byte) = input.window.as_bytes().get(input.at)
                && !(byte == b'<' && self.quotes.open().is_none())
            {
                self.quotes.step(byte);
                input.at += 1;
            }
        }
        input.at = ws_run(input.window, input.at);
        let (rest, last) = (input.rest(), input.last);
        let mark = match rest.as_bytes() {
            [] if !last || self.failed => return Err(Progress::Incomplete),
            [] => {
                self.complete_unclosed(input)?;
                return Err(Progress::CallEnd);
            }
            [b'<'] if !last => return Err(Progress::Incomplete),
            [b'<', b'/', ..] => self.closing(input)?,
            [b'<', ..] if rest.starts_with(self.opened.row.parameter.open) => self.parameter(input)?,
            [b'<', ..] => self.opening(input)?,
            _ if self.failed => return Err(Progress::Incomplete),
            _ => self.parameter(input)?,
        };
        if mark {
            self.quotes = Alternation::START;
            return Ok(());
        }
        if last && self.is_cut(rest) {
            return Err(Progress::Incomplete);
        }
        if !self.failed {
            let message = format!("{}: a call may contain only parameters in tags.", input.cx.tool);
            return Err((ErrorKind::MalformedCall, message).into());
        }
        self.quotes.step(b'<');
        input.at += 1;
        Ok(())
    }

    /// Whether the rest of the message is the beginning of a tag that may be in a call.
    fn is_cut(&self, rest: &str) -> bool {
        let row = self.opened.row;
        row.parameter.open.starts_with(rest)
            || row.opener(rest, false, false, &|_, _| false).is_incomplete()
            || row.closes_function(rest, false).or(|| closes(rest, row.block, false)).is_incomplete()
    }

    /// At a closing tag. False: it is not one of a call.
    fn closing(&mut self, input: &mut Input<'_>) -> Flow<bool> {
        let (rest, last, row) = (input.rest(), input.last, self.opened.row);
        let own = self.opened.tag.closes(rest, input.cx.tool, last);
        if let Scan::Match(length) = own {
            input.at += length;
            return self.closed(input).map(|()| true);
        }
        let block = closes(rest, row.block, last);
        if let Scan::Match(length) = block {
            match self.opened.tag {
                CallTag::Block => self.complete(input)?,
                CallTag::Word(_) | CallTag::Own => self.complete_unclosed(input)?,
            }
            input.at += length;
            return Err(Progress::CallEnd);
        }
        let function = row.closes_function(rest, last);
        let stray = function.or(|| row.closes_parameter(rest, last));
        if let Scan::Match(length) = stray {
            self.repair(input, Repair::TagStyle)?;
            input.at += length;
            return if function.is_match() { self.closed(input).map(|()| true) } else { Ok(true) };
        }
        Ok(own.or(|| block).or(|| stray).decided()?.is_some())
    }

    /// At a tag that may open something. False: it opens nothing.
    fn opening(&mut self, input: &mut Input<'_>) -> Flow<bool> {
        if self.opened.row.opener(input.rest(), input.last, false, &|_, _| false).decided()?.is_some() {
            self.complete_unclosed(input)?;
            return Err(self.another());
        }
        if begins(&input.rest()[1..], self.opened.row.block, input.last).decided()?.is_some() {
            self.complete_unclosed(input)?;
            return Err(Progress::CallEnd);
        }
        self.parameter(input)
    }

    /// Where a parameter opens, its value is read next. False: none opens.
    fn parameter(&mut self, input: &mut Input<'_>) -> Flow<bool> {
        let (cx, rest) = (input.cx, input.rest());
        let declared = |name: &str| cx.schema.declares(cx.schema.root, name);
        let found = self.opened.row.parameter(rest, input.last, &declared).decided()?;
        let Some(Parameter { tag, key, apart, empty, styled, end }) = found.filter(|_| !self.whole || self.failed)
        else {
            return Ok(false);
        };
        let twice = !empty && starts(&rest[end..], &rest[..end], input.last).decided()?.is_some();
        input.at += if twice { 2 * end } else { end };
        self.value.open(&rest[tag], apart, styled);
        let Some(key) = key else {
            self.head = FunctionAttributes::of_parameter();
            self.state = ParamsState::Head;
            let message = || format!("{}: the tag of a parameter must not have attributes.", cx.tool);
            return if self.failed { Ok(true) } else { Err((ErrorKind::MalformedCall, message()).into()) };
        };
        self.state = if empty { ParamsState::Between } else { ParamsState::Value };
        if styled || twice {
            self.repair(input, Repair::TagStyle)?;
        }
        if !self.failed {
            if is_markup(&rest[key.clone()]) && !declared(&rest[key.clone()]) {
                let message = format!("{}: the name of a parameter must not contain tags or quotes.", cx.tool);
                return Err((ErrorKind::MalformedCall, message).into());
            }
            let slot = self.fields.open(&cx, input.report, &rest[key], false)?;
            self.value.begin(&cx, input.report, slot)?;
        }
        if empty {
            self.value.end(&cx, input.report)?;
        }
        Ok(true)
    }

    fn value(&mut self, input: &mut Input<'_>) -> Flow {
        let ended = self.value.read(input, self.opened.tag)?;
        self.state = ParamsState::Between;
        if ended == Ended::Doubled {
            self.repair(input, Repair::TagStyle)?;
        }
        let closed = ended != Ended::Unclosed;
        if !closed && self.value.kept && !self.failed {
            return Err((ErrorKind::UnterminatedValue, "A value is not closed.".into()).into());
        }
        if !closed && !self.value.opened.apart {
            self.usual_repair(input, Repair::MissingClose);
        }
        Ok(self.value.end(&input.cx, input.report)?)
    }

    /// The function is closed.
    fn closed(&mut self, input: &mut Input<'_>) -> Flow {
        self.state = ParamsState::Tail { blanks: 0 };
        self.complete(input)?;
        if self.opened.foreign { Err(Progress::CallEnd) } else { Ok(()) }
    }

    /// Another function is opened at `input.at`.
    fn another(&mut self) -> Progress {
        if !self.opened.wrapped {
            return Progress::CallEnd;
        }
        // If the call has failed, the same body continues with the next one.
        (self.state, self.quotes) = (ParamsState::Opener, Alternation::START);
        Progress::NextCall
    }

    fn tail(&mut self, input: &mut Input<'_>, looked: usize) -> Flow {
        let row = self.opened.row;
        let blanks = ws_run(input.rest(), looked);
        self.state = ParamsState::Tail { blanks };
        let (rest, last) = (&input.rest()[blanks..], input.last);
        if self.opened.foreign || (!self.opened.wrapped && blanks > ATTEMPT_CHARS) {
            return Err(Progress::CallEnd);
        }
        let mut needs = rest.is_empty() && !last;
        if rest.starts_with('<') {
            let ends = closes(rest, row.block, last);
            if let Scan::Match(length) = ends {
                input.at += blanks + length;
                return Err(Progress::CallEnd);
            }
            needs |= ends.is_incomplete();
            if self.opened.wrapped {
                let function = row.opener(rest, last, false, &|_, _| false);
                if function.is_match() {
                    input.at += blanks;
                    return Err(self.another());
                }
                let stray = row.closes_function(rest, last).or(|| row.closes_parameter(rest, last));
                let stray = stray.or(|| row.nearly_closes_function(rest, last));
                if let Scan::Match(length) = stray {
                    self.repair(input, Repair::TagStyle)?;
                    input.at += blanks + length;
                    return self.to(ParamsState::Tail { blanks: 0 });
                }
                needs |= function.is_incomplete() || stray.is_incomplete();
            }
        }
        if needs {
            return Err(Progress::Incomplete);
        }
        if self.opened.wrapped {
            self.repair(input, Repair::MissingClose)?;
        }
        Err(Progress::CallEnd)
    }
}

/// Reads over the rest of a JSON object.
fn read_over(input: &mut Input<'_>, recovery: &mut Recovery) -> Flow {
    while let Recovery::Bracketed { .. } | Recovery::Quoted(_) | Recovery::ValueStart | Recovery::TokenStart = recovery
    {
        let byte = input.window.as_bytes().get(input.at).ok_or(Progress::Incomplete)?;
        *recovery = recovery.step(*byte);
        input.at += 1;
    }
    Ok(())
}
