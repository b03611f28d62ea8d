//! The opt-in check of finished arguments against the whole vocabulary, by the `jsonschema` crate.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;

use super::messages::{join, shorten, shorten_to};
use super::work::Work;
use crate::error::ProblemKind;
use crate::event::Problem;
use crate::limits::{PATTERN_BYTES, VALIDATION_ERRORS, VALIDATION_STEPS};
use crate::scan::first_chars;
use crate::schema::Fault;

/// Problems that are worth telling a model at once.
const SHOWN: usize = 8;

/// A compiled validator; it resolves nothing outside the schema, and takes no more time than its limits allow.
#[derive(Debug)]
pub struct Validator {
    checks: jsonschema::Validator,
    work: Work,
}

impl Validator {
    pub fn new(schema: &Value) -> Result<Self, Fault> {
        let work = Work::new(schema)?;
        // Look-around and back-references take a backtracking engine, which is not linear: patterns with them are refused.
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES);
        let checks = jsonschema::options().offline().with_pattern_options(patterns).build(schema).map_err(fault)?;
        Ok(Validator { checks, work })
    }

    /// What is wrong with arguments, as compact JSON text; empty if nothing.
    pub fn problems(&self, arguments: &str) -> Vec<Problem> {
        let problem = |field: String, message: String| Problem { kind: ProblemKind::Schema, field, message };
        let all = |message: String| vec![problem(String::new(), message)];
        let value = match read(arguments) {
            Ok(value) => value,
            Err(error) => return all(format!("The arguments cannot be checked: {error}.")),
        };
        let Some(cost) = self.work.of(&value) else {
            return all(
                "The arguments are too large or too deeply nested to be checked; write less in one call.".into()
            );
        };
        if cost.errors > VALIDATION_STEPS || cost.told > VALIDATION_ERRORS {
            return match self.checks.is_valid(&value) {
                true => Vec::new(),
                false => {
                    all("The arguments do not fit the tool's schema; too much is said there to tell where.".into())
                }
            };
        }
        let shown = self.checks.iter_errors(&value).take(SHOWN);
        shown
            .map(|error| {
                let field = field(&error.instance_path().to_string(), &value);
                let place = if field.is_empty() { "arguments" } else { &field };
                problem(field.clone(), format!("{place}: {}.", said(&error)))
            })
            .collect()
    }
}

/// What an error says. A long value is cut, so that the reason stays.
fn said(error: &ValidationError<'_>) -> String {
    const REASON: usize = 200;
    const VALUE: usize = 40;
    let whole = error.to_string();
    if first_chars(&whole, REASON) == whole.len() {
        return shorten_to(&whole, REASON);
    }
    let value = error.instance().to_string();
    let start = &value[..first_chars(&value, VALUE)];
    shorten_to(&error.masked_with(format!("{start}…")).to_string(), REASON)
}

/// What is wrong with a schema, and where.
fn fault(error: ValidationError<'_>) -> Fault {
    let said = error.instance_path().to_string();
    // The meta-schema's check of patterns has the place in the schema as that of an instance; compiling has none there.
    let place = if said.is_empty() { error.schema_path().to_string() } else { said };
    match error.kind() {
        ValidationErrorKind::Format { format } if format == "regex" => {
            let pattern = shorten(error.instance().as_str().unwrap_or_default());
            let message = format!(
                "{pattern} cannot be matched in linear time: it is no pattern, too large, or has look-around or back-references"
            );
            (place, message)
        }
        _ => (place, error.to_string()),
    }
}

/// The arguments as a tree. How deep they may be nested, the reader has seen to: `limits::RECURSION` at most.
fn read(arguments: &str) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_str(arguments);
    reader.disable_recursion_limit();
    reader.into_iter().next().unwrap_or(Ok(Value::Null))
}

/// A JSON pointer into the arguments as a key would be written.
fn field(pointer: &str, arguments: &Value) -> String {
    let mut out = String::new();
    let mut place = Some(arguments);
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        match place {
            Some(Value::Array(items)) => {
                out.push_str(&format!("[{name}]"));
                place = name.parse::<usize>().ok().and_then(|at| items.get(at));
            }
            _ => {
                out = join(&out, &name);
                place = place.and_then(|place| place.get(&name));
            }
        }
    }
    out
}
