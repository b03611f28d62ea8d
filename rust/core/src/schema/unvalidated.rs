//! What takes the place of the validation without the feature `validate`.

use super::{Json, SchemaDocument};
use crate::error::Problem;

/// There are no validators.
#[derive(Debug)]
pub(crate) enum Validator {}

impl Validator {
    pub(crate) fn new(_: &SchemaDocument<'_>, _: Option<&Json>, _: usize) -> Result<Self, (Option<String>, String)> {
        Err((None, "its calls cannot be validated: enable the feature `validate` of the crate wirecall-core".into()))
    }

    pub(crate) fn problems(&self, _: &str) -> Vec<Problem> {
        match *self {}
    }
}
