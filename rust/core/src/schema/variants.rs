//! The alternatives of each type, with what they demand of values beyond their kind. Only grammars need them.

use super::parts::{Alternative, Json};
use super::resolve::SchemaDocument;
use super::{Array, Choice, NodeId, ObjectType, Schema};
use crate::syntax::json::{Value, whole};

/// The compiled types of a schema, and the alternatives of each.
pub(crate) struct Variants {
    pub schema: Schema,
    /// `None`: any value, or a type of which nothing is known.
    lists: Vec<Option<Vec<Variant>>>,
}

/// One alternative of a type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variant {
    pub choices: Vec<Choice>,
    /// The choices that are not literals, and the kinds of those that are, each once.
    pub kinds: Vec<Choice>,
    pub literal_kinds: Vec<Choice>,
    /// Some literal is a number below zero.
    pub has_negative: bool,
    pub size: usize,
    pub object: Option<ObjectType>,
    pub array: Option<Array>,
    pub demands: Demands,
}

/// Bytes of a literal that count as one.
const LITERAL: usize = 32;

impl Variant {
    fn with(mut self, choices: Vec<Choice>) -> Self {
        for choice in &choices {
            let kinds = match choice {
                Choice::Literal(literal) => {
                    self.has_negative |= literal.json.starts_with('-');
                    self.size += literal.json.len() / LITERAL;
                    &mut self.literal_kinds
                }
                _ => &mut self.kinds,
            };
            if !kinds.contains(&choice.kind()) {
                kinds.push(choice.kind());
            }
        }
        Variant { size: self.size + choices.len(), choices, ..self }
    }
}

/// How many characters a string has, or items an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Length {
    pub least: usize,
    pub most: Option<usize>,
}

impl Length {
    /// Without the bounds beyond this limit; with a limit of 0, without any.
    pub(crate) fn within(self, limit: usize) -> Length {
        let least = if self.least > limit { 0 } else { self.least };
        Length { least, most: self.most.filter(|most| limit > 0 && *most <= limit) }
    }

    pub(crate) fn is_any(self) -> bool {
        self == Length::default()
    }

    pub(crate) fn is_never(self) -> bool {
        self.most.is_some_and(|most| most < self.least)
    }

    /// What is left after so many. `None`: there are too many.
    pub(crate) fn after(self, count: usize) -> Option<Length> {
        let most = match self.most {
            Some(most) => Some(most.checked_sub(count)?),
            None => None,
        };
        Some(Length { least: self.least.saturating_sub(count), most })
    }

    fn add(&mut self, least: Option<usize>, most: Option<usize>) {
        self.least = self.least.max(least.unwrap_or(0));
        self.most = self.most.into_iter().chain(most).min();
    }
}

/// What the schemas of one alternative demand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Demands {
    pub least: Option<i128>,
    pub most: Option<i128>,
    /// Of strings, and of arrays.
    pub length: Length,
    pub items: Length,
    /// Only one alternative of the type may fit a value.
    pub one_of: bool,
    /// Numbers are not below zero.
    pub not_negative: bool,
    /// Keywords that a grammar does not express for strings, for numbers that are not whole, for whole numbers, for arrays and for
    /// objects, and for any value.
    pub strings: Vec<&'static str>,
    pub numbers: Vec<&'static str>,
    pub integers: Vec<&'static str>,
    pub arrays: Vec<&'static str>,
    pub objects: Vec<&'static str>,
    pub any: Vec<&'static str>,
    /// Keywords that a grammar follows, but that literal objects and arrays are not compared with.
    pub members: Vec<&'static str>,
    pub elements: Vec<&'static str>,
}

impl Variants {
    /// The alternatives of each node, each with its choices; `None`: it does not restrict the kind. One that only describes members
    /// or items is taken for an object or array.
    pub(super) fn new(schema: Schema, lists: Vec<Vec<(Option<Vec<Choice>>, Variant)>>) -> Self {
        let known = lists.into_iter().enumerate().map(|(id, list)| {
            let hint = || schema.hint(id as NodeId).map(|kind| vec![kind]);
            let list = list.into_iter().map(|(choices, variant)| Some(variant.with(choices.or_else(hint)?)));
            list.collect::<Option<Vec<_>>>().filter(|list| !list.is_empty())
        });
        let lists = known.collect();
        Variants { schema, lists }
    }

    /// How many choices all its alternatives have. A long literal counts as several.
    pub(crate) fn size(&self, id: NodeId) -> usize {
        self.of(id).unwrap_or_default().iter().map(|variant| variant.size).sum()
    }

    /// The alternatives of a type. `None`: any JSON may fit it.
    pub(crate) fn of(&self, id: NodeId) -> Option<&[Variant]> {
        self.lists.get(id as usize)?.as_deref()
    }
}

/// Formats that the full validation does not check.
const UNCHECKED: &[&str] = &["regex", "binary", "byte", "password", "int32", "int64", "float", "double"];

/// Keywords that no grammar enforces.
const UNSAID_OF_STRINGS: &[&str] = &["pattern", "contentEncoding", "contentMediaType"];
const UNSAID_OF_ARRAYS: &[&str] = &["contains", "unevaluatedItems"];
const UNSAID_OF_OBJECTS: &[&str] =
    &["patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies", "maxProperties"];

impl Demands {
    pub(super) fn new<'s>(document: &SchemaDocument<'s>, schemas: &Alternative<'s>) -> Self {
        let mut demands = Demands::default();
        for schema in schemas {
            demands.add(document, schema);
        }
        // Members of one schema may be forbidden by another.
        let closes = |schema: &Json| {
            let rest = ["additionalProperties", "unevaluatedProperties"];
            rest.iter().any(|keyword| document.get(schema, keyword).is_some_and(|rest| rest != &Value::Bool(true)))
        };
        let describes = |schema: &&Json| document.get(schema, "properties").is_some();
        if schemas.len() > 1 && schemas.iter().any(describes) && schemas.iter().any(|schema| closes(schema)) {
            demands.objects.push("additionalProperties");
        }
        demands
    }

    fn add<'s>(&mut self, document: &SchemaDocument<'s>, schema: &'s Json) {
        let get = |keyword: &str| document.get(schema, keyword);
        let flag = |keyword: &str| get(keyword) == Some(&Value::Bool(true));
        let count = |keyword: &str| get(keyword).and_then(Value::as_f64).filter(|n| *n >= 0.0).map(|n| n as usize);
        self.length.add(count("minLength"), count("maxLength"));
        self.items.add(count("minItems"), count("maxItems"));
        for (keyword, exclusive, lower) in
            [("minimum", "exclusiveMinimum", true), ("maximum", "exclusiveMaximum", false)]
        {
            let bounds = [(get(keyword), flag(exclusive), keyword), (get(exclusive), true, exclusive)];
            for (bound, excluded, named) in bounds {
                let Some(bound @ Value::Number(text)) = bound else { continue };
                self.bound(text, bound.as_f64(), lower, excluded, named);
            }
        }
        self.one_of |= get("oneOf").is_some();
        if let Some(step) = get("multipleOf") {
            self.numbers.push("multipleOf");
            if step.as_f64() != Some(1.0) {
                self.integers.push("multipleOf");
            }
        }
        let has = |keyword: &&&str| get(keyword).is_some();
        self.strings.extend(UNSAID_OF_STRINGS.iter().filter(has));
        self.arrays.extend(UNSAID_OF_ARRAYS.iter().filter(has));
        self.objects.extend(UNSAID_OF_OBJECTS.iter().filter(has));
        self.members.extend(["properties", "required", "additionalProperties"].iter().filter(has));
        self.elements.extend(["items", "prefixItems"].iter().filter(has));
        let unless = |keyword: &'static str, fine: &dyn Fn(&Json) -> bool| {
            get(keyword).filter(|value| !fine(value)).map(|_| keyword)
        };
        self.strings.extend(unless("format", &|value| value.as_str().is_none_or(|name| UNCHECKED.contains(&name))));
        self.arrays.extend(unless("uniqueItems", &|value| value == &Value::Bool(false)));
        self.objects.extend(unless("minProperties", &|value| value.as_f64() == Some(0.0)));
        // Of OpenAPI: the full validation does not know it.
        self.any.extend(unless("nullable", &|value| value == &Value::Bool(false)));
        self.any.extend(unless("not", &|_| false));
        if get("then").is_some() || get("else").is_some() {
            self.any.extend(unless("if", &|_| false));
        }
    }

    fn bound(&mut self, text: &str, value: Option<f64>, lower: bool, excluded: bool, named: &'static str) {
        // Zero is the only bound of other numbers that is one of their first characters.
        if lower && !excluded && value == Some(0.0) {
            self.not_negative = true;
        } else {
            self.numbers.push(named);
        }
        // Beyond these, a float is not exact.
        let small = value.filter(|value| value.abs() < 9e15);
        let is_whole = |value: &f64| value.fract() == 0.0;
        let exact = whole(text).and_then(|whole| whole.parse::<i64>().ok());
        let next = if lower { 1 } else { -1 };
        let near = match exact.or(small.filter(is_whole).map(|value| value as i64)) {
            Some(exact) => Some(i128::from(exact) + if excluded { next } else { 0 }),
            None => small.map(|value| if lower { value.ceil() } else { value.floor() } as i128),
        };
        match near {
            None => self.integers.push(named),
            Some(bound) if lower => self.least = Some(self.least.map_or(bound, |known| known.max(bound))),
            Some(bound) => self.most = Some(self.most.map_or(bound, |known| known.min(bound))),
        }
    }
}
