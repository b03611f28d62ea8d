//! Schemas, and values that are valid against them.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Number, Value, json};

use super::text::soup;

/// A schema, by what its values look like.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Any,
    String,
    Integer,
    Number,
    Boolean,
    Null,
    /// By `enum`, or by `const` where there is one only.
    Literals(Vec<Value>),
    Array(Box<Shape>),
    Tuple(Vec<Shape>, Box<Shape>),
    /// The same in the words of older drafts.
    OldTuple(Vec<Shape>, Box<Shape>),
    /// An array or object by what it has in it, without `type`: anything else is valid, too.
    Untyped(Box<Shape>),
    /// With a default: not required, whatever `required` says.
    Defaulted(Box<Shape>),
    /// A member of a union that no value satisfies.
    Never(Value),
    Object {
        members: Vec<(String, Shape, bool)>,
        others: Others,
    },
    /// Two halves of one object, by `allOf`.
    Halves(Vec<(String, Shape, bool)>),
    /// By `anyOf` or `oneOf`.
    Union(Vec<Shape>, &'static str),
    /// By a list of types.
    Types(Vec<Shape>),
    /// `#/$defs/tree`, which contains itself.
    Tree,
}

/// What an object says of keys that it does not name.
#[derive(Clone, Debug)]
pub(crate) enum Others {
    Unsaid,
    Closed,
    /// By `unevaluatedProperties`, with the members in a part of the schema.
    Evaluated,
    Open(Box<Shape>),
    /// Those that begin with `x_`, by `patternProperties`; no others.
    Pattern(Box<Shape>),
}

const NAMES: &[&str] = &[
    "a",
    "b",
    "c",
    "city",
    "maxResults",
    "max_results",
    "A",
    "a.b",
    "b.a",
    "a.b.c",
    "x y",
    "x=y",
    "it's",
    "say \"hi\"",
    "\"'",
    "a[0]",
    "[",
    "{",
    "}",
    ".",
    "..",
    "</call>",
    "<call>x a=1</call>",
    "«call»",
    "<|end|>",
    "__proto__",
    "constructor",
    "",
    "0",
    "12",
    "0123456789",
    "-",
    "é",
    "日本",
    "😀",
    ",",
    "a,b",
    "\\",
    "a\\",
    "\\n",
    "\n",
    "\t",
    "\0",
    "\u{7f}",
    "\u{a0}",
    "\u{2028}",
    "`",
    ":",
    "$ref",
    " ",
    "x_1",
    "X-Id",
];

/// Keys: awkward ones, any at all, and some that are too long for a pair.
pub(crate) fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => select(NAMES).prop_map(str::to_owned),
        2 => soup(4),
        1 => (select(&["k", "é", "\"", "."][..]), 60..130_usize).prop_map(|(text, times)| text.repeat(times)),
    ]
}

fn number(text: &str) -> Value {
    Value::Number(Number::from_string_unchecked(text.to_owned()))
}

fn integer() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => any::<i16>().prop_map(|value| number(&value.to_string())),
        1 => any::<i64>().prop_map(|value| number(&value.to_string())),
        1 => "-?[1-9][0-9]{0,40}".prop_map(|text| number(&text)),
        1 => select(&["0", "-0", "5.0", "-7.000", "0.0", "1e3", "12E+2", "-1.5e1", "9007199254740993", "1e-0"][..]).prop_map(number),
        1 => (1..10_u8, 0..400_usize).prop_map(|(digit, zeros)| number(&format!("-{digit}{}", "07".repeat(zeros / 2)))),
    ]
}

fn fraction() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => any::<i16>().prop_map(|value| number(&value.to_string())),
        2 => "-?(0|[1-9][0-9]{0,5})\\.[0-9]{1,20}".prop_map(|text| number(&text)),
        2 => "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?[eE][+-]?[0-9]{1,12}"
            .prop_filter("in the range of a float", |text| text.parse().is_ok_and(f64::is_finite))
            .prop_map(|text| number(&text)),
        1 => select(&["-0.0", "5.0", "0.1", "1e308", "-1E-400", "3.14", "1e00"][..]).prop_map(number),
    ]
}

fn string() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "",
        "Oslo",
        "5",
        "-0.0",
        "1e5",
        "007",
        "true",
        "null",
        "None",
        "[1]",
        "[1",
        "{\"a\":1}",
        "a,b",
        "a,",
        " x",
        "x ",
        "New York",
        "it's",
        "C:\\new\\table",
        "\\d+\\.txt",
    ];
    prop_oneof![3 => select(WORDS).prop_map(str::to_owned), 2 => soup(7)]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        2 => integer(),
        1 => fraction(),
        4 => string().prop_map(Value::String),
    ]
}

fn entries(value: impl Strategy<Value = Value>, most: usize) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((name(), value), 0..most).prop_map(Map::from_iter)
}

/// Any JSON at all.
pub(crate) fn json() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            entries(inner, 4).prop_map(Value::Object),
        ]
    })
}

fn literals() -> impl Strategy<Value = Shape> + Clone {
    let all = [
        json!("a"),
        json!("A"),
        json!("b"),
        json!("New York"),
        json!(""),
        json!("5"),
        json!(5),
        number("7.25"),
        number("1e+300"),
        json!(true),
        json!("true"),
        Value::Null,
        json!("null"),
        json!("a,b"),
        json!("it's \"so\""),
        json!([1, "a"]),
        json!({"k": 1}),
        json!("</call>"),
        json!("[1]"),
    ];
    prop::sample::subsequence(all.to_vec(), 1..6).prop_shuffle().prop_map(Shape::Literals)
}

fn plain() -> impl Strategy<Value = Shape> + Clone {
    prop_oneof![
        6 => Just(Shape::String),
        2 => Just(Shape::Integer),
        2 => Just(Shape::Number),
        1 => Just(Shape::Boolean),
        1 => Just(Shape::Null),
        2 => literals(),
    ]
}

fn members(inner: impl Strategy<Value = Shape>) -> impl Strategy<Value = Vec<(String, Shape, bool)>> {
    prop::collection::vec((name(), inner, any::<bool>()), 0..5).prop_map(|mut members| {
        let mut seen = std::collections::HashSet::new();
        members.retain(|(name, _, _)| seen.insert(name.clone()));
        members
    })
}

fn object(inner: impl Strategy<Value = Shape> + Clone + 'static) -> impl Strategy<Value = Shape> {
    let others = prop_oneof![
        3 => Just(Others::Unsaid),
        2 => Just(Others::Closed),
        1 => Just(Others::Evaluated),
        2 => inner.clone().prop_map(|shape| Others::Open(Box::new(shape))),
        1 => inner.clone().prop_map(|shape| Others::Pattern(Box::new(shape))),
    ];
    (members(inner), others).prop_map(|(members, others)| Shape::Object { members, others })
}

fn never() -> impl Strategy<Value = Option<Shape>> {
    let all = [
        json!(false),
        json!({"not": {}}),
        json!({"not": true, "type": "string"}),
        json!({"enum": []}),
        json!({"type": "string", "enum": [5, null]}),
        json!({"type": "integer", "allOf": [{"type": ["string", "object"]}]}),
        json!({"const": 1, "allOf": [{"const": 2}]}),
    ];
    prop::option::weighted(0.2, select(all.to_vec()).prop_map(Shape::Never))
}

/// Unions of what no other schema contains.
fn union() -> impl Strategy<Value = Shape> {
    let list = plain().prop_map(|shape| Shape::Array(Box::new(shape)));
    let lone = object(plain()).boxed();
    let keyword = select(&["anyOf", "oneOf"][..]);
    let simple =
        [Shape::String, Shape::Integer, Shape::Number, Shape::Boolean, Shape::Null, Shape::Array(Box::new(Shape::Any))];
    prop_oneof![
        3 => (prop::collection::vec(prop_oneof![3 => plain(), 1 => list], 1..4), prop::option::of(lone.clone()), never(), keyword.clone())
            .prop_map(|(mut shapes, object, never, keyword)| {
                shapes.extend(object);
                shapes.splice(1..1, never);
                Shape::Union(shapes, keyword)
            }),
        1 => (prop::collection::vec(lone, 1..4), keyword).prop_map(|(shapes, keyword)| Shape::Union(shapes, keyword)),
        2 => prop::sample::subsequence(simple.to_vec(), 1..4).prop_shuffle().prop_map(Shape::Types),
    ]
}

fn shape() -> impl Strategy<Value = Shape> + Clone {
    let leaf = prop_oneof![8 => plain(), 1 => Just(Shape::Any), 1 => Just(Shape::Tree), 3 => union()];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            2 => inner.clone().prop_map(|shape| Shape::Array(Box::new(shape))),
            1 => tuple(inner.clone(), Shape::Tuple),
            1 => tuple(inner.clone(), Shape::OldTuple),
            1 => prop_oneof![
                inner.clone().prop_map(|shape| Shape::Array(Box::new(shape))),
                tuple(inner.clone(), Shape::OldTuple),
                object(inner.clone()),
            ].prop_map(|shape| Shape::Untyped(Box::new(shape))),
            1 => inner.clone().prop_map(|shape| Shape::Defaulted(Box::new(shape))),
            4 => object(inner.clone()),
            1 => members(inner.clone()).prop_map(Shape::Halves),
            2 => (prop::collection::vec(inner, 1..4), select(&["anyOf", "oneOf"][..])).prop_map(|(shapes, keyword)| Shape::Union(shapes, keyword)),
        ]
    })
}

fn tuple(
    inner: impl Strategy<Value = Shape> + Clone,
    form: fn(Vec<Shape>, Box<Shape>) -> Shape,
) -> impl Strategy<Value = Shape> {
    (prop::collection::vec(inner.clone(), 1..3), inner).prop_map(move |(prefix, rest)| form(prefix, Box::new(rest)))
}

/// What a tool's parameters may be.
pub(crate) fn root() -> impl Strategy<Value = Shape> {
    prop_oneof![
        12 => object(shape()),
        1 => members(shape()).prop_map(Shape::Halves),
        2 => prop::collection::vec(object(shape()), 1..4).prop_map(|shapes| Shape::Union(shapes, "anyOf")),
        1 => Just(Shape::Tree),
        1 => Just(Shape::Object { members: Vec::new(), others: Others::Unsaid }),
    ]
}

fn properties(members: &[(String, Shape, bool)]) -> (Map<String, Value>, Vec<&str>) {
    let properties = members.iter().map(|(name, shape, _)| (name.clone(), shape.keywords())).collect();
    (properties, members.iter().filter(|(_, _, required)| *required).map(|(name, _, _)| name.as_str()).collect())
}

impl Shape {
    /// The whole schema.
    pub(crate) fn schema(&self) -> Value {
        let tree = json!({"type": "object", "properties": {"value": {"type": "string"}, "next": {"$ref": "#/$defs/tree"},
            "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}});
        let mut schema = self.keywords();
        if let Value::Object(keywords) = &mut schema {
            keywords.insert("$defs".into(), json!({ "tree": tree }));
        }
        schema
    }

    fn keywords(&self) -> Value {
        match self {
            Shape::Any => json!({}),
            Shape::String => json!({"type": "string"}),
            Shape::Integer => json!({"type": "integer"}),
            Shape::Number => json!({"type": "number"}),
            Shape::Boolean => json!({"type": "boolean"}),
            Shape::Null => json!({"type": "null"}),
            Shape::Literals(literals) => match &literals[..] {
                [only] => json!({ "const": only }),
                literals => json!({ "enum": literals }),
            },
            Shape::Array(items) => json!({"type": "array", "items": items.keywords()}),
            Shape::Tuple(prefix, rest) => {
                json!({"type": "array", "prefixItems": prefix.iter().map(Shape::keywords).collect::<Vec<_>>(), "items": rest.keywords()})
            }
            Shape::OldTuple(prefix, rest) => {
                json!({"type": "array", "items": prefix.iter().map(Shape::keywords).collect::<Vec<_>>(), "additionalItems": rest.keywords()})
            }
            Shape::Untyped(shape) => {
                let mut schema = shape.keywords();
                schema.as_object_mut().expect("it has keywords").remove("type");
                schema
            }
            Shape::Defaulted(shape) => {
                let mut schema = shape.keywords();
                schema["default"] = json!("some text");
                schema
            }
            Shape::Never(schema) => schema.clone(),
            Shape::Object { members, others: Others::Evaluated } => {
                let (first, second) = members.split_at(members.len() / 2);
                let ((first, needed), (second, required)) = (properties(first), properties(second));
                json!({"type": "object", "allOf": [{"properties": first, "required": needed}], "properties": second,
                    "required": required, "unevaluatedProperties": false})
            }
            Shape::Object { members, others } => {
                let (properties, required) = properties(members);
                let mut schema = json!({"type": "object", "properties": properties, "required": required});
                match others {
                    Others::Unsaid | Others::Evaluated => {}
                    Others::Closed => schema["additionalProperties"] = Value::Bool(false),
                    Others::Open(shape) => schema["additionalProperties"] = shape.keywords(),
                    Others::Pattern(shape) => schema["patternProperties"] = json!({"^x_": shape.keywords()}),
                }
                schema
            }
            Shape::Halves(members) => {
                let (first, second) = members.split_at(members.len() / 2);
                let half = |members: &[(String, Shape, bool)]| {
                    let (properties, required) = properties(members);
                    json!({"properties": properties, "required": required})
                };
                json!({"type": "object", "allOf": [half(first), half(second)]})
            }
            Shape::Union(shapes, keyword) => {
                json!({ *keyword: shapes.iter().map(Shape::keywords).collect::<Vec<_>>() })
            }
            Shape::Types(shapes) => {
                let types: Vec<Value> = shapes.iter().map(|shape| shape.keywords()["type"].clone()).collect();
                json!({ "type": types })
            }
            Shape::Tree => json!({"$ref": "#/$defs/tree"}),
        }
    }

    /// Values that are valid against it.
    pub(crate) fn value(&self) -> BoxedStrategy<Value> {
        match self {
            Shape::Any => json().boxed(),
            Shape::String => string().prop_map(Value::String).boxed(),
            Shape::Integer => integer().boxed(),
            Shape::Number => fraction().boxed(),
            Shape::Boolean => any::<bool>().prop_map(Value::Bool).boxed(),
            Shape::Null => Just(Value::Null).boxed(),
            Shape::Literals(literals) => select(literals.clone()).boxed(),
            Shape::Array(items) => prop::collection::vec(items.value(), 0..4).prop_map(Value::Array).boxed(),
            Shape::Untyped(shape) => prop_oneof![2 => shape.value(), 1 => scalar()].boxed(),
            Shape::Defaulted(shape) => shape.value(),
            Shape::Never(_) => Just(Value::Null).boxed(),
            Shape::Tuple(prefix, rest) | Shape::OldTuple(prefix, rest) => {
                let prefix: Vec<_> = prefix.iter().map(Shape::value).collect();
                (prefix, prop::collection::vec(rest.value(), 0..2), 0..3_usize)
                    .prop_map(|(mut items, rest, keep)| {
                        items.extend(rest);
                        items.truncate(keep.max(1));
                        Value::Array(items)
                    })
                    .boxed()
            }
            Shape::Object { members, others } => {
                let own = declared(members);
                let names: Vec<String> = members.iter().map(|(name, _, _)| name.clone()).collect();
                let extra = match others {
                    Others::Closed | Others::Evaluated => return own.prop_map(Value::Object).boxed(),
                    Others::Unsaid => entries(json(), 3).boxed(),
                    Others::Open(shape) => entries(shape.value(), 3).boxed(),
                    Others::Pattern(shape) => entries(shape.value(), 3)
                        .prop_map(|map| map.into_iter().map(|(name, value)| (format!("x_{name}"), value)).collect())
                        .boxed(),
                };
                (own, extra)
                    .prop_map(move |(mut map, extra)| {
                        map.extend(extra.into_iter().filter(|(name, _)| !names.contains(name)));
                        Value::Object(map)
                    })
                    .boxed()
            }
            Shape::Halves(members) => declared(members).prop_map(Value::Object).boxed(),
            Shape::Union(shapes, _) | Shape::Types(shapes) => {
                let possible = shapes.iter().filter(|shape| !matches!(shape, Shape::Never(_)));
                prop::strategy::Union::new(possible.map(Shape::value)).boxed()
            }
            Shape::Tree => {
                let leaf = string().prop_map(|text| json!({ "value": text }));
                leaf.prop_recursive(3, 8, 2, |inner| {
                    (inner.clone(), prop::collection::vec(inner, 0..2), string())
                        .prop_map(|(next, kids, value)| json!({"next": next, "value": value, "kids": kids}))
                })
                .boxed()
            }
        }
    }
}

/// The members that are there: those required, and some others, in some order.
fn declared(members: &[(String, Shape, bool)]) -> impl Strategy<Value = Map<String, Value>> + use<> {
    let each: Vec<_> = members
        .iter()
        .map(|(name, shape, required)| {
            let required = *required && !matches!(shape, Shape::Defaulted(_));
            let name = name.clone();
            (shape.value(), any::<bool>())
                .prop_map(move |(value, kept)| (kept || required).then(|| (name.clone(), value)))
        })
        .collect();
    each.prop_shuffle().prop_map(|entries| entries.into_iter().flatten().collect())
}
