//! The keys of a mapping and their values. Strings are sent as they arrive; other values are collected, then typed.

use super::typed::resolve;
use super::{Mapping, MappingState, NO_MAPPING};
use crate::arguments::{Flow, Input, ReadError, Slot};
use crate::error::Repair;
use crate::syntax::tree::UntypedValue;
use crate::syntax::yaml::{Pair, TreeBuilder, YamlLexeme, json_of};

impl Mapping {
    /// Lines that need no lexer, as far as they go.
    pub(super) fn lines(&mut self, input: &mut Input<'_>) -> Flow {
        while let Some(Pair { key, value, quoted }) =
            self.lexer.pair(input.window, &mut input.at, &self.tag.around(&input.cx, true))
        {
            (self.column, self.inline) = (Some(0), false);
            (self.mark, self.watched) = (false, false);
            let mut slot = self.fields.open(&input.cx, input.report, key, false)?;
            if slot.is_string(&input.cx) {
                slot.start(&input.cx, input.report)?;
                slot.push(input.report, value);
                slot.end(input.report)?;
            } else {
                self.put(input, slot, UntypedValue::Scalar { text: value.to_owned(), quoted })?;
            }
        }
        self.lexeme(input)
    }

    /// Whether it is a key of the mapping, not of a value in it.
    pub(super) fn is_key(&self, line: usize, column: usize) -> bool {
        matches!(self.state, MappingState::Between | MappingState::Whole(_))
            || self.column.is_none_or(|own| column <= own || (self.inline && line == 0))
    }

    pub(super) fn key(
        &mut self,
        input: &mut Input<'_>,
        text: &str,
        quoted: bool,
        line: usize,
        column: usize,
    ) -> Result<(), ReadError> {
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
            Some(_) => return Err(self.malformed(&input.cx, "the keys of a call must begin in the same column")),
        }
        self.lexer.base = column;
        (self.mark, self.watched) = (false, false);
        let slot = self.fields.open(&input.cx, input.report, text, quoted)?;
        let node = input.cx.schema.node(slot.node());
        if node.takes_string() && !node.takes_container() {
            self.lexer.text = true;
        }
        self.state = MappingState::Value(slot);
        Ok(())
    }

    /// A part of a value.
    pub(super) fn part(
        &mut self,
        input: &mut Input<'_>,
        lexeme: YamlLexeme<'_>,
        column: usize,
    ) -> Result<(), ReadError> {
        if let YamlLexeme::Start { quoted } = lexeme {
            self.watched = !quoted || self.lexer.in_block();
        }
        let base = self.column.map_or(-1, |column| column as isize);
        match std::mem::replace(&mut self.state, MappingState::On) {
            MappingState::Value(mut slot) => {
                if matches!(lexeme, YamlLexeme::Start { .. }) && slot.is_string(&input.cx) && column as isize > base {
                    slot.start(&input.cx, input.report)?;
                    self.state = MappingState::Live(slot);
                    return Ok(());
                }
                let builder = Box::new(TreeBuilder::new(input.cx.limits.depth.saturating_sub(1), base));
                self.state = MappingState::Build { slot, builder, verbatim: false };
            }
            MappingState::Between if self.column.is_none() => {
                self.state = MappingState::Whole(Box::new(TreeBuilder::new(input.cx.limits.depth, base)));
            }
            MappingState::Between => return Err(self.malformed(&input.cx, NO_MAPPING)),
            state => self.state = state,
        }
        match &mut self.state {
            MappingState::Build { builder, .. } | MappingState::Whole(builder) => builder.lexeme(lexeme, column),
            _ => Ok(()),
        }
        .map_err(|fault| self.fault(&input.cx, &fault))
    }

    /// The value that is open is complete.
    pub(super) fn end_value(&mut self, input: &mut Input<'_>) -> Result<(), ReadError> {
        match std::mem::replace(&mut self.state, MappingState::Between) {
            MappingState::Value(mut slot) if slot.is_string(&input.cx) => {
                let key = slot.path();
                input.repair(Repair::EmptyValue, format!("{key} has no value; write empty text as \"\"."))?;
                slot.start(&input.cx, input.report)?;
                slot.end(input.report)
            }
            MappingState::Value(slot) => {
                self.put(input, slot, UntypedValue::Scalar { text: String::new(), quoted: false })
            }
            MappingState::Build { slot, builder, verbatim } => {
                let mut tree = builder.finish().map_err(|fault| self.fault(&input.cx, &fault))?;
                if let UntypedValue::Scalar { quoted, .. } = &mut tree {
                    *quoted |= verbatim;
                }
                self.put(input, slot, tree)
            }
            MappingState::Whole(builder) => {
                let members = match builder.finish().map_err(|fault| self.fault(&input.cx, &fault))? {
                    UntypedValue::Map(members) => members,
                    UntypedValue::Scalar { text, quoted: false } if json_of(&text).as_deref() == Some("null") => {
                        Vec::new()
                    }
                    _ => return Err(self.malformed(&input.cx, NO_MAPPING)),
                };
                for (key, tree) in members {
                    let slot = self.fields.open(&input.cx, input.report, &key, false)?;
                    self.put(input, slot, tree)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn put(&mut self, input: &mut Input<'_>, slot: Slot, mut tree: UntypedValue) -> Result<(), ReadError> {
        resolve(input.cx.schema, slot.node(), &mut tree);
        self.fields.close(&input.cx, input.report, slot, tree)
    }
}
