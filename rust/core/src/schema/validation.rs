//! The opt-in validation of complete arguments by all keywords of JSON Schema, with the `jsonschema` crate.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;

use super::drafts::modernised;
use super::parts::step_names;
use super::validation_cost::ValidationCost;
use crate::error::{Problem, ProblemKind};
use crate::limits::RECURSION;
use crate::limits::validation as limits;
use crate::schema::{Json, SchemaDocument, SchemaFault};
use crate::syntax::scan::first_chars;
use crate::syntax::shown::{join, shorten, shorten_to};

/// Maximum number of problems that are reported to a model at once.
const SHOWN: usize = 8;

/// A compiled validator. It resolves nothing outside the schema, and takes no longer than its limits allow.
#[derive(Debug)]
pub(crate) struct Validator {
    checks: jsonschema::Validator,
    /// The original schema, if it requires fields that have a default. `checks` does not require them.
    as_given: Option<jsonschema::Validator>,
    work: ValidationCost,
}

impl Validator {
    /// `relaxed`: the schema that does not require fields with a default, if it differs. `depth`: that of arguments.
    /// The error is a JSON pointer, if the schema is at fault, and a sentence.
    pub(crate) fn new(
        schema: &SchemaDocument<'_>,
        relaxed: Option<&Json>,
        depth: usize,
    ) -> Result<Self, (Option<String>, String)> {
        if depth > RECURSION {
            return Err((None, format!("its calls cannot be validated with a limit of depth over {RECURSION}")));
        }
        Self::compiled(schema, relaxed).map_err(|(pointer, message)| (Some(pointer), message))
    }

    fn compiled(schema: &SchemaDocument<'_>, relaxed: Option<&Json>) -> Result<Self, SchemaFault> {
        let given = modernised(schema);
        let relaxed = relaxed.map(SchemaDocument::new).transpose()?.map(|relaxed| modernised(&relaxed));
        let checked = relaxed.as_ref().unwrap_or(&given);
        let work = ValidationCost::new(checked)?;
        let checks = build(checked)?;
        let as_given = relaxed.is_some().then(|| build(&given)).transpose()?;
        Ok(Validator { checks, as_given, work })
    }

    /// Arguments that fit the original schema are valid. With fewer required fields, a second member of a `oneOf` may
    /// match them.
    fn fits_as_given(&self, value: &Value) -> bool {
        self.as_given.as_ref().is_some_and(|checks| checks.is_valid(value))
    }

    /// The problems of arguments, which are compact JSON text.
    pub(crate) fn problems(&self, arguments: &str) -> Vec<Problem> {
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
        if cost.errors > limits::STEPS || cost.reported > limits::ERRORS {
            return match self.checks.is_valid(&value) || self.fits_as_given(&value) {
                true => Vec::new(),
                false => all("The arguments do not fit the tool's schema; finding where would take too long.".into()),
            };
        }
        let shown = self.checks.iter_errors(&value).take(SHOWN);
        let problems: Vec<Problem> = shown
            .map(|error| {
                let field = field(&error.instance_path().to_string(), &value);
                let place = if field.is_empty() { "arguments" } else { &field };
                problem(field.clone(), format!("{place}: {}.", said(&error)))
            })
            .collect();
        if !problems.is_empty() && self.fits_as_given(&value) { Vec::new() } else { problems }
    }
}

fn build(schema: &Json) -> Result<jsonschema::Validator, SchemaFault> {
    let schema = read(&schema.to_json()).map_err(|error| (String::new(), error.to_string()))?;
    // Look-around and back-references need a backtracking engine, which is not linear. Patterns with them are rejected.
    let patterns = PatternOptions::regex().size_limit(limits::PATTERN_BYTES);
    let options = jsonschema::options().offline().with_pattern_options(patterns);
    // Whether a text is a valid pattern depends on the engine, and the estimate does not include the cost of checking
    // it.
    let options =
        options.should_validate_formats(true).should_ignore_unknown_formats(true).with_format("regex", |_| true);
    options.build(&schema).map_err(fault)
}

/// The message of an error. A long value is cut, so that the reason is kept.
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
fn fault(error: ValidationError<'_>) -> SchemaFault {
    let said = error.instance_path().to_string();
    // For patterns, the meta-schema reports the place in the schema as the place in an instance. Compiling reports none
    // there.
    let place = if said.is_empty() { error.schema_path().to_string() } else { said };
    match error.kind() {
        ValidationErrorKind::Format { format } if format == "regex" => {
            let pattern = shorten(error.instance().as_str().unwrap_or_default());
            let message = format!(
                "{pattern} cannot be matched in linear time: it is invalid or too large, or has look-around or back-references"
            );
            (place, message)
        }
        _ => (place, error.to_string()),
    }
}

/// The tree of a JSON text that the core wrote: its readers limit the depth.
fn read(text: &str) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    reader.into_iter().next().unwrap_or(Ok(Value::Null))
}

/// A JSON pointer into the arguments, written as a key.
fn field(pointer: &str, arguments: &Value) -> String {
    let mut out = String::new();
    let mut place = Some(arguments);
    for name in step_names(pointer).into_iter().flatten() {
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
