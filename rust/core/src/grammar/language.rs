//! What a model may write in one message: text, and calls of tools.

use super::rules::{Expr, GrammarRules};
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
    pub begin: &'static str,
    pub between: &'static str,
    pub end: &'static str,
    /// What text outside calls does not contain in any ASCII letter case: among others a beginning of the first opener.
    pub marks: Vec<String>,
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
        let begin = self.frame.begin;
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
        let CallFrame { open, between, end, .. } = &self.frame;
        let opened = if self.is_section() { Expr::text(open) } else { Expr::EMPTY };
        let next = Expr::seq([Expr::text(*between), Expr::text(open), tool.clone()]);
        let more = if self.parallel { next.many() } else { Expr::EMPTY };
        Expr::seq([
            opened,
            tool.clone(),
            more,
            Expr::text(end.trim_end()),
            Expr::text(&end[end.trim_end().len()..]).optional(),
        ])
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
