//! Reading on in a call that has failed: up to its closing tag, to which no field's content belongs.

use super::{Elements, State};
use crate::arguments::elements::member;
use crate::arguments::{Io, Step};
use crate::protocols::body::Form;
use crate::schema::Schema;
use crate::syntax::quoting::Alternation;
use crate::syntax::recovery::Skip;
use crate::syntax::scan::{Closer, Scan, ws_run};
use crate::syntax::xml::XmlLexeme;

impl Elements {
    pub(super) fn skip_to_end(&mut self, io: &mut Io<'_>) -> Step {
        loop {
            match &mut self.state {
                State::Start => {
                    io.at = ws_run(io.window, io.at);
                    self.state = match io.rest().as_bytes().first() {
                        None => return Step::Need,
                        Some(b'{') => State::InJson(Skip::ValueStart),
                        Some(_) => State::On,
                    };
                }
                State::Between | State::Text(_) => self.state = State::On,
                State::Live { name, .. } => self.state = State::InElement(std::mem::take(name)),
                State::Collect { name, reader, .. } => {
                    self.lexer = reader.lexer();
                    self.state = on_in(io.cx.schema, name);
                }
                State::Json(object) => self.state = State::InJson(object.skip()),
                State::Behind => self.state = State::InJson(Skip::After),
                State::Closed => return Step::Done,
                State::On => {
                    self.end_quotes(io);
                    match self.end_mark(io) {
                        Scan::Match(()) => return Step::Done,
                        Scan::Incomplete => return Step::Need,
                        Scan::NoMatch => {}
                    }
                    if self.quotes.open().is_some() {
                        return Step::Need;
                    }
                    let begin = io.at;
                    match self.next(io) {
                        XmlLexeme::Need => return Step::Need,
                        XmlLexeme::Open { name, attributes, empty } => {
                            self.quotes = Alternation::START;
                            self.quotes.run(attributes);
                            if !empty && self.quotes.open().is_none() {
                                self.state = on_in(io.cx.schema, name);
                            }
                        }
                        XmlLexeme::Close(_) => self.quotes = Alternation::START,
                        XmlLexeme::Ignored => {}
                        XmlLexeme::Text(_) | XmlLexeme::Char(_) | XmlLexeme::Stray(_) | XmlLexeme::Cdata(_) => {
                            self.quotes.run(&io.window[begin..io.at]);
                        }
                    }
                }
                State::InElement(name) => match self.lexer.next(io.window, &mut io.at, io.last, Some(name)) {
                    XmlLexeme::Need => return Step::Need,
                    XmlLexeme::Close(_) => self.state = State::On,
                    _ => {}
                },
                State::InJson(skip) => {
                    let slash = self.form == Form::Broken;
                    let close = if slash { "/>".to_owned() } else { format!("</{}>", self.name) };
                    let closed = skip.read(io.window, &mut io.at, io.last, &Closer::Text(&close));
                    io.at += closed.unwrap_or(0);
                    return if closed.is_some() { Step::Done } else { Step::Need };
                }
            }
        }
    }
}

impl Elements {
    /// Skips text between elements while a quote is open in it.
    fn end_quotes(&mut self, io: &mut Io<'_>) {
        while self.quotes.open().is_some()
            && let Some(byte) = io.window.as_bytes().get(io.at)
        {
            self.quotes.step(*byte);
            io.at += 1;
        }
    }
}

/// Reading on in an element of this name: what has no content but a number or the like needs no closing tag.
pub(super) fn on_in(schema: &Schema, name: &str) -> State {
    let node = schema.node(member(schema, schema.root, name));
    let bare = !node.is_unknown() && !node.takes_string() && !node.takes_container();
    if bare { State::On } else { State::InElement(name.to_owned()) }
}
