//! The body of a call in elements, one for each field: `<name><key>value</key></name>`.
//!
//! A plain string is sent as it arrives, up to the closing tag of its own name. Other values are read as trees, up to the closing tag
//! that fits, and typed there. A body that starts with `{` is one JSON object.

mod ends;
mod fast_path;
mod recovery;

use std::mem::take;

use crate::arguments::elements::{ElementReader, Fault, Halt, Rules, content};
use crate::arguments::{Context, Fields, Flow, Input, Lists, Progress, ReadError, Report, Slot, messages, steps};
use crate::error::{ErrorKind, Repair};
use crate::formats::body::{Body, Form, ObjectInTag};
use crate::schema::Schema;
use crate::syntax::json::is_plain;
use crate::syntax::quoting::Alternation;
use crate::syntax::scan::{Delimiters, ws_run};
use crate::syntax::tags::TYPES;
use crate::syntax::tree::UntypedValue;
use crate::syntax::xml::{self, XmlLexeme, XmlLexer};
use recovery::on_in;

#[derive(Debug, Default)]
enum ElementsState {
    /// After the opening tag.
    #[default]
    Start,
    Between,
    /// In a string that is sent as it arrives.
    Live {
        name: String,
        slot: Slot,
    },
    Collect {
        name: String,
        slot: Slot,
        reader: ElementReader,
    },
    Json(ObjectInTag),
    /// In text that is the value of the only field.
    Text(String),
    /// After an error: between elements, or in one of this name.
    On,
    InElement(String),
    Closed,
}

#[derive(Debug, Default)]
pub(crate) struct ElementsBody {
    /// As the opening tag has it.
    name: String,
    form: Form,
    lexer: XmlLexer,
    fields: Fields,
    state: ElementsState,
    /// Fields were read; text that is not a field was read.
    any: bool,
    stray: bool,
    json: bool,
    /// The closing tag has the name in another style.
    styled: bool,
    /// The quotes of text between elements.
    quotes: Alternation,
}

/// The field of a tool whose text may be written without its tags: its only required one, or its only one, if it is a string.
pub(crate) fn lone_text(schema: &Schema) -> Option<&str> {
    let object = schema.node(schema.root).object.as_ref()?;
    let name = match (&object.required[..], object.properties.len()) {
        ([name], _) => name.as_str(),
        ([], 1) => object.properties.at(0).0,
        _ => return None,
    };
    object.properties.get(name).filter(|id| schema.node(**id).is_string()).map(|_| name)
}

impl Body for ElementsBody {
    fn feed(&mut self, input: &mut Input<'_>) -> Progress {
        steps(|| match &mut self.state {
            ElementsState::Start => self.start(input),
            ElementsState::Between => self.between(input),
            ElementsState::Live { .. } => self.live(input),
            ElementsState::Collect { .. } => self.collect(input),
            ElementsState::Json(ObjectInTag::Complete) => self.behind(input),
            ElementsState::Json(object) => object.feed(input),
            ElementsState::Text(_) => self.text(input),
            ElementsState::On | ElementsState::InElement(_) | ElementsState::Closed => Err(Progress::CallEnd),
        })
    }

    fn recover(&mut self, input: &mut Input<'_>) -> Progress {
        self.skip_to_end(input)
    }

    /// Takes text in a string that is passed on.
    #[inline]
    fn feed_plain(&mut self, report: &mut Report, text: &str, _: &Delimiters) -> Option<bool> {
        let ElementsState::Live { slot, .. } = &self.state else { return None };
        if self.lexer.is_inside() || memchr::memchr2(b'<', b'&', text.as_bytes()).is_some() {
            return None;
        }
        let plain = text.bytes().all(is_plain);
        if plain {
            slot.push_plain(report, text)
        } else {
            slot.push(report, text)
        }
        Some(plain)
    }

    fn unterminated(&self) -> bool {
        let json = matches!(self.state, ElementsState::Json(ObjectInTag::Complete));
        !(json || matches!(self.state, ElementsState::Start | ElementsState::Between | ElementsState::Closed))
    }

    /// The call is closed.
    fn finish(&self, _: &Context<'_>, report: &mut Report) {
        if self.json { report.args.release() } else { report.args.close() }
    }
}

impl ElementsBody {
    /// Starts over, and keeps the allocations.
    pub(crate) fn reset(&mut self, name: &str, form: Form) {
        let (mut own, mut fields) = (take(&mut self.name), take(&mut self.fields));
        name.clone_into(&mut own);
        fields.reset(Lists::Elements);
        *self = ElementsBody { name: own, form, fields, ..ElementsBody::default() };
    }

    fn start(&mut self, input: &mut Input<'_>) -> Flow {
        match self.form {
            Form::Line => input.repair(Repair::BareName, "A call must be enclosed in tags with the tool's name.")?,
            Form::Broken => input.repair(Repair::UnclosedTag, "The opening tag of a call must end with >.")?,
            Form::Open => {}
            Form::Empty => return self.close(input),
        }
        self.json = input.next_byte()? == b'{';
        self.state = if self.json { ElementsState::Json(ObjectInTag::new(&input.cx)) } else { ElementsState::Between };
        Ok(())
    }

    fn between(&mut self, input: &mut Input<'_>) -> Flow {
        let behind_line = self.form == Form::Line && self.any;
        if behind_line {
            self.behind_line(input)?;
        }
        if !self.lexer.is_inside() && self.in_quotes(input) {
            if !input.rest().starts_with('<') {
                return self.close_at_end(input);
            }
            return malformed("A call may contain only fields, without quotes around them.");
        }
        if self.lexer.is_between() {
            let begin = input.at;
            input.at = ws_run(input.window, begin);
            if input.at > begin {
                self.quotes = Alternation::START;
            }
            if fast_path::element(input).is_some() {
                self.any = true;
                return Ok(());
            }
        }
        if !behind_line && let Some(()) = self.end_mark(input).decided()? {
            return self.close(input);
        }
        let begin = input.at;
        match self.next(input) {
            XmlLexeme::Need => return self.close_at_end(input),
            XmlLexeme::Ignored => {}
            XmlLexeme::Text(text) if text.trim_ascii().is_empty() => self.quotes.run(text),
            XmlLexeme::Text(_) | XmlLexeme::Cdata(_) | XmlLexeme::Char(_) | XmlLexeme::Stray(_) => {
                self.quotes.run(&input.window[begin..input.at]);
                if !self.any && !self.stray && lone_text(input.cx.schema).is_some() {
                    self.state = ElementsState::Text(input.window[begin..input.at].to_owned());
                } else {
                    self.stray(input)?;
                }
            }
            XmlLexeme::Open { name, attributes, empty } => self.field(input, name, attributes, empty)?,
            XmlLexeme::Close(_) => input.repair(Repair::Markup, "A closing tag has no opening tag.")?,
        }
        Ok(())
    }

    /// Skips text between elements, while a quote is open in it, to its end or to a tag. Returns whether the quote is still open.
    fn in_quotes(&mut self, input: &mut Input<'_>) -> bool {
        while self.quotes.open().is_some() {
            match input.window.as_bytes().get(input.at) {
                None | Some(b'<') => return true,
                Some(byte) => self.quotes.step(*byte),
            }
            input.at += 1;
        }
        false
    }

    /// What is between elements. Where `/>` could end the call, text ends before each slash.
    fn next<'w>(&mut self, input: &mut Input<'w>) -> XmlLexeme<'w> {
        let rest = input.rest();
        let text = !self.lexer.is_inside() && !rest.is_empty() && !rest.starts_with(['<', '&']);
        if self.form != Form::Broken || !text {
            return self.lexer.next(input.window, &mut input.at, input.last, None);
        }
        let behind = &rest.as_bytes()[1..];
        let length = 1 + memchr::memchr3(b'<', b'&', b'/', behind).unwrap_or(behind.len());
        input.at += length;
        XmlLexeme::Text(&rest[..length])
    }

    fn stray(&mut self, input: &mut Input<'_>) -> Flow {
        self.stray = true;
        Ok(input.repair(Repair::Markup, "A call may contain only fields.")?)
    }

    /// The opening tag of a field.
    fn field(&mut self, input: &mut Input<'_>, name: &str, attributes: &str, closed: bool) -> Flow {
        self.any = true;
        self.quotes = Alternation::START;
        self.quotes.run(attributes);
        if self.quotes.open().is_some() {
            self.state = ElementsState::On;
            return malformed("A quote in a tag is not closed.");
        }
        self.quotes = Alternation::START;
        match self.begin(input, name, attributes, closed) {
            Ok(state) => self.state = state,
            Err(bad) => {
                self.state = if closed { ElementsState::On } else { on_in(input.cx.schema, name) };
                return Err(bad.into());
            }
        }
        Ok(())
    }

    fn begin(
        &mut self,
        input: &mut Input<'_>,
        name: &str,
        attributes: &str,
        closed: bool,
    ) -> Result<ElementsState, ReadError> {
        let cx = input.cx;
        let mut slot = self.fields.open(&cx, input.report, name, false)?;
        let node = cx.schema.node(slot.node());
        let scalar = !node.is_unknown() && !node.takes_container();
        if scalar && !attributes.trim_ascii().is_empty() {
            // An attribute can be ignored only if it says what the schema says.
            if xml::attributes(attributes).any(|(name, ..)| !TYPES.contains(&name)) {
                let message = format!("A field must not have attributes. Write: {}", cx.writer.example(&cx));
                return Err((ErrorKind::MalformedCall, message));
            }
            input.repair(Repair::Markup, "A field must not have attributes.")?;
        }
        if slot.is_string(&cx) {
            slot.start(&cx, input.report)?;
            if !closed {
                return Ok(ElementsState::Live { name: name.to_owned(), slot });
            }
            slot.end(input.report)?;
            return Ok(ElementsState::Between);
        }
        let mut reader = ElementReader::element(cx.schema, name, slot.node(), (&self.name, cx.schema.root));
        if !scalar {
            let mut refused = None;
            let faults = &mut |fault, _: usize| allows(input, fault, &mut refused);
            let mut rules = Rules { schema: cx.schema, depth: cx.limits.depth, faults };
            let read = reader.attributes(&mut rules, attributes, 0);
            read.map_err(|_| refused.unwrap_or((ErrorKind::MalformedCall, String::new())))?;
        }
        if closed {
            let tree = reader.take(cx.schema);
            self.fields.close(&cx, input.report, slot, tree)?;
            return Ok(ElementsState::Between);
        }
        Ok(ElementsState::Collect { name: name.to_owned(), slot, reader })
    }

    fn live(&mut self, input: &mut Input<'_>) -> Flow {
        let ElementsState::Live { name, slot } = &self.state else { return Ok(()) };
        loop {
            match self.lexer.next(input.window, &mut input.at, input.last, Some(name)) {
                XmlLexeme::Need => return Err(Progress::Incomplete),
                XmlLexeme::Text(text) | XmlLexeme::Cdata(text) | XmlLexeme::Stray(text) => {
                    slot.push(input.report, text)
                }
                XmlLexeme::Char(c) => slot.push(input.report, c.encode_utf8(&mut [0; 4])),
                XmlLexeme::Open { .. } | XmlLexeme::Close(_) | XmlLexeme::Ignored => break,
            }
        }
        if let ElementsState::Live { slot, .. } = std::mem::replace(&mut self.state, ElementsState::On) {
            slot.end(input.report)?;
        }
        self.state = ElementsState::Between;
        Ok(())
    }

    fn collect(&mut self, input: &mut Input<'_>) -> Flow {
        let ElementsState::Collect { reader, .. } = &mut self.state else { return Ok(()) };
        let mut refused = None;
        let (schema, depth, window, last, mut at) =
            (input.cx.schema, input.cx.limits.depth, input.window, input.last, input.at);
        let faults = &mut |fault, _: usize| allows(input, fault, &mut refused);
        let outcome = reader.feed(&mut Rules { schema, depth, faults }, window, &mut at, last);
        input.at = at;
        let tree = outcome.map_err(|halt| match halt {
            Halt::Incomplete => Progress::Incomplete,
            Halt::TooDeep => (ErrorKind::TooDeep, messages::too_deep(input.cx.limits)).into(),
            Halt::RejectedText => refused.unwrap_or((ErrorKind::MalformedCall, String::new())).into(),
        })?;
        if let ElementsState::Collect { slot, .. } = std::mem::replace(&mut self.state, ElementsState::On) {
            self.fields.close(&input.cx, input.report, slot, tree)?;
        }
        self.state = ElementsState::Between;
        Ok(())
    }

    fn text(&mut self, input: &mut Input<'_>) -> Flow {
        let Some(key) = lone_text(input.cx.schema) else { return Ok(()) };
        let begin = input.at;
        let closed = self.end_mark(input).decided()?.is_some();
        let lexeme = if closed { XmlLexeme::Close("") } else { self.next(input) };
        let ElementsState::Text(source) = &mut self.state else { return Ok(()) };
        match lexeme {
            XmlLexeme::Need => return Err(Progress::Incomplete),
            XmlLexeme::Open { name, attributes, empty } if name == key => {
                self.stray(input)?;
                self.field(input, name, attributes, empty)?;
            }
            XmlLexeme::Close(_) if closed => {
                let text = content(source).trim_ascii().to_owned();
                self.state = ElementsState::Closed;
                input.repair(Repair::BareText, format!("The text must be in <{key}> tags."))?;
                let slot = self.fields.open(&input.cx, input.report, key, true)?;
                self.fields.close(&input.cx, input.report, slot, UntypedValue::Scalar { text, quoted: true })?;
                return self.close(input);
            }
            _ => source.push_str(&input.window[begin..input.at]),
        }
        Ok(())
    }
}

fn malformed(message: &str) -> Flow {
    Err((ErrorKind::MalformedCall, message.to_owned()).into())
}

/// Whether a fault is repairable in the current mode.
fn allows(input: &mut Input<'_>, fault: Fault, refused: &mut Option<ReadError>) -> bool {
    if let Fault::Markup(what) = fault {
        *refused = input.repair(Repair::Markup, what).err();
    }
    refused.is_none()
}
