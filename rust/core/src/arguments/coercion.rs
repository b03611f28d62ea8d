//! What a text becomes, by its field's type. Reading and writing use this one table.
//!
//! Quoted text: a string choice, then the first choice that admits it after conversion. Bare text: the first choice other
//! than a string that admits it as it is, then a string choice, then the first choice that admits it after conversion.

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::error::ProblemKind;
use crate::limits::FEW_CHOICES;
use crate::schema::{Choice, ChoicesOf, Literal, Node, NodeId, Schema, UNKNOWN};
use crate::syntax::json::{Value, is_beyond_float, is_number, parse, push_string, respelled, same_number, whole};
use crate::syntax::scan::{is_ws, trim};

/// What became of a text that was written as JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Not in the usual form: the repair `coerced`.
    pub converted: bool,
    pub problem: Option<ProblemKind>,
}

/// Writes the JSON of a scalar, given as `text` where type `id` is expected.
pub(crate) fn scalar(schema: &Schema, id: NodeId, text: &str, quoted: bool, out: &mut String) -> Outcome {
    typed(schema, id, text, quoted, true, out)
}

fn typed(schema: &Schema, id: NodeId, text: &str, quoted: bool, lists: bool, out: &mut String) -> Outcome {
    let start = out.len();
    let mut outcome = choose(schema, id, text, quoted, lists, out);
    // For any type, since a host would get infinity.
    let is_number = matches!(out.as_bytes().get(start), Some(b'-' | b'0'..=b'9'));
    if is_number && outcome.problem.is_none() && is_beyond_float(&out[start..]) {
        outcome.problem = Some(ProblemKind::WrongType);
    }
    outcome
}

fn choose(schema: &Schema, id: NodeId, text: &str, quoted: bool, lists: bool, out: &mut String) -> Outcome {
    let node = schema.node(id);
    if node.is_unknown() {
        if !quoted && is_json_scalar(text) {
            out.push_str(text)
        } else {
            push_string(out, text)
        }
        return Outcome::default();
    }
    let choices = node.candidates(text);
    if !quoted {
        for choice in choices.iter() {
            if take_bare(choice, text, out) {
                return Outcome::default();
            }
        }
    }
    if !quoted && is_none(&choices, text) {
        out.push_str("null");
        return Outcome { converted: true, problem: None };
    }
    if choices.iter().any(|choice| is_string(choice, text)) {
        push_string(out, text);
        return Outcome::default();
    }
    let folded = OnceCell::new();
    for choice in choices.iter().filter(|choice| lists || **choice != Choice::Array) {
        if let Some(mut outcome) = convert(schema, node, choice, text, quoted, &folded, out) {
            outcome.converted = true;
            return outcome;
        }
    }
    if !quoted && is_json_scalar(text) {
        out.push_str(text)
    } else {
        push_string(out, text)
    }
    Outcome { converted: false, problem: Some(violation(node)) }
}

/// Whether the text is exactly this string of an enum.
pub(crate) fn is_literal(choice: &Choice, text: &str) -> bool {
    matches!(choice, Choice::Literal(literal) if literal.text.as_deref() == Some(text))
}

/// Whether the choice takes the text as a string.
pub(crate) fn is_string(choice: &Choice, text: &str) -> bool {
    matches!(choice, Choice::String) || is_literal(choice, text)
}

/// Whether the bare text reads as that text, without repairs or problems. False also if that is not certain.
pub(crate) fn is_string_bare(node: &Node, text: &str) -> bool {
    let mut scratch = String::new();
    let choices = node.candidates(text);
    choices.iter().any(|choice| is_string(choice, text))
        && !is_none(&choices, text)
        && !choices.iter().any(|choice| take_bare(choice, text, &mut scratch))
}

/// Whether the bare text is the null of another language (`None`, `NULL`), where null is allowed. In another case it may be a word.
fn is_none(choices: &ChoicesOf<'_>, text: &str) -> bool {
    matches!(text, "None" | "Null" | "NULL")
        && choices.iter().any(|choice| *choice == Choice::Null)
        && !choices.iter().any(|choice| is_literal(choice, text))
}

/// Whether the bare text is the JSON of something other than a string that the type takes.
pub(crate) fn takes_bare(node: &Node, text: &str) -> bool {
    let mut scratch = String::new();
    node.candidates(text).iter().any(|choice| take_bare(choice, text, &mut scratch))
}

/// What to call a value that no choice takes.
pub(crate) fn violation(node: &Node) -> ProblemKind {
    let literals = node.choices.iter().any(|choice| matches!(choice, Choice::Literal(_)));
    if literals && node.choices.iter().all(|choice| matches!(choice, Choice::Literal(_) | Choice::Null)) {
        ProblemKind::NotInEnum
    } else {
        ProblemKind::WrongType
    }
}

/// The items of a bare comma list or a lone scalar, each as JSON, for a field that [`Node::collects`]; the first will be
/// item number `at`. `None`: the text is not an array here and is typed as one scalar.
pub(crate) fn items(
    schema: &Schema,
    id: NodeId,
    text: &str,
    quoted: bool,
    at: usize,
) -> Option<(Vec<String>, Outcome)> {
    let node = schema.node(id);
    if !node.collects() {
        return None;
    }
    // Another kind that takes the text, as it is or converted before the array's turn, wins.
    let mut scratch = String::new();
    let choices = node.candidates(text);
    if !quoted && (is_none(&choices, text) || choices.iter().any(|choice| take_bare(choice, text, &mut scratch))) {
        return None;
    }
    let folded = OnceCell::new();
    let before = choices.iter().take_while(|choice| **choice != Choice::Array);
    if before.into_iter().any(|choice| convert(schema, node, choice, text, quoted, &folded, &mut scratch).is_some()) {
        return None;
    }
    split(schema, node, text, quoted, at)
}

/// One level only: an item that must be an array itself cannot be written as a scalar.
fn split(schema: &Schema, node: &Node, text: &str, quoted: bool, at: usize) -> Option<(Vec<String>, Outcome)> {
    let item = |at| node.array.as_ref().map_or(UNKNOWN, |array| array.item(at));
    if !takes_scalars(schema.node(item(at))) {
        return None;
    }
    let parts: Vec<(Cow<'_, str>, bool)> = match quoted {
        true => encoded(text).unwrap_or_else(|| vec![(text.into(), true)]),
        false => text.split(',').map(|part| (trim(part).into(), false)).collect(),
    };
    let mut outcome = Outcome { converted: true, problem: None };
    let mut list = Vec::with_capacity(parts.len());
    for (offset, (part, quoted)) in parts.into_iter().enumerate() {
        let mut json = String::new();
        if typed(schema, item(at + offset), &part, quoted, false, &mut json).problem.is_some() {
            outcome.problem = Some(violation(node));
        }
        list.push(json);
    }
    Some((list, outcome))
}

/// The items of a text that is the JSON of a list of scalars, and which of them are strings.
fn encoded(text: &str) -> Option<Vec<(Cow<'_, str>, bool)>> {
    if !trim(text).starts_with('[') {
        return None;
    }
    let Ok(Value::Array(items)) = parse(text, 1) else { return None };
    let scalar = |item| match item {
        Value::String(text) => Some((text, true)),
        Value::Array(_) | Value::Object(_) => None,
        other => {
            let mut json = String::new();
            Value::write(&other, &mut json);
            Some((Cow::Owned(json), false))
        }
    };
    items.into_iter().map(scalar).collect()
}

fn takes_scalars(node: &Node) -> bool {
    node.is_unknown()
        || node.choices.iter().any(|choice| match choice {
            Choice::Array | Choice::Object => false,
            Choice::Literal(literal) => !literal.json.starts_with(['{', '[']),
            _ => true,
        })
}

/// JSON's word for one of Python's.
pub(crate) fn python(text: &str) -> Option<&'static str> {
    match text {
        "True" => Some("true"),
        "False" => Some("false"),
        "None" => Some("null"),
        _ => None,
    }
}

/// Whether it is JSON other than a string or a container.
pub(crate) fn is_json_scalar(text: &str) -> bool {
    matches!(text, "true" | "false" | "null") || is_number(text)
}

fn take_bare(choice: &Choice, text: &str, out: &mut String) -> bool {
    let json = match choice {
        Choice::Integer => whole(text),
        Choice::Number => is_number(text).then_some(text),
        Choice::Boolean => matches!(text, "true" | "false").then_some(text),
        Choice::Null => (text == "null").then_some(text),
        Choice::Literal(literal) => same_literal(literal, text).then_some(literal.json.as_str()),
        Choice::String | Choice::Array | Choice::Object => None,
    };
    json.map(|json| out.push_str(json)).is_some()
}

/// A number in quotes, or in a spelling of other languages: `+5`, `.5`, `5.`.
fn take_respelled(choice: &Choice, text: &str, quoted: bool, out: &mut String) -> bool {
    (quoted && take_bare(choice, text, out)) || respelled(text, false).is_some_and(|json| take_bare(choice, &json, out))
}

/// Whether the text is the JSON of this literal, which is not a string. Numbers match by value.
fn same_literal(literal: &Literal, text: &str) -> bool {
    literal.text.is_none() && (literal.json == text || same_number(&literal.json, text))
}

fn convert(
    schema: &Schema,
    node: &Node,
    choice: &Choice,
    text: &str,
    quoted: bool,
    folded: &OnceCell<String>,
    out: &mut String,
) -> Option<Outcome> {
    let mut keyword_of = |wanted: &[&str]| {
        let json = keyword(text).filter(|json| wanted.contains(json));
        json.map(|json| out.push_str(json)).is_some()
    };
    let fits = match choice {
        Choice::Boolean => keyword_of(&["true", "false"]),
        Choice::Null => keyword_of(&["null"]),
        Choice::Integer | Choice::Number => take_respelled(choice, text, quoted, out),
        Choice::Literal(literal) => match &literal.text {
            Some(own) => {
                // No character's lower case is more than three times as long as the character.
                let alike = text.len() <= 3 * own.len() && own.len() <= 3 * text.len();
                let unique = alike && {
                    let folded = folded.get_or_init(|| text.to_lowercase());
                    literal.folded == *folded && like(&node.candidates(text), folded) == 1
                };
                if unique {
                    out.push_str(&literal.json);
                }
                unique
            }
            None => keyword_of(&[&literal.json]) || take_respelled(choice, text, quoted, out),
        },
        Choice::Array => {
            let (list, outcome) = split(schema, node, text, quoted, 0)?;
            out.push('[');
            out.push_str(&list.join(","));
            out.push(']');
            return Some(outcome);
        }
        _ => false,
    };
    fits.then(Outcome::default)
}

/// `true`, `false` or `null`, in any case; `None` is null.
fn keyword(text: &str) -> Option<&'static str> {
    let words = [("true", "true"), ("false", "false"), ("null", "null"), ("none", "null")];
    words.into_iter().find(|(word, _)| text.eq_ignore_ascii_case(word)).map(|(_, json)| json)
}

/// The number of strings of the enum that equal this text, ignoring case.
fn like(choices: &ChoicesOf<'_>, folded: &str) -> usize {
    let same = |choice: &&Choice| match choice {
        Choice::Literal(Literal { text: Some(_), folded: own, .. }) => own == folded,
        _ => false,
    };
    choices.iter().filter(same).count()
}

/// The JSON of the only string of an enum that equals the text without the quotes around it, or apart from whitespace.
pub(crate) fn unquoted_literal(node: &Node, text: &str) -> Option<String> {
    let text = trim(text);
    let quotes = ['"', '\'', '`'];
    let inner = quotes.into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(text);
    let matching = |same: &dyn Fn(&str) -> bool| {
        let candidates = node.candidates(inner);
        let mut found = candidates.iter().filter_map(|choice| match choice {
            Choice::Literal(literal) if literal.text.as_deref().is_some_and(same) => Some(literal.json.clone()),
            _ => None,
        });
        found.next().filter(|_| found.next().is_none())
    };
    let squeezed = |text: &str| text.bytes().filter(|byte| !is_ws(*byte)).collect::<Vec<u8>>();
    matching(&|own| own == inner).or_else(|| {
        // Many strings are looked up, and that way only as they are.
        let few = node.choices.len() <= FEW_CHOICES;
        few.then(|| squeezed(inner)).and_then(|wanted| matching(&|own| squeezed(own) == wanted))
    })
}
