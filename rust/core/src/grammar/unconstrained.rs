//! What schemas demand and grammars do not enforce.

use std::collections::HashMap;
use std::fmt;

use super::values::declared;
use crate::limits::{COUNTED_ITEMS, GRAMMAR_DEPTH, LISTED_DEMANDS};
use crate::schema::{Additional, Choice, Length, NodeId, UNKNOWN, Variant, Variants};
use crate::syntax::pairs::push_segment;
use crate::syntax::scan::Delimiters;

/// Something that a schema demands and a grammar does not enforce, so that a call may still be invalid.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Unconstrained {
    /// The tool's name.
    pub tool: String,
    /// The field, as the encoder writes its key, with `[]` for items of arrays and `.*` for values of maps; empty for all arguments.
    pub field: String,
    /// The keyword of JSON Schema. `type` where any JSON is allowed, in which members may be repeated, `$ref` where values contain
    /// others of their own type without a limit, and `schema` if there is more than is listed.
    pub keyword: &'static str,
}

impl fmt::Display for Unconstrained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tool)?;
        if !self.field.is_empty() {
            write!(f, ".{}", self.field)?;
        }
        write!(f, ": {}", self.keyword)
    }
}

/// Visits of types. A type that is used in several places is visited in each.
const VISITS: usize = 10_000;

/// The demands of a tool that a grammar does not enforce. Strings are counted up to a length in values that are not JSON, if there
/// are such, and in JSON.
pub(crate) fn unconstrained(
    variants: &Variants,
    tool: &str,
    delimiters: &Delimiters,
    raw: Option<usize>,
    json: usize,
) -> Vec<Unconstrained> {
    let usual = Delimiters::default();
    let delimiters = if raw.is_some() { delimiters } else { &usual };
    let mut list = List { variants, tool, delimiters, raw, json, out: Vec::new(), visits: 0, overlaps: HashMap::new() };
    list.node(variants.schema.root, "", raw.is_some(), &mut Vec::new());
    list.out
}

struct List<'a> {
    variants: &'a Variants,
    tool: &'a str,
    delimiters: &'a Delimiters,
    raw: Option<usize>,
    json: usize,
    out: Vec<Unconstrained>,
    visits: usize,
    /// Types of which a value may fit two alternatives, where only one may fit.
    overlaps: HashMap<NodeId, bool>,
}

impl List<'_> {
    fn tell(&mut self, field: &str, keyword: &'static str) {
        let (field, keyword) = match self.out.len() {
            LISTED_DEMANDS.. => ("", "schema"),
            _ => (field, keyword),
        };
        let one = Unconstrained { tool: self.tool.to_owned(), field: field.to_owned(), keyword };
        if !self.out.contains(&one) {
            self.out.push(one);
        }
    }

    fn node(&mut self, id: NodeId, field: &str, pairs: bool, above: &mut Vec<NodeId>) {
        self.visits += 1;
        if self.visits > VISITS || self.out.len() > LISTED_DEMANDS || above.len() > GRAMMAR_DEPTH {
            return self.tell("", "schema");
        }
        let variants = self.variants;
        let Some(all) = variants.of(id) else { return self.tell(field, "type") };
        if above.contains(&id) {
            return self.tell(field, "$ref");
        }
        above.push(id);
        if *self.overlaps.entry(id).or_insert_with(|| variants.overlap(id)) {
            self.tell(field, "oneOf");
        }
        let node = variants.schema.node(id);
        for variant in all {
            self.variant(id, variant, field, pairs && node.takes_string(), pairs, above);
        }
        // Dotted keys are those of all alternatives.
        let objects = all.iter().filter(|variant| variant.object.is_some()).count();
        if pairs && objects > 1 && variants.schema.nests(id) {
            self.tell(field, "anyOf");
        }
        above.pop();
    }

    fn variant(
        &mut self,
        id: NodeId,
        variant: &Variant,
        field: &str,
        beside_words: bool,
        pairs: bool,
        above: &mut Vec<NodeId>,
    ) {
        let demands = &variant.demands;
        demands.any.iter().for_each(|keyword| self.tell(field, keyword));
        for choice in &variant.kinds {
            // Beside a string, a text may read as a wrong value of such a kind; as an array or object only in tags.
            let is_read = matches!(choice, Choice::Integer | Choice::Number)
                || matches!(choice, Choice::Array | Choice::Object) && self.raw == Some(0);
            if beside_words && is_read {
                self.tell(field, "type");
            }
            match choice {
                Choice::String => {
                    demands.strings.iter().for_each(|keyword| self.tell(field, keyword));
                    let counted = self.raw.filter(|_| pairs).unwrap_or(self.json);
                    self.lengths(field, demands.length, counted, ["minLength", "maxLength"]);
                }
                Choice::Integer => {
                    demands.integers.iter().for_each(|keyword| self.tell(field, keyword));
                    if beside_words && (demands.least.is_some() || demands.most.is_some()) {
                        self.tell(field, if demands.least.is_some() { "minimum" } else { "maximum" });
                    }
                }
                Choice::Number => {
                    demands.numbers.iter().for_each(|keyword| self.tell(field, keyword));
                    if beside_words && demands.not_negative {
                        self.tell(field, "minimum");
                    }
                }
                Choice::Array => self.array(variant, field, above),
                Choice::Object => self.object(id, variant, field, pairs, above),
                Choice::Boolean | Choice::Null | Choice::Literal(_) => {}
            }
        }
        // Literals are not compared with the demands beside them.
        for kind in &variant.literal_kinds {
            let keywords = match kind {
                Choice::String => {
                    self.lengths(field, demands.length, 0, ["minLength", "maxLength"]);
                    &demands.strings
                }
                Choice::Array => {
                    self.lengths(field, demands.items, 0, ["minItems", "maxItems"]);
                    demands.elements.iter().for_each(|keyword| self.tell(field, keyword));
                    &demands.arrays
                }
                Choice::Object => {
                    demands.members.iter().for_each(|keyword| self.tell(field, keyword));
                    &demands.objects
                }
                _ => {
                    if demands.not_negative && variant.has_negative {
                        self.tell(field, "minimum");
                    }
                    &demands.numbers
                }
            };
            keywords.iter().for_each(|keyword| self.tell(field, keyword));
        }
    }

    /// The bounds of a length that are not counted.
    fn lengths(&mut self, field: &str, length: Length, counted: usize, keywords: [&'static str; 2]) {
        let enforced = length.within(counted);
        if enforced.least != length.least {
            self.tell(field, keywords[0]);
        }
        if enforced.most != length.most {
            self.tell(field, keywords[1]);
        }
    }

    fn array(&mut self, variant: &Variant, field: &str, above: &mut Vec<NodeId>) {
        let demands = &variant.demands;
        demands.arrays.iter().for_each(|keyword| self.tell(field, keyword));
        self.lengths(field, demands.items, COUNTED_ITEMS, ["minItems", "maxItems"]);
        let field = format!("{field}[]");
        let Some(array) = &variant.array else { return self.tell(&field, "type") };
        for item in array.prefix.iter().copied().chain(array.items.filter(|item| *item != UNKNOWN)) {
            self.node(item, &field, false, above);
        }
        if array.items.is_none() {
            self.tell(&field, "type");
        }
    }

    fn object(&mut self, id: NodeId, variant: &Variant, field: &str, pairs: bool, above: &mut Vec<NodeId>) {
        variant.demands.objects.iter().for_each(|keyword| self.tell(field, keyword));
        let Some(object) = &variant.object else { return self.tell(field, "type") };
        let Some(members) = declared(object) else { return };
        let is_root = id == self.variants.schema.root;
        if members.is_empty() {
            match object.additional {
                Additional::Closed => {}
                // Without declared parameters, a tool gets no arguments that are not JSON.
                Additional::Unsaid if is_root && pairs => {}
                Additional::Unsaid if !object.properties.is_empty() => {}
                // Members may be repeated.
                Additional::Unsaid => self.tell(field, "additionalProperties"),
                Additional::Open(value) => {
                    self.tell(field, "additionalProperties");
                    if value != UNKNOWN {
                        self.node(value, &format!("{field}.*"), pairs && is_root, above);
                    }
                }
            }
        }
        let pairs = pairs && (is_root || self.variants.schema.nests(id));
        for (name, child, _) in members {
            let mut key = field.to_owned();
            if !key.is_empty() {
                key.push('.');
            }
            push_segment(&mut key, name, self.delimiters);
            self.node(child, &key, pairs, above);
        }
    }
}
