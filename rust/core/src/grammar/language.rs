//! What a model may write in one message: text, and calls of tools.

use std::collections::BTreeSet;

use super::rules::{Chars, Expr, GrammarRules};
use super::strings::LengthLimits;
use super::values::{JsonStyle, JsonValues};
use super::{Grammar, Unconstrained, bnf, lark, structural_tag};
use crate::error::ToolError;
use crate::limits::{COUNTED_CHARS, COUNTED_JSON_CHARS};
use crate::syntax::scan::Delimiters;
use crate::tools::Tool;

/// A kind of grammar, by what reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrammarKind {
    /// GBNF, of llama.cpp.
    Gbnf,
    /// EBNF, of xgrammar.
    Ebnf,
    /// The JSON of a structural tag, of xgrammar, vLLM and SGLang.
    StructuralTag,
    /// Lark, of llguidance.
    Lark,
}

impl GrammarKind {
    /// What a grammar of this kind counts. xgrammar takes many seconds to compile a count of characters.
    pub(crate) fn counts(self) -> LengthLimits {
        match self {
            GrammarKind::Gbnf | GrammarKind::Lark => {
                LengthLimits { raw: COUNTED_CHARS, json: COUNTED_JSON_CHARS, is_text_bounded: true }
            }
            GrammarKind::Ebnf | GrammarKind::StructuralTag => LengthLimits { raw: 1, json: 1, is_text_bounded: false },
        }
    }
}

/// Which calls a message may or must contain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolChoice {
    /// Text and calls.
    Auto,
    /// At least one call, and no text.
    Required,
    /// Text only.
    None,
    /// At least one call, all of the tool with this name, and no text.
    Named(String),
}

/// The calls of one tool.
pub(crate) struct CallGrammar {
    /// What follows the opener in every call of the tool.
    pub begin: String,
    pub content: Expr,
    /// What ends every call.
    pub end: String,
}

/// What is around the calls of a message.
#[derive(Clone, Debug)]
pub(crate) struct CallFrame {
    /// What all calls begin with.
    pub open: String,
    /// Before the first call, between calls, and after the last.
    pub begin: String,
    pub between: String,
    pub end: String,
    /// What text outside calls does not contain in any ASCII letter case: among others a beginning of the first opener.
    pub marks: Vec<String>,
    /// A message holds one call only.
    pub single: bool,
    /// Where text may be. `None`: anywhere outside calls.
    pub text: Option<TextFrame>,
}

/// A message that is text, or text and then calls, or calls.
#[derive(Clone, Debug)]
pub(crate) struct TextFrame {
    /// Around text without calls.
    pub alone: (String, String),
    /// Around text before calls.
    pub spoken: (String, String),
    /// With which characters such text does not begin, after whitespace.
    pub not_first: &'static str,
}

/// Describes the calls of a protocol.
pub(crate) trait CallGrammarWriter {
    fn frame(&self, delimiters: &Delimiters) -> CallFrame;

    /// The calls of this tool. Its name is as it is called.
    fn call(
        &self,
        tool: &Tool,
        delimiters: &Delimiters,
        values: &JsonValues<'_>,
        rules: &mut GrammarRules,
    ) -> Result<CallGrammar, ToolError>;

    /// Up to which length strings are counted in values that are not JSON; `None` if all values of this tool are JSON.
    fn raw(&self, tool: &Tool, counts: LengthLimits) -> Option<usize>;

    /// What is written between the parts of JSON.
    fn style(&self) -> JsonStyle {
        JsonStyle::SPACED
    }
}

/// The texts that a model may write.
pub(crate) struct Language {
    pub rules: GrammarRules,
    pub calls: Vec<CallGrammar>,
    pub frame: CallFrame,
    /// There may be text.
    pub text: bool,
    /// Several calls.
    pub parallel: bool,
}

impl Language {
    /// What comes first: the opener of a section of calls, or of a call.
    pub(crate) fn first(&self) -> &str {
        if self.is_section() { self.frame.begin.trim_start() } else { &self.frame.open }
    }

    /// The whitespace that may precede a section of calls.
    pub(crate) fn lead(&self) -> &str {
        let begin = &self.frame.begin;
        &begin[..begin.len() - begin.trim_start().len()]
    }

    /// The calls without what [`CallFrame::open`] says.
    pub(crate) fn tools(&self) -> Expr {
        Expr::choice(
            self.calls
                .iter()
                .map(|call| Expr::seq([Expr::text(&call.begin), call.content.clone(), Expr::text(&call.end)])),
        )
    }

    /// Whether calls are in a section, so that they follow each other without text.
    pub(crate) fn is_section(&self) -> bool {
        !self.frame.begin.trim().is_empty()
    }

    /// All calls of a message, without the first [`CallFrame::open`] or section opener.
    pub(crate) fn calls_after_opener(&self, tool: &Expr) -> Expr {
        let opened = if self.is_section() { Expr::text(&self.frame.open) } else { Expr::EMPTY };
        Expr::seq([opened, self.calls_after_open(tool)])
    }

    /// The same without the [`CallFrame::open`] of a section's first call.
    fn calls_after_open(&self, tool: &Expr) -> Expr {
        let CallFrame { open, between, end, .. } = &self.frame;
        let next = Expr::seq([Expr::text(between), Expr::text(open), tool.clone()]);
        let more = if self.parallel { next.many() } else { Expr::EMPTY };
        let (end, rest) = end.split_at(end.trim_end().len());
        Expr::seq([tool.clone(), more, Expr::text(end), Expr::text(rest).optional()])
    }

    /// A message with a [`TextFrame`]; `None` if text may be anywhere.
    pub(crate) fn framed(&mut self) -> Result<Option<Expr>, ToolError> {
        let Some(TextFrame { alone, spoken, not_first }) = self.frame.text.clone() else { return Ok(None) };
        let tool = self.tools();
        let tool = self.rules.named("call", tool)?;
        if !self.text {
            let lead = Expr::text(self.lead()).optional();
            return Ok(Some(Expr::seq([lead, Expr::text(self.first()), self.calls_after_opener(&tool)])));
        }
        let text = self.framed_text(not_first)?;
        // A lexer would take the beginning of what follows a text for text, so both are one terminal.
        let answer = self.rules.terminal("text alone", || Expr::seq([text.clone(), Expr::text(&alone.1)]))?;
        let answer = if not_first.is_empty() { answer } else { answer.optional() };
        if self.calls.is_empty() {
            return Ok(Some(Expr::seq([Expr::text(alone.0), answer])));
        }
        let opener = format!("{}{}", spoken.1, self.frame.open);
        let before = self.rules.terminal("text before calls", || Expr::seq([text, Expr::text(opener)]))?;
        let after = self.calls_after_open(&tool);
        let first = format!("{}{}", self.frame.begin, self.frame.open);
        // It would also take the opener of a call for the beginning of a longer one, so it is written once.
        let shared = if spoken.0.starts_with(&first) && alone.0.starts_with(&first) { first.len() } else { 0 };
        let message = Expr::choice([
            Expr::seq([Expr::text(&first[shared..]), after.clone()]),
            Expr::seq([Expr::text(&spoken.0[shared..]), before, after]),
            Expr::seq([Expr::text(&alone.0[shared..]), answer]),
        ]);
        Ok(Some(Expr::seq([Expr::text(&first[..shared]), message])))
    }

    fn framed_text(&mut self, not_first: &str) -> Result<Expr, ToolError> {
        let marks = self.frame.marks.clone();
        let firsts: BTreeSet<char> = marks.iter().filter_map(|mark| mark.chars().next()).collect();
        let any = self.rules.terminal("text outside calls", || Expr::Without(marks))?;
        if not_first.is_empty() {
            return Ok(any);
        }
        let space = " \t\r\n";
        let first = Chars::except(space, &[]).without(not_first).without(&String::from_iter(firsts));
        let begun = Expr::seq([Expr::Chars(Chars::of(space)).many(), Expr::Chars(first), any]);
        self.rules.terminal("text that is no call", || begun)
    }

    pub(crate) fn prose(&mut self) -> Result<Expr, ToolError> {
        self.rules.rule("text outside calls", false, |_| Ok(Expr::Without(self.frame.marks.clone())))
    }

    /// The grammar of this kind.
    pub(crate) fn write(self, kind: GrammarKind, unconstrained: Vec<Unconstrained>) -> Result<Grammar, ToolError> {
        let text = match kind {
            GrammarKind::Gbnf => bnf::write(self, bnf::BnfNotation::Gbnf)?,
            GrammarKind::Ebnf => bnf::write(self, bnf::BnfNotation::Ebnf)?,
            GrammarKind::StructuralTag => structural_tag::write(self)?,
            GrammarKind::Lark => lark::write(self)?,
        };
        Ok(Grammar { kind, text, unconstrained })
    }
}
