//! The values of a schema in JSON.

use super::numbers::{integer, number};
use super::rules::{Expr, GrammarRules};
use super::sequences::{Items, in_order};
use super::strings::json_string;
use crate::error::ToolError;
use crate::limits::{COUNTED_ITEMS, RECURSION};
use crate::schema::{Additional, Choice, Length, NodeId, ObjectType, UNKNOWN, Variant, Variants};
use crate::syntax::json::{Value, json_string as json_text, parse};

/// What is written between the parts of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JsonStyle {
    pub comma: &'static str,
    pub colon: &'static str,
    /// A character that is only written as an escape, since a marker could begin with it.
    pub escaped: Option<char>,
}

impl JsonStyle {
    /// Without whitespace.
    pub(crate) const COMPACT: JsonStyle = JsonStyle { comma: ",", colon: ":", escaped: None };
    /// As chat templates write it.
    pub(crate) const SPACED: JsonStyle = JsonStyle { comma: ", ", colon: ": ", escaped: None };

    /// Tells the rules of this style from those of others.
    fn key(self) -> &'static str {
        match (self.comma.len(), self.escaped) {
            (1, None) => "",
            (_, None) => " spaced",
            (_, Some(_)) => " escaped",
        }
    }

    /// JSON with the escapes of this style.
    fn escape(self, json: String) -> String {
        match self.escaped {
            Some(c) => json.replace(c, &format!("\\u{:04x}", c as u32)),
            None => json,
        }
    }

    fn literal(self, value: &Value<'_>, out: &mut String) {
        match value {
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { self.comma } else { "" });
                    self.literal(item, out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (at, (name, member)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { self.comma } else { "" });
                    out.extend([&json_text(name), self.colon]);
                    self.literal(member, out);
                }
                out.push('}');
            }
            scalar => scalar.write(out),
        }
    }
}

/// The size of a type that is written in each place where it is used; larger ones are rules of their own.
pub(crate) const FEW: usize = 32;

/// Writes the values of one tool's schema.
pub(crate) struct JsonValues<'a> {
    pub variants: &'a Variants,
    /// Tells the rules of this schema from those of others.
    pub tool: usize,
    pub style: JsonStyle,
}

impl JsonValues<'_> {
    fn key(&self, name: &str) -> String {
        format!("{name} of {}{}", self.tool, self.style.key())
    }

    fn string(&self, rules: &mut GrammarRules, length: Length) -> Result<Expr, ToolError> {
        json_string(rules, length, self.style.escaped)
    }

    /// A value of this type.
    pub(crate) fn value(&self, rules: &mut GrammarRules, id: NodeId) -> Result<Expr, ToolError> {
        match self.variants.of(id) {
            None => self.any(rules),
            Some(_) if self.variants.size(id) > FEW => {
                rules.rule(&self.key(&format!("type {id}")), false, |rules| self.those(rules, id, |_| true))
            }
            Some(_) => self.those(rules, id, |_| true),
        }
    }

    /// The arguments of a call: the values of the tool's type that are objects.
    pub(crate) fn arguments(&self, rules: &mut GrammarRules) -> Result<Expr, ToolError> {
        let root = self.variants.schema.root;
        match self.variants.of(root) {
            None => self.any_object(rules),
            Some(_) => self.those(rules, root, |choice| choice.kind() == Choice::Object),
        }
    }

    /// The values of this type whose choices fit. Any JSON is none of its choices.
    pub(crate) fn those(
        &self,
        rules: &mut GrammarRules,
        id: NodeId,
        fits: impl Fn(&Choice) -> bool,
    ) -> Result<Expr, ToolError> {
        let mut options = Vec::new();
        for (at, variant) in self.variants.of(id).unwrap_or_default().iter().enumerate() {
            for choice in variant.choices.iter().filter(|choice| fits(choice)) {
                options.push(match choice {
                    Choice::Array => self.list(rules, id, at, variant)?,
                    Choice::Object => self.object(rules, id, at, variant)?,
                    Choice::String => self.string(rules, variant.demands.length)?,
                    Choice::Literal(literal) => self.literal(&literal.json),
                    scalar => self.scalar(rules, scalar, variant)?,
                });
            }
        }
        Ok(Expr::choice(options))
    }

    /// A number, boolean or null.
    pub(crate) fn scalar(
        &self,
        rules: &mut GrammarRules,
        choice: &Choice,
        variant: &Variant,
    ) -> Result<Expr, ToolError> {
        let demands = &variant.demands;
        match choice {
            Choice::Integer => integer(rules, demands.least, demands.most),
            Choice::Number => number(rules, demands.not_negative),
            Choice::Boolean => Ok(Expr::choice([Expr::text("true"), Expr::text("false")])),
            _ => Ok(Expr::text("null")),
        }
    }

    pub(crate) fn literal(&self, json: &str) -> Expr {
        let mut out = String::new();
        match parse(json, RECURSION) {
            Ok(value) => self.style.literal(&value, &mut out),
            Err(_) => out.push_str(json),
        }
        Expr::Text(self.style.escape(out))
    }

    /// Any object or array.
    pub(crate) fn any_container(&self, rules: &mut GrammarRules) -> Result<Expr, ToolError> {
        let item = self.any(rules)?;
        Ok(Expr::choice([self.any_object(rules)?, braced("[", item, self.style.comma, "]")]))
    }

    fn list(&self, rules: &mut GrammarRules, id: NodeId, at: usize, variant: &Variant) -> Result<Expr, ToolError> {
        let name = format!("list {id} {at}");
        rules.rule(&self.key(&name), false, |rules| {
            let array = variant.array.clone().unwrap_or_default();
            let Length { least, most } = variant.demands.items.within(COUNTED_ITEMS);
            // Nothing fits the type of further items.
            let known = array.prefix.len();
            let most =
                if array.items == Some(UNKNOWN) { Some(most.map_or(known, |most| most.min(known))) } else { most };
            let item = |rules: &mut GrammarRules, at: usize| match array.prefix.get(at).copied().or(array.items) {
                Some(item) => self.value(rules, item),
                None => self.any(rules),
            };
            if most.is_some_and(|most| most < least) {
                return Ok(Expr::NEVER);
            }
            if most == Some(0) {
                return Ok(Expr::text("[]"));
            }
            let comma = |item: Expr| Expr::seq([Expr::text(self.style.comma), item]);
            // The items that have types of their own, or the first one.
            let count = known.max(1).min(most.unwrap_or(usize::MAX));
            let first = item(rules, 0)?;
            let mut parts = Vec::new();
            for at in 1..count {
                parts.push(comma(item(rules, at)?));
            }
            let more = comma(item(rules, known)?);
            let more = more.times(least.saturating_sub(count), most.map(|most| most - count));
            let optional = parts.split_off(least.saturating_sub(1).min(parts.len()));
            let Items { all, some } = Items::of(rules, &self.key(&name), &optional, 0)?;
            let rest = Expr::choice([Expr::seq([all, more]), some]);
            let open = [Expr::text("["), first].into_iter().chain(parts);
            let filled = Expr::seq(open.chain([rest, Expr::text("]")]));
            Ok(if least == 0 { Expr::choice([filled, Expr::text("[]")]) } else { filled })
        })
    }

    fn object(&self, rules: &mut GrammarRules, id: NodeId, at: usize, variant: &Variant) -> Result<Expr, ToolError> {
        match &variant.object {
            Some(object) => self.members(rules, &format!("object {id} {at}"), object),
            None => self.any_object(rules),
        }
    }

    /// An object with these members, in their order.
    pub(crate) fn members(&self, rules: &mut GrammarRules, name: &str, object: &ObjectType) -> Result<Expr, ToolError> {
        rules.rule(&self.key(name), false, |rules| {
            let Some(members) = declared(object) else { return Ok(Expr::NEVER) };
            if members.is_empty() {
                return match object.additional {
                    Additional::Closed => Ok(Expr::text("{}")),
                    Additional::Open(value) => {
                        let value = self.value(rules, value)?;
                        self.map(rules, value)
                    }
                    // Only members that nothing fits are declared.
                    Additional::Unsaid if !object.properties.is_empty() => Ok(Expr::text("{}")),
                    Additional::Unsaid => self.any_object(rules),
                };
            }
            let mut written = Vec::new();
            for (name, id, required) in members {
                let value = self.value(rules, id)?;
                if value.is_never() && !required {
                    continue;
                }
                let key = self.style.escape(format!("{}{}", json_text(name), self.style.colon));
                written.push((Expr::seq([Expr::Text(key), value]), required));
            }
            let inner = in_order(rules, &self.key(name), self.style.comma, written, true)?;
            Ok(Expr::seq([Expr::text("{"), inner, Expr::text("}")]))
        })
    }

    /// An object with any names.
    fn map(&self, rules: &mut GrammarRules, value: Expr) -> Result<Expr, ToolError> {
        let member = Expr::seq([self.string(rules, Length::default())?, Expr::text(self.style.colon), value]);
        Ok(braced("{", member, self.style.comma, "}"))
    }

    fn any_object(&self, rules: &mut GrammarRules) -> Result<Expr, ToolError> {
        rules.rule(&format!("any object{}", self.style.key()), false, |rules| {
            let value = self.any(rules)?;
            self.map(rules, value)
        })
    }

    /// Any JSON.
    pub(crate) fn any(&self, rules: &mut GrammarRules) -> Result<Expr, ToolError> {
        rules.rule(&format!("any value{}", self.style.key()), false, |rules| {
            let object = self.any_object(rules)?;
            let list = braced("[", self.any(rules)?, self.style.comma, "]");
            let literals = ["true", "false", "null"].map(Expr::text);
            let scalars = [self.string(rules, Length::default())?, number(rules, false)?];
            Ok(Expr::choice(scalars.into_iter().chain(literals).chain([object, list])))
        })
    }
}

/// A list of any number of the same, in brackets.
fn braced(open: &str, item: Expr, comma: &str, close: &str) -> Expr {
    let more = Expr::seq([Expr::text(comma), item.clone()]).many();
    Expr::choice([Expr::text(format!("{open}{close}")), Expr::seq([Expr::text(open), item, more, Expr::text(close)])])
}

/// The members that an object declares or requires, with their types and whether they are required, in the order of the schema.
/// `None`: it requires one that it does not allow, or that nothing fits.
pub(crate) fn declared(object: &ObjectType) -> Option<Vec<(&str, NodeId, bool)>> {
    let required: std::collections::HashSet<&str> = object.required.iter().map(String::as_str).collect();
    let named = object.properties.iter().map(|(name, id)| (name, *id, required.contains(name)));
    // Nothing fits a declared member of unknown type.
    let named = named.filter(|(_, id, required)| *required || *id != UNKNOWN);
    let named = named.map(|(name, id, required)| (id != UNKNOWN).then_some((name, id, required)));
    let unnamed = object.required.iter().filter(|name| object.properties.get(name).is_none());
    let unnamed = unnamed.map(|name| Some((name.as_str(), object.member(name)?, true)));
    named.chain(unnamed).collect()
}
