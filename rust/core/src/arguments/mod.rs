//! Text and its type in, JSON out: typing of values, the arguments of a call as they grow, and their writers.

mod beyond_float;
pub(crate) mod builder;
pub(crate) mod coercion;
mod context;
pub(crate) mod elements;
mod example;
mod fields;
pub(crate) mod keys;
pub(crate) mod messages;
pub(crate) mod object;
mod problems;
pub(crate) mod tree;

pub use beyond_float::{beyond_float, may_be_beyond_float};
pub(crate) use builder::ArgumentsBuilder;
pub(crate) use context::{
    CallWriter, Context, Failure, Flow, Input, MAX_PROBLEM_BYTES, MAX_PROBLEMS, Progress, ReadError, Report,
    problem_text, steps,
};
pub(crate) use example::{Given, example, example_members};
pub(crate) use fields::{Fields, Slot};
pub(crate) use keys::{declared_part, is_declared, is_field, is_misnamed};
pub(crate) use object::{Literals, Object};
pub(crate) use problems::missing;
pub(crate) use tree::{Lists, TreeWriter, push_text};
