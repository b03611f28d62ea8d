//! The tags around a mapping: what ends it.

use crate::arguments::{Context, is_field};
use crate::formats::body::Form;
use crate::formats::named_tags::{closer, opener};
use crate::schema::Schema;
use crate::syntax::scan::{Scan, starts};
use crate::syntax::yaml::Surroundings;

/// The opening tag.
#[derive(Debug, Default)]
pub(super) struct OpeningTag {
    pub name: String,
    pub form: Form,
}

/// What ends the mapping.
pub(super) struct MappingEnd<'a> {
    name: &'a str,
    declared: &'a str,
    form: Form,
    schema: &'a Schema,
    /// Another call of the tool ends this one.
    opens: bool,
}

impl OpeningTag {
    pub(super) fn around<'a>(&'a self, cx: &Context<'a>, opens: bool) -> MappingEnd<'a> {
        MappingEnd { name: &self.name, declared: cx.tool, form: self.form, schema: cx.schema, opens }
    }
}

impl MappingEnd<'_> {
    /// The length of the closing tag at the beginning of `rest`.
    pub(super) fn closer(&self, rest: &str, line: bool, last: bool) -> Scan<usize> {
        if !rest.starts_with('<') {
            let broken = self.form == Form::Broken && line;
            return if broken { starts(rest, "/>", last).map(|()| 2) } else { Scan::NoMatch };
        }
        // As it is most often.
        if rest[1..]
            .strip_prefix('/')
            .and_then(|rest| rest.strip_prefix(self.name))
            .is_some_and(|rest| rest.starts_with('>'))
        {
            return Scan::Match(self.name.len() + 3);
        }
        match closer(rest, self.name, last) {
            Scan::NoMatch if self.name != self.declared => closer(rest, self.declared, last),
            found => found,
        }
    }

    /// The length of the closing tag that the lexer has found here.
    pub(super) fn close_length(&self, rest: &str) -> usize {
        if let Scan::Match(length) = self.closer(rest, true, true) { length } else { 0 }
    }
}

impl Surroundings for MappingEnd<'_> {
    fn close(&self, rest: &str, line: bool, last: bool) -> Scan {
        self.closer(rest, line, last).void()
    }

    fn open(&self, rest: &str, last: bool) -> Scan {
        if !self.opens || !rest.starts_with('<') {
            return Scan::NoMatch;
        }
        opener(rest, last).filter(|tag| rest[tag.name.clone()] == *self.name).void()
    }

    fn is_key(&self, word: &str) -> bool {
        is_field(self.schema, word)
    }
}
