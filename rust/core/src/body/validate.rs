//! The opt-in check of finished arguments against the whole vocabulary, by the `jsonschema` crate.

use jsonschema::PatternOptions;
use serde_json::Value;

use super::messages::{join, shorten};
use crate::error::ProblemKind;
use crate::event::Problem;
use crate::schema::Fault;

/// Problems that are worth telling a model at once.
const SHOWN: usize = 8;
/// Steps a pattern that is not linear (look-around, back-references) may take.
const BACKTRACKS: usize = 100_000;

/// A compiled validator; it resolves nothing outside the schema.
#[derive(Debug)]
pub struct Validator(jsonschema::Validator);

impl Validator {
    pub fn new(schema: &Value) -> Result<Self, Fault> {
        jsonschema::options()
            .offline()
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS))
            .build(schema)
            .map(Validator)
            .map_err(|error| (error.instance_path().to_string(), error.to_string()))
    }

    /// What is wrong with arguments, as compact JSON text; empty if nothing.
    pub fn problems(&self, arguments: &str) -> Vec<Problem> {
        let problem = |field: String, message: String| Problem { kind: ProblemKind::Schema, field, message };
        let value: Value = match serde_json::from_str(arguments) {
            Ok(value) => value,
            Err(error) => return vec![problem(String::new(), format!("The arguments cannot be checked: {error}."))],
        };
        let shown = self.0.iter_errors(&value).take(SHOWN);
        shown
            .map(|error| {
                let field = field(&error.instance_path().to_string());
                let place = if field.is_empty() { "arguments" } else { &field };
                problem(field.clone(), format!("{place}: {}.", shorten(&error.to_string())))
            })
            .collect()
    }
}

/// A JSON pointer as a key would be written.
fn field(pointer: &str) -> String {
    let mut out = String::new();
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        match name.parse::<usize>() {
            Ok(index) => out.push_str(&format!("[{index}]")),
            Err(_) => out = join(&out, &name),
        }
    }
    out
}
