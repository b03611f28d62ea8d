//! Calls whose arguments are raw text in tags: `<function=name><parameter=key>value</parameter></function>`.
//!
//! A [`ElementRow`] describes one such format. Its tags are also read in other forms that models write.

mod attributes;
mod openings;
mod text;
mod words;

pub(crate) use attributes::{Attribute, TYPES, after_equals, attribute, named_tag, word_end};
pub(crate) use openings::{CallTag, OpenTag, OpenerAttributes, Parameter, is_name, own_tag};
pub(crate) use text::{is_mark, push_name};
pub(crate) use words::{begins, closes, is_markup, names_near, one_of, tag};

/// A tag that contains a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TagForm {
    /// The word of the tag, then the words that models write instead.
    pub words: &'static [&'static str],
    /// The usual form: what precedes the name, and what follows it.
    pub open: &'static str,
    pub end: &'static str,
}

/// A format whose arguments are raw text in tags.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ElementRow {
    /// The tag around calls: its word, and how it is opened and closed in the usual form.
    pub block: &'static str,
    pub block_open: &'static str,
    pub block_close: &'static str,
    pub call: TagForm,
    pub call_close: &'static str,
    pub parameter: TagForm,
    pub parameter_close: &'static str,
    /// One line break at each side of a value belongs to its tags. Otherwise values are verbatim.
    pub line_breaks: bool,
    /// `True`, `False` and `None` count as JSON literals, without a repair.
    pub python: bool,
}

/// The format of Qwen3-Coder, and of Qwen 3.5 and newer.
pub(crate) static QWEN3CODER: ElementRow = ElementRow {
    block: "tool_call",
    block_open: "<tool_call>",
    block_close: "</tool_call>",
    call: TagForm { words: &["function", "call", "tool", "invoke"], open: "<function=", end: ">" },
    call_close: "</function>",
    parameter: TagForm { words: &["parameter", "param", "argument", "arg"], open: "<parameter=", end: ">" },
    parameter_close: "</parameter>",
    line_breaks: true,
    python: true,
};
