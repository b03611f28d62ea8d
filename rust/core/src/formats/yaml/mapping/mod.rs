//! The body of a call as a YAML mapping: `key: value`, one field to a line.
//!
//! A plain string is sent as it arrives: quoted text, block scalars, the first line of plain text. Other values are built up to the
//! next key and typed there. A body that starts with `{` is one JSON object, or a flow mapping if that is not JSON.

mod tag;
mod typed;
mod values;

use std::mem::take;

use crate::arguments::{Context, Fields, Flow, Input, Lists, Progress, ReadError, Report, Slot, messages, steps};
use crate::error::{ErrorKind, Repair};
use crate::formats::body::{Body, Form, ObjectInTag};
use crate::syntax::recovery::Recovery;
use crate::syntax::scan::Delimiters;
use crate::syntax::yaml::{Lax, TreeBuilder, YamlFault, YamlLexeme, YamlLexer};
use tag::OpeningTag;

#[derive(Debug, Default)]
enum MappingState {
    #[default]
    Start,
    /// A key is next.
    Between,
    /// After a key.
    Value(Slot),
    /// In a string that is sent as it arrives.
    Live(Slot),
    /// In another value. `verbatim`: it is text that is taken unchanged.
    Build {
        slot: Slot,
        builder: Box<TreeBuilder>,
        verbatim: bool,
    },
    /// In a value without a key: all of the arguments, in braces, or nothing.
    Whole(Box<TreeBuilder>),
    /// One JSON object, or after an error the rest of the call from inside quotes.
    Json(ObjectInTag),
    /// After an error: the rest is read by lines.
    On,
    Closed,
}

#[derive(Debug, Default)]
pub(crate) struct Mapping {
    tag: OpeningTag,
    lexer: YamlLexer,
    fields: Fields,
    state: MappingState,
    /// The column of the keys. `inline`: the first one is in the line of the opening tag, and so says little.
    column: Option<usize>,
    inline: bool,
    json: bool,
    /// A value without quotes has a `<` in it: part of a closing tag, perhaps.
    mark: bool,
    watched: bool,
}

/// What a value ends at.
enum AfterValue {
    Key(String, bool),
    Close,
    Open,
}

const OPEN_QUOTE: &str =
    "a quote in plain text is not closed: put the text into double quotes, with \\\" for each quote in it";
const NOT_CLOSED: &str = "The call is not closed.";
const NO_MAPPING: &str = "the body of a call must consist of `key: value` lines";

impl Body for Mapping {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        let step = steps(|| match &mut self.state {
            MappingState::Start => self.start(input),
            MappingState::Json(ObjectInTag::Complete) => self.behind(input),
            MappingState::Json(object) => object.feed(input),
            MappingState::On | MappingState::Closed => Err(Progress::CallEnd),
            MappingState::Between if matches!(self.column, None | Some(0)) => self.lines(input),
            _ => self.lexeme(input),
        });
        let has_end = matches!(self.state, MappingState::Json(ObjectInTag::Failed(_)) | MappingState::Closed);
        if matches!(step, Progress::Failed(_)) && !has_end {
            self.state = MappingState::On;
        }
        step
    }

    /// Recovers from an error: reads up to the closing tag, outside of text that may contain one.
    fn recover(&mut self, input: &mut Input<'_>) -> Progress {
        loop {
            match &mut self.state {
                MappingState::Closed => return Progress::CallEnd,
                MappingState::Json(object) => return object.recover(input, &self.tag.name, self.tag.form),
                MappingState::Start if self.tag.form == Form::Empty => return Progress::CallEnd,
                MappingState::Start if self.json => {
                    self.state = MappingState::Json(ObjectInTag::Failed(Recovery::ValueStart))
                }
                _ => {
                    self.lexer.lost = true;
                    let around = self.tag.around(&input.cx, false);
                    match self.lexer.next(input.window, &mut input.at, input.last, &around) {
                        YamlLexeme::Need | YamlLexeme::End => return Progress::Incomplete,
                        YamlLexeme::Close => match self.lexer.open_quote() {
                            Some(quote) => {
                                self.state = MappingState::Json(ObjectInTag::Failed(Recovery::in_quotes(quote)))
                            }
                            None => {
                                input.at += around.close_length(input.rest());
                                return Progress::CallEnd;
                            }
                        },
                        _ => {}
                    }
                }
            }
        }
    }

    /// Takes text in a string that is passed on.
    #[inline]
    fn feed_plain(&mut self, report: &mut Report, text: &str, _: &Delimiters) -> Option<bool> {
        let MappingState::Live(slot) = &self.state else { return None };
        if !self.lexer.feed_plain(text) {
            return None;
        }
        self.mark |= self.watched && !self.mark && text.as_bytes().contains(&b'<');
        slot.push_plain(report, text);
        Some(true)
    }

    fn ends_bare(&self) -> bool {
        !self.json
    }

    fn unterminated(&self) -> bool {
        let json = matches!(self.state, MappingState::Json(ObjectInTag::Reading(_)));
        self.lexer.is_open() || self.lexer.open_quote().is_some() || self.mark || json
    }

    /// The call is closed.
    fn finish(&self, _: &Context<'_>, report: &mut Report) {
        if self.json { report.args.release() } else { report.args.close() }
    }
}

impl Mapping {
    /// Starts over, and keeps the allocations.
    pub(crate) fn reset(&mut self, name: &str, form: Form, json: bool) {
        let (mut own, mut fields) = (take(&mut self.tag.name), take(&mut self.fields));
        name.clone_into(&mut own);
        fields.reset(Lists::Own);
        *self = Mapping { tag: OpeningTag { name: own, form }, fields, json, ..Mapping::default() };
    }

    fn start(&mut self, input: &mut Input<'_>) -> Flow {
        match self.tag.form {
            Form::Broken => input.repair(Repair::UnclosedTag, "The opening tag of a call must end with >.")?,
            Form::Empty => return self.close(input),
            Form::Open | Form::Line => {}
        }
        self.state = if self.json { MappingState::Json(ObjectInTag::new(&input.cx)) } else { MappingState::Between };
        Ok(())
    }

    /// Everything is read.
    fn close(&mut self, input: &mut Input<'_>) -> Flow {
        self.state = MappingState::Closed;
        if !self.json {
            self.fields.finish(&input.cx, input.report)?;
        }
        Err(Progress::CallEnd)
    }

    /// The message has ended where the call could be closed.
    fn close_at_end(&mut self, input: &mut Input<'_>) -> Flow {
        if !input.last || self.unterminated() || (self.column.is_none() && !self.json) {
            return Err(Progress::Incomplete);
        }
        if let MappingState::Value(_) | MappingState::Build { .. } = self.state {
            self.end_value(input)?;
        }
        input.repair(Repair::MissingClose, NOT_CLOSED)?;
        self.close(input)
    }

    /// After a JSON object.
    fn behind(&mut self, input: &mut Input<'_>) -> Flow {
        let start = input.at;
        if input.next_byte().is_err() {
            return self.close_at_end(input);
        }
        let line = input.window[start..input.at].contains('\n') || self.tag.form == Form::Broken;
        match (self.tag.around(&input.cx, false).closer(input.rest(), line, input.last).decided()?, &mut self.state) {
            (None, MappingState::Json(object)) => Err(object.not_closed(&self.tag.name)),
            (length, _) => {
                input.at += length.unwrap_or(0);
                self.close(input)
            }
        }
    }

    fn lexeme(&mut self, input: &mut Input<'_>) -> Flow {
        let lexeme = self.lexer.next(input.window, &mut input.at, input.last, &self.tag.around(&input.cx, true));
        let (line, column) = self.lexer.place;
        match lexeme {
            YamlLexeme::Need => return Err(Progress::Incomplete),
            YamlLexeme::Bad(what) => return Err(self.malformed(&input.cx, what).into()),
            YamlLexeme::Lax(lax) => {
                let (repair, what) = match lax {
                    Lax::Backslash => (Repair::RelaxedYaml, "In double quotes, write a backslash as \\\\."),
                    Lax::Verbatim => {
                        (Repair::VerbatimText, "Put such text into double quotes, or after | on lines of its own.")
                    }
                };
                input.repair(repair, what)?;
                if let MappingState::Build { verbatim, .. } = &mut self.state {
                    *verbatim |= lax == Lax::Verbatim;
                }
                return Ok(());
            }
            _ => {}
        }
        let mut one = [0; 4];
        let content = lexeme.content(&mut one);
        self.mark |= self.watched && !self.mark && content.is_some_and(|text| text.as_bytes().contains(&b'<'));
        if let MappingState::Live(slot) = &self.state {
            if let Some(text) = content {
                slot.push(input.report, text);
            } else if let MappingState::Live(slot) = std::mem::replace(&mut self.state, MappingState::Between) {
                slot.end(input.report)?;
            }
            return Ok(());
        }
        // What ends the value before it.
        let next = match lexeme {
            YamlLexeme::Key { text, quoted } if self.is_key(line, column) => AfterValue::Key(text, quoted),
            YamlLexeme::Close => AfterValue::Close,
            YamlLexeme::Open => AfterValue::Open,
            YamlLexeme::End if self.lexer.is_open() => return Err(Progress::Incomplete),
            YamlLexeme::End => return self.close_at_end(input),
            other => return Ok(self.part(input, other, column)?),
        };
        if let (AfterValue::Close | AfterValue::Open, Some(quote)) = (&next, self.lexer.open_quote()) {
            self.state = MappingState::Json(ObjectInTag::Failed(Recovery::in_quotes(quote)));
            return Err(self.malformed(&input.cx, OPEN_QUOTE).into());
        }
        if matches!((&next, &self.state), (AfterValue::Key(..), MappingState::Whole(_))) {
            return Err(self.malformed(&input.cx, NO_MAPPING).into());
        }
        self.end_value(input)?;
        match next {
            AfterValue::Key(text, quoted) => return Ok(self.key(input, &text, quoted, line, column)?),
            AfterValue::Open if input.report.used(Repair::VerbatimText) => {
                return Err((ErrorKind::MalformedCall, messages::UNCLOSED.into()).into());
            }
            AfterValue::Open => input.repair(Repair::MissingClose, NOT_CLOSED)?,
            AfterValue::Close => input.at += self.tag.around(&input.cx, true).close_length(input.rest()),
        }
        self.close(input)
    }

    fn fault(&self, cx: &Context<'_>, fault: &YamlFault) -> ReadError {
        match fault {
            YamlFault::Malformed(what) => self.malformed(cx, what),
            YamlFault::Duplicate(_) => (ErrorKind::DuplicateArgument, format!("In a value, {fault}. Give it once.")),
            YamlFault::TooDeep => (ErrorKind::TooDeep, messages::too_deep(cx.limits)),
        }
    }

    fn malformed(&self, cx: &Context<'_>, what: &str) -> ReadError {
        let (line, column) = self.lexer.place;
        let message = format!("{}, line {}, column {}: {what}.", cx.tool, line + 1, column + 1);
        (ErrorKind::MalformedCall, message)
    }
}
