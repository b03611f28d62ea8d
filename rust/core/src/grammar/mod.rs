//! Grammars for constrained decoding: one model of the language that a toolset may speak, and a writer for each kind.
//!
//! [`rules`] is the model. [`strings`], [`numbers`] and [`prose`] are texts without a schema; [`values`] writes the values of a
//! schema in JSON. Protocols describe their calls with these. [`notation`] is what the writers write alike; they know no protocol.

mod bnf;
mod language;
mod lark;
mod notation;
mod numbers;
mod prose;
mod rules;
mod sequences;
mod strings;
mod structural_tag;
mod unconstrained;
mod values;

use crate::error::ToolError;

pub(crate) use language::{CallFrame, CallGrammar, CallGrammarWriter, Language, TextFrame};
pub use language::{GrammarKind, ToolChoice};
pub(crate) use prose::distinct;
pub(crate) use rules::{Chars, Expr, GrammarRules, LengthLimits};
pub(crate) use sequences::in_order;
pub(crate) use strings::{keyed, quoted};
pub use unconstrained::Unconstrained;
pub(crate) use unconstrained::unconstrained;
pub(crate) use values::{FEW, JsonStyle, JsonValues, declared};

/// A grammar, and what it cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grammar {
    /// The kind of grammar.
    pub kind: GrammarKind,
    /// The grammar, as the decoder takes it.
    pub text: String,
    /// What the schemas demand and the grammar does not enforce.
    pub unconstrained: Vec<Unconstrained>,
}

impl Language {
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
