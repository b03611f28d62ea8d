//! Keys and their values: sent as they come, or built up and typed.

use super::typed::resolve;
use super::{Mapping, MappingState, NO_MAPPING};
use crate::arguments::{Bad, Flow, Io, Slot};
use crate::error::Repair;
use crate::syntax::tree::UntypedValue;
use crate::syntax::yaml::{Pair, TreeBuilder, YamlLexeme, json_of};

impl Mapping {
    /// Lines that need no lexer, as far as they go.
    pub(super) fn lines(&mut self, io: &mut Io<'_>) -> Flow {
        while let Some(Pair { key, value, quoted }) =
            self.lexer.pair(io.window, &mut io.at, &self.tag.around(&io.cx, true))
        {
            (self.column, self.inline) = (Some(0), false);
            (self.mark, self.watched) = (false, false);
            let mut slot = self.fields.open(&io.cx, io.found, key, false)?;
            if slot.is_string(&io.cx) {
                slot.start(&io.cx, io.found)?;
                slot.push(io.found, value);
                slot.end(io.found)?;
            } else {
                self.put(io, slot, UntypedValue::Scalar { text: value.to_owned(), quoted })?;
            }
        }
        self.lexeme(io)
    }

    /// Whether it is a key of the mapping, not of a value in it.
    pub(super) fn is_key(&self, line: usize, column: usize) -> bool {
        matches!(self.state, MappingState::Between | MappingState::Whole(_))
            || self.column.is_none_or(|own| column <= own || (self.inline && line == 0))
    }

    pub(super) fn key(
        &mut self,
        io: &mut Io<'_>,
        text: &str,
        quoted: bool,
        line: usize,
        column: usize,
    ) -> Result<(), Bad> {
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
            Some(_) => return Err(self.malformed(&io.cx, "the keys of a call must begin in the same column")),
        }
        self.lexer.base = column;
        (self.mark, self.watched) = (false, false);
        let slot = self.fields.open(&io.cx, io.found, text, quoted)?;
        let node = io.cx.schema.node(slot.node());
        if node.takes_string() && !node.takes_container() {
            self.lexer.expect_text();
        }
        self.state = MappingState::Value(slot);
        Ok(())
    }

    /// A part of a value.
    pub(super) fn part(&mut self, io: &mut Io<'_>, lexeme: YamlLexeme<'_>, column: usize) -> Result<(), Bad> {
        if let YamlLexeme::Start { quoted } = lexeme {
            self.watched = !quoted || self.lexer.in_block();
        }
        let base = self.column.map_or(-1, |column| column as isize);
        match std::mem::replace(&mut self.state, MappingState::On) {
            MappingState::Value(mut slot) => {
                if matches!(lexeme, YamlLexeme::Start { .. }) && slot.is_string(&io.cx) && column as isize > base {
                    slot.start(&io.cx, io.found)?;
                    self.state = MappingState::Live(slot);
                    return Ok(());
                }
                let builder = Box::new(TreeBuilder::new(io.cx.limits.depth.saturating_sub(1), base));
                self.state = MappingState::Build { slot, builder, verbatim: false };
            }
            MappingState::Between if self.column.is_none() => {
                self.state = MappingState::Whole(Box::new(TreeBuilder::new(io.cx.limits.depth, base)));
            }
            MappingState::Between => return Err(self.malformed(&io.cx, NO_MAPPING)),
            state => self.state = state,
        }
        match &mut self.state {
            MappingState::Build { builder, .. } | MappingState::Whole(builder) => builder.lexeme(lexeme, column),
            _ => Ok(()),
        }
        .map_err(|fault| self.fault(&io.cx, &fault))
    }

    /// The value that is open is complete.
    pub(super) fn end_value(&mut self, io: &mut Io<'_>) -> Result<(), Bad> {
        match std::mem::replace(&mut self.state, MappingState::Between) {
            MappingState::Value(mut slot) if slot.is_string(&io.cx) => {
                let key = slot.path();
                io.repair(Repair::EmptyValue, format!("{key} has no value; write empty text as \"\"."))?;
                slot.start(&io.cx, io.found)?;
                slot.end(io.found)
            }
            MappingState::Value(slot) => {
                self.put(io, slot, UntypedValue::Scalar { text: String::new(), quoted: false })
            }
            MappingState::Build { slot, builder, verbatim } => {
                let mut tree = builder.finish().map_err(|fault| self.fault(&io.cx, &fault))?;
                if let UntypedValue::Scalar { quoted, .. } = &mut tree {
                    *quoted |= verbatim;
                }
                self.put(io, slot, tree)
            }
            MappingState::Whole(builder) => {
                let members = match builder.finish().map_err(|fault| self.fault(&io.cx, &fault))? {
                    UntypedValue::Map(members) => members,
                    UntypedValue::Scalar { text, quoted: false } if json_of(&text).as_deref() == Some("null") => {
                        Vec::new()
                    }
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

    fn put(&mut self, io: &mut Io<'_>, slot: Slot, mut tree: UntypedValue) -> Result<(), Bad> {
        resolve(io.cx.schema, slot.node(), &mut tree);
        self.fields.close(&io.cx, io.found, slot, tree)
    }
}
