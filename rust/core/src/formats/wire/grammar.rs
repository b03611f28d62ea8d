//! Wire calls for grammars: what the encoder writes.

use super::bare::bare_word;
use super::pairs::written_literal;
use crate::error::ToolError;
use crate::grammar::{
    CallFrame, CallGrammar, CallGrammarWriter, Chars, Expr, FEW, GrammarRules, JsonStyle, JsonValues, LengthLimits,
    declared, distinct, in_order, keyed, quoted,
};
use crate::schema::{Additional, Choice, Length, NESTED_SEGMENTS, Node, NodeId, ObjectType, Variant};
use crate::syntax::marks::{OPEN, SPELLINGS};
use crate::syntax::scan::{Delimiters, RESULT_MARKS};
use crate::tools::{Syntax, Tool};

use super::Wire;
use super::pairs::write_key;

impl CallGrammarWriter for Wire {
    fn frame(&self, delimiters: &Delimiters) -> CallFrame {
        let mut marks = vec![delimiters.open.trim_end_matches('>').to_owned()];
        if delimiters.open == OPEN {
            marks.extend(SPELLINGS.opens.iter().map(|spelling| spelling.open.trim_end_matches("&gt;").to_owned()));
        }
        marks.extend(RESULT_MARKS.iter().map(|tag| (*tag).to_owned()));
        CallFrame {
            open: delimiters.open.clone(),
            begin: String::new(),
            between: "\n".to_owned(),
            end: String::new(),
            last: String::new(),
            marks: distinct(marks),
            one_call: false,
            text: None,
        }
    }

    fn call(
        &self,
        tool: &Tool,
        delimiters: &Delimiters,
        values: &JsonValues<'_>,
        rules: &mut GrammarRules,
    ) -> Result<CallGrammar, ToolError> {
        let root = values.variants.schema.root;
        let content = if tool.syntax == Syntax::Json {
            let object = values.arguments(rules)?;
            let filled = Expr::seq([Expr::text(" "), object]);
            if may_be_empty(values) { Expr::choice([Expr::EMPTY, filled]) } else { filled }
        } else {
            PairsGrammar { values, delimiters }.arguments(rules, root)?
        };
        Ok(CallGrammar { begin: tool.name.clone(), content, end: delimiters.close.clone() })
    }

    fn raw(&self, tool: &Tool, counts: LengthLimits) -> Option<usize> {
        (tool.syntax == Syntax::Wire).then_some(counts.raw)
    }

    fn style(&self) -> JsonStyle {
        JsonStyle::COMPACT
    }
}

/// Whether a call needs no arguments: some alternative is an object that requires none.
fn may_be_empty(values: &JsonValues<'_>) -> bool {
    let is_free = |variant: &Variant| {
        let object = variant.object.as_ref().is_some_and(|object| object.required.is_empty());
        object
            || variant.choices.iter().any(|choice| matches!(choice, Choice::Literal(literal) if literal.json == "{}"))
    };
    values.variants.of(values.variants.schema.root).is_none_or(|all| all.iter().any(is_free))
}

/// Arguments as pairs.
struct PairsGrammar<'a> {
    values: &'a JsonValues<'a>,
    delimiters: &'a Delimiters,
}

impl PairsGrammar<'_> {
    fn arguments(&self, rules: &mut GrammarRules, root: NodeId) -> Result<Expr, ToolError> {
        let Some(object) = &self.values.variants.schema.node(root).object else { return Ok(Expr::EMPTY) };
        match object.additional {
            Additional::Open(value) if object.properties.is_empty() && object.required.is_empty() => {
                let value = self.value(rules, value)?;
                let first = Chars { negated: false, ranges: vec![('a', 'z'), ('A', 'Z'), ('_', '_')] };
                let more = first.clone().and(&[('0', '9'), ('-', '-')]);
                let key = Expr::seq([Expr::Chars(first), Expr::Chars(more).times(0, Some(62))]);
                let key = rules.terminal("key", || key)?;
                Ok(Expr::seq([Expr::text(" "), key, Expr::text("="), value]).many())
            }
            _ => self.members(rules, root, "", object, 1),
        }
    }

    /// The members of an object, each after a space.
    fn members(
        &self,
        rules: &mut GrammarRules,
        id: NodeId,
        prefix: &str,
        object: &ObjectType,
        depth: usize,
    ) -> Result<Expr, ToolError> {
        let mut written = Vec::new();
        let Some(members) = declared(object) else { return Ok(Expr::NEVER) };
        for (name, child, required) in members {
            let mut key = prefix.to_owned();
            if !write_key(&self.values.variants.schema, id, name, self.delimiters, &mut key) {
                return Err(ToolError::new(format!(
                    "the key of {name:?} is too long for a grammar; use syntax=\"json\""
                )));
            }
            written.push((self.member(rules, child, key, depth)?, required));
        }
        let is_root = prefix.is_empty();
        in_order(rules, &format!("pairs {} {prefix}", self.values.tool), "", written, is_root)
    }

    fn member(&self, rules: &mut GrammarRules, id: NodeId, key: String, depth: usize) -> Result<Expr, ToolError> {
        let schema = &self.values.variants.schema;
        let whole = |value: Expr| Expr::seq([Expr::text(format!(" {key}=")), value]);
        let object = schema.node(id).object.as_ref().filter(|_| depth < NESTED_SEGMENTS && schema.nests(id));
        let Some(object) = object else { return Ok(whole(self.value(rules, id)?)) };
        let mut options = Vec::new();
        if object.required.is_empty() {
            options.push(whole(Expr::text("{}")));
        }
        if schema.node(id).has(&Choice::Null) {
            options.push(whole(Expr::text("null")));
        }
        options.push(self.members(rules, id, &key, object, depth + 1)?);
        Ok(Expr::choice(options))
    }

    /// A value after `=`.
    fn value(&self, rules: &mut GrammarRules, id: NodeId) -> Result<Expr, ToolError> {
        match self.values.variants.of(id) {
            None => self.any(rules),
            Some(variants) if self.values.variants.size(id) > FEW => {
                let key = format!("pairs type {id} of {}", self.values.tool);
                rules.rule(&key, false, |rules| self.of_variants(rules, id, variants))
            }
            Some(variants) => self.of_variants(rules, id, variants),
        }
    }

    fn of_variants(&self, rules: &mut GrammarRules, id: NodeId, variants: &[Variant]) -> Result<Expr, ToolError> {
        let values = self.values;
        let node = values.variants.schema.node(id);
        let mut options = Vec::new();
        for variant in variants {
            for choice in &variant.choices {
                match choice {
                    Choice::String => {
                        options.push(self.string(rules, node, variant.demands.length)?);
                    }
                    Choice::Literal(literal) => {
                        let text = written_literal(&values.variants.schema, self.delimiters, id, &literal.json);
                        options.push(Expr::Text(text));
                    }
                    Choice::Array | Choice::Object => {}
                    scalar => options.push(values.scalar(rules, scalar, variant)?),
                }
            }
        }
        options.push(values.those(rules, id, |choice| matches!(choice, Choice::Array | Choice::Object))?);
        Ok(Expr::choice(options))
    }

    /// A string of this type, in quotes or bare.
    fn string(&self, rules: &mut GrammarRules, node: &Node, length: Length) -> Result<Expr, ToolError> {
        let length = length.within(rules.counts.raw);
        let nullable = node.has(&Choice::Null);
        let kinds = [quoted(rules, length)?, bare_word(rules, self.delimiters, nullable, length)?];
        rules.terminal(&keyed(if nullable { "string or null" } else { "string" }, length), || Expr::choice(kinds))
    }

    fn any(&self, rules: &mut GrammarRules) -> Result<Expr, ToolError> {
        let string = self.string(rules, &Node::default(), Length::default())?;
        Ok(Expr::choice([string, self.values.any_container(rules)?]))
    }
}
