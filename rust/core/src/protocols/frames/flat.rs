//! The frame of most native formats: calls in the content of a message, each between markers. Each format is a row of data.

use crate::arguments::{CallWriter, Context};
use crate::protocols::bodies::{envelope, params, shared};
use crate::protocols::body::{Body, Opening};
use crate::protocols::named_tags;
use crate::protocols::protocol::{
    Attempt, CallResult, Examples, Facts, LISTED, Prompt, Protocol, ResultForm, Settings, is_result_tag,
};
use crate::schema::Schema;
use crate::syntax::json::Member;
use crate::syntax::misspelled::Spellings;
use crate::syntax::scan::{Candidates, Delimiters, Scan};
use crate::syntax::tags;
use crate::tools::{Tool, Tools};

/// A native format.
#[derive(Debug)]
pub struct Family {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// What opens and closes a call, unless the host chooses.
    pub open: &'static str,
    pub close: &'static str,
    /// Why the host cannot choose, if it cannot.
    pub fixed: Option<&'static str>,
    pub body: FamilyBody,
    pub results: ResultForm,
}

/// What is between the markers.
#[derive(Debug)]
pub enum FamilyBody {
    /// One JSON object with the tool's name and its arguments, or a list of them.
    Envelope {
        spellings: Spellings,
        /// A message with calls contains nothing but calls.
        alone: bool,
    },
    /// A function with parameters, as raw text in tags.
    Params(&'static tags::Row),
}

/// The protocol of a family.
#[derive(Debug)]
pub struct Flat(pub &'static Family);

impl CallWriter for Flat {
    fn write_call(&self, cx: &Context<'_>, arguments: &[Member<'_>], out: &mut String) {
        match &self.0.body {
            FamilyBody::Envelope { .. } => envelope::format::write_call(cx, arguments, out),
            FamilyBody::Params(row) => params::format::write_call(row, cx, arguments, out),
        }
    }

    fn field_example(&self, field: &str, value: &str) -> String {
        match &self.0.body {
            FamilyBody::Envelope { .. } => envelope::format::field_example(field, value),
            FamilyBody::Params(row) => params::format::field_example(row, field, value),
        }
    }
}

impl Protocol for Flat {
    fn facts(&self) -> Facts {
        let encoding = match &self.0.body {
            FamilyBody::Envelope { .. } => "json",
            FamilyBody::Params(_) => "parameters",
        };
        Facts { fixed: self.0.fixed, ..Facts::new(self.0.open, self.0.close, encoding) }
    }

    fn delimiters(&self, open: &str, close: &str) -> Result<Delimiters, String> {
        envelope::format::delimiters(open, close)
    }

    fn candidates(&self, delimiters: &Delimiters) -> Candidates {
        match &self.0.body {
            FamilyBody::Envelope { .. } => {
                Candidates::none().with_text(&delimiters.open).with_text(self.0.open).with(b'<', *b"tT/")
            }
            FamilyBody::Params(_) => Candidates::none().with_byte(b'<'),
        }
    }

    fn bad_name(&self, name: &str, _: &Delimiters) -> Option<&'static str> {
        match &self.0.body {
            FamilyBody::Envelope { .. } => envelope::format::bad_name(name),
            FamilyBody::Params(_) => params::format::bad_name(name),
        }
    }

    fn complexity(&self, schema: &Schema) -> Option<&'static str> {
        match &self.0.body {
            FamilyBody::Envelope { .. } => None,
            FamilyBody::Params(_) => schema.complexity(),
        }
    }

    fn attempt(&self, tools: &Tools, settings: &Settings, text: &str, last: bool) -> Attempt {
        match &self.0.body {
            FamilyBody::Envelope { spellings, .. } => {
                // Only the usual delimiters have known misspellings.
                let spellings = (settings.delimiters.open == self.0.open).then_some(spellings);
                envelope::format::attempt((tools, settings), spellings, text, last)
            }
            FamilyBody::Params(row) => params::format::attempt(row, (tools, settings), text, last),
        }
    }

    fn ends_reasoning(&self, text: &str) -> Scan {
        match &self.0.body {
            FamilyBody::Envelope { .. } => Scan::NoMatch,
            FamilyBody::Params(row) => row.ends_reasoning(text, false),
        }
    }

    fn body(&self, cx: &Context<'_>, opening: Opening, name: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        shared(cx, opening, name, recycled)
    }

    fn wrap_result(&self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
        self.0.results.write(prompt, result)
    }

    fn is_mark(&self, tools: &Tools, settings: &Settings, text: &str) -> bool {
        is_result_tag(text)
            || match &self.0.body {
                FamilyBody::Envelope { spellings, .. } => {
                    let open = settings.delimiters.open.as_str();
                    // Nothing can be removed from a single character, so the backslash follows it.
                    let opens = |rest: &str| open.chars().nth(1).is_some() || !rest.starts_with('\\');
                    text.strip_prefix(open).is_some_and(opens) || (self.0.open == open && spellings.open(text))
                }
                FamilyBody::Params(row) => params::format::is_mark(row, tools, text),
            }
    }

    fn header(&self, prompt: &Prompt<'_>, examples: &Examples<'_>) -> String {
        match &self.0.body {
            FamilyBody::Envelope { alone, .. } => envelope::format::header(self, *alone, examples),
            FamilyBody::Params(_) => params::format::header(self, prompt, examples),
        }
    }

    fn signature(&self, prompt: &Prompt<'_>, tool: &Tool) -> String {
        match &self.0.body {
            FamilyBody::Envelope { .. } => envelope::format::signature(prompt, tool),
            FamilyBody::Params(_) => named_tags::signature(self, prompt, tool),
        }
    }

    fn rules(&self, _: &Tools) -> (String, &'static str) {
        match &self.0.body {
            FamilyBody::Envelope { .. } => (format!("{} ", envelope::format::RULES), envelope::format::LISTED),
            FamilyBody::Params(_) => (String::new(), LISTED),
        }
    }
}
