//! Wire calls for grammars: what the encoder writes.

use super::pairs::written_literal;
use crate::error::ToolError;
use crate::grammar::{
    BareWord, CallFrame, CallGrammar, CallGrammarWriter, Chars, Expr, GrammarRules, JsonStyle, JsonValues, Length,
    LengthLimits, bare_word, declared, distinct, in_order, quoted,
};
use crate::schema::{Additional, Choice, NESTED_SEGMENTS, Node, NodeId, ObjectType, Variant};
use crate::syntax::marks::{OPEN, SPELLINGS};
use crate::syntax::pairs::NOT_BARE_FIRST;
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
        CallFrame { open: delimiters.open.clone(), begin: "", between: "\n", end: "", marks: distinct(marks) }
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
        Ok(CallGrammar { begin: format!("{}{}", delimiters.open, tool.name), content, end: delimiters.close.clone() })
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
    let is_free = |variant: &Variant| variant.object.as_ref().is_some_and(|object| object.required.is_empty());
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
                let key = rules.word("key", || key)?;
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
                return Err(ToolError {
                    tool: None,
                    pointer: None,
                    message: format!("the key of {name:?} is too long for a grammar; use syntax=\"json\""),
                });
            }
            let member = self.member(rules, child, key, depth)?;
            if !member.is_never() || required {
                written.push((member, required));
            }
        }
        let is_root = prefix.is_empty();
        in_order(rules, &format!("pairs {} {prefix}", self.values.tool), "", &written, is_root)
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
        let values = self.values;
        let Some(variants) = values.variants.of(id) else { return self.any(rules) };
        let node = values.variants.schema.node(id);
        let mut options = Vec::new();
        for variant in variants {
            for choice in &variant.choices {
                match choice {
                    Choice::String => {
                        options.push(self.string(rules, node, variant.length())?);
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
        options.push(values.containers(rules, id)?);
        Ok(Expr::choice(options))
    }

    /// A string of this type, in quotes or bare.
    fn string(&self, rules: &mut GrammarRules, node: &Node, length: Length) -> Result<Expr, ToolError> {
        let length = length.within(rules.counts.raw);
        let kinds = [quoted(rules, length)?, self.bare(rules, node, length)?];
        let name = if node.has(&Choice::Null) { "string or null" } else { "string" };
        rules.word(&length.key(name), || Expr::choice(kinds))
    }

    /// A bare word for a string of this type.
    fn bare(&self, rules: &mut GrammarRules, node: &Node, length: Length) -> Result<Expr, ToolError> {
        let nullable = node.has(&Choice::Null);
        let null: &[&str] = if nullable { &["None", "Null", "NULL"] } else { &[] };
        bare_word(
            rules,
            &BareWord {
                key: if nullable { "bare or null" } else { "bare" },
                chars: self.chars(),
                not_first: NOT_BARE_FIRST,
                not_last: ",;",
                not_whole: null,
                length,
            },
        )
    }

    /// The characters of bare words.
    fn chars(&self) -> Chars {
        let first = |mark: &str| mark.chars().next().unwrap_or('<');
        let special: String =
            " \"'=<>\\".chars().chain([first(&self.delimiters.open), first(&self.delimiters.close)]).collect();
        Chars::except(&special, &[('\0', '\u{1f}'), ('\u{7f}', '\u{9f}')])
    }

    fn any(&self, rules: &mut GrammarRules) -> Result<Expr, ToolError> {
        let string = self.string(rules, &Node::default(), Length::default())?;
        Ok(Expr::choice([string, self.values.any_container(rules)?]))
    }
}
