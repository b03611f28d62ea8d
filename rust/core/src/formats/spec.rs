//! The row of a format: its names, the models that write it, and the marks of their chat templates.

use std::sync::Arc;

use super::protocol::Protocol;

/// Models that write their calls in one format.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Models {
    /// Names in lower case, separated by spaces, with `-` between words. `*` is any number of sizes, dates, quantisations and the
    /// like; they may also follow the name. Of several patterns that match, the longest one decides.
    pub patterns: &'static str,
    /// Where the format of these models is documented.
    pub source: &'static str,
    /// Words: one of them is in the name of each chat model, and none in those of base models.
    pub chat: &'static str,
}

impl Models {
    pub(crate) const fn of(patterns: &'static str, source: &'static str) -> Self {
        Models { patterns, source, chat: "" }
    }

    pub(crate) const fn chat(self, chat: &'static str) -> Self {
        Models { chat, ..self }
    }
}

/// What is in the chat templates of one format. A template is read without comments, with strings in single quotes and one space
/// between words of code.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TemplateMarks {
    /// Groups of texts. Every text of every group must be in the template.
    pub has: &'static [&'static [&'static str]],
    /// Texts that must not be in the template.
    pub lacks: &'static [&'static str],
    /// Texts that are all shortly after one `add_generation_prompt`: how the prompt ends.
    pub prompt: &'static [&'static str],
    /// A text that must not be near that `add_generation_prompt`.
    pub prompt_lacks: &'static str,
}

impl TemplateMarks {
    pub(crate) const fn of(has: &'static [&'static [&'static str]]) -> Self {
        TemplateMarks { has, lacks: &[], prompt: &[], prompt_lacks: "" }
    }

    pub(crate) const fn lacks(self, lacks: &'static [&'static str]) -> Self {
        TemplateMarks { lacks, ..self }
    }

    pub(crate) const fn prompt(self, prompt: &'static [&'static str]) -> Self {
        TemplateMarks { prompt, ..self }
    }

    pub(crate) const fn prompt_lacks(self, prompt_lacks: &'static str) -> Self {
        TemplateMarks { prompt_lacks, ..self }
    }
}

/// A format of the registry.
#[derive(Debug)]
pub(crate) struct Row {
    pub name: &'static str,
    /// Other names of the same.
    pub aliases: &'static [&'static str],
    /// A model is missing if its documentation does not say clearly what it writes.
    pub models: &'static [Models],
    pub chat_templates: &'static [TemplateMarks],
    /// The same for the response templates of Hugging Face: one line for each text or pattern, after what it is for (anchor, open,
    /// close, content, tag, transform). Patterns are without escapes and optional whitespace.
    pub response_templates: &'static [TemplateMarks],
    pub make: fn() -> Arc<dyn Protocol>,
    /// Makes formats that its models also write, in other spellings. They are read, as repairs.
    pub also: &'static [fn() -> Arc<dyn Protocol>],
    /// Makes the protocol for prompting, where the application may choose the markers.
    pub taught: fn() -> Arc<dyn Protocol>,
}

impl Row {
    pub(crate) const fn new(name: &'static str, make: fn() -> Arc<dyn Protocol>) -> Self {
        Row {
            name,
            aliases: &[],
            models: &[],
            chat_templates: &[],
            response_templates: &[],
            make,
            also: &[],
            taught: make,
        }
    }

    /// Whether a name is one of this format.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}
