//! Recovery in a call that has failed: up to its closing tag, outside of the content of fields.

use super::{ElementsBody, ElementsState};
use crate::arguments::elements::member;
use crate::arguments::{Flow, Input, Progress, steps};
use crate::formats::body::ObjectInTag;
use crate::schema::Schema;
use crate::syntax::quoting::Alternation;
use crate::syntax::recovery::Recovery;
use crate::syntax::xml::XmlLexeme;

impl ElementsBody {
    pub(super) fn skip_to_end(&mut self, input: &mut Input<'_>) -> Progress {
        steps(|| self.skip(input))
    }

    fn skip(&mut self, input: &mut Input<'_>) -> Flow {
        match &mut self.state {
            ElementsState::Start => {
                let json = input.next_byte()? == b'{';
                self.state = if json {
                    ElementsState::Json(ObjectInTag::Failed(Recovery::ValueStart))
                } else {
                    ElementsState::On
                };
            }
            ElementsState::Between | ElementsState::Text(_) => self.state = ElementsState::On,
            ElementsState::Live { name, .. } => self.state = ElementsState::InElement(std::mem::take(name)),
            ElementsState::Collect { name, reader, .. } => {
                self.lexer = reader.lexer();
                self.state = on_in(input.cx.schema, name);
            }
            ElementsState::Json(object) => return Err(object.recover(input, &self.name, self.form)),
            ElementsState::Closed => return Err(Progress::CallEnd),
            ElementsState::On => {
                self.end_quotes(input);
                if let Some(()) = self.end_mark(input).decided()? {
                    return Err(Progress::CallEnd);
                }
                if self.quotes.open().is_some() {
                    return Err(Progress::Incomplete);
                }
                let begin = input.at;
                match self.next(input) {
                    XmlLexeme::Need => return Err(Progress::Incomplete),
                    XmlLexeme::Open { name, attributes, empty } => {
                        self.quotes = Alternation::START;
                        self.quotes.run(attributes);
                        if !empty && self.quotes.open().is_none() {
                            self.state = on_in(input.cx.schema, name);
                        }
                    }
                    XmlLexeme::Close(_) => self.quotes = Alternation::START,
                    XmlLexeme::Ignored => {}
                    XmlLexeme::Text(_) | XmlLexeme::Char(_) | XmlLexeme::Stray(_) | XmlLexeme::Cdata(_) => {
                        self.quotes.run(&input.window[begin..input.at]);
                    }
                }
            }
            ElementsState::InElement(name) => {
                match self.lexer.next(input.window, &mut input.at, input.last, Some(name)) {
                    XmlLexeme::Need => return Err(Progress::Incomplete),
                    XmlLexeme::Close(_) => self.state = ElementsState::On,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Skips text between elements while a quote is open in it.
    fn end_quotes(&mut self, input: &mut Input<'_>) {
        while self.quotes.open().is_some()
            && let Some(byte) = input.window.as_bytes().get(input.at)
        {
            self.quotes.step(*byte);
            input.at += 1;
        }
    }
}

/// Recovery in an element of this name: one that can only contain a number or the like needs no closing tag.
pub(super) fn on_in(schema: &Schema, name: &str) -> ElementsState {
    let node = schema.node(member(schema, schema.root, name));
    let bare = !node.is_unknown() && !node.takes_string() && !node.takes_container();
    if bare { ElementsState::On } else { ElementsState::InElement(name.to_owned()) }
}
