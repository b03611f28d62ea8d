//! What a model may write in one message: text, and calls of tools.

use super::rules::{Chars, Expr, GrammarRules, LengthLimits, firsts};
use super::values::{JsonStyle, JsonValues};
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
    /// Before the first call.
    pub begin: String,
    /// Between two calls.
    pub between: String,
    /// After the last call.
    pub end: String,
    /// What may be after that.
    pub last: String,
    /// What text outside calls does not contain in any ASCII letter case: among others a beginning of the first opener. None begins
    /// with whitespace.
    pub marks: Vec<String>,
    /// A message contains at most one call.
    pub one_call: bool,
    /// Where text may be. `None`: anywhere outside calls.
    pub text: Option<TextFrame>,
}

/// A message that is text, or text and then calls, or calls.
#[derive(Clone, Debug)]
pub(crate) struct TextFrame {
    /// What is before and after text without calls.
    pub without_calls: (String, String),
    /// What may be after that.
    pub last: String,
    /// What is before and after text that precedes calls.
    pub before_calls: (String, String),
    /// Characters that cannot be the first one of such text, after whitespace.
    pub not_first: &'static str,
    /// What is before and after reasoning at the start of a message.
    pub reasoning: Option<(String, String)>,
    /// The prompt may have written the first opener.
    pub is_begun: bool,
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
    pub allows_text: bool,
    pub allows_several: bool,
}

impl Language {
    /// What the first call begins with: the opener of the section, if there is one, and that of the call.
    pub(crate) fn opener(&self) -> String {
        format!("{}{}", self.frame.begin.trim_start(), self.frame.open)
    }

    /// The whitespace that may precede a section of calls.
    fn lead(&self) -> &str {
        let begin = &self.frame.begin;
        &begin[..begin.len() - begin.trim_start().len()]
    }

    /// One call of any tool, without [`CallFrame::open`].
    pub(crate) fn call(&self) -> Expr {
        Expr::choice(
            self.calls
                .iter()
                .map(|call| Expr::seq([Expr::text(&call.begin), call.content.clone(), Expr::text(&call.end)])),
        )
    }

    /// Whether calls are in a section, so that they follow each other without text.
    fn is_section(&self) -> bool {
        !self.frame.begin.trim().is_empty()
    }

    /// Whether another call may follow after text.
    pub(crate) fn repeats(&self) -> bool {
        self.allows_several && !self.is_section()
    }

    /// All calls of a message, without [`Self::opener`].
    fn calls_after_opener(&self, call: &Expr) -> Expr {
        let CallFrame { open, between, end, last, .. } = &self.frame;
        let next = Expr::seq([Expr::text(between), Expr::text(open), call.clone()]);
        let more = if self.allows_several { next.many() } else { Expr::EMPTY };
        Expr::seq([call.clone(), more, Expr::text(end), Expr::text(last).optional()])
    }

    /// What follows [`Self::opener`] up to where text may follow: a call, or the rest of a section.
    pub(crate) fn unit(&self, call: &Expr) -> Expr {
        if self.is_section() { self.calls_after_opener(call) } else { call.clone() }
    }

    /// Takes away what ends each call or section, if it is the same for all.
    pub(crate) fn take_end(&mut self) -> String {
        if self.is_section() {
            self.frame.last.clear();
            return std::mem::take(&mut self.frame.end);
        }
        let end = self.calls.first().map_or(String::new(), |call| call.end.clone());
        if self.calls.iter().any(|call| call.end != end) {
            return String::new();
        }
        self.calls.iter_mut().for_each(|call| call.end.clear());
        end
    }

    /// A whole message. `None` if text may be anywhere outside calls, which each kind writes in its own way.
    pub(crate) fn message(&mut self) -> Result<Option<Expr>, ToolError> {
        if self.allows_text && self.frame.text.is_none() {
            return Ok(None);
        }
        let call = self.call();
        let call = self.rules.named("call", call)?;
        let calls = self.calls_after_opener(&call);
        let opener = self.opener();
        let is_begun = self.frame.text.as_ref().is_some_and(|frame| frame.is_begun);
        let begin = |opener: &str| if is_begun { Expr::text(opener).optional() } else { Expr::text(opener) };
        let Some(frame) = self.frame.text.clone().filter(|_| self.allows_text) else {
            return Ok(Some(Expr::seq([Expr::text(self.lead()).optional(), begin(&opener), calls])));
        };
        let text = self.framed_text(frame.not_first)?;
        // llguidance takes the longest terminal, and text would swallow the marker after it, so both are one terminal.
        let (open, close) = &frame.without_calls;
        let closed = [text.clone(), Expr::text(close), Expr::text(frame.last).optional()];
        let closed = self.rules.terminal("text alone", || Expr::seq(closed))?;
        let (spoken, section) = &frame.before_calls;
        let begun = [text, Expr::text(section), Expr::text(&self.frame.open)];
        let begun = self.rules.terminal("text before calls", || Expr::seq(begun))?;
        // The lexer would always take the longer of two literals, so an opener with which text begins, too, is written once.
        let shared = if spoken.starts_with(&opener) && open.starts_with(&opener) { opener.as_str() } else { "" };
        let after = |text: &str| Expr::text(text.strip_prefix(shared).unwrap_or(text));
        let first = Expr::choice([after(&opener), Expr::seq([after(spoken), begun])]);
        let with_calls = if self.calls.is_empty() { Expr::NEVER } else { Expr::seq([first, calls]) };
        let answer = Expr::seq([after(open), closed]);
        let mut message = self.rules.named("message", Expr::choice([with_calls, answer]))?;
        if let Some((open, close)) = &frame.reasoning {
            let thought = [self.prose()?, Expr::text(close)];
            let thought = self.rules.terminal("reasoning", || Expr::seq(thought))?;
            let thought = Expr::seq([after(open), thought, Expr::text(shared)]);
            message = Expr::choice([Expr::seq([thought, message.clone()]), message]);
        }
        // A message may be empty, as in other formats.
        Ok(Some(Expr::seq([begin(shared), message]).optional()))
    }

    /// Text that does not begin with one of these characters after whitespace; if there are none, any text.
    fn framed_text(&mut self, not_first: &str) -> Result<Expr, ToolError> {
        let any = self.prose()?;
        if not_first.is_empty() {
            return Ok(any);
        }
        let space = " \t\r\n";
        let first = Chars::except(space, &[]).without(not_first).without(&firsts(&self.frame.marks));
        let begun = Expr::seq([Expr::Chars(first), any]).optional();
        self.rules.terminal("text that begins otherwise", || Expr::seq([Expr::Chars(Chars::of(space)).many(), begun]))
    }

    /// Text without marks.
    pub(crate) fn prose(&mut self) -> Result<Expr, ToolError> {
        let marks = self.frame.marks.clone();
        self.rules.terminal("text outside calls", || Expr::Without(marks))
    }
}
