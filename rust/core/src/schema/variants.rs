//! The alternatives of each type, with what they demand of values beyond their kind. Only grammars need them.

use super::compile::Alternative;
use super::parts::Json;
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
    pub object: Option<ObjectType>,
    pub array: Option<Array>,
    pub demands: Demands,
}

/// What the schemas of one alternative demand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Demands {
    pub least: Option<i128>,
    pub most: Option<i128>,
    pub length: (usize, Option<usize>),
    pub items: (usize, Option<usize>),
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
}

impl Variants {
    /// The alternatives of each node, each with its choices; `None`: it does not restrict the kind. One that only describes members
    /// or items is taken for an object or array.
    pub(super) fn new(schema: Schema, lists: Vec<Vec<(Option<Vec<Choice>>, Variant)>>) -> Self {
        let known = lists.into_iter().enumerate().map(|(id, list)| {
            let hint = || schema.hint(id as NodeId).map(|kind| vec![kind]);
            let list =
                list.into_iter().map(|(choices, variant)| Some(Variant { choices: choices.or_else(hint)?, ..variant }));
            list.collect::<Option<Vec<_>>>().filter(|list| !list.is_empty())
        });
        let lists = known.collect();
        Variants { schema, lists }
    }

    /// The alternatives of a type. `None`: any JSON may fit it.
    pub(crate) fn of(&self, id: NodeId) -> Option<&[Variant]> {
        self.lists.get(id as usize)?.as_deref()
    }
}

/// Formats that the full validation does not check.
const UNCHECKED: &[&str] = &["regex", "binary", "byte", "password", "int32", "int64", "float", "double"];

impl Demands {
    pub(super) fn new<'s>(document: &SchemaDocument<'s>, schemas: &Alternative<'s>) -> Self {
        let mut demands = Demands::default();
        for schema in schemas {
            demands.add(document, schema);
        }
        // Members of one schema may be forbidden by another.
        let has = |keyword: &str| schemas.iter().filter(|schema| document.get(schema, keyword).is_some()).count();
        let closes = |schema: &Json| {
            let rest = ["additionalProperties", "unevaluatedProperties"];
            rest.iter().any(|keyword| document.get(schema, keyword).is_some_and(|rest| rest != &Value::Bool(true)))
        };
        if schemas.len() > 1 && has("properties") > 0 && schemas.iter().any(|schema| closes(schema)) {
            demands.objects.push("additionalProperties");
        }
        demands
    }

    fn add<'s>(&mut self, document: &SchemaDocument<'s>, schema: &'s Json) {
        let get = |keyword: &str| document.get(schema, keyword);
        let flag = |keyword: &str| get(keyword) == Some(&Value::Bool(true));
        let count = |keyword: &str| get(keyword).and_then(Value::as_f64).filter(|n| *n >= 0.0).map(|n| n as usize);
        let fewer = |a: Option<usize>, b: Option<usize>| a.into_iter().chain(b).min();
        self.length.0 = self.length.0.max(count("minLength").unwrap_or(0));
        self.length.1 = fewer(self.length.1, count("maxLength"));
        self.items.0 = self.items.0.max(count("minItems").unwrap_or(0));
        self.items.1 = fewer(self.items.1, count("maxItems"));
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
        let unless = |keyword: &'static str, fine: &dyn Fn(&Json) -> bool| {
            get(keyword).filter(|value| !fine(value)).map(|_| keyword)
        };
        self.strings.extend(unless("pattern", &|_| false));
        self.strings.extend(unless("format", &|value| value.as_str().is_none_or(|name| UNCHECKED.contains(&name))));
        self.strings.extend(unless("contentEncoding", &|_| false));
        self.strings.extend(unless("contentMediaType", &|_| false));
        self.arrays.extend(unless("uniqueItems", &|value| value == &Value::Bool(false)));
        self.arrays.extend(unless("contains", &|_| false));
        self.arrays.extend(unless("unevaluatedItems", &|_| false));
        self.objects.extend(unless("patternProperties", &|_| false));
        self.objects.extend(unless("propertyNames", &|_| false));
        self.objects.extend(unless("dependentRequired", &|_| false));
        self.objects.extend(unless("dependentSchemas", &|_| false));
        self.objects.extend(unless("dependencies", &|_| false));
        self.objects.extend(unless("minProperties", &|value| value.as_f64() == Some(0.0)));
        self.objects.extend(unless("maxProperties", &|_| false));
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

/// Whether no value fits both alternatives, as far as can be seen: by kind, or by a required member with different literals.
fn are_apart(a: &Variant, b: &Variant, schema: &Schema) -> bool {
    let meet = |one: &Choice, other: &Choice| match (one, other) {
        (Choice::Literal(one), Choice::Literal(other)) => one.json == other.json,
        (Choice::Literal(literal), kind) | (kind, Choice::Literal(literal)) => match kind {
            Choice::Integer => literal.kind() == Choice::Number,
            kind => literal.kind() == *kind,
        },
        (Choice::Integer, Choice::Number) | (Choice::Number, Choice::Integer) => true,
        (Choice::Object, Choice::Object) => !tells_apart(a, b, schema),
        (one, other) => one == other,
    };
    !a.choices.iter().any(|one| b.choices.iter().any(|other| meet(one, other)))
}

/// Whether both require a member that has different literals in each.
fn tells_apart(a: &Variant, b: &Variant, schema: &Schema) -> bool {
    let (Some(a), Some(b)) = (&a.object, &b.object) else { return false };
    let literals = |object: &ObjectType, name: &str| {
        let node = schema.node(*object.properties.get(name)?);
        let all: Option<Vec<String>> = node
            .choices
            .iter()
            .map(|choice| if let Choice::Literal(literal) = choice { Some(literal.json.clone()) } else { None })
            .collect();
        all.filter(|all| !all.is_empty())
    };
    a.required.iter().filter(|name| b.required.contains(name)).any(|name| {
        let (Some(first), Some(second)) = (literals(a, name), literals(b, name)) else { return false };
        !first.iter().any(|one| second.contains(one))
    })
}

/// Alternatives that are compared in pairs.
const COMPARED: usize = 32;

impl Variants {
    /// Whether a value may fit two alternatives of a type that allows only one.
    pub(crate) fn overlap(&self, id: NodeId) -> bool {
        let all = self.of(id).unwrap_or_default();
        let exclusive = all.iter().any(|variant| variant.demands.one_of);
        exclusive && (all.len() > COMPARED || self.meet(all))
    }

    fn meet(&self, all: &[Variant]) -> bool {
        all.iter().enumerate().any(|(at, a)| all[at + 1..].iter().any(|b| !are_apart(a, b, &self.schema)))
    }
}
