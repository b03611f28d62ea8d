//! Recovery in a call that has failed: up to its closing tag, outside of the content of fields.

use super::{Elements, ElementsState};
use crate::arguments::elements::member;
use crate::arguments::{Flow, Io, Step, steps};
use crate::protocols::bodies::object_in_tag::ObjectInTag;
use crate::schema::Schema;
use crate::syntax::quoting::Alternation;
use crate::syntax::recovery::Skip;
use crate::syntax::xml::XmlLexeme;

impl Elements {
    pub(super) fn skip_to_end(&mut self, io: &mut Io<'_>) -> Step {
        steps(|| self.skip(io))
    }

    fn skip(&mut self, io: &mut Io<'_>) -> Flow {
        match &mut self.state {
            ElementsState::Start => {
                let json = io.next_byte()? == b'{';
                self.state =
                    if json { ElementsState::Json(ObjectInTag::Failed(Skip::ValueStart)) } else { ElementsState::On };
            }
            ElementsState::Between | ElementsState::Text(_) => self.state = ElementsState::On,
            ElementsState::Live { name, .. } => self.state = ElementsState::InElement(std::mem::take(name)),
            ElementsState::Collect { name, reader, .. } => {
                self.lexer = reader.lexer();
                self.state = on_in(io.cx.schema, name);
            }
            ElementsState::Json(object) => return Err(object.recover(io, &self.name, self.form)),
            ElementsState::Closed => return Err(Step::Done),
            ElementsState::On => {
                self.end_quotes(io);
                if let Some(()) = self.end_mark(io).decided()? {
                    return Err(Step::Done);
                }
                if self.quotes.open().is_some() {
                    return Err(Step::Need);
                }
                let begin = io.at;
                match self.next(io) {
                    XmlLexeme::Need => return Err(Step::Need),
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
            ElementsState::InElement(name) => match self.lexer.next(io.window, &mut io.at, io.last, Some(name)) {
                XmlLexeme::Need => return Err(Step::Need),
                XmlLexeme::Close(_) => self.state = ElementsState::On,
                _ => {}
            },
        }
        Ok(())
    }

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

/// Recovery in an element of this name: one that can only contain a number or the like needs no closing tag.
pub(super) fn on_in(schema: &Schema, name: &str) -> ElementsState {
    let node = schema.node(member(schema, schema.root, name));
    let bare = !node.is_unknown() && !node.takes_string() && !node.takes_container();
    if bare { ElementsState::On } else { ElementsState::InElement(name.to_owned()) }
}
